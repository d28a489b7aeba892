/* SPDX-License-Identifier: Apache-2.0 */
/* One thing happened. What changes, and what is to be done about it?
 *
 * Pure: reads the world it is handed, never the clock; signal->at is the only now; ids come from the
 * goal and an ordinal kept in it. */
#pragma once

#include "model/decision.h"

enum {
    CORE_VERSION = 8,
    LEVEL_SUPERVISION = 4, /* of the store: below it a host of the fleet cannot read charges */
    LEVEL_LANE = 5,        /* below it a host of the fleet does not know the landing lane */
    LEVEL_RETURN =
        6 /* below it a host of the fleet calls an effect that was claimed twice damage */
};

struct world {
    const struct goal *goal; /* NULL: there is none */
    const struct live *live; /* its plan, charges …; NULL: it has none */
    bool seen;               /* this signal's source has been applied before */
    bool key_used;           /* its key has been used for another source */
    uint64_t era;            /* of the store: raised by each restore */
    uint32_t level;          /* what the fleet has agreed to write */
    int64_t
        clock; /* the sum of the steps of the host's clock: bookkeeping, nothing is decided from it */
    uint32_t clock_id; /* names that count: random, one for each state folder; 0: there is none */
};

/* By how much do the stored times of this goal have to be moved, by SIGNAL_CLOCK_STEPPED, before anything else is decided about it?
 * `now` is the clock of its host. */
int64_t clock_moved(const struct goal *goal, const struct world *world, int64_t now);

struct decision step(const struct world *world, const struct signal *signal,
                     const struct policy *policy, struct arena *out);

/* What another host sent on was refused: whoever asked finds it among the records. */
struct decision step_refused(const struct world *world, const struct signal *signal,
                             const struct policy *policy, enum error error, struct str why,
                             struct arena *out);

/* For replay: what was stored without a record before a decision. False: there is no such assignment. */
bool samples_apply(const struct samples *samples, struct charges *charges);

/* The goal is set aside: a step about it broke a promise, or the database refused what it wrote. */
struct decision step_quarantine(const struct goal *goal, const struct signal *signal,
                                const struct policy *policy, struct str why, struct arena *out);
