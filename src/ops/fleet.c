/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that stop and resume the whole fleet. */
#include "ops/all.h"

static const struct field PARAMS[] = {PARAM_REASON(0), PARAM_KEY};

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    ret->kind = (enum signal_kind)call->op->to;
    ret->goal = SYSTEM_GOAL;
    ret->reason = call->args.reason;
    return true;
}

static const struct op_member ORDERED[] = {
    {"goalId", MEMBER_TEXT, true, "the store's own chain of records"},
    {"seq", MEMBER_NUMBER, false, "of its newest record"},
    {"version", MEMBER_NUMBER, false, "0: the store's chain has none"},
};

const struct op OP_FLEET_STOP = {
    .name = "fleet.stop",
    .also = "stop",
    .summary = "Stop starting work on all hosts until `overseer resume`. Everything is kept.",
    .help =
        "Running work may finish; decisions and records continue. The stop persists across restarts, until `overseer resume`.\n"
        "Other hosts learn of it within an eighth of the lease.\n"
        "Example: overseer stop --reason \"looking at the bill\"",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .to = SIGNAL_FLEET_STOP,
    .stops = true,
    OP_MEMBERS(ORDERED),
    .signal = signal,
};

const struct op OP_FLEET_RESUME = {
    .name = "fleet.resume",
    .also = "resume",
    .summary = "Resume a stopped fleet.",
    .help = "Work that was decided in the meantime starts now.\n"
            "Example: overseer resume",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .to = SIGNAL_FLEET_RESUME,
    OP_MEMBERS(ORDERED),
    .signal = signal,
};
