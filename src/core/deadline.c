/* SPDX-License-Identifier: Apache-2.0 */
/* Handles the timer that a goal asked for: carries out what is due. */
#include "core/effect.h"
#include "core/rules.h"

/* No effect stays open forever. */
static void effects_due(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    for (uint32_t i = 0; i < goal->effects.open_count;) {
        uint32_t n = goal->effects.open[i].n;
        if (effect_deadline(&goal->effects.open[i]) <= d->signal->at)
            effect_expire(d, &goal->effects.open[i]);
        i += i < goal->effects.open_count &&
             goal->effects.open[i].n == n; /* otherwise it was removed, and the next one is at i */
    }
}

/* A timer that fires early, or finds nothing to do, decides nothing and returns when to fire next. */
void rule_due(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    effects_due(d);
    int64_t next = goal->kind.workspace   ? lane_due(d)
                   : goal->kind.admission ? admission_due(d)
                                          : TIME_NEVER;
    if (goal->status == GOAL_ACTIVE) {
        int64_t watch = liveness_due(d);
        next = watch < next ? watch : next;
    }
    int64_t questions = questions_due(d);
    next = questions < next ? questions : next;
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        if (effect_deadline(&goal->effects.open[i]) < next)
            next = effect_deadline(&goal->effects.open[i]);
    d->decision->due_at = next;
}
