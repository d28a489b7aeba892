/* SPDX-License-Identifier: Apache-2.0 */
/* What is a goal, in memory? Its live state only, of fixed size: history stays in tables. */
#pragma once

#include "base/time.h"
#include "model/limits.h"
#include "model/status.h"

/* An effect that was decided and has not ended. Its body stays in the store. */
struct effect_slot {
    uint32_t n; /* ordinal in the goal, never used twice: (goal, n) names the effect for ever */
    uint32_t kind;
    enum effect_state state;
    uint32_t run_host; /* who claimed it */
    int64_t until;     /* running: when we stop waiting for the outcome */
};

struct goal {
    struct id id;
    uint32_t owner;   /* the host that decides about it */
    uint64_t fence;   /* raised at each take-over; presented with every act */
    uint64_t version; /* raised by each commit, and checked there */
    uint64_t seq;     /* of its newest record */
    struct hash head; /* of its newest record: the end of the chain */
    int64_t due_at;   /* wants a signal then, even if nothing happens */
    bool quarantined; /* set aside: not stepped until a person releases it */

    /* the hot part, encoded by GOAL_HOT */
    enum goal_status status;
    enum need need;
    int64_t created_at, updated_at;
    uint32_t reports;      /* progress reports accepted */
    uint32_t effects_made; /* the next effect's ordinal */
    int64_t last_exit;     /* of the newest command that ended */

    struct effect_slot open[LIMIT_OPEN_EFFECTS]; /* in order of n */
    uint32_t open_count;
};

extern const struct shape GOAL_HOT;

/* The first broken promise in words, or NULL. Runs after every step, and on load. */
const char *goal_broken(const struct goal *goal);

bool goal_is_open(const struct goal *goal);
enum face goal_face(const struct goal *goal);
struct effect_slot *goal_effect(struct goal *goal, uint32_t n); /* NULL: not open */
bool goal_has_effect(const struct goal *goal, enum effect_state state);
int64_t goal_due(const struct goal *goal); /* what due_at has to be */
