/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be done, as somebody wrote it down? And where are we? */
#pragma once

#include "cli/typed.h"

#include <limits.h>

enum { TASKS_MOST = 500, TASK_MOST = 8000 };

struct tasks_read {
    char **at; /* each of them: the first line is its title */
    uint32_t count;
};

bool tasks_one(const char *text, struct tasks_read *ret);
/* The open lines of a checklist in Markdown; what stands indented below a line belongs to it. False: typed->trouble. */
bool tasks_load(struct typed *typed, const char *file, struct tasks_read *ret);
void tasks_free(struct tasks_read *tasks);

/* The top folder of the repository that we are in; false: we are in none. */
bool repository_here(char path[PATH_MAX]);
bool repository_of(const char *folder, char path[PATH_MAX]);

/* A goal with one task. False: typed->trouble. goal: its whole id; task: such as T7. */
struct task_new {
    const char *title, *text;
    const char *agent; /* NULL: whoever is free */
    const char *criterion;
};
bool task_make(struct typed *typed, const struct task_new *task, char goal[64], char node[16]);

/* Starts the daemon if nobody answers. False: the person was told why not. (up.c) */
bool daemon_ensure(struct typed *typed);

/* As the file has it, between quotes where it is a text; empty: there is no such setting in what config.show gave. */
const char *setting_of(const json_t *shown, const char *name);
