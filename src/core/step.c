/* SPDX-License-Identifier: Apache-2.0 */
/* Decides one signal: calls its rule, and finishes the decision. */
#include "core/admission/permit.h"
#include "core/assignment.h"
#include "core/liveness.h"
#include "core/rules.h"
#include "core/run_host.h"

struct rule_row {
    void (*rule)(struct deciding *);
    bool makes_goal; /* the other rules need one */
};

static const struct rule_row RULES[SIGNAL_KINDS] = {
    [SIGNAL_GOAL_CREATE] = {rule_create, true},
    [SIGNAL_GOAL_REPORT] = {rule_report, false},
    [SIGNAL_GOAL_DUE] = {rule_due, false},
    [SIGNAL_EFFECT_CLAIM] = {rule_claim, false},
    [SIGNAL_EFFECT_ENDED] = {rule_ended, false},
    [SIGNAL_EFFECT_LOST] = {rule_lost, false},
    [SIGNAL_GOAL_UPDATE] = {rule_update, false},
    [SIGNAL_GOAL_MOVE] = {rule_move, false},
    [SIGNAL_PLAN_APPLY] = {rule_apply, false},
    [SIGNAL_PLAN_REVIEW] = {rule_review, false},
    [SIGNAL_PLAN_APPROVE] = {rule_approve, false},
    [SIGNAL_PLAN_REJECT] = {rule_reject, false},
    [SIGNAL_WORK_ADD] = {rule_add, false},
    [SIGNAL_WORK_MOVE] = {rule_work, false},
    [SIGNAL_WORK_FOLLOW] = {rule_follow, false},
    [SIGNAL_GOAL_RELEASE] = {rule_release, false},
    [SIGNAL_PART_PUT] = {rule_part, false},
    [SIGNAL_AGENT_SEEN] = {rule_seen, false},
    [SIGNAL_AGENT_UPDATE] = {rule_agent_update, false},
    [SIGNAL_AGENT_ASK] = {rule_agent_ask, false},
    [SIGNAL_QUESTION_ASK] = {rule_ask, false},
    [SIGNAL_QUESTION_ANSWER] = {rule_answer, false},
    [SIGNAL_QUESTION_MOVE] = {rule_question, false},
    [SIGNAL_PERMIT_ASK] = {rule_permit_ask, true},
    [SIGNAL_PERMIT_SETTLE] = {rule_settle, false},
    [SIGNAL_PERMIT_GRANTED] = {rule_granted, false},
    [SIGNAL_PERMIT_DENIED] = {rule_denied, false},
    [SIGNAL_ACCOUNT_LIMITED] = {rule_limited, true},
    [SIGNAL_ADMISSION_RELEASE] = {rule_admission_release, false},
    [SIGNAL_MAIL_SEND] = {rule_mail, false},
    [SIGNAL_MAIL_ACK] = {rule_mail_ack, false},
    [SIGNAL_HANDOFF] = {rule_handoff, false},
    [SIGNAL_WORK_RETRY] = {rule_retry, false},
    [SIGNAL_AGENT_PROGRESS] = {rule_progress, false},
    [SIGNAL_LANE_ASK] = {rule_lane_ask, true},
    [SIGNAL_LANE_GRANTED] = {rule_lane_granted, false},
    [SIGNAL_LANE_RETURN] = {rule_lane_return, false},
    [SIGNAL_LANE_HOLD] = {rule_lane_hold, true},
    [SIGNAL_CLOCK_STEPPED] = {rule_clock, false},
    [SIGNAL_HOST_LOST] = {rule_host_lost, true},
    [SIGNAL_RUN_BRAKED] = {rule_braked, false},
    [SIGNAL_HOST_DENIED] = {rule_host_denied, true},
    [SIGNAL_BATCH_SET] = {rule_batch_set, true},
    [SIGNAL_ACCOUNT_SEEN] = {rule_account_seen, true},
    [SIGNAL_TARGET_CHECKED] = {rule_target_checked, true},
};

static void begin(struct deciding *d) {
    if (d->world->goal) /* with padding: step_check() compares bytes first */
        memcpy(&d->decision->goal, d->world->goal, sizeof d->decision->goal);
    if (d->world->live)
        d->decision->live = *d->world->live;
}

/* Changed rows are stored under their ordinal; nodes and assignments also by name. */
static struct str row_name(struct deciding *d, enum part_kind kind, const void *row) {
    uint32_t n = *(const uint32_t *)row;
    if (kind == PART_NODE)
        return node_id(row);
    return arena_format(d->out, "%s%u", PART[kind].prefix, n);
}

