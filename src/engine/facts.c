/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/facts.h"

#include "sys/clock.h"

#include <stdio.h>

void facts_read(struct daemon_context *context, struct op_facts *ret) {
    struct ledger_thread *ledger_thread = context->ledger_thread;
    *ret = (struct op_facts){.started_at = context->started_at,
                             .safe = safe_is_on(&ledger_thread->safe)};
    struct ledger_view view = ledger_thread_view(ledger_thread, ret->trouble);
    ret->joined = view.joined && !ret->safe;
    ret->epoch = view.epoch;
    ret->era = view.mark.era;
    ret->stopped = view.mark.stopped;
    ret->host = view.host;
    ret->engine = ledger_thread->store ? ledger_thread->store->driver->name : "";
    struct clock_step step = clock_last_step();
    if (step.at > 0 && clock_wall() - step.at < MINUTES(24 * 60)) {
        ret->clock_step_by = step.by;
        ret->clock_step_at = step.at;
    }
    if (context->waits)
        ret->wait_count = context->waits(context, ret->waits, OP_WAITS);
    if (ret->safe)
        snprintf(ret->trouble, sizeof ret->trouble, "%s", ledger_thread->safe.why);
}
