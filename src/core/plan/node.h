/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules do with the nodes of a plan. */
#pragma once

#include "core/deciding.h"

enum node_cause {
    BY_WORK /* by the transition table */,
    BY_ROLLUP /* by its children */,
    BY_OVERRIDE /* by an explicit override */
};
void node_move(struct deciding *, struct node *node, enum node_status to, enum node_cause cause,
               struct evidence evidence);
void plan_edit(struct deciding *, uint32_t more);
void node_touch(struct deciding *, const struct node *node);
void plan_version_raise(struct deciding *, enum plan_reason why, struct evidence evidence);

/* plan_apply.c: a goal that is created with a task: a plan of that one task, called what the goal is called. */
void plan_of_task(struct deciding *);

/* rollup.c: derives everything that follows from a node that moved or a plan that changed. */
void plan_settle(struct deciding *);
void task_finished(struct deciding *, const struct node *node);

/* plan_check.c: what is wrong with a plan that is handed in; empty: nothing. */
struct str plan_check(const struct deciding *, const struct plan_text *text, bool planned);
