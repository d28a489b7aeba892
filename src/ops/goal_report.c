/* SPDX-License-Identifier: Apache-2.0 */
/* How does somebody say how a goal goes? */
#include "ops/op.h"

static const struct field PARAMS[] = {
    {"goal", FIELD_TEXT, 0, FIELD_OF(op_args, goal), 64, FIELD_REQUIRED, NULL, "the goal's id"},
    {"text", FIELD_TEXT, 0, FIELD_OF(op_args, text), LIMIT_REPORT, FIELD_REQUIRED, NULL,
     "how it goes"},
    {"key", FIELD_TEXT, 0, FIELD_OF(op_args, key), LIMIT_KEY, 0, NULL,
     "repeating the request with the same key reports it once"},
};

static void signal(const struct op_args *args, struct signal *ret_signal) {
    ret_signal->kind = SIGNAL_GOAL_REPORT;
    ret_signal->goal = args->goal_id;
    ret_signal->text = args->text;
}

const struct op OP_GOAL_REPORT = {
    .name = "goal.report",
    .summary = "Add a progress report to a goal. It is kept as said, and proves nothing.",
    .help = "Example: overseer goal report GOAL \"half of the files are converted\"",
    .kind = OP_WRITES,
    .params = PARAMS,
    .param_count = count_of(PARAMS),
    .positional = 2,
    .signal = signal,
};
