/* SPDX-License-Identifier: Apache-2.0 */
/* What does one verb of the git port do? A driver for tests/git/run.
 *
 *     verb STATE SOURCE REMOTE VERB [ARGUMENT …]
 *     verb --table
 *
 * One JSON object in a line. GIT_DIE_AT=N: kills itself at the Nth step. GIT_DIE_HARD=N: kills the Nth git command, with all that it
 * started, GIT_DIE_AFTER microseconds after its start, and then itself. GIT_STEPS=FILE: how many steps and commands there were. */
#include "base/seam.h"
#include "ports/git.h"
#include "ports/git_table.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---- dying ---- */

extern pid_t git_child;
static long steps, commands;

static long number_of(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : -1;
}

bool seam(const char *name) {
    if (strcmp(name, "git-running") == 0) {
        if (++commands == number_of("GIT_DIE_HARD")) {
            usleep((useconds_t)number_of("GIT_DIE_AFTER"));
            kill(-git_child, SIGKILL);
            kill(getpid(), SIGKILL);
        }
        return false;
    }
    if (++steps == number_of("GIT_DIE_AT"))
        kill(getpid(), SIGKILL);
    return false;
}

/* ---- verbs ---- */

static struct arena arena;
static struct git_house house;
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

static struct git_run run_of(char **args) {
    return (struct git_run){.goal = str_of(args[0]),
                            .run = str_of(args[1]),
                            .base = str_of(args[2]),
                            .at_us = SECONDS(1700000000)};
}

static struct git_answer verb_clone(char **args) {
    struct git_clone clone = {0};
    struct git_answer answer = git_clone_ensure(&house, &repo, str_of(args[0]), &arena, &clone);
    say("path", clone.path);
    say("branch", clone.branch);
    say("head", clone.head);
    return answer;
}

static struct git_answer verb_tree(char **args) {
    struct git_tree tree = {0};
    struct git_run run = run_of(args);
    struct git_answer answer = git_tree_ensure(&house, &repo, &run, &arena, &tree);
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
    struct git_answer answer = git_tree_measure(&house, &repo, &run, &arena, &measure);
    say("head", measure.head);
    say("snapshot", measure.snapshot);
    count("insertions", measure.insertions);
    count("deletions", measure.deletions);
    count("left_out", measure.left_out);
    count("broken", measure.broken);
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
    struct git_answer answer = git_tree_salvage(&house, &repo, &run, &arena, &saved);
    say("commit", saved.commit);
    say("ref", saved.ref);
    say("unsent", saved.unsent);
    count("pushed", saved.pushed);
    count("whole", saved.whole);
    return answer;
}

static struct git_answer verb_remove(char **args) {
    struct str kept = {0};
    struct git_run run = run_of(args);
    struct git_answer answer = git_tree_remove(&house, &repo, &run, &arena, &kept);
    say("kept", kept);
    return answer;
}

static struct git_answer verb_checkout(char **args) {
    struct str path = {0};
    struct git_answer answer =
        git_checkout_make(&house, &repo, str_of(args[0]), str_of(args[1]), &arena, &path);
    say("path", path);
    return answer;
}

static struct git_answer verb_uncheckout(char **args) {
    return git_checkout_remove(&house, str_of(args[0]), &arena);
}

static struct git_answer verb_land(char **args) {
    static const char *const HOW[] = {"branch", "pull-request", "rebase", "squash", "fast-forward"};
    struct git_run run = run_of(args);
    struct git_landing landing = {
        .commit = str_of(args[3]), .target = str_of(args[4]), .message = str_of(args[6])};
    for (unsigned i = 0; i < count_of(HOW); i++)
        if (strcmp(args[5], HOW[i]) == 0)
            landing.how = (enum git_how)i;
    struct git_landed landed = {0};
    struct git_answer answer = git_land(&house, &repo, &run, &landing, &arena, &landed);
    say("commit", landed.commit);
    say("ref", landed.ref);
    count("tries", landed.tries);
    count("was_there", landed.was_there);
    json_t *files = json_array(), *whole = result;
    for (uint32_t i = 0; i < landed.conflict_count; i++) {
        result = json_object();
        say("path", landed.conflicts[i]);
        json_array_append_new(files, result);
    }
    result = whole;
    json_object_set_new(result, "conflicts", files);
    return answer;
}

static struct git_answer verb_ports(char **args) {
    uint16_t port = 0;
    struct git_answer answer = git_ports_hold(&house, str_of(args[0]), (uint16_t)atoi(args[1]),
                                              (uint16_t)atoi(args[2]), &arena, &port);
    count("port", port);
    return answer;
}

static struct git_answer verb_unports(char **args) {
    return git_ports_free(&house, str_of(args[0]), &arena);
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
             {"strip", 1, verb_strip}};

static const char *const RESULTS[GIT_RESULTS] = {"done",     "conflict", "moved",    "refused",
                                                 "busy",     "locked",   "no space", "too long",
                                                 "too much", "broken",   "failed"};

/* ---- the tables, as docs/safety.md shows them ---- */

static void table_print(void) {
    static const char *const PLACES[] = {"nowhere", "our clone", "measuring", "fresh folder",
                                         "operator's repository"};
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
    printf("\n| for a local path | is |\n|---|---|\n| `$upload` | `%s` |\n| `$receive` | `%s` |\n",
           GIT_UPLOAD, GIT_RECEIVE);
}

static void steps_write(void) {
    const char *path = getenv("GIT_STEPS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld %ld\n", steps, commands);
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

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--table") == 0) {
        table_print();
        return 0;
    }
    if (argc < 5)
        return 2;
    long within = number_of("GIT_WITHIN_MS"), low = number_of("GIT_LOW_WATER");
    house = (struct git_house){.state = str_of(argv[1]),
                               .name = STR("Overseer"),
                               .email = STR("overseer@localhost"),
                               .low_water = low > 0 ? (uint64_t)low : 0,
                               .within_us = within > 0 ? MILLISECONDS(within) : SECONDS(60),
                               .wait_us = SECONDS(120)};
    repo = (struct git_repo){.source = str_of(argv[2]), .remote = str_of(argv[3])};
    return verb_run(argc, argv);
}
