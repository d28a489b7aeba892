/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the task that the user named. */
#pragma once

#include "cli/print/print.h"

struct task_meant {
    char goal[64]; /* whole id */
    char node[LIMIT_NODE_ID + 1], title[200], state[32];
};

/* Finds a task by T7, a goal's id or the beginning of one. False: typed->trouble says why. */
bool task_find(struct typed *typed, const char *what, struct task_meant *ret);
/* If a task was typed where a goal is expected, replaces it by its goal. False: typed->trouble says why. */
bool task_goal_settle(struct typed *typed, const char *name);
/* Does it look like the id of a task, such as T7 or S1.1.1? */
bool task_is_node(const char *what);
