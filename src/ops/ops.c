/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations: one line for each. */
#include "ops/op.h"

#include "ops/all.h"

const struct op *const OPS[] = {
    &OP_STATUS_SHOW,    &OP_INBOX_LIST,        &OP_WHY_SHOW,         &OP_EVENTS_LIST,
    &OP_GOAL_CREATE,    &OP_GOAL_UPDATE,       &OP_GOAL_REPORT,      &OP_GOAL_SHOW,
    &OP_GOAL_LIST,      &OP_GOAL_TALLY,        &OP_GOAL_PAUSE,       &OP_GOAL_RESUME,
    &OP_GOAL_COMPLETE,  &OP_GOAL_REOPEN,       &OP_GOAL_CANCEL,      &OP_GOAL_ARCHIVE,
    &OP_GOAL_RELEASE,   &OP_PLAN_SHOW,         &OP_PLAN_APPLY,       &OP_PLAN_APPROVE,
    &OP_PLAN_REJECT,    &OP_PLAN_REVIEW,       &OP_PLAN_HISTORY,     &OP_PLAN_INSIGHTS,
    &OP_PLAN_RECOMMEND, &OP_WORK_ADD,          &OP_WORK_START,       &OP_WORK_BLOCK,
    &OP_WORK_UNBLOCK,   &OP_WORK_DONE,         &OP_WORK_CANCEL,      &OP_WORK_OVERRIDE,
    &OP_WORK_FOLLOW,    &OP_WORK_UPDATE,       &OP_WORK_LOG,         &OP_WORK_DIFF,
    &OP_RUN_UPDATE,     &OP_TICK_RUN,          &OP_TICK_WAKE,        &OP_DAEMON_STOP,
    &OP_TOKEN_CREATE,   &OP_TOKEN_LIST,        &OP_TOKEN_REVOKE,     &OP_TOKEN_ROTATE,
    &OP_API_DESCRIBE,   &OP_CONFIG_SHOW,       &OP_CONFIG_RELOAD,    &OP_FLEET_STOP,
    &OP_FLEET_RESUME,   &OP_WORK_RETRY,        &OP_AGENT_UPDATE,     &OP_AGENT_COMPLETE,
    &OP_AGENT_PROGRESS, &OP_AGENT_STATUS,      &OP_ASSIGNMENT_LIST,  &OP_ASSIGNMENT_SHOW,
    &OP_HANDOFF_LIST,   &OP_HANDOFF_SHOW,      &OP_HANDOFF_ADD,      &OP_BUDGET_SHOW,
    &OP_ADMISSION_SHOW, &OP_ADMISSION_RELEASE, &OP_REPLAY_RUN,       &OP_REPLAY_COMPARE,
    &OP_QUESTION_SHOW,  &OP_QUESTION_ANSWER,   &OP_QUESTION_APPROVE, &OP_QUESTION_REJECT,
    &OP_QUESTION_ACK,   &OP_QUESTION_SNOOZE,   &OP_QUESTION_UNDO,    &OP_QUESTION_WITHDRAW,
    &OP_QUESTION_ASK,   &OP_REQUEST_SEND,      &OP_REQUEST_RESPOND,  &OP_REQUEST_LIST,
    &OP_MAIL_SEND,      &OP_MAIL_INBOX,        &OP_MAIL_ACK,         &OP_LANE_SHOW,
    &OP_LANE_HOLD,      &OP_LANE_RELEASE,
};
const size_t OP_COUNT = count_of(OPS);

const struct op *op_find(struct str name) {
    static const struct str OURS = STR("overseer.");
    if (name.len > OURS.len && memcmp(name.at, OURS.at, OURS.len) == 0)
        name = (struct str){name.at + OURS.len, name.len - OURS.len};
    for (size_t i = 0; i < OP_COUNT; i++)
        if (str_equal(str_of(OPS[i]->name), name) ||
            (OPS[i]->also && str_equal(str_of(OPS[i]->also), name)) ||
            (OPS[i]->alias && str_equal(str_of(OPS[i]->alias), name)))
            return OPS[i];
    return NULL;
}
