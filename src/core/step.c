/* SPDX-License-Identifier: Apache-2.0 */
/* One thing happened. Which rule answers? */
#include "core/rules.h"

struct rule_row {
    void (*rule)(struct deciding *);
    bool makes_goal; /* the others need one */
};

static const struct rule_row RULES[SIGNAL_KINDS] = {
    [SIGNAL_GOAL_CREATE] = {rule_create, true},  [SIGNAL_GOAL_REPORT] = {rule_report, false},
    [SIGNAL_GOAL_DUE] = {rule_due, false},       [SIGNAL_EFFECT_CLAIM] = {rule_claim, false},
    [SIGNAL_EFFECT_ENDED] = {rule_ended, false}, [SIGNAL_EFFECT_LOST] = {rule_lost, false},
};

static void begin(struct deciding *d) {
    if (d->world->goal)
        d->decision->goal = *d->world->goal;
}

/* What every change has in common: a new version, the time, when it is due, and that it is whole. */
static void finish(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    must(d->decision->record_count > 0);
    goal->version++;
    goal->updated_at = d->signal->at;
    goal->due_at = goal->quarantined ? TIME_NEVER : goal_due(goal);
    must(goal->quarantined || goal_broken(goal) == NULL);
}

struct decision step(const struct world *world, const struct signal *signal,
                     const struct policy *policy, struct arena *out) {
    struct decision decision = {0};
    struct deciding d = {world, signal, policy, out, &decision};
    must(signal->kind > SIGNAL_NONE && signal->kind < SIGNAL_KINDS);
    const struct rule_row *row = &RULES[signal->kind];
    begin(&d);
    if (world->seen)
        return decision; /* applied before: nothing is done twice */
    if (!world->goal && !row->makes_goal) {
        decide_refuse(&d, ERROR_NOT_FOUND);
        return decision;
    }
    must(!world->goal || goal_broken(world->goal) == NULL);
    row->rule(&d);
    if (decision.verdict == VERDICT_CHANGE)
        finish(&d);
    return decision;
}

struct decision step_quarantine(const struct goal *goal, const struct signal *signal,
                                const struct policy *policy, struct str why, struct arena *out) {
    struct decision decision = {0};
    struct world world = {.goal = goal};
    struct deciding d = {&world, signal, policy, out, &decision};
    begin(&d);
    decision.goal.quarantined = true;
    decide_record(&d, RECORD_GOAL_QUARANTINED,
                  (struct evidence){.rule = STR("poison"), .text = why});
    finish(&d);
    return decision;
}
