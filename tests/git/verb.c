/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one verb of the git interface. A helper program of tests/git/run.
 *
 *     verb STATE SOURCE REMOTE VERB [ARGUMENT …]
 *     verb --table
 *
 * Prints one JSON object on a line. GIT_DIE_AT=N: kills itself at the Nth step. GIT_DIE_HARD=N: kills the Nth git command, with all that it
 * started, GIT_DIE_AFTER microseconds after its start, and then itself. GIT_PLANTED=BUG: has that planted bug. GIT_STEPS=FILE: writes there how
 * many steps, commands and files opened in a worktree there were. GIT_SWAP=COMMAND: a shell runs it before the GIT_SWAP_AT-th of those files is
 * opened, like an agent that is exactly that fast. GIT_FOLLOW: files are opened without the defence against that. GIT_SANDBOX=none: there is no
 * bubblewrap. GIT_UNBOXED: an agent's repository is read outside of the sandbox. GIT_STEP_US=N: delays each step by N microseconds. */
#include "base/seam.h"
#include "git/git.h"
#include "git/git_table.h"
#include "sandbox/sandbox.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---- crashes and planted bugs ---- */

extern pid_t git_child;
static long steps, commands, opens;

static long number_of(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : -1;
}

bool seam(const char *name) {
    const char *bug = getenv("GIT_PLANTED");
    if (strncmp(name, "planted ", 8) == 0)
        return bug && strcmp(name + 8, bug) == 0;
    if (strcmp(name, "git-running") == 0) {
        if (++commands == number_of("GIT_DIE_HARD")) {
            usleep((useconds_t)number_of("GIT_DIE_AFTER"));
            kill(-git_child, SIGKILL);
            kill(getpid(), SIGKILL);
        }
        return false;
    }
    if (strcmp(name, "git-open") == 0) {
        const char *swap = getenv("GIT_SWAP");
        if (swap && ++opens == number_of("GIT_SWAP_AT") && system(swap) != 0)
            abort();
        return false;
    }
    if (strcmp(name, "git-follow") == 0)
        return getenv("GIT_FOLLOW") != NULL;
    if (strcmp(name, "git-unboxed") == 0)
        return getenv("GIT_UNBOXED") != NULL;
    if (number_of("GIT_STEP_US") > 0)
        usleep((useconds_t)number_of("GIT_STEP_US"));
    if (++steps == number_of("GIT_DIE_AT"))
        kill(getpid(), SIGKILL);
    return false;
}

/* ---- verbs ---- */

static struct arena arena;
static struct git_context context;
static struct git_repo repo;
static json_t *result;

static void say(const char *name, struct str text) {
    char *hex = malloc(text.len * 2 + 1);
    if (str_is_text(text)) {
        json_object_set_new(result, name, json_stringn(text.len ? text.at : "", text.len));
    } else {
        for (size_t i = 0; i < text.len; i++)
            sprintf(hex + 2 * i, "%02x", (unsigned char)text.at[i]);
        json_object_set_new(result, name, json_sprintf("hex:%s", hex));
    }
    free(hex);
}

static void count(const char *name, uint64_t value) {
    json_object_set_new(result, name, json_integer((json_int_t)value));
}

/* GIT_NOW: seconds. */
static struct str text_of(const char *variable) {
    const char *text = getenv(variable);
    return text ? str_of(text) : STR("");
}

static struct git_run run_of(char **args) {
    long now = number_of("GIT_NOW");
    return (struct git_run){.goal = str_of(args[0]),
                            .run = str_of(args[1]),
                            .branch = text_of("GIT_BRANCH"),
                            .base = str_of(args[2]),
                            .at_us = SECONDS(now > 0 ? now : 1700000000)};
}

static struct git_answer verb_clone(char **args) {
    struct git_clone clone = {0};
    struct git_answer answer = git_clone_ensure(&context, &repo, str_of(args[0]), &arena, &clone);
    say("path", clone.path);
    say("private", clone.private_path);
    say("branch", clone.branch);
    say("head", clone.head);
    return answer;
}

static struct git_answer verb_tree(char **args) {
    struct git_tree tree = {0};
    struct git_run run = run_of(args);
    struct git_answer answer = git_tree_ensure(&context, &repo, &run, &arena, &tree);
    say("path", tree.path);
    say("branch", tree.branch);
    count("included", tree.included);
    count("skipped", tree.skipped);
    count("was_there", tree.was_there);
    return answer;
}

