/* SPDX-License-Identifier: Apache-2.0 */
/* How is a goal paused, resumed, completed, opened again, cancelled, archived, and how is its question answered? */
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

#define MOVE(verb, status, fields, words, example) \
    { \
        .name = "goal." verb, .summary = words, \
        .help = "Example: overseer goal " verb " GOAL" example, .kind = OP_WRITES, \
        .params = fields, .param_count = count_of(fields), .positional = 1, .to = status, \
        .signal = signal \
    }

const struct op OP_GOAL_PAUSE =
    MOVE("pause", GOAL_PAUSED, PARAMS, "Begin nothing more for a goal; what runs may end.", "");
const struct op OP_GOAL_RESUME =
    MOVE("resume", GOAL_ACTIVE, PARAMS, "Let a paused goal go on.", "");
const struct op OP_GOAL_COMPLETE =
    MOVE("complete", GOAL_COMPLETED, WITH_REASON,
         "Call a goal done by your own word, on the record.", " --reason \"released by hand\"");
const struct op OP_GOAL_REOPEN = MOVE("reopen", GOAL_ACTIVE, WITH_REASON,
                                      "Open a completed goal again.", " --reason \"it came back\"");
const struct op OP_GOAL_CANCEL =
    MOVE("cancel", GOAL_CANCELLED, PARAMS, "Stop a goal for good; what runs may end.",
         " --reason \"not wanted any more\"");
const struct op OP_GOAL_ARCHIVE =
    MOVE("archive", GOAL_ARCHIVED, PARAMS, "Put a finished goal away; it can still be read.", "");
const struct op OP_GOAL_RELEASE =
    MOVE("release", GOAL_STATUSES, WITH_REASON,
         "Say that you have looked at what failed or is unconfirmed; it is not asked again.",
         " --reason \"it had been done\"");
