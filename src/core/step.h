/* SPDX-License-Identifier: Apache-2.0 */
/* Decides one signal: what changes, and which effects follow.
 *
 * Pure: reads only the world that it is passed, never the clock; signal->at is the only current time; ids come from the
 * goal and an ordinal kept in it. */
#pragma once

#include "model/decision.h"

enum {
    CORE_VERSION = 9,
    LEVEL_SUPERVISION = 4, /* of the store: below it a host of the fleet cannot read assignments */
    LEVEL_LANE = 5,        /* below it a host of the fleet does not know the landing lane */
    LEVEL_RETURN =
        6, /* below it a host of the fleet treats an effect that was claimed twice as damage */
    LEVEL_REPOSITORIES =
        7,           /* below it a host of the fleet would lose which repository a goal is in */
    LEVEL_NAMES = 8, /* below it a host of the fleet would lose the number of a goal's name */
    LEVEL_HOST_ACCESS = 9, /* below it a host of the fleet does not know the hosts of a workspace */
    LEVEL_TASK_BATCHES = 10 /* below it a host of the fleet does not know batches of tasks */
};

struct world {
    const struct goal *goal; /* NULL: none */
    const struct live *live; /* its plan, assignments …; NULL: none */
    bool seen;               /* this signal's source has been applied before */
    bool key_used;           /* its key was used for another source */
    uint64_t era;            /* of the store: raised by each restore */
    uint32_t level;          /* level that the fleet has agreed to write */
    int64_t
        clock; /* sum of the steps of the host's clock: bookkeeping, no decision depends on it */
    uint32_t clock_id; /* id of that sum: random, one per state folder; 0: none */
};

/* Returns by how much SIGNAL_CLOCK_STEPPED has to move the stored times of this goal before anything else is decided
 * about it. `now` is the clock of its host. */
int64_t clock_moved(const struct goal *goal, const struct world *world, int64_t now);

struct decision step(const struct world *world, const struct signal *signal,
                     const struct policy *policy, struct arena *out);

/* A signal that another host forwarded was refused: the sender finds the refusal among the records. */
struct decision step_refused(const struct world *world, const struct signal *signal,
                             const struct policy *policy, enum error error, struct str why,
                             struct arena *out);

/* For replay: applies what was stored without a record before a decision. False: there is no such assignment. */
bool samples_apply(const struct samples *samples, struct assignments *assignments);

/* Quarantines the goal: a step about it broke an invariant, or the database refused what it wrote. */
struct decision step_quarantine(const struct goal *goal, const struct signal *signal,
                                const struct policy *policy, struct str why, struct arena *out);
