/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command that prepares a clean checkout, and tries it with the test command on the commit of the target. */
#include "base/memory.h"
#include "cli/child.h"
#include "cli/init/init.h"
#include "cli/place.h"
#include "cli/term.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_MOST = 65536 };

#define VENV "python3 -m venv .venv && .venv/bin/pip install -q "

/* The first matching row wins. */
static const struct {
    const char *file, *has, *setup;
} SETUPS[] = {
    {"pnpm-lock.yaml", NULL, "pnpm install --frozen-lockfile"},
    {"yarn.lock", NULL, "yarn install --frozen-lockfile"},
    {"bun.lockb", NULL, "bun install --frozen-lockfile"},
    {"package-lock.json", NULL, "npm ci"},
    {"npm-shrinkwrap.json", NULL, "npm ci"},
    {"requirements.txt", NULL, VENV "-r requirements.txt"},
    {"Gemfile.lock", NULL, "bundle install"},
    {"composer.lock", NULL, "composer install"},
    {"mix.lock", NULL, "mix deps.get"},
};

bool init_file_has(const char *folder, const char *name, const char *text) {
    static char content[READ_MOST + 2];
    FILE *file = regular_open(folder, name);
    if (!file)
        return false;
    content[0] = '\n'; /* so that "\ncheck:" also matches the first line */
    size_t length = fread(content + 1, 1, READ_MOST, file);
    fclose(file);
    content[1 + length] = 0;
    return !text || strstr(content, text);
}

/* Python tests need no file that declares them. text: NULL, or what one of them has to contain. */
bool init_has_python_tests(const struct init *init, const char *text) {
    static const char *const PLACES[] = {"test_*.py", "tests/test_*.py", "test/test_*.py"};
    char pattern[PATH_MAX + 32];
    bool has = false;
    for (size_t i = 0; i < count_of(PLACES) && !has; i++) {
        glob_t found = {0};
        snprintf(pattern, sizeof pattern, "%s/%s", init->folder, PLACES[i]);
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc && !has; k++)
                has =
                    init_file_has(init->folder, found.gl_pathv[k] + strlen(init->folder) + 1, text);
        globfree(&found);
    }
    return has;
}

static bool is_in_path(const char *name) {
    char path[PATH_MAX];
    return program_find(name, path);
}

/* Where pytest is not installed: that of the virtual environment, or what Python itself has, if there are tests for that;
 * otherwise no command: Python's own passes where it finds no test. A command of the settings stays as it is. */
static void pytest_settle(struct init *init) {
    bool found = init->from && (strcmp(init->from, "test_*.py") == 0 ||
                                init_file_has(init->folder, init->from, NULL));
    if (!found || strcmp(init->command, "pytest") != 0 || is_in_path("pytest"))
        return;
    bool in_venv = strncmp(init->setup, VENV, strlen(VENV)) == 0 &&
                   init_file_has(init->folder, "requirements.txt", "pytest");
    const char *command = in_venv ? ".venv/bin/python -m pytest"
                          : init_has_python_tests(init, "import unittest")
                              ? "python3 -m unittest discover"
                              : "";
    snprintf(init->command, sizeof init->command, "%s", command);
    if (!*command)
        init->from = NULL;
}

void setup_find(struct init *init) {
    for (size_t i = 0; i < count_of(SETUPS) && !init->setup[0]; i++)
        if (init_file_has(init->folder, SETUPS[i].file, SETUPS[i].has))
            snprintf(init->setup, sizeof init->setup, "%s", SETUPS[i].setup);
    pytest_settle(init);
}

/* ---- trying ---- */

/* With the daemon's own program, so it is the sandbox that checks will have. NULL: it could not be tried. */
json_t *checks_try(const struct init *init) {
    char daemon[PATH_MAX];
    struct trouble trouble;
    if (!init->command[0] || !program_find("overseerd", daemon))
        return NULL;
    char *words[] = {daemon,
                     (char *)"--try-checks",
                     (char *)(uintptr_t)init->folder,
                     (char *)"--config",
                     (char *)(uintptr_t)init->file,
                     NULL};
    struct child *child = memory_new(sizeof *child);
    child->words = words;
    child->quiet = true;
    child->what = "check";
    json_t *found = NULL;
    bool ran = child_run(child, &trouble);
    for (char *line = child->output, *end; ran && !found && (end = strchr(line, '\n'));
         line = end + 1) {
        found = json_loadb(line, (size_t)(end - line), 0, NULL);
        if (!json_is_string(json_object_get(found, "stage"))) { /* log lines may be JSON, too */
            json_decref(found);
            found = NULL;
        }
    }
    free(child);
    return found;
}

static void lines_tell(const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        printf("    %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

void tools_tell(const json_t *tried) {
    const json_t *tools = json_object_get(tried, "tools"), *tool;
    size_t i;
    json_array_foreach(tools, i, tool)
        printf("%s%s", i ? ", " : "  they find   ", json_string_value(tool));
    if (json_array_size(tools) > 0)
        printf(" (without logins)\n");
}

void checks_tell(const json_t *tried) {
    if (!tried)
        return;
    const char *stage = json_string_value(json_object_get(tried, "stage")),
               *branch = json_string_value(json_object_get(tried, "branch")),
               *commit = json_string_value(json_object_get(tried, "commit")),
               *output = json_string_value(json_object_get(tried, "said"));
    if (strcmp(stage, "start") == 0) {
        printf("  not tried   %s\n", output);
        return;
    }
    if (json_integer_value(json_object_get(tried, "exit")) == 0) {
        printf("  tried       %s passes at %.12s\n", branch, commit);
        return;
    }
    if (json_integer_value(json_object_get(tried, "exit")) == -2) {
        printf("  not tried   %s takes longer than ten minutes at %.12s\n",
               strcmp(stage, "setup") == 0 ? "verify.setup" : "verify.command", commit);
        return;
    }
    printf("  tried       %s FAILS its own %s at %.12s:\n", branch,
           strcmp(stage, "setup") == 0 ? "verify.setup" : "verify.command", commit);
    lines_tell(output);
    printf("    Until it passes, work that fails waits and is not sent to an agent. Mend %s, or "
           "change the command.\n",
           branch);
}
