/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that adds a progress report to a goal. */
#include "ops/all.h"

static const struct field PARAMS[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("text", FIELD_TEXT, text, LIMIT_REPORT, FIELD_REQUIRED, "the report"),
    PARAM("key", FIELD_TEXT, key, LIMIT_KEY, 0,
          "repeating the request with the same key stores one report"),
    PARAM_TRACE,
};

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    ret->kind = SIGNAL_GOAL_REPORT;
    ret->goal = call->args.goal_id;
    ret->text = call->args.text;
    return true;
}

const struct op OP_GOAL_REPORT = {
    .name = "goal.report",
    .summary = "Add a progress report to a goal. It is stored as given and proves nothing.",
    .help = "Example: overseer goal report 01JC7Q4T9Z \"half of the files are converted\"",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .answer = ANSWER_SPOOLED,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 2,
    .signal = signal,
};
