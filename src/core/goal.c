/* SPDX-License-Identifier: Apache-2.0 */
/* Goals: begins an aggregate, and changes its status. */
#include "core/goal.h"

void aggregate_begin(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    goal->id = d->signal->goal;
    goal->kind.admission = d->signal->admission;
    goal->owner = d->signal->host ? d->signal->host : d->signal->admission;
    goal->fence = 1;
    goal->status = GOAL_ACTIVE;
    goal->priority = PRIORITY_NORMAL;
    goal->times.created_at = d->signal->at;
    goal->era = d->world->era;
    goal->effects.made = (uint32_t)(d->world->era % LIMIT_ERAS) * LIMIT_ERA_GAP; /* see era.c */
}

void goal_move(struct deciding *d, enum goal_status to) {
    struct goal *goal = &d->decision->goal;
    must(goal_status_may_become(goal->status, to));
    if (goal->status == GOAL_COMPLETED && to == GOAL_ACTIVE) {
        goal->progress.succeeded = 0;
        goal->plan.reopened = 1;
    }
    if (to != GOAL_ARCHIVED)
        goal->times.ended_at = to == GOAL_COMPLETED || to == GOAL_CANCELLED ? d->signal->at : 0;
    goal->status = to;
}
