/* SPDX-License-Identifier: Apache-2.0 */
/* One thing happened. Which rule answers? */
#include "core/rules.h"

struct rule_row {
    void (*rule)(struct deciding *);
    bool makes_goal; /* the others need one */
};

static const struct rule_row RULES[SIGNAL_KINDS] = {
    [SIGNAL_GOAL_CREATE] = {rule_create, true},    [SIGNAL_GOAL_REPORT] = {rule_report, false},
    [SIGNAL_GOAL_DUE] = {rule_due, false},         [SIGNAL_EFFECT_CLAIM] = {rule_claim, false},
    [SIGNAL_EFFECT_ENDED] = {rule_ended, false},   [SIGNAL_EFFECT_LOST] = {rule_lost, false},
    [SIGNAL_GOAL_UPDATE] = {rule_update, false},   [SIGNAL_GOAL_MOVE] = {rule_move, false},
    [SIGNAL_PLAN_APPLY] = {rule_apply, false},     [SIGNAL_PLAN_REVIEW] = {rule_review, false},
    [SIGNAL_PLAN_APPROVE] = {rule_approve, false}, [SIGNAL_PLAN_REJECT] = {rule_reject, false},
    [SIGNAL_WORK_ADD] = {rule_add, false},         [SIGNAL_WORK_MOVE] = {rule_work, false},
    [SIGNAL_WORK_FOLLOW] = {rule_follow, false},   [SIGNAL_GOAL_RELEASE] = {rule_release, false},
    [SIGNAL_PART_PUT] = {rule_part, false},
};

static void begin(struct deciding *d) {
    if (d->world->goal)
        d->decision->goal = *d->world->goal;
    if (d->world->plan)
        d->decision->plan = *d->world->plan;
}

/* PLAN-16: progress is that of the plan as it is now; nodes that changed become rows. */
static void finish_plan(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct plan *plan = &d->decision->plan;
    goal->percent = plan_percent(plan, NULL);
    goal->working = plan_working(plan);
    for (uint32_t i = 0; i < plan->count; i++)
        if (d->touched[i])
            decide_part(d,
                        (struct part_change){.kind = PART_NODE,
                                             .n = plan->nodes[i].n,
                                             .name = node_id(&plan->nodes[i]),
                                             .body = shape_encode(&NODE, &plan->nodes[i], d->out)});
    must(goal->quarantined || plan_broken(plan, goal) == NULL);
}

/* What every change has in common: a new version, the time, when it is due, and that it is whole. */
static void finish(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    must(d->decision->record_count > 0);
    goal->version++;
    goal->updated_at = d->signal->at;
    if (d->touched)
        finish_plan(d);
    goal->due_at = goal->quarantined ? TIME_NEVER : goal_due(goal);
    must(goal->quarantined || goal_broken(goal) == NULL);
}

/* A refusal leaves nothing behind. */
static struct decision refusal(const struct decision *decision) {
    return (struct decision){
        .verdict = VERDICT_REFUSE, .error = decision->error, .why = decision->why};
}

struct decision step(const struct world *world, const struct signal *signal,
                     const struct policy *policy, struct arena *out) {
    struct decision decision = {0};
    struct deciding d = {
        .world = world, .signal = signal, .policy = policy, .out = out, .decision = &decision};
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
    if (world->goal && world->goal->era != world->era)
        rule_era(&d);
    must(row->rule != NULL); /* orders to the fleet concern no goal */
    row->rule(&d);
    if (decision.verdict == VERDICT_REFUSE)
        return refusal(&decision);
    if (decision.verdict == VERDICT_CHANGE)
        finish(&d);
    return decision;
}

struct decision step_refused(const struct world *world, const struct signal *signal,
                             const struct policy *policy, enum error error, struct str why,
                             struct arena *out) {
    struct decision decision = {0};
    struct deciding d = {
        .world = world, .signal = signal, .policy = policy, .out = out, .decision = &decision};
    begin(&d);
    decide_record(
        &d, RECORD_SIGNAL_REFUSED,
        (struct evidence){.rule = STR("signal.refused"),
                          .reason = str_cut_utf8(signal->reason, LIMIT_REASON),
                          .text = arena_format(out, "%s %.*s", ERRORS[error].code, STR_ARG(why))});
    finish(&d);
    return decision;
}

struct decision step_quarantine(const struct goal *goal, const struct signal *signal,
                                const struct policy *policy, struct str why, struct arena *out) {
    struct decision decision = {0};
    struct world world = {.goal = goal};
    struct deciding d = {
        .world = &world, .signal = signal, .policy = policy, .out = out, .decision = &decision};
    begin(&d);
    decision.goal.quarantined = true;
    decide_record(&d, RECORD_GOAL_QUARANTINED,
                  (struct evidence){.rule = STR("poison"), .text = why});
    finish(&d);
    return decision;
}
