/* SPDX-License-Identifier: Apache-2.0 */
/* How does a repository say what "verified" means? Its test command is found, asked for once, and written down. */
#include "cli/command.h"
#include "cli/term.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { COMMAND = 512, READ_MOST = 65536 };

/* The first row that fits wins: a file, and a text that stands in it. */
static const struct {
    const char *file, *has, *command;
} KNOWN[] = {
    {"pnpm-lock.yaml", NULL, "pnpm test"},
    {"yarn.lock", NULL, "yarn test"},
    {"bun.lockb", NULL, "bun test"},
    {"package.json", "\"test\"", "npm test"},
    {"deno.json", NULL, "deno test"},
    {"Makefile", "\ncheck:", "make check"},
    {"Makefile", "\ntest:", "make test"},
    {"GNUmakefile", "\ncheck:", "make check"},
    {"meson.build", "test(", "meson setup --wipe build && meson test -C build"},
    {"Cargo.toml", NULL, "cargo test"},
    {"tox.ini", NULL, "tox"},
    {"pytest.ini", NULL, "pytest"},
    {"pyproject.toml", NULL, "pytest"},
    {"setup.py", NULL, "pytest"},
    {"go.mod", NULL, "go test ./..."},
    {"CMakeLists.txt", "enable_testing",
     "cmake -B build && cmake --build build && ctest --test-dir build"},
    {"pom.xml", NULL, "mvn -q test"},
    {"gradlew", NULL, "./gradlew test"},
    {"mix.exs", NULL, "mix test"},
    {"Package.swift", NULL, "swift test"},
    {"composer.json", "\"test\"", "composer test"},
    {"Rakefile", NULL, "bundle exec rake test"},
    {"Makefile", NULL, "make"},
};

struct init {
    char folder[PATH_MAX - 64], file[PATH_MAX];
    char command[COMMAND]; /* empty: none */
    const char *from;      /* the file that it was found by */
};

/* ---- finding ---- */

static bool file_has(const char *folder, const char *name, const char *text) {
    char path[PATH_MAX];
    static char content[READ_MOST + 2];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    content[0] = '\n'; /* so that the first line is a line too */
    size_t length = fread(content + 1, 1, READ_MOST, file);
    fclose(file);
    content[1 + length] = 0;
    return !text || strstr(content, text);
}

static void command_find_in(struct init *init) {
    for (size_t i = 0; i < count_of(KNOWN); i++)
        if (file_has(init->folder, KNOWN[i].file, KNOWN[i].has)) {
            snprintf(init->command, sizeof init->command, "%s", KNOWN[i].command);
            init->from = KNOWN[i].file;
            return;
        }
}

/* The folder above that git knows, or else just this one. */
static bool folder_find(struct init *init, const char *given) {
    char path[PATH_MAX], at[PATH_MAX];
    if (!realpath(given ? given : ".", path) || strlen(path) >= sizeof init->folder)
        return false;
    snprintf(init->folder, sizeof init->folder, "%.*s", PATH_MAX - 65, path);
    while (!given && *path) {
        snprintf(at, sizeof at, "%.*s/.git", PATH_MAX - 8, path);
        if (access(at, F_OK) == 0) {
            snprintf(init->folder, sizeof init->folder, "%.*s", PATH_MAX - 65, path);
            break;
        }
        char *slash = strrchr(path, '/');
        *(slash ? slash : path) = 0;
    }
    snprintf(init->file, sizeof init->file, "%s/.overseer.toml", init->folder);
    return true;
}

/* ---- asking ---- */

/* Once; nothing typed takes what was found, a dash means none. */
static void command_ask(struct init *init) {
    char answer[COMMAND];
    if (init->from)
        fprintf(stderr, "%s is there.\n", init->from);
    fprintf(stderr, "What has to succeed before work counts as verified?\n[%s] ",
            *init->command ? init->command : "nothing: work stays unverified");
    if (!fgets(answer, sizeof answer, stdin))
        return;
    answer[strcspn(answer, "\n")] = 0;
    if (strcmp(answer, "-") == 0)
        init->command[0] = 0;
    else if (*answer)
        snprintf(init->command, sizeof init->command, "%s", answer);
}

static bool command_settle(struct typed *typed, struct init *init) {
    const char *given = typed_text(typed, "test-command");
    command_find_in(init);
    if (given) {
        init->from = NULL;
        if (strlen(given) >= sizeof init->command)
            return trouble_make(&typed->trouble, ERROR_INVALID,
                                "The test command is too long; put it into a script.");
        snprintf(init->command, sizeof init->command, "%s", given);
    } else if (!typed->yes && term_can_ask())
        command_ask(init);
    else if (!typed->yes && !typed->dry_run) {
        trouble_make(&typed->trouble, ERROR_INVALID, "Nobody can be asked here%s%s%s.",
                     *init->command ? ", but `" : "", init->command,
                     *init->command ? "` looks right" : "");
        trouble_next(&typed->trouble, "Take it with --yes, or say it with --test-command.");
        return false;
    }
    return true;
}

/* ---- writing ---- */

static void toml_text(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(file, "\\u%04X", *at);
        else
            fputc(*at, file);
    fputc('"', file);
}

static void content_write(FILE *file, const struct init *init) {
    fprintf(
        file,
        "# Overseer's settings for this repository. What else there is: man overseer.toml\n\n"
        "[verify]\n"
        "# Work counts as verified once this succeeds on the exact commit, in a clean checkout.\n"
        "%scommand = ",
        *init->command ? "" : "# ");
    toml_text(file, *init->command ? init->command : "make check");
    fprintf(file, "\n");
}

static bool file_write(struct typed *typed, const struct init *init) {
    bool there = access(init->file, F_OK) == 0;
    if (there && !typed->yes) {
        trouble_make(&typed->trouble, ERROR_CONFLICT, "%s is there already.", init->file);
        trouble_next(&typed->trouble, "Edit it, or write it anew with --yes.");
        return false;
    }
    FILE *file = fopen(init->file, "we");
    if (file)
        content_write(file, init);
    if (!file || fclose(file) != 0)
        return trouble_make(&typed->trouble, ERROR_REFUSED_BY_STORE, "%s cannot be written: %s.",
                            init->file, strerror(errno));
    return true;
}

static int init_tell(const struct typed *typed, const struct init *init) {
    json_t *json = json_pack("{s:s, s:s?, s:s?}", "file", init->file, "command",
                             *init->command ? init->command : NULL, "found", init->from);
    if (typed->as_json && json) {
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
    } else if (*init->command)
        printf("%s: work is verified by `%s`.\n", init->file, init->command);
    else
        printf("%s: no test command, so work stays unverified.\n", init->file);
    json_decref(json);
    if (!typed->as_json)
        hint("Next: overseer up");
    return 0;
}

int init_run(struct typed *typed) {
    struct init init = {0};
    if (!folder_find(&init, typed_text(typed, "folder"))) {
        trouble_make(&typed->trouble, ERROR_NOT_FOUND, "There is no such folder: %s.",
                     strerror(errno));
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    if (!command_settle(typed, &init))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (typed->dry_run) {
        content_write(stdout, &init);
        return 0;
    }
    return file_write(typed, &init) ? init_tell(typed, &init)
                                    : trouble_tell(&typed->trouble, typed->as_json);
}
