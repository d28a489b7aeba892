/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command that prepares a clean checkout, and tries it with the test command on the commit of the target. */
#include "base/memory.h"
#include "cli/child.h"
#include "cli/init/init.h"
#include "cli/place.h"
#include "cli/term.h"

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

static bool is_in_path(const char *name) {
    char path[PATH_MAX];
    return program_find(name, path);
}

/* pytest where it is not installed: that of the virtual environment, or what Python itself has. */
static void pytest_settle(struct init *init) {
    if (strcmp(init->command, "pytest") != 0 || is_in_path("pytest"))
        return;
    bool in_venv = strncmp(init->setup, VENV, strlen(VENV)) == 0 &&
                   init_file_has(init->folder, "requirements.txt", "pytest");
    snprintf(init->command, sizeof init->command, "%s",
             in_venv ? ".venv/bin/python -m pytest" : "python3 -m unittest discover");
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
    printf("  tried       %s FAILS its own %s at %.12s:\n", branch,
           strcmp(stage, "setup") == 0 ? "verify.setup" : "verify.command", commit);
    lines_tell(output);
    printf("    Until it passes, work that fails waits and is not sent to an agent. Mend %s, or "
           "change the command.\n",
           branch);
}
