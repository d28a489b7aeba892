/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may pause, resume, complete, cancel or archive a goal, and what happens to its running effects. G-17,
 * docs/decisions/0005. */
#include "core/assignment.h"
#include "core/effect.h"
#include "core/goal.h"
#include "core/liveness.h"
#include "core/people/question.h"
#include "core/rules.h"

static const enum record_type RECORD_OF[GOAL_STATUSES] = {
    [GOAL_ACTIVE] = RECORD_GOAL_RESUMED,      [GOAL_PAUSED] = RECORD_GOAL_PAUSED,
    [GOAL_COMPLETED] = RECORD_GOAL_COMPLETED, [GOAL_CANCELLED] = RECORD_GOAL_CANCELLED,
    [GOAL_ARCHIVED] = RECORD_GOAL_ARCHIVED,
};

/* Unclaimed effects are withdrawn; a claimed effect continues to its outcome, which is recorded. */
void effects_withdraw(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    for (uint32_t i = goal->effects.open_count; i-- > 0;) {
        struct effect_slot *slot = &goal->effects.open[i];
        bool goes_on =
            slot->kind == EFFECT_TELL || slot->kind == EFFECT_STOP || slot->kind == EFFECT_SAY;
        if (slot->state != EFFECT_READY || goes_on)
            continue;
        uint32_t n = slot->n;
        effect_move(d, slot, EFFECT_ENDED);
        decide_record(d, RECORD_EFFECT_WITHDRAWN,
                      (struct evidence){.rule = STR("goal.cancel"), .effect = n + 1});
    }
}

/* An agent's word never completes a goal: a person may complete it, for the record, when nothing is open. */
static const char *completing_is_wrong(const struct deciding *d) {
    const struct goal *goal = &d->decision->goal;
    if (d->signal->sender.by == WHO_HUMAN && d->signal->reason.len == 0)
        return "completing a goal by hand needs a reason";
    if (goal_works(goal) > 0)
        return "the goal still has open work: wait for it, or cancel the goal";
    return d->signal->sender.by == WHO_HUMAN ? NULL : "only a person completes a goal by hand";
}

/* A person who completes a goal by hand has answered what it asked. */
static void questions_settle(struct goal *goal) {
    goal->need = NEED_NOTHING;
    goal->plan.review = 0;
    goal->plan.proposal = (struct hash){0};
    goal->plan.proposal_base = 0;
}

static const char *move_is_wrong(const struct deciding *d, enum goal_status to) {
    const struct goal *goal = &d->decision->goal;
    bool reopens = goal->status == GOAL_COMPLETED && to == GOAL_ACTIVE;
    if (reopens && (d->signal->sender.by != WHO_HUMAN || d->signal->reason.len == 0))
        return "only a person can reopen a completed goal, with a reason";
    if (to == GOAL_COMPLETED)
        return completing_is_wrong(d);
    if (to == GOAL_ARCHIVED && goal_works(goal) > 0)
        return "the goal still has open work: wait for it first";
    return NULL;
}

void rule_move(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    enum goal_status to = (enum goal_status)d->signal->to, from = goal->status;
    if (d->signal->sender.by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (d->signal->to >= GOAL_STATUSES || (from != to && !goal_status_may_become(from, to))) {
        decide_refuse_because(
            d, d->signal->to >= GOAL_STATUSES ? ERROR_INVALID : ERROR_CONFLICT,
            arena_format(d->out, "the status %s does not allow this", GOAL_STATUS[from].name));
        return;
    }
    if (from == to)
        return;
    const char *wrong = move_is_wrong(d, to);
    if (wrong) {
        decide_refuse_because(d, ERROR_CONFLICT, str_of(wrong));
        return;
    }
    if (to == GOAL_CANCELLED) {
        effects_withdraw(d);
        assignments_stop(d, STR("goal.cancel"));
    }
    if (to == GOAL_COMPLETED)
        questions_settle(goal);
    if (to == GOAL_COMPLETED || to == GOAL_CANCELLED)
        questions_end(d, STR("goal.over"));
    goal_move(d, to);
    bool reopened = from == GOAL_COMPLETED && to == GOAL_ACTIVE;
    decide_record(d, reopened ? RECORD_GOAL_REOPENED : RECORD_OF[to],
                  (struct evidence){.rule = STR("goal.move"),
                                    .from = str_of(GOAL_STATUS[from].name),
                                    .to = str_of(GOAL_STATUS[to].name),
                                    .override = to == GOAL_COMPLETED,
                                    .reason = d->signal->reason});
    if (from == GOAL_PAUSED && to == GOAL_ACTIVE) {
        assignments_resume(d);
        goal_settle(d);
    }
}

static void effect_give_up(struct deciding *d, struct effect_slot *slot) {
    struct evidence evidence = {.rule = STR("goal.release"),
                                .effect = slot->n + 1,
                                .host = slot->run_host,
                                .reason = d->signal->reason,
                                .text = STR("nobody will know more about it")};
    effect_move(d, slot, EFFECT_ENDED);
    decide_record(d, RECORD_EFFECT_ENDED, evidence);
}

/* A person has dealt with a failed or unconfirmed effect: it is not asked about again. An unconfirmed effect is ended
 * as such: nothing more will ever be known about it. */
void rule_release(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    if (d->signal->sender.by != WHO_HUMAN) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (goal->need == NEED_NOTHING && !goal_has_effect(goal, EFFECT_UNCONFIRMED) &&
        !goal->quarantined)
        return;
    if (d->signal->reason.len == 0) {
        decide_refuse_because(
            d, ERROR_INVALID,
            STR("a reason is missing: say what you found; it is stored with the goal"));
        return;
    }
    for (uint32_t i = goal->effects.open_count; i-- > 0;)
        if (goal->effects.open[i].state == EFFECT_UNCONFIRMED)
            effect_give_up(d, &goal->effects.open[i]);
    goal->need = NEED_NOTHING;
    goal->quarantined = false;
    decide_record(d, RECORD_GOAL_RELEASED,
                  (struct evidence){.rule = STR("goal.release"), .reason = d->signal->reason});
    goal_settle(d);
}
