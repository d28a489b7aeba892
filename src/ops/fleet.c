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
    {"version", MEMBER_NUMBER, false, "0: the store itself has none"},
};

const struct op OP_FLEET_STOP = {
    .name = "fleet.stop",
    .also = "stop",
    .summary = "Begin nothing more, on any host, until you say resume. Everything is kept.",
    .help =
        "What runs may end; deciding and recording go on. It holds across restarts, until `overseer resume`.\n"
        "Other hosts hear of it within an eighth of the lease.\n"
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
    .summary = "Let a stopped fleet go on.",
    .help = "What was decided meanwhile is begun now.\n"
            "Example: overseer resume",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .to = SIGNAL_FLEET_RESUME,
    OP_MEMBERS(ORDERED),
    .signal = signal,
};