static struct git_answer verb_measure(char **args) {
    struct git_measure measure = {0};
    struct git_run run = run_of(args);
    struct git_answer answer = git_tree_measure(&context, &repo, &run, &arena, &measure);
    say("head", measure.head);
    say("snapshot", measure.snapshot);
    count("insertions", measure.insertions);
    count("deletions", measure.deletions);
    count("left_out", measure.left_out);
    count("broken", measure.broken);
    count("absent", measure.absent);
    json_t *whole = result, *files = json_array();
    for (uint32_t i = 0; i < measure.file_count; i++) {
        result = json_object();
        say("path", measure.files[i].path);
        say("hash", measure.files[i].hash);
        count("insertions", measure.files[i].insertions);
        count("deletions", measure.files[i].deletions);
        count("binary", measure.files[i].binary);
        json_array_append_new(files, result);
    }
    result = whole;
    json_object_set_new(result, "files", files);
    return answer;
}

static struct git_answer verb_salvage(char **args) {
    struct git_salvage saved = {0};
    struct git_run run = run_of(args);
    struct git_answer answer = git_tree_salvage(&context, &repo, &run, &arena, &saved);
    say("commit", saved.commit);
    say("ref", saved.ref);
    count("whole", saved.whole);
    return answer;
}

static struct git_answer verb_send(char **args) {
    struct git_sent sent = {0};
    (void)args;
    struct git_answer answer = git_salvage_send(&context, &repo, &arena, &sent);
    count("sent", sent.sent);
    count("left", sent.left);
    say("unsent", sent.why);
    return answer;
}

static struct git_answer verb_remove(char **args) {
    struct str kept = {0};
    struct git_run run = run_of(args);
    struct git_answer answer = git_tree_remove(&context, &repo, &run, &arena, &kept);
    say("kept", kept);
    return answer;
}

static struct git_answer verb_checkout(char **args) {
    struct str path = {0};
    struct git_answer answer =
        git_checkout_make(&context, &repo, str_of(args[0]), str_of(args[1]), &arena, &path);
    say("path", path);
    return answer;
}

static struct git_answer verb_uncheckout(char **args) {
    return git_checkout_remove(&context, str_of(args[0]), &arena);
}

static enum git_how how_of(const char *name) {
    static const char *const HOW[] = {"branch", "pull-request", "rebase", "squash", "fast-forward"};
    for (unsigned i = 0; i < count_of(HOW); i++)
        if (strcmp(name, HOW[i]) == 0)
            return (enum git_how)i;
    abort();
}

static void say_list(const char *name, const struct str *texts, uint32_t number) {
    json_t *list = json_array(), *whole = result;
    for (uint32_t i = 0; i < number; i++) {
        result = json_object();
        say("path", texts[i]);
        json_array_append_new(list, result);
    }
    result = whole;
    json_object_set_new(result, name, list);
}

static void say_candidate(const struct git_candidate *candidate) {
    say("commit", candidate->commit);
    say("onto", candidate->onto);
    say("conflict", candidate->conflict);
    say_list("conflicts", candidate->conflicts, candidate->conflict_count);
    struct str *paths = arena_new(&arena, struct str, candidate->file_count + 1);
    struct str *added = arena_new(&arena, struct str, candidate->added_count + 1);
    for (uint32_t i = 0; i < candidate->file_count; i++)
        paths[i] = candidate->files[i].path;
    for (uint32_t i = 0; i < candidate->added_count; i++)
        added[i] = arena_format(&arena, "%.*s %.*s", STR_ARG(candidate->added[i].commit),
                                STR_ARG(candidate->added[i].subject));
    say_list("files", paths, candidate->file_count);
    say_list("added", added, candidate->added_count);
    count("insertions", candidate->insertions);
    count("deletions", candidate->deletions);
}

static struct git_answer verb_candidate(char **args) {
    struct git_run run = run_of(args);
    struct git_work work = {.snapshot = str_of(args[3]),
                            .conflict_shown = str_of(args[4]),
                            .target = str_of(args[5]),
                            .how = how_of(args[6]),
                            .message = str_of(args[7]),
                            .subject = text_of("GIT_SUBJECT"),
                            .trailers = text_of("GIT_TRAILERS")};
    struct git_candidate candidate = {0};
    struct git_answer answer = git_candidate_make(&context, &repo, &run, &work, &arena, &candidate);
    say_candidate(&candidate);
    return answer;
}

