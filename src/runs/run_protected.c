/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the judged files that a candidate changes. Tests, CI and check scripts decide whether work is right, so an
 * agent that edits them edits its own judge: M4, UX "Judged files". */
#include "base/path.h"
#include "config/protected_path.h"
#include "runs/run.h"

/* ---- what the operator's command runs ---- */

static bool ends_command(char c) {
    return c == ';' || c == '&' || c == '|' || c == '(' || c == '{' || c == '\n';
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '"' || c == '\'' || c == ')' || c == '}';
}

struct command_word {
    struct str text;
    bool first; /* first word of a command: the program that runs */
};

static bool word_take(struct str *rest, bool *at_start, struct command_word *ret) {
    while (rest->len > 0 && (is_space(rest->at[0]) || ends_command(rest->at[0]))) {
        *at_start = *at_start || ends_command(rest->at[0]);
        *rest = (struct str){rest->at + 1, rest->len - 1};
    }
    size_t length = 0;
    while (length < rest->len && !is_space(rest->at[length]) && !ends_command(rest->at[length]))
        length++;
    *ret = (struct command_word){{rest->at, length}, *at_start};
    *rest = (struct str){rest->at + length, rest->len - length};
    *at_start = false;
    return length > 0;
}

static bool is_one_of(struct str word, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(word, str_of(names[i])))
            return true;
    return false;
}

static bool runs_a_file(struct str word) {
    static const char *const NAMES[] = {"sh",     "bash",   "dash",    "zsh",  "ksh",  ".",
                                        "source", "python", "python3", "node", "ruby", "perl",
                                        "php",    "-f",     "exec",    "env"};
    return is_one_of(path_name(word), NAMES, count_of(NAMES));
}

/* A script that the operator's command runs decides what passes. A file that the command only names may be the thing
 * being checked. */
static bool command_runs(struct str command, struct str path) {
    struct command_word word;
    struct str before = {0};
    for (bool start = true; word_take(&command, &start, &word); before = word.text) {
        struct str name = str_begins(word.text, STR("./"))
                              ? (struct str){word.text.at + 2, word.text.len - 2}
                              : word.text;
        if (str_equal(name, path) && (word.first || runs_a_file(before)))
            return true;
    }
    return false;
}

/* Files from which a program of the command learns what to check: editing them changes the checks. */
static bool command_reads(struct str command, struct str path) {
    static const struct {
        const char *program, *file;
    } READS[] = {{"make", "Makefile"},     {"make", "makefile"},     {"make", "GNUmakefile"},
                 {"npm", "package.json"},  {"pnpm", "package.json"}, {"yarn", "package.json"},
                 {"just", "justfile"},     {"tox", "tox.ini"},       {"nox", "noxfile.py"},
                 {"pytest", "pytest.ini"}, {"pytest", "conftest.py"}};
    struct command_word word;
    for (bool start = true; word_take(&command, &start, &word);)
        for (size_t i = 0; word.first && i < count_of(READS); i++)
            if (str_equal(path_name(word.text), str_of(READS[i].program)) &&
                str_equal(path_name(path), str_of(READS[i].file)))
                return true;
    return false;
}

static void path_add(struct judged_files *to, struct str path) {
    to->tests[to->test_count++] = path;
}

struct judged_files judged_files(const struct work_place *place, const struct git_file *files,
                                 uint32_t count, struct arena *arena) {
    struct judged_files judged = {.tests = arena_new(arena, struct str, count + 1)};
    for (uint32_t i = 0; i < count; i++) {
        struct str path = files[i].path;
        bool judges = !files[i].is_new; /* a new file has not judged anything yet */
        if ((judges &&
             (command_runs(place->command, path) || command_runs(place->check_setup, path))) ||
            judged_matches_any(place->rules.at, place->rules.count, path, arena))
            judged.rules = true;
        else if (judges &&
                 (judged_matches_any(place->protect.at, place->protect.count, path, arena) ||
                  command_reads(place->command, path)))
            path_add(&judged, path);
    }
    return judged;
}

/* Identifies how work is checked: a verdict with another digest does not count. */
struct hash check_digest(const struct work_place *place, const struct settings *settings) {
    struct sha256 sha;
    const struct texts *lists[] = {&place->protect, &place->rules, &place->keys,
                                   &settings->sandbox.sees, &settings->sandbox.writes};
    const struct str texts[] = {place->command, place->setup, place->check_setup};
    const int64_t numbers[] = {settings->sandbox.mode,   settings->sandbox.checks,
                               settings->sandbox.memory, settings->sandbox.processes,
                               settings->sandbox.tools,  place->network};
    sha256_begin(&sha);
    for (size_t i = 0; i < count_of(texts); i++) {
        sha256_add(&sha, texts[i].at ? texts[i].at : "", texts[i].len);
        sha256_add(&sha, "", 1);
    }
    for (size_t i = 0; i < count_of(lists); i++) {
        for (uint32_t k = 0; k < lists[i]->count; k++) {
            sha256_add(&sha, lists[i]->at[k].at, lists[i]->at[k].len);
            sha256_add(&sha, "", 1);
        }
        sha256_add(&sha, "\1", 1);
    }
    sha256_add(&sha, numbers, sizeof numbers);
    return sha256_end(&sha);
}
