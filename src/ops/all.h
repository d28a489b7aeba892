/* SPDX-License-Identifier: Apache-2.0 */
/* Declares all operations. Each is defined in the file of its noun and verb. */
#pragma once

#include "ops/op.h"

/* question_answer.c, question_move.c, question_ask.c */
extern const struct op OP_QUESTION_SHOW, OP_QUESTION_ANSWER, OP_QUESTION_APPROVE,
    OP_QUESTION_REJECT, OP_QUESTION_ACK, OP_QUESTION_SNOOZE, OP_QUESTION_UNDO, OP_QUESTION_WITHDRAW,
    OP_QUESTION_ASK;
/* request_send.c, request_list.c */
extern const struct op OP_REQUEST_SEND, OP_REQUEST_RESPOND, OP_REQUEST_LIST;
/* mail_send.c */
extern const struct op OP_MAIL_SEND, OP_MAIL_INBOX, OP_MAIL_ACK;

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
    OP_WORK_OVERRIDE, OP_WORK_FOLLOW, OP_WORK_UPDATE, OP_WORK_RETRY;
extern const struct op OP_RUN_UPDATE;
extern const struct op OP_WORK_LOG, OP_WORK_DIFF; /* work_log.c */
/* daemon_do.c */
extern const struct op OP_TICK_RUN, OP_TICK_WAKE, OP_DAEMON_STOP;
/* token.c */
extern const struct op OP_TOKEN_CREATE, OP_TOKEN_LIST, OP_TOKEN_REVOKE, OP_TOKEN_ROTATE;
extern const struct op OP_API_DESCRIBE; /* api.c */
/* config.c, fleet.c */
extern const struct op OP_CONFIG_SHOW, OP_CONFIG_RELOAD, OP_FLEET_STOP, OP_FLEET_RESUME;
/* agent_update.c, assignment.c */
extern const struct op OP_AGENT_UPDATE, OP_AGENT_COMPLETE, OP_AGENT_PROGRESS, OP_AGENT_STATUS,
    OP_ASSIGNMENT_LIST, OP_ASSIGNMENT_SHOW;
/* handoff.c, admission_show.c */
extern const struct op OP_HANDOFF_LIST, OP_HANDOFF_SHOW, OP_HANDOFF_ADD, OP_BUDGET_SHOW,
    OP_ADMISSION_SHOW, OP_ADMISSION_RELEASE;
extern const struct op OP_LANE_SHOW, OP_LANE_HOLD, OP_LANE_RELEASE; /* lane.c */
/* replay_run.c */
extern const struct op OP_REPLAY_RUN, OP_REPLAY_COMPARE;
extern const struct op OP_EVENTS_LIST, OP_INBOX_LIST, OP_STATUS_SHOW, OP_WHY_SHOW;