static struct git_answer verb_candidate_diff(char **args) {
    struct git_run run = run_of(args);
    struct git_candidate candidate = {0};
    struct str text = {0};
    bool cut = false;
    struct git_answer answer =
        git_candidate_diff(&context, &repo, &run, str_of(args[3]), str_of(args[4]),
                           (size_t)atol(args[5]), &arena, &candidate, &text, &cut);
    say_candidate(&candidate);
    say("text", text);
    count("cut", cut);
    return answer;
}

/* The paths are separated by colons. */
static struct git_answer verb_restore(char **args) {
    struct git_run run = run_of(args);
    struct str paths[64], commit = {0};
    uint32_t number = 0;
    for (char *at = args[5]; *at && number < count_of(paths); at += *at == ':') {
        paths[number++] = (struct str){at, strcspn(at, ":")};
        at += strcspn(at, ":");
    }
    struct git_answer answer = git_candidate_restore(
        &context, &repo, &run, str_of(args[3]), str_of(args[4]), paths, number, &arena, &commit);
    say("commit", commit);
    return answer;
}

static struct git_answer verb_land(char **args) {
    struct git_run run = run_of(args);
    struct git_landing landing = {.commit = str_of(args[3]),
                                  .onto = str_of(args[4]),
                                  .target = str_of(args[5]),
                                  .how = how_of(args[6])};
    struct git_landed landed = {0};
    struct git_answer answer = git_land(&context, &repo, &run, &landing, &arena, &landed);
    say("commit", landed.commit);
    say("ref", landed.ref);
    count("was_there", landed.was_there);
    return answer;
}

static struct git_answer verb_ports(char **args) {
    uint16_t port = 0;
    struct git_answer answer = git_ports_hold(&context, str_of(args[0]), (uint16_t)atoi(args[1]),
                                              (uint16_t)atoi(args[2]), &arena, &port);
    count("port", port);
    return answer;
}

static struct git_answer verb_unports(char **args) {
    return git_ports_free(&context, str_of(args[0]), &arena);
}

struct opening {
    pthread_t thread;
    const char *name, *commit; /* empty commit: our clone is prepared */
    struct git_answer answer;
    struct arena arena;
};

static void *thread_open(void *with) {
    struct opening *it = with;
    struct git_clone clone = {0};
    struct str path = {0};
    it->answer = *it->commit
                     ? git_checkout_make(&context, &repo, str_of(it->name), str_of(it->commit),
                                         &it->arena, &path)
                     : git_clone_ensure(&context, &repo, str_of(it->name), &it->arena, &clone);
    return NULL;
}

/* BRANCH "", or NAME COMMIT: eight threads do it at once, as the daemon does for its runs. Returns an answer that is
 * not GIT_DONE, if there is one. */
