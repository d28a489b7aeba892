/* SPDX-License-Identifier: Apache-2.0 */
/* Which task is meant? */
#pragma once

#include "cli/print.h"

struct task_meant {
    char goal[64]; /* whole id */
    char node[LIMIT_NODE_ID + 1], title[200], state[32];
};

/* T7, a goal's id or its beginning. False: typed->trouble says why. */
bool task_find(struct typed *typed, const char *what, struct task_meant *ret);
/* Where a task was typed for a goal: its goal takes the place. False: typed->trouble says why. */
bool task_goal_settle(struct typed *typed, const char *name);
/* Does it look like the id of a task, such as T7 or S1.1.1? */
bool task_is_node(const char *what);
