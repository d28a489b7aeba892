/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tasks from a file, creates them, and finds the current repository. */
#pragma once

#include "cli/typed.h"
#include "model/goal.h"

#include <limits.h>

enum { TASKS_MOST = 500, TASK_MOST = 8000 };

struct tasks_read {
    char **at; /* each task: its first line is the title */
    uint32_t count;
};

bool tasks_one(const char *text, struct tasks_read *ret);
/* Reads the open lines of a Markdown checklist; lines indented below a line belong to it. False: typed->trouble says
 * why. */
bool tasks_load(struct typed *typed, const char *file, struct tasks_read *ret);
void tasks_free(struct tasks_read *tasks);

/* The top folder of the current repository; false: we are in none. */
bool repository_here(char path[PATH_MAX]);
bool repository_of(const char *folder, char path[PATH_MAX]);

/* Creates a goal with one task. False: typed->trouble says why. goal: its whole id; task: such as T7. */
struct task_new {
    const char *title, *text;
    const char *agent; /* NULL: any free agent */
    const char *criterion;
    const char *repo; /* its name; NULL: as the settings say */
    bool wants_answer;
    uint32_t quota; /* percent; 0: no mark */
};
bool task_make(struct typed *typed, const struct task_new *task, char goal[64],
               char name[TASK_NAME]);

/* Starts the daemon if none answers. False: the user was told why not. (up.c) */
bool daemon_ensure(struct typed *typed);

/* The value of a setting as the file has it, in quotes if it is a text; empty: config.show returned no such setting. */
const char *setting_of(const json_t *shown, const char *name);
