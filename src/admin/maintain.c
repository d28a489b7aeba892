/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/maintain.h"

#include "store/migrate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct maintain_verb VERBS[] = {
    {.name = "examine",
     .makes = true,
     .summary = "check the store for damage; change nothing",
     .run = maintain_examine},
    {.name = "verify-log",
     .options = "heads against",
     .summary = "verify every chain of records from its beginning",
     .run = maintain_verify_log},
    {.name = "rebuild",
     .makes = true,
     .summary = "make a new store from the readable parts of a damaged one",
     .run = maintain_rebuild},
    {.name = "accept-empty",
     .makes = true,
     .summary = "leave safe mode with an empty store, without the contents of the damaged one",
     .run = maintain_accept_empty},
    {.name = "backup",
     .words = "FILE",
     .options = "verify",
     .flags = "force",
     .beside = true,
     .summary =
         "write a backup of the store to one file, while daemons keep running; or verify such a file",
     .run = maintain_backup},
    {.name = "restore",
     .words = "FILE",
     .options = "lease",
     .flags = "replace",
     .makes = true,
     .summary = "replace the store with a backup; the old store is renamed and kept",
     .run = maintain_restore},
    {.name = "retain",
     .options = "now retain-bodies retain-records",
     .summary = "remove records and evidence that are past their retention time",
     .run = maintain_retain},
    {.name = "export",
     .words = "FILE",
     .beside = true,
     .summary = "export the whole store as one JSON document; - is standard output",
     .run = maintain_export},
    {.name = "import",
     .words = "FILE",
     .options = "host",
     .flags = "move adopt",
     .makes = true,
     .summary = "fill an empty store from such a document, a list of goals, or tasks in Markdown",
     .run = maintain_import},
    {.name = "forget",
     .words = "GOAL",
     .summary = "erase the text of a closed goal from the store; its chain stays valid",
     .run = maintain_forget},
};

enum { VERB_COUNT = sizeof VERBS / sizeof VERBS[0] };

static void options_print(const char *list, const char *value) {
    for (const char *at = list; at && *at;) {
        int length = (int)strcspn(at, " ");
        fprintf(stderr, " [--%.*s%s]", length, at, value);
        at += length + (at[length] == ' ');
    }
}

static int usage(const char *what, const char *word) {
    fprintf(stderr, "overseerd: %s %s.\nusage: overseerd --maintain VERB [--store WHERE] …\n", what,
            word);
    for (int i = 0; i < VERB_COUNT; i++) {
        fprintf(stderr, "  %s%s%s", VERBS[i].name, VERBS[i].words ? " " : "",
                VERBS[i].words ? VERBS[i].words : "");
        options_print(VERBS[i].options, " …");
        options_print(VERBS[i].flags, "");
        fprintf(stderr, "\n      %s\n", VERBS[i].summary);
    }
    return MAINTAIN_USAGE;
}

static const struct maintain_verb *verb_find(const char *name) {
    for (int i = 0; name && i < VERB_COUNT; i++)
        if (strcmp(VERBS[i].name, name) == 0)
            return &VERBS[i];
    return NULL;
}

static bool is_one_of(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at && *at;) {
        size_t here = strcspn(at, " ");
        if (here == length && memcmp(at, word, length) == 0)
            return true;
        at += here + (at[here] == ' ');
    }
    return false;
}

bool maintain_is_asked(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--maintain") == 0)
            return true;
    return false;
}

/* Returns 0 or an exit status. The verb is known before its words are read. */
static int words_read(struct maintain *maintain, const struct maintain_verb *verb, int argc,
                      char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool option = strncmp(word, "--", 2) == 0,
             flag = option && is_one_of(verb->flags, word + 2);
        if (option && !flag && i + 1 == argc)
            return usage("a value is missing after", word);
        if (maintain->word_count == MAINTAIN_WORDS || maintain->option_count == MAINTAIN_WORDS)
            return usage("too many arguments, from", word);
        if (!option)
            maintain->words[maintain->word_count++] = word;
        else if (strcmp(word, "--store") == 0)
            maintain->store = argv[++i];
        else if (strcmp(word, "--maintain") == 0)
            i++;
        else if (flag || is_one_of(verb->options, word + 2)) {
            maintain->names[maintain->option_count] = word + 2;
            maintain->values[maintain->option_count++] = flag ? "" : argv[++i];
        } else
            return usage("this verb has no option", word);
    }
    return 0;
}

static const char *verb_word(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--maintain") == 0)
            return argv[i + 1];
    return NULL;
}

/* Without this check, a store that is elsewhere would be reported as an empty one. */
static bool store_is_missing(const struct maintain *maintain, const struct maintain_verb *verb) {
    bool wanted = maintain->path && !verb->makes && !maintain_option(maintain, "verify");
    return wanted && access(maintain->path, F_OK) != 0;
}

int maintain_main(int argc, char **argv, const char *default_store) {
    static struct maintain maintain;
    static struct instance_lock lock;
    char error[1024];
    const char *word = verb_word(argc, argv);
    const struct maintain_verb *verb = verb_find(word);
    maintain.store = default_store;
    if (!verb)
        return usage(word ? "unknown verb" : "a verb is missing", word ? word : "after --maintain");
    int code = words_read(&maintain, verb, argc, argv);
    if (code)
        return code;
    if (maintain.word_count > 0 && !verb->words)
        return usage("this verb takes no arguments, but got", maintain.words[0]);
    maintain.path = store_address_file(maintain.store);
    if (maintain.path) {
        if (store_is_missing(&maintain, verb)) {
            fprintf(stderr,
                    "overseerd: there is no store at %s: give the daemon's store with --store\n",
                    maintain.path);
            return MAINTAIN_FAILED;
        }
        maintain.lock = verb->beside ? NULL : &lock;
        if (!verb->beside &&
            !instance_lock_take(&lock, maintain.path, SCHEMA_VERSION, error, sizeof error)) {
            fprintf(stderr, "overseerd: %s\n", error);
            return MAINTAIN_FAILED;
        }
    }
    return verb->run(&maintain);
}
