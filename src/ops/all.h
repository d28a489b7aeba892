/* SPDX-License-Identifier: Apache-2.0 */
/* Where do all the operations stand? Each in the file of its noun and verb. */
#pragma once

#include "ops/op.h"

extern const struct op OP_GOAL_CREATE, OP_GOAL_UPDATE, OP_GOAL_REPORT, OP_GOAL_SHOW, OP_GOAL_LIST,
    OP_GOAL_TALLY;
/* goal_move.c */
extern const struct op OP_GOAL_PAUSE, OP_GOAL_RESUME, OP_GOAL_COMPLETE, OP_GOAL_REOPEN,
    OP_GOAL_CANCEL, OP_GOAL_ARCHIVE, OP_GOAL_RELEASE;
extern const struct op OP_PLAN_SHOW, OP_PLAN_APPLY, OP_PLAN_HISTORY;
/* plan_review.c */
extern const struct op OP_PLAN_APPROVE, OP_PLAN_REJECT, OP_PLAN_REVIEW;
/* plan_graph.c */
extern const struct op OP_PLAN_INSIGHTS, OP_PLAN_RECOMMEND;
extern const struct op OP_WORK_ADD;
/* work_move.c */
extern const struct op OP_WORK_START, OP_WORK_BLOCK, OP_WORK_UNBLOCK, OP_WORK_DONE, OP_WORK_CANCEL,
    OP_WORK_OVERRIDE, OP_WORK_FOLLOW;
extern const struct op OP_RUN_UPDATE;