static struct git_answer verb_threads(char **args) {
    enum { THREADS = 8 };
    static struct opening all[THREADS];
    struct git_answer answer = {0};
    for (unsigned i = 0; i < THREADS; i++) {
        char *name = args[0];
        if (*args[1] && asprintf(&name, "%s-%u", args[0], i) < 0)
            abort();
        all[i].name = name;
        all[i].commit = args[1];
        if (pthread_create(&all[i].thread, NULL, thread_open, &all[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        if (all[i].answer.result != GIT_DONE)
            answer =
                (struct git_answer){all[i].answer.result, arena_copy(&arena, all[i].answer.why)};
        arena_free(&all[i].arena);
    }
    return answer;
}

static struct git_answer verb_strip(char **args) {
    say("message", git_message_strip(str_of(args[0]), &arena));
    return (struct git_answer){0};
}

static const struct {
    const char *name;
    int arguments;
    struct git_answer (*carry)(char **args);
} VERBS[] = {{"clone", 1, verb_clone},     {"tree", 3, verb_tree},
             {"measure", 3, verb_measure}, {"salvage", 3, verb_salvage},
             {"remove", 3, verb_remove},   {"checkout", 2, verb_checkout},
             {"land", 7, verb_land},       {"uncheckout", 1, verb_uncheckout},
             {"ports", 3, verb_ports},     {"unports", 1, verb_unports},
             {"strip", 1, verb_strip},     {"candidate", 8, verb_candidate},
             {"restore", 6, verb_restore}, {"candidate-diff", 6, verb_candidate_diff},
             {"send", 0, verb_send},       {"threads", 2, verb_threads}};

static const char *const RESULTS[GIT_RESULTS] = {"done",     "conflict", "moved",    "refused",
                                                 "busy",     "locked",   "no space", "too long",
                                                 "too much", "broken",   "failed"};

/* ---- the tables, as docs/safety.md shows them ---- */

static void table_print(void) {
    static const char *const PLACES[] = {"nowhere",           "private",
                                         "published",         "measuring",
                                         "fresh folder",      "operator's repository",
                                         "private, own index"};
    printf("| command, behind `git` | where | what for |\n|---|---|---|\n");
    for (unsigned i = 0; i < GIT_COMMANDS; i++)
        printf("| `%s` | %s | %s |\n", GIT_ROWS[i].line, PLACES[GIT_ROWS[i].place],
               GIT_ROWS[i].why);
    printf("\n| ref | where | what it is |\n|---|---|---|\n");
    for (unsigned i = 0; i < GIT_REFS; i++)
        printf("| `%s` | %s | %s |\n", GIT_REF_ROWS[i].name, GIT_REF_ROWS[i].where,
               GIT_REF_ROWS[i].why);
    printf("\n| setting | value | what for |\n|---|---|---|\n");
    for (unsigned i = 0; i < GIT_SETTING_COUNT; i++)
        printf("| `%s` | `%s` | %s |\n", GIT_SETTINGS[i].name, GIT_SETTINGS[i].value,
               GIT_SETTINGS[i].why);
    printf("\n| environment | value | what for |\n|---|---|---|\n");
    for (unsigned i = 0; i < GIT_ENVIRONMENT_COUNT; i++)
        printf("| `%s` | `%s` | %s |\n", GIT_ENVIRONMENT[i].name, GIT_ENVIRONMENT[i].value,
               GIT_ENVIRONMENT[i].why);
    printf(
        "\n| for a local path | is |\n|---|---|\n| `$upload` | `%s` |\n| `$receive`, `$lands` | `%s` |\n"
        "| `$lands` with `landing.hooks` | `%s` |\n",
        GIT_UPLOAD, GIT_RECEIVE, GIT_RECEIVE_HOOKED);
    printf("\n`$boxed` is `%.*s` and so on: the words of the sandbox, then `git", 52, GIT_BOXED);
    for (unsigned i = 0; i < GIT_BOXED_PROGRAM_COUNT; i++)
        printf(" %s", GIT_BOXED_PROGRAM[i]);
    printf("` and the repository.\n");
}

static void steps_write(void) {
    const char *path = getenv("GIT_STEPS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld %ld %ld\n", steps, commands, opens);
        fclose(file);
    }
}

static int verb_run(int argc, char **argv) {
    for (size_t i = 0; i < count_of(VERBS); i++)
        if (strcmp(argv[4], VERBS[i].name) == 0 && argc - 5 == VERBS[i].arguments) {
            result = json_object();
            struct git_answer answer = VERBS[i].carry(argv + 5);
            json_object_set_new(result, "result", json_string(RESULTS[answer.result]));
            say("why", answer.why);
            json_dumpf(result, stdout, JSON_COMPACT);
            putchar('\n');
            json_decref(result);
            steps_write();
            arena_free(&arena);
            return 0;
        }
    fprintf(stderr, "verb: no such verb, or not that many arguments\n");
    return 2;
}

/* As the daemon sets it up. */
static void sandbox_set(void) {
    static char bwrap[4096], why[256];
    static struct sandbox_made made;
    const char *wanted = getenv("GIT_SANDBOX");
    if (wanted && strcmp(wanted, "none") == 0)
        return;
    if (sandbox_probe(bwrap, why, sizeof why) >= SANDBOX_BWRAP &&
        sandbox_reader_make(str_of(bwrap), &made)) {
        context.sandbox_prefix = made.argv;
        context.sandbox_count = made.argc;
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--table") == 0) {
        table_print();
        return 0;
    }
    if (argc < 5)
        return 2;
    long within = number_of("GIT_WITHIN_MS"), low = number_of("GIT_LOW_WATER");
    context =
        (struct git_context){.state = str_of(argv[1]),
                             .name = getenv("GIT_OWNER") ? text_of("GIT_OWNER") : STR("Overseer"),
                             .email = STR("overseer@localhost"),
                             .low_water = low > 0 ? (uint64_t)low : 0,
                             .within_us = within > 0 ? MILLISECONDS(within) : SECONDS(60),
                             .wait_us = SECONDS(120)};
    repo = (struct git_repo){.source = str_of(argv[2]), .remote = str_of(argv[3])};
    sandbox_set();
    return verb_run(argc, argv);
}
