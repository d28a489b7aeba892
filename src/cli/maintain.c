/* SPDX-License-Identifier: Apache-2.0 */
/* Maintains the store from the command line. It does not open the store itself: `overseerd --maintain` does. */
#include "cli/child.h"
#include "cli/command.h"
#include "cli/term.h"
#include "model/store_address.h"

#include <stdlib.h>

enum { WORDS = 48 };

static void word_add(char **words, size_t *count, const char *word) {
    must(*count + 1 < WORDS);
    words[(*count)++] = (char *)(uintptr_t)word;
}

/* Builds overseerd --maintain VERB with what was typed. False: something is missing. */
static bool words_make(struct typed *typed, const char *program, char **words) {
    static char names[WORDS][FLAG_NAME + 2];
    const struct command *command = typed->command;
    size_t count = 0;
    word_add(words, &count, program);
    word_add(words, &count, "--maintain");
    word_add(words, &count, command->does);
    for (size_t i = 0; command_flag(command, i); i++) {
        const struct field *flag = command_flag(command, i);
        const char *value = typed_text(typed, flag->name);
        if (!value && (flag->flags & FIELD_REQUIRED))
            return trouble_make(&typed->trouble, ERROR_INVALID, "\"%s\" is missing: %s.",
                                flag->name, flag->text);
        bool given = value || typed_flag(typed, flag->name);
        snprintf(names[i], sizeof names[i], "--%s", flag->name);
        if (given && i >= command_positional(command))
            word_add(words, &count, names[i]);
        if (value)
            word_add(words, &count, value);
    }
    return true;
}

static bool is_agreed(struct typed *typed) {
    if (!typed->command->asks || typed->yes)
        return true;
    if (term_can_ask() && person_agrees(typed->command->asks))
        return true;
    trouble_make(&typed->trouble, ERROR_INVALID, "Nothing was done: this needs a confirmation.");
    trouble_next(&typed->trouble, "Confirm with --yes.");
    return false;
}

/* Prints the lines of its output as a JSON list. */
static void output_json(const struct child *child, const char *verb, int status) {
    json_t *lines = json_array();
    for (const char *at = child->output; *at;) {
        size_t length = strcspn(at, "\n");
        json_array_append_new(lines, json_stringn(at, length));
        at += length + (at[length] == '\n');
    }
    json_t *json = json_pack("{s:s, s:b, s:i, s:o}", "verb", verb, "ok", status == 0, "exit",
                             status, "report", lines);
    json_dumpf(json, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(json);
}

/* Damage and failure both become EXIT_TROUBLE; a usage error stays EXIT_USAGE. */
static int status_of(int status) {
    return status == 0 ? 0 : status == 2 ? EXIT_USAGE : EXIT_TROUBLE;
}

int maintain_run(struct typed *typed) {
    char program[PATH_MAX];
    char *words[WORDS] = {0};
    bool found = program_find("overseerd", program);
    if (!found)
        trouble_make(&typed->trouble, ERROR_INTERNAL,
                     "overseerd was not found beside overseer or in PATH.");
    if (!found || !words_make(typed, program, words))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (typed->dry_run)
        return typed_would_run(typed, words);
    if (!is_agreed(typed))
        return trouble_tell(&typed->trouble, typed->as_json);
    struct child child = {.words = words,
                          .what = typed->command->words,
                          .grows = typed_text(typed, "file"),
                          .whole = store_address_file(typed->at.store),
                          .quiet = typed->as_json};
    if (!child_run(&child, &typed->trouble))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (typed->as_json)
        output_json(&child, typed->command->does, status_of(child.status));
    return status_of(child.status);
}
