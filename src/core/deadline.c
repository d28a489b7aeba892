/* SPDX-License-Identifier: Apache-2.0 */
/* The time has come that the goal asked for: what is due? */
#include "core/rules.h"

/* Nothing is open for ever. */
static void effects_due(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    for (uint32_t i = 0; i < goal->open_count;) {
        uint32_t n = goal->open[i].n;
        if (effect_deadline(&goal->open[i]) <= d->signal->at)
            effect_expire(d, &goal->open[i]);
        i +=
            i < goal->open_count && goal->open[i].n == n; /* or it has gone, and the next is here */
    }
}

/* A timer that rings early, or finds everything well, decides nothing and says when it wants to ring again. */
void rule_due(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    effects_due(d);
    int64_t next = goal->workspace ? lane_due(d) : goal->desk ? desk_due(d) : TIME_NEVER;
    if (goal->status == GOAL_ACTIVE) {
        int64_t watch = watch_due(d);
        next = watch < next ? watch : next;
    }
    int64_t questions = questions_due(d);
    next = questions < next ? questions : next;
    for (uint32_t i = 0; i < goal->open_count; i++)
        if (effect_deadline(&goal->open[i]) < next)
            next = effect_deadline(&goal->open[i]);
    d->decision->due_at = next;
}
