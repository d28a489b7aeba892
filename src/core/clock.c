/* SPDX-License-Identifier: Apache-2.0 */
/* Corrects stored times when the clock of the host has stepped. docs/clocks.md. */
#include "core/admission/admission.h"
#include "core/effect.h"
#include "core/rules.h"

/* A clock that stored a time this far ahead of the deciding clock was wrong. */
#define AHEAD_MOST MINUTES(1)

/* Returns how far the stored times have to be moved. A step that the host has detected is known exactly. An undetected
 * one (it happened while the machine was off, on a host that is gone, or under an older build) shows only as a goal
 * that was last changed in the future. */
int64_t clock_moved(const struct goal *goal, const struct world *world, int64_t now) {
    int64_t by = 0;
    if (goal->quarantined)
        return 0;
    if (goal->clock.id != 0 && goal->clock.id == world->clock_id &&
        __builtin_sub_overflow(world->clock, goal->clock.steps, &by))
        by = 0;
    if (goal->times.updated_at > time_after(now, AHEAD_MOST) && goal->times.updated_at - now > -by)
        by = now - goal->times.updated_at;
    return by;
}

static void move(int64_t *time, int64_t by) {
    int64_t moved;
    if (*time <= 0 || *time == TIME_NEVER)
        return;
    *time = __builtin_add_overflow(*time, by, &moved) || moved < 1 ? 1 : moved;
}

static void assignments_move(struct deciding *d, int64_t by) {
    struct assignments *assignments = &d->decision->live.assignments;
    if (assignments->count > 0)
        live_edit(d, PART_ASSIGNMENT, 0);
    for (uint32_t i = 0; i < assignments->count; i++) {
        live_touch(d, PART_ASSIGNMENT, &assignments->at[i]);
        struct assignment *assignment = &assignments->at[i];
        int64_t *times[] = {&assignment->recovery.restart_since,
                            &assignment->created_at,
                            &assignment->updated_at,
                            &assignment->delivery.last_at,
                            &assignment->liveness.last_activity_at,
                            &assignment->liveness.expected_next_at,
                            &assignment->recovery.last_retry_at,
                            &assignment->recovery.backoff_until,
                            &assignment->liveness.looked_at,
                            &assignment->liveness.observed_since,
                            &assignment->progress.at,
                            &assignment->progress.kept_at,
                            &assignment->check.retried_at};
        for (size_t k = 0; k < count_of(times); k++)
            move(times[k], by);
        if (assignment->wait.on != WAITS_FOR_QUOTA &&
            assignment->wait.on != WAITS_FOR_OVERAGE) /* a reset is a calendar instant */
            move(&assignment->wait.until, by);
    }
}

/* The time until which a person puts a question off is a calendar instant. */
static void questions_move(struct deciding *d, int64_t by) {
    struct questions *questions = &d->decision->live.questions;
    if (questions->count > 0)
        live_edit(d, PART_QUESTION, 0);
    for (uint32_t i = 0; i < questions->count; i++) {
        live_touch(d, PART_QUESTION, &questions->at[i]);
        struct question *question = &questions->at[i];
        bool snoozed =
            question->snoozed_until > 0 && question->sending.next_at == question->snoozed_until;
        move(&question->asked_at, by);
        move(&question->expires_at, by);
        move(&question->applies_at, by);
        if (!snoozed)
            move(&question->sending.next_at, by);
    }
}

static void permits_move(struct deciding *d, int64_t by) {
    struct permits *permits = &d->decision->live.permits;
    if (permits->count > 0)
        live_edit(d, PART_PERMIT, 0);
    for (uint32_t i = 0; i < permits->count; i++) {
        live_touch(d, PART_PERMIT, &permits->at[i]);
        struct permit *permit = &permits->at[i];
        move(&permit->asked_at, by);
        move(&permit->wanted_at, by);
        move(&permit->granted_at, by);
    }
}

/* A guessed limit is a duration. A provider's reset time is a calendar instant, as long as it is plausible. */
static void accounts_move(struct deciding *d, int64_t by) {
    struct accounts *accounts = &d->decision->live.accounts;
    if (accounts->count > 0)
        live_edit(d, PART_ACCOUNT, 0);
    int64_t most = time_after(d->signal->at, SECONDS(86400) * LIMIT_QUOTA_DAYS);
    for (uint32_t i = 0; i < accounts->count; i++) {
        live_touch(d, PART_ACCOUNT, &accounts->at[i]);
        struct account *account = &accounts->at[i];
        if (account->guessed || account->limited_until > most)
            move(&account->limited_until, by);
        move(&account->probe_until, by);
        move(&account->seen_at, by);
        move(&account->overage_at, by);
    }
}

/* A budget's window is a calendar window. A window that has not begun yet was opened by a wrong clock: its spending
 * counts for the window that is open now. */
static void budgets_move(struct deciding *d) {
    struct budgets *budgets = &d->decision->live.budgets;
    if (budgets->count > 0)
        live_edit(d, PART_BUDGET, 0);
    for (uint32_t i = 0; i < budgets->count; i++) {
        int64_t window = budgets->at[i].window;
        int64_t since = window > 0 ? budget_since(window, d->signal->at) : 0;
        if (window <= 0 || budgets->at[i].since <= since)
            continue;
        live_touch(d, PART_BUDGET, &budgets->at[i]);
        budgets->at[i].since = since;
    }
}

static void goal_times_move(struct deciding *d, int64_t by) {
    struct goal *goal = &d->decision->goal;
    int64_t *times[] = {&goal->people.notices_since, &goal->pace.next, &goal->pace.since,
                        &goal->pace.released_at, &goal->pace.alone_at};
    for (size_t i = 0; i < count_of(times); i++)
        move(times[i], by);
    for (uint32_t i = 0; i < goal->effects.open_count; i++) {
        int64_t until = goal->effects.open[i].until;
        move(&until, by);
        if (until != goal->effects.open[i].until)
            effect_until(d, &goal->effects.open[i], until);
    }
}

/* DESIGN 6, Clocks: a stored duration is wall time corrected by detected steps. */
void rule_clock(struct deciding *d) {
    int64_t by = d->signal->stepped;
    if (by == 0)
        return;
    goal_times_move(d, by);
    assignments_move(d, by);
    questions_move(d, by);
    permits_move(d, by);
    accounts_move(d, by);
    budgets_move(d);
    decide_record(d, RECORD_CLOCK_STEPPED,
                  (struct evidence){.rule = STR("clock.stepped"),
                                    .threshold = by,
                                    .text = arena_format(d->out, "%+.1f s", (double)by / 1e6)});
}
