/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tasks in a file: lines that begin like list items; a ticked one is already done. */
#include "base/memory.h"
#include "cli/run.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool task_add(struct tasks_read *tasks, const char *text, size_t length) {
    if (tasks->count == TASKS_MOST)
        return false;
    tasks->at = memory_grow(tasks->at, (tasks->count + 1) * sizeof *tasks->at);
    tasks->at[tasks->count++] = memory_text(text, length < TASK_MOST ? length : TASK_MOST);
    return true;
}

/* A line below a task: adds it to the text of the task. */
static void task_grow(struct tasks_read *tasks, const char *text, size_t length) {
    char **last = &tasks->at[tasks->count - 1];
    size_t had = strlen(*last);
    if (had + length + 2 > TASK_MOST)
        return;
    *last = memory_grow(*last, had + length + 2);
    snprintf(*last + had, length + 2, "\n%.*s", (int)length, text);
}

/* "- [ ] do X", "* do X", "1. do X"; NULL: not a list item. */
static const char *item_text(const char *line, bool *ret_done) {
    const char *at = line + strspn(line, " \t");
    size_t digits = strspn(at, "0123456789");
    *ret_done = false;
    if (at - line > 1)
        return NULL; /* indented: it belongs to the line above */
    if (digits > 0 && (at[digits] == '.' || at[digits] == ')') && at[digits + 1] == ' ')
        at += digits + 2;
    else if ((*at == '-' || *at == '*' || *at == '+') && at[1] == ' ')
        at += 2;
    else
        return NULL;
    if (at[0] == '[' && at[1] && at[2] == ']') {
        *ret_done = at[1] != ' ';
        at += 3;
    }
    return at + strspn(at, " \t");
}

static bool line_take(struct tasks_read *tasks, const char *line, bool *below) {
    bool done;
    const char *item = item_text(line, &done);
    if (item) {
        *below = !done && *item;
        return !*below || task_add(tasks, item, strlen(item));
    }
    const char *text = line + strspn(line, " \t");
    if (text == line) {
        *below = *below && !*line; /* an empty line does not end a task */
        return true;
    }
    if (*below && *text)
        task_grow(tasks, text, strlen(text));
    return true;
}

bool tasks_one(const char *text, struct tasks_read *ret) {
    return task_add(ret, text, strlen(text));
}

bool tasks_load(struct typed *typed, const char *path, struct tasks_read *ret) {
    char line[TASK_MOST];
    bool below = false, well = true;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file)
        return trouble_make(&typed->trouble, ERROR_NOT_FOUND, "%.300s cannot be read: %s.", path,
                            strerror(errno));
    while (well && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        well = line_take(ret, line, &below);
    }
    if (file != stdin)
        fclose(file);
    if (!well)
        return trouble_make(&typed->trouble, ERROR_INVALID, "%.300s has more than %d tasks.", path,
                            TASKS_MOST);
    if (ret->count > 0)
        return true;
    trouble_make(&typed->trouble, ERROR_INVALID, "%.300s contains no open task.", path);
    trouble_next(&typed->trouble, "A task is a line such as: - [ ] fix the failing test");
    return false;
}

void tasks_free(struct tasks_read *tasks) {
    for (uint32_t i = 0; i < tasks->count; i++)
        free(tasks->at[i]);
    free(tasks->at);
}

/* The nearest folder above that is a git repository. */
bool repository_of(const char *folder, char path[PATH_MAX]) {
    char at[PATH_MAX + 8];
    if (!realpath(folder, path))
        return false;
    while (*path) {
        snprintf(at, sizeof at, "%s/.git", path);
        if (access(at, F_OK) == 0)
            return true;
        char *slash = strrchr(path, '/');
        *(slash ? slash : path) = 0;
    }
    return false;
}

bool repository_here(char path[PATH_MAX]) {
    return repository_of(".", path);
}
