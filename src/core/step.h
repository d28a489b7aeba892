/* SPDX-License-Identifier: Apache-2.0 */
/* One thing happened. What changes, and what is to be done about it?
 *
 * Pure: reads the world it is handed, never the clock; signal->at is the only now; ids come from the
 * goal and an ordinal kept in it. */
#pragma once

#include "model/decision.h"

enum {
    CORE_VERSION = 6,
    LEVEL_SUPERVISION = 4 /* of the store: below it somebody is there who cannot read charges */
};

struct world {
    const struct goal *goal; /* NULL: there is none */
    const struct live *live; /* its plan, charges …; NULL: it has none */
    bool seen;               /* this signal's source has been applied before */
    uint64_t era;            /* of the store: raised by each restore */
    uint32_t level;          /* what the fleet has agreed to write */
};

struct decision step(const struct world *world, const struct signal *signal,
                     const struct policy *policy, struct arena *out);

/* What another host sent on was refused: whoever asked finds it among the records. */
struct decision step_refused(const struct world *world, const struct signal *signal,
                             const struct policy *policy, enum error error, struct str why,
                             struct arena *out);

/* The goal is set aside: a step about it broke a promise, or the database refused what it wrote. */
struct decision step_quarantine(const struct goal *goal, const struct signal *signal,
                                const struct policy *policy, struct str why, struct arena *out);
