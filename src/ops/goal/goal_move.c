/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that pause, resume, complete, reopen, cancel and archive a goal, and that answer its question. */
#include "ops/all.h"

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED), PARAM_REASON(0), PARAM_KEY,
                                      PARAM_TRACE};
static const struct field WITH_REASON[] = {PARAM_GOAL(FIELD_REQUIRED), PARAM_REASON(FIELD_REQUIRED),
                                           PARAM_KEY, PARAM_TRACE};

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    ret->kind = call->op->to == GOAL_STATUSES ? SIGNAL_GOAL_RELEASE : SIGNAL_GOAL_MOVE;
    ret->goal = call->args.goal_id;
    ret->reason = call->args.reason;
    ret->to = call->op->to;
    return true;
}

#define MOVE(verb, status, fields, roles, words, example) \
    { \
        .name = "goal." verb, .summary = words, .help = "Example: overseer goal " verb example, \
        .kind = OP_WRITES, .may = (roles), OP_PARAMS(fields), .positional = 1, .to = status, \
        .asks_first = (status) == GOAL_CANCELLED, .stops = (status) == GOAL_CANCELLED, \
        .signal = signal \
    }

const struct op OP_GOAL_PAUSE =
    MOVE("pause", GOAL_PAUSED, PARAMS, MAY_MANAGE,
         "Pause a goal: nothing new starts; running work may finish.", " 01JC7Q4T9Z");
const struct op OP_GOAL_RESUME =
    MOVE("resume", GOAL_ACTIVE, PARAMS, MAY_MANAGE, "Resume a paused goal.", " 01JC7Q4T9Z");
const struct op OP_GOAL_COMPLETE = MOVE("complete", GOAL_COMPLETED, WITH_REASON, MAY_HUMAN,
                                        "Mark a goal as done yourself; this is recorded.",
                                        " 01JC7Q4T9Z --reason \"released by hand\"");
const struct op OP_GOAL_REOPEN =
    MOVE("reopen", GOAL_ACTIVE, WITH_REASON, MAY_HUMAN, "Open a completed goal again.",
         " 01JC7Q4T9Z --reason \"it came back\"");
const struct op OP_GOAL_CANCEL = MOVE("cancel", GOAL_CANCELLED, PARAMS, MAY_MANAGE,
                                      "Cancel a goal for good; running work may finish.",
                                      " 01JC7Q4T9Z --reason \"not wanted any more\" --yes");
const struct op OP_GOAL_ARCHIVE =
    MOVE("archive", GOAL_ARCHIVED, PARAMS, MAY_MANAGE,
         "Archive a finished goal; it can still be read.", " 01JC7Q4T9Z");
const struct op OP_GOAL_RELEASE =
    MOVE("release", GOAL_STATUSES, WITH_REASON, MAY_HUMAN,
         "Confirm that you have checked what failed or is unconfirmed; you are not asked again.",
         " 39FCW6H04A --reason \"it had been done\"");