static void rows_store(struct deciding *d, enum part_kind kind) {
    const struct live_rows *rows = live_rows_of(&d->decision->live, kind);
    const struct shape *shape = PART[kind].shape;
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *row = (const char *)rows->at + shape->size * i;
        if (d->touched[kind][i])
            decide_part(d, (struct part_change){.kind = kind,
                                                .n = *(const uint32_t *)(const void *)row,
                                                .name = row_name(d, kind, row),
                                                .body = shape_encode(shape, row, d->out)});
        if (d->touched[kind][i] && kind == PART_ASSIGNMENT)
            assignment_row_write(d, (const struct assignment *)(const void *)row);
    }
}

/* PLAN-16: progress is computed from the current plan. */
static void finish_live(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct plan *plan = &d->decision->plan;
    if (d->touched[PART_NODE]) {
        goal->progress.percent = plan_percent(plan, NULL);
        goal->progress.working = plan_working(plan);
    }
    samples_end(d);
    for (uint32_t kind = 0; kind < PARTS; kind++)
        if (PART[kind].live && d->touched[kind])
            rows_store(d, (enum part_kind)kind);
    must(goal->quarantined || !d->touched[PART_NODE] || plan_broken(plan, goal) == NULL);
    must(goal->quarantined || live_broken(&d->decision->live, goal) == NULL);
}

/* For an aggregate that is no person's goal: a host's admission, or a workspace. */
static void system_go_on(struct deciding *d) {
    if (d->decision->goal.kind.workspace)
        lane_go_on(d);
    else
        admission_go_on(d);
}

/* People call a goal by its number. A goal of an earlier build gets one with its next change. */
static void number_give(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    if (goal->kind.number == 0 && !goal->kind.admission && d->world->level >= LEVEL_NAMES)
        goal->kind.number = d->signal->number;
}

/* Common to every change: assigns work, raises the version, sets the times and when it is due, and checks the result. */
static void finish(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    must(d->decision->record_count > 0);
    number_give(d);
    if (!goal->quarantined && !goal->kind.admission)
        staff(d);
    if (!goal->quarantined && goal->kind.admission)
        system_go_on(d);
    goal->version++;
    goal->times.updated_at = d->signal->at;
    if (!goal->quarantined)
        goal->times.wants_at = live_wants(&d->decision->live, goal, d->policy);
    finish_live(d);
    goal->due_at = goal->quarantined ? TIME_NEVER : goal_due(goal);
    must(goal->quarantined || goal_broken(goal) == NULL);
    step_check(d);
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
        return decision; /* already applied: nothing is done twice */
    if (world->key_used) {
        decide_refuse_because(
            &d, ERROR_CONFLICT,
            STR("this key was already used for another request: choose a new one"));
        return refusal(&decision);
    }
    if (signal->kind > SIGNAL_FLEET_RESUME && world->level < LEVEL_SUPERVISION) {
        decide_refuse_because(&d, ERROR_CONFLICT,
                              STR("a host of the fleet runs an older build: update it first"));
        return decision;
    }
    if (!world->goal && !row->makes_goal) {
        decide_refuse(&d, ERROR_NOT_FOUND);
        return decision;
    }
    must(!world->goal || goal_broken(world->goal) == NULL);
    if (world->goal && world->goal->era != world->era)
        rule_era(&d);
    must(row->rule != NULL); /* commands to the fleet concern no goal */
    if (world->goal)
        runs_check_host(&d);
    if (!world->goal || !run_is_stale(&d))
        row->rule(&d);
    if (decision.verdict == VERDICT_REFUSE)
        return refusal(&decision);
    if (decision.verdict == VERDICT_CHANGE) {
        decision.goal.clock.steps = world->clock;
        decision.goal.clock.id = world->clock_id;
        finish(&d);
    } else
        step_check(&d);
    if (decision.verdict == VERDICT_SAMPLE)
        rows_store(&d, PART_ASSIGNMENT);
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
    struct deciding d = {.world = &world,
                         .signal = signal,
                         .policy = policy,
                         .out = out,
                         .decision = &decision,
                         .poisoned = true};
    begin(&d);
    decision.goal.quarantined = true;
    decide_record(&d, RECORD_GOAL_QUARANTINED,
                  (struct evidence){.rule = STR("poison"), .text = why});
    finish(&d);
    return decision;
}
