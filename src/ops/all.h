/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all operations, in the order in which they are shown. The line of an operation here is all that it needs
 * beside its own file, which defines it: OP_GOAL_SHOW. */
#pragma once

#include "ops/op.h"

#define OP_LIST(OP) \
    OP(STATUS_SHOW) \
    OP(INBOX_LIST) \
    OP(WHY_SHOW) \
    OP(EVENTS_LIST) \
    OP(TASK_RUN) \
    OP(BATCH_CREATE) \
    OP(BATCH_CHANGE) \
    OP(BATCH_HOLD) \
    OP(BATCH_RELEASE) \
    OP(BATCH_LIST) \
    OP(BATCH_SHOW) \
    OP(GOAL_CREATE) \
    OP(GOAL_UPDATE) \
    OP(GOAL_REPORT) \
    OP(GOAL_SHOW) \
    OP(GOAL_LIST) \
    OP(GOAL_TALLY) \
    OP(GOAL_PAUSE) \
    OP(GOAL_RESUME) \
    OP(GOAL_COMPLETE) \
    OP(GOAL_REOPEN) \
    OP(GOAL_CANCEL) \
    OP(GOAL_ARCHIVE) \
    OP(GOAL_RELEASE) \
    OP(PLAN_SHOW) \
    OP(PLAN_APPLY) \
    OP(PLAN_APPROVE) \
    OP(PLAN_REJECT) \
    OP(PLAN_REVIEW) \
    OP(PLAN_HISTORY) \
    OP(PLAN_INSIGHTS) \
    OP(PLAN_RECOMMEND) \
    OP(WORK_ADD) \
    OP(WORK_START) \
    OP(WORK_BLOCK) \
    OP(WORK_UNBLOCK) \
    OP(WORK_DONE) \
    OP(WORK_CANCEL) \
    OP(WORK_OVERRIDE) \
    OP(WORK_FOLLOW) \
    OP(WORK_UPDATE) \
    OP(WORK_LOG) \
    OP(WORK_DIFF) \
    OP(RUN_UPDATE) \
    OP(TICK_RUN) \
    OP(TICK_WAKE) \
    OP(DAEMON_STOP) \
    OP(TOKEN_CREATE) \
    OP(TOKEN_LIST) \
    OP(TOKEN_REVOKE) \
    OP(TOKEN_ROTATE) \
    OP(API_DESCRIBE) \
    OP(CONFIG_SHOW) \
    OP(CONFIG_RELOAD) \
    OP(FLEET_STOP) \
    OP(FLEET_RESUME) \
    OP(WORK_RETRY) \
    OP(AGENT_UPDATE) \
    OP(AGENT_COMPLETE) \
    OP(AGENT_PROGRESS) \
    OP(AGENT_STATUS) \
    OP(ASSIGNMENT_LIST) \
    OP(ASSIGNMENT_SHOW) \
    OP(HANDOFF_LIST) \
    OP(HANDOFF_SHOW) \
    OP(HANDOFF_ADD) \
    OP(ACCOUNT_LIST) \
    OP(BUDGET_SHOW) \
    OP(ADMISSION_SHOW) \
    OP(ADMISSION_RELEASE) \
    OP(REPLAY_RUN) \
    OP(REPLAY_COMPARE) \
    OP(QUESTION_SHOW) \
    OP(QUESTION_ANSWER) \
    OP(QUESTION_APPROVE) \
    OP(QUESTION_REJECT) \
    OP(QUESTION_ACK) \
    OP(QUESTION_SNOOZE) \
    OP(QUESTION_UNDO) \
    OP(QUESTION_WITHDRAW) \
    OP(QUESTION_ASK) \
    OP(REQUEST_SEND) \
    OP(REQUEST_RESPOND) \
    OP(REQUEST_LIST) \
    OP(MAIL_SEND) \
    OP(MAIL_INBOX) \
    OP(MAIL_ACK) \
    OP(LANE_SHOW) \
    OP(LANE_HOLD) \
    OP(LANE_RELEASE) \
    OP(NETWORK_LIST) \
    OP(NETWORK_ALLOW) \
    OP(NETWORK_CHECKS) \
    OP(NETWORK_DENY) \
    OP(NETWORK_FORGET)

#define OP_DECLARED(name) extern const struct op OP_##name;
OP_LIST(OP_DECLARED)
#undef OP_DECLARED
