/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that adds a node to a plan. */
#include "ops/all.h"

static const struct field PARAMS[] = {
    PARAM_GOAL(FIELD_REQUIRED), PARAM_VERSION, PARAM_REASON(0), PARAM_KEY, PARAM_TRACE,
};

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    struct plan_text one = {{&call->args.row, 1}};
    ret->kind = SIGNAL_WORK_ADD;
    ret->goal = call->args.goal_id;
    ret->body = shape_encode(&PLAN_TEXT, &one, &call->arena);
    ret->plan.expected = call->args.version;
    ret->reason = call->args.reason;
    return true;
}

const struct op OP_WORK_ADD = {
    .name = "work.add",
    .summary = "Add a phase, task or subtask to a goal's plan.",
    .help =
        "Without --id it gets the next free id. A node that was done becomes open again when work is added below it.\n"
        "Example: overseer work add 01JC7Q4T9Z --tier subtask --parent-id T1.1 --name \"write the tests\""
        " --acceptance-criteria \"make check passes\"",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .positional = 1,
    .words = &PLAN_ROW,
    .words_offset = offsetof(struct op_args, row),
    .signal = signal,
};
