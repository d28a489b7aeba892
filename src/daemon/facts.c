/* SPDX-License-Identifier: Apache-2.0 */
/* What does the daemon know of itself? */
#include "daemon/facts.h"

#include "daemon/clock.h"

#include <stdio.h>

void facts_read(struct house *house, struct op_facts *ret) {
    struct keeper *keeper = house->keeper;
    *ret = (struct op_facts){.started_at = house->started_at, .safe = safe_is_on(&keeper->safe)};
    struct ledger_view view = keeper_view(keeper, ret->trouble);
    ret->joined = view.joined && !ret->safe;
    ret->epoch = view.epoch;
    ret->era = view.mark.era;
    ret->stopped = view.mark.stopped;
    ret->host = view.host;
    ret->engine = keeper->store ? keeper->store->driver->name : "";
    struct clock_step step = clock_last_step();
    if (step.at > 0 && clock_wall() - step.at < MINUTES(24 * 60)) {
        ret->clock_step_by = step.by;
        ret->clock_step_at = step.at;
    }
    if (house->waits)
        ret->wait_count = house->waits(house, ret->waits, OP_WAITS);
    if (ret->safe)
        snprintf(ret->trouble, sizeof ret->trouble, "%s", keeper->safe.why);
}
