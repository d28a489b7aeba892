/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the daemon itself: tick, wake and stop. API-04. */
#include "ops/all.h"

/* A signal without a kind belongs to no goal: the ledger thread takes it as the request to look for due work now. */
static bool tick(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    ret->kind = SIGNAL_NONE;
    ret->reason = call->args.reason;
    return true;
}

static const struct field TICK_PARAMS[] = {
    PARAM_REASON(0),
};

static const struct op_member TICKED[] = {
    {"ok", MEMBER_FLAG, true, "the check has run"},
    {"didWork", MEMBER_FLAG, true, "a decision was made and stored"},
};

const struct op OP_TICK_RUN = {
    .name = "tick.run",
    .also = "tick",
    .summary = "Process everything that is due now, and report whether there was something to do.",
    .help =
        "The daemon does this continuously; this command waits until it has happened once more.\n"
        "Example: overseer tick --now",
    .kind = OP_WRITES,
    OP_PARAMS(TICK_PARAMS),
    .may = MAY_MANAGE,
    OP_MEMBERS(TICKED),
    .signal = tick,
};

static const struct op_member DONE[] = {
    {"ok", MEMBER_FLAG, true, "the daemon got the request"},
};

const struct op OP_TICK_WAKE = {
    .name = "tick.wake",
    .also = "wake",
    .summary = "Ask the daemon to process everything that is due now, without waiting for it.",
    .help = "For external timers and hooks.\nExample: overseer wake",
    .kind = OP_LOCAL,
    .may = MAY_MANAGE,
    OP_MEMBERS(DONE),
};

const struct op OP_DAEMON_STOP = {
    .name = "daemon.stop",
    .summary =
        "Stop the daemon: waiting writes are committed first; agents and commands keep running.",
    .help = "Example: overseer down",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    .asks_first = true,
    OP_MEMBERS(DONE),
};
