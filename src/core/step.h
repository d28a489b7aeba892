/* SPDX-License-Identifier: Apache-2.0 */
/* One thing happened. What changes, and what is to be done about it?
 *
 * Pure: reads the world it is handed, never the clock; signal->at is the only now; ids come from the
 * goal and an ordinal kept in it. */
#pragma once

#include "model/decision.h"

enum { CORE_VERSION = 1 };

struct world {
    const struct goal *goal; /* NULL: there is none */
    bool seen;               /* this signal's source has been applied before */
};

struct decision step(const struct world *world, const struct signal *signal,
                     const struct policy *policy, struct arena *out);

/* The goal is set aside: a step about it broke a promise, or the database refused what it wrote. */
struct decision step_quarantine(const struct goal *goal, const struct signal *signal,
                                const struct policy *policy, struct str why, struct arena *out);
