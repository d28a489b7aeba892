/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what a host may begin now: G-14, G-15, and the limits on the supervisor itself. docs/decisions/0009. */
#include "core/admission/admission.h"
#include "core/admission/permit.h"
#include "core/admission/quota.h"
#include "core/effect.h"
#include "core/goal.h"
#include "core/people/question.h"
#include "core/rules.h"

#include "core/people/route.h"

/* ---- the admission aggregate ---- */

/* The first request creates the admission. */
bool admission_open(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    if (d->world->goal)
        return goal->kind.admission != 0;
    aggregate_begin(d);
    if (!id_equal(goal->id, admission_id(goal->kind.admission)) || goal->kind.admission == 0)
        return false;
    decide_record(d, RECORD_ADMISSION_OPENED,
                  (struct evidence){.rule = STR("desk.open"), .host = goal->kind.admission});
    return true;
}

/* Answers are effects: some open-effect slots stay free for notices to a person. */
static bool admission_may_show(const struct deciding *d) {
    return d->decision->goal.effects.open_count < LIMIT_OPEN_EFFECTS - LIMIT_CHANNELS;
}

static struct evidence permit_evidence(struct deciding *d, const struct permit *permit,
                                       const char *rule) {
    char goal[ID_TEXT + 1];
    id_format(permit->goal, goal);
    return (struct evidence){.rule = str_of(rule),
                             .assignment = arena_format(d->out, "A_%u", permit->assignment),
                             .text = arena_format(d->out, "%s %s %s", goal, permit->agent,
                                                  name_of(&PERMIT_KIND_NAMES, permit->wants)),
                             .count = permit->turn};
}

static void permit_tell(struct deciding *d, const struct permit *permit, enum signal_kind kind,
                        struct str reason, int64_t until) {
    struct permit body = {.goal = permit->goal,
                          .assignment = permit->assignment,
                          .turn = permit->turn,
                          .wants = permit->wants};
    memcpy(body.agent, permit->agent, sizeof body.agent);
    decide_tell(d, (struct signal){.kind = kind,
                                   .goal = permit->goal,
                                   .about.assignment = permit->assignment + 1,
                                   .admission = d->decision->goal.kind.admission,
                                   .to = permit->turn,
                                   .until = until,
                                   .reason = reason,
                                   .body = shape_encode(&PERMIT, &body, d->out)});
}

static bool admission_is_asked(const struct live *live) {
    for (uint32_t i = 0; i < live->permits.count; i++)
        if (live->permits.at[i].wants != PERMIT_NONE || live->permits.at[i].again)
            return true;
    return false;
}

/* ---- accounts ---- */

static void account_drop(struct deciding *d, struct account *account, const char *rule) {
    decide_record(
        d, RECORD_ACCOUNT_OPEN,
        (struct evidence){.rule = str_of(rule), .text = arena_copy(d->out, str_of(account->name))});
    account->limited_until = account->probe_until = 0;
    account->guessed = account->tried = account->probe = 0;
    account_row_end(d, account);
}

/* The account's deadline has passed. If its reset time was only a guess, one agent tries the account first. */
static void account_due(struct deciding *d, struct account *account) {
    int64_t now = d->signal->at;
    if (account->limited_until > 0 && account->limited_until <= now) {
        if (!account->guessed) {
            account_drop(d, account, "account.reset");
            return;
        }
        account->limited_until = 0;
        live_touch(d, PART_ACCOUNT, account);
        decide_record(d, RECORD_ACCOUNT_OPEN,
                      (struct evidence){.rule = STR("account.try"),
                                        .text = arena_copy(d->out, str_of(account->name)),
                                        .count = account->tried});
    } else if (account->probe && account->probe_until <= now) {
        account_drop(d, account, "account.works");
    }
}

static bool account_is_due(const struct account *account, int64_t now) {
    return (account->limited_until > 0 && account->limited_until <= now) ||
           (account->probe && account->probe_until <= now);
}

static void overages_due(struct deciding *d) {
    struct accounts *accounts = &d->decision->live.accounts;
    for (uint32_t i = accounts->count; i-- > 0;)
        if (overage_is_due(d, &accounts->at[i])) {
            live_edit(d, PART_ACCOUNT, 0);
            struct str cause = cause_text(CAUSE_OVERAGE, accounts->at[i].name, d->out);
            overage_due(d, &accounts->at[i]);
            question_settle(d, cause, STR("overage.over"));
        }
}

static void accounts_due(struct deciding *d) {
    struct accounts *accounts = &d->decision->live.accounts;
    for (uint32_t i = accounts->count; i-- > 0;)
        if (account_is_due(&accounts->at[i], d->signal->at)) {
            live_edit(d, PART_ACCOUNT, 0);
            account_due(d, &accounts->at[i]);
        }
    overages_due(d);
}

/* Reports on the permit that probes the account: its agent has worked, or ended without having tried. */
static void probe_heard(struct deciding *d, const struct permit *permit, bool worked, bool over) {
    struct accounts *accounts = &d->decision->live.accounts;
    for (uint32_t i = accounts->count; i-- > 0;) {
        if (accounts->at[i].probe != permit->n + 1 || (!worked && !over))
            continue;
        live_edit(d, PART_ACCOUNT, 0);
        if (worked)
            account_drop(d, &accounts->at[i], "account.works");
        else {
            accounts->at[i].probe = 0;
            live_touch(d, PART_ACCOUNT, &accounts->at[i]);
        }
    }
}

/* ---- used-up budgets ---- */

/* A person is alerted once per window, not once per denied permit. */
static void used_up_say(struct admission_view *view, const struct permit *permit, int64_t until) {
    struct deciding *d = view->d;
    uint32_t budget = 0;
    budgets_bound(view, permit, &budget);
    struct use *use = budgets_use(view, budget, permit->agent);
    if (!use || use->warned)
        return;
    use->warned = true;
    struct str words = budget_words(view, budget, d->out);
    decide_record(
        d, RECORD_BUDGET_USED_UP,
        (struct evidence){.rule = STR("budget.used-up"),
                          .text = words,
                          .until = until,
                          .threshold = (int64_t)d->policy->spending.budgets[budget].most});
    struct str cause = cause_text(CAUSE_BUDGET, d->policy->spending.budgets[budget].scope, d->out);
    question_ask(d, (struct asking){.kind = QUESTION_ALERT,
                                    .of = OF_PERSON,
                                    .alarm = ALARM_CRITICAL,
                                    .cause = str_cut_utf8(cause, LIMIT_CAUSE),
                                    .text = {.title = STR("A budget is used up"),
                                             .text = words,
                                             .rule = STR("budget.used-up"),
                                             .reason = words}});
}

/* ---- answers ---- */

static void permit_deny(struct admission_view *view, struct permit *permit, enum bound bound) {
    struct deciding *d = view->d;
    int64_t until;
    struct str words = bound_words(view, permit, bound, &until);
    struct evidence evidence = permit_evidence(d, permit, "permit.denied");
    evidence.reason = words;
    evidence.until = until;
    permit_tell(d, permit, SIGNAL_PERMIT_DENIED, words, until);
    decide_record(d, RECORD_PERMIT_DENIED, evidence);
    if (bound == BOUND_USED_UP)
        used_up_say(view, permit, until);
    view->asking--;
}

static void permit_begin(struct admission_view *view, struct permit *permit) {
    struct deciding *d = view->d;
    uint32_t place = view_place(view, permit->agent);
    const struct policy_agent *agent = &d->policy->dispatch.agents[place];
    permit->state = PERMIT_GRANTED;
    permit->granted_at = d->signal->at;
    permit->reserved = agent->reserve;
    permit->tokens = agent->reserve_tokens;
    permit->settled_cost = permit->settled_tokens = permit->stopped = 0;
    if (view->counts_goals)
        permit->goal_starts = sums_get(&view->goal_spent[UNIT_STARTS], goal_key(permit->goal)) + 1;
    view_grant(view, permit);
    budgets_start(view, place);
}

/* After a guessed limit, the first granted permit probes the account. */
static void probe_begin(struct admission_view *view, const struct permit *permit) {
    struct deciding *d = view->d;
    uint32_t place = view_place(view, permit->agent);
    if (place == NOBODY || !view->limits[place] || !view->limits[place]->guessed)
        return;
    live_edit(d, PART_ACCOUNT, 0);
    struct account *account = accounts_find(&d->decision->live.accounts,
                                            str_of(d->policy->dispatch.agents[place].account));
    account->probe = permit->n + 1;
    account->probe_until = time_after(d->signal->at, 2 * d->policy->liveness.tick_every);
    live_touch(d, PART_ACCOUNT, account);
    view_accounts(view);
}

static void permit_grant(struct admission_view *view, struct permit *permit) {
    struct deciding *d = view->d;
    struct pace *pace = &d->decision->goal.pace;
    struct evidence evidence = permit_evidence(d, permit, "permit.granted");
    permit_tell(d, permit, SIGNAL_PERMIT_GRANTED, (struct str){0}, 0);
    pace_take(pace, d->policy, d->signal->at);
    if (permit->wants == PERMIT_DISRUPTIVE && permit->wanted_at > pace->released_at)
        pace_disruptive(pace, d->signal->at);
    if (permit->wants != PERMIT_DISRUPTIVE)
        probe_begin(view, permit);
    if (permit->wants == PERMIT_BEGIN)
        permit_begin(view, permit);
    permit->granted = permit->wants;
    permit->wants = PERMIT_NONE;
    live_touch(d, PART_PERMIT, permit);
    view->asking--;
    evidence.threshold = (int64_t)permit->reserved;
    decide_record(d, RECORD_PERMIT_GRANTED, evidence);
}

/* An already granted ask was repeated: send the same answer again. */
static void permit_repeat(struct admission_view *view, struct permit *permit) {
    struct deciding *d = view->d;
    struct permit copy = *permit;
    copy.wants = permit->granted;
    permit_tell(d, &copy, SIGNAL_PERMIT_GRANTED, (struct str){0}, 0);
    decide_record(d, RECORD_PERMIT_GRANTED, permit_evidence(d, &copy, "permit.repeated"));
    permit->again = 0;
    live_touch(d, PART_PERMIT, permit);
    view->asking--;
}

/* ---- denials and the order of grants ---- */

/* A permit that can never be granted is denied at once, whatever else waits: a denial is final for that dispatch. */
static void admission_deny(struct admission_view *view) {
    struct deciding *d = view->d;
    struct permits *permits = &d->decision->live.permits;
    if (view->asking == 0 || d->decision->goal.pace.suspended)
        return;
    for (uint32_t i = permits->count; i-- > 0 && admission_may_show(d);) {
        enum bound bound = view_bound(view, &permits->at[i]);
        if (bound < BOUND_USED_UP && !permits->at[i].again)
            continue;
        live_edit(d, PART_PERMIT, 0);
        struct permit *permit = &permits->at[i];
        if (permit->again) {
            permit_repeat(view, permit);
            continue;
        }
        permit_deny(view, permit, bound);
        permit->wants = PERMIT_NONE;
        if (permit->state == PERMIT_WAITING)
            live_remove(d, PART_PERMIT, permit);
        else
            live_touch(d, PART_PERMIT, permit);
    }
}

struct rank {
    uint64_t points;
    uint32_t at;
};

/* docs/decisions/0006: order by the score plus one point per minute of waiting, then by the goal's id, then by the
 * assignment. */
static bool comes_before(const struct permits *permits, struct rank a, struct rank b) {
    const struct permit *x = &permits->at[a.at], *y = &permits->at[b.at];
    int order = id_compare(x->goal, y->goal);
    if (a.points != b.points)
        return a.points > b.points;
    return order != 0 ? order < 0 : x->assignment < y->assignment;
}

static void rank_sink(const struct permits *permits, struct rank *heap, uint32_t count,
                      uint32_t at) {
    for (;;) {
        uint32_t best = at, left = 2 * at + 1, right = left + 1;
        if (left < count && comes_before(permits, heap[left], heap[best]))
            best = left;
        if (right < count && comes_before(permits, heap[right], heap[best]))
            best = right;
        if (best == at)
            return;
        struct rank moved = heap[at];
        heap[at] = heap[best];
        heap[best] = moved;
        at = best;
    }
}

/* The permits that there is room for now, as a heap with the best on top. */
static struct rank *rank_all(const struct admission_view *view, uint32_t *ret_count) {
    const struct permits *permits = &view->d->decision->live.permits;
    struct rank *heap = arena_new(view->d->out, struct rank, view->asking + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < permits->count && count < view->asking; i++) {
        const struct permit *permit = &permits->at[i];
        int64_t waited = (view->d->signal->at - permit->asked_at) / MINUTES(1);
        if (permit->wants != PERMIT_NONE && view_bound(view, permit) == BOUND_NONE)
            heap[count++] = (struct rank){permit->score + (uint64_t)(waited > 0 ? waited : 0), i};
    }
    for (uint32_t i = count / 2; i-- > 0;)
        rank_sink(permits, heap, count, i);
    *ret_count = count;
    return heap;
}

/* DESIGN 6, blast radius: the admission suspends itself and asks a person. */
static void admission_suspend(struct admission_view *view) {
    struct deciding *d = view->d;
    struct pace *pace = &d->decision->goal.pace;
    struct str words = arena_format(
        d->out,
        "Overseer wants to stop, move or resend to more than %u of %u agents within a minute. "
        "It may be mistaken, and does nothing more until somebody has looked.",
        pace->struck, view->granted);
    pace->suspended = 1;
    decide_record(d, RECORD_ADMISSION_SUSPENDED,
                  (struct evidence){.rule = STR("desk.blast"),
                                    .text = words,
                                    .count = pace->struck + 1,
                                    .threshold = d->policy->pace.blast_share});
    question_ask(d, (struct asking){.kind = QUESTION_DECIDE,
                                    .of = OF_PERSON,
                                    .alarm = ALARM_EMERGENCY,
                                    .cause = cause_text(CAUSE_BLAST, "", d->out),
                                    .text = {.title = STR("Overseer has suspended itself"),
                                             .text = words,
                                             .options = cause_options(CAUSE_BLAST),
                                             .rule = STR("desk.blast"),
                                             .reason = STR("too many agents at once")}});
}

static bool is_blast(const struct admission_view *view, const struct permit *permit) {
    const struct pace *pace = &view->d->decision->goal.pace;
    return permit->wants == PERMIT_DISRUPTIVE && permit->wanted_at > pace->released_at &&
           pace_is_blast(pace, view->d->policy, view->granted, view->d->signal->at);
}

/* Why nothing at all is granted now. */
static enum bound admission_bound(const struct deciding *d) {
    const struct pace *pace = &d->decision->goal.pace;
    if (pace->suspended)
        return BOUND_SUSPENDED;
    if (!pace_is_open(pace, d->policy, d->signal->at))
        return BOUND_PACE;
    return admission_may_show(d) ? BOUND_NONE : BOUND_SLOT;
}

static void admission_grant(struct admission_view *view) {
    struct deciding *d = view->d;
    struct permits *permits = &d->decision->live.permits;
    uint32_t count;
    if (view->asking == 0 || admission_bound(d) != BOUND_NONE)
        return;
    struct rank *heap = rank_all(view, &count);
    while (count > 0 && admission_bound(d) == BOUND_NONE) {
        uint32_t at = heap[0].at;
        heap[0] = heap[--count];
        rank_sink(permits, heap, count, 0);
        if (view_bound(view, &permits->at[at]) != BOUND_NONE)
            continue;
        if (is_blast(view, &permits->at[at])) {
            admission_suspend(view);
            return;
        }
        live_edit(d, PART_PERMIT, 0);
        permit_grant(view, &permits->at[at]);
    }
}

static void view_go_on(struct admission_view *view) {
    view->d->gone_on = true;
    uint32_t before = view->granted;
    admission_deny(view);
    admission_grant(view);
    if (view->granted > before && view->d->policy->spending.budget_count > 0)
        admission_deny(view); /* another permit may have taken the last start of a budget */
    budgets_store(view);
}

void admission_go_on(struct deciding *d) {
    if (d->gone_on)
        return;
    accounts_due(d);
    batches_due(d);
    if (admission_is_asked(&d->decision->live))
        view_go_on(view_make(d));
}

/* ---- requests for permits ---- */

static struct permit *permit_in_hand(struct deciding *d, struct permit *ret_asked) {
    *ret_asked = (struct permit){0};
    if (!shape_decode(&PERMIT, d->signal->body, ret_asked) || ret_asked->agent[0] == 0)
        return NULL;
    return permits_find(&d->decision->live.permits, ret_asked->goal, ret_asked->assignment);
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* An agent that is acted on is running, whether or not this admission granted it: it came from elsewhere, or became
 * active while it waited for its account. It counts as granted; nothing is reserved for it. */
static void permit_adopt(struct permit *permit, int64_t now) {
    if (permit->state == PERMIT_GRANTED)
        return;
    permit->state = PERMIT_GRANTED;
    permit->granted_at = now;
}

/* A new ask: the old reservation is released, spending stays spent, and the permit keeps its age in the queue. */
static void permit_renew(struct permit *permit, const struct permit *asked, int64_t now) {
    permit->wanted_at = now;
    permit->turn = asked->turn;
    permit->wants = asked->wants;
    permit->again = permit->stopped = 0;
    permit->goal_cost = larger(permit->goal_cost, asked->goal_cost);
    permit->goal_tokens = larger(permit->goal_tokens, asked->goal_tokens);
    permit->goal_starts = larger(permit->goal_starts, asked->goal_starts);
    permit->repository = asked->repository;
    permit->batch = asked->batch;
    permit->batch_until = asked->batch_until;
    permit->mark = asked->mark;
    memcpy(permit->agent, asked->agent, sizeof permit->agent);
    permit->score = larger(permit->score, asked->score);
    if (asked->wants != PERMIT_BEGIN) {
        permit_adopt(permit, now);
        return;
    }
    permit->state = PERMIT_WAITING;
    permit->reserved = permit->tokens = permit->settled_cost = permit->settled_tokens = 0;
}

static struct permit *permit_add(struct deciding *d, const struct permit *asked) {
    struct permit *permit = live_add(d, PART_PERMIT, d->decision->goal.parts_made++);
    permit->goal = asked->goal;
    permit->assignment = asked->assignment;
    permit->asked_at = asked->asked_at < d->signal->at ? asked->asked_at : d->signal->at;
    return permit;
}

static bool asked_is_right(const struct permit *asked) {
    return asked->agent[0] && asked->turn > 0 && asked->wants > PERMIT_NONE &&
           asked->wants < PERMIT_KINDS && asked->score <= UINT32_MAX;
}

/* Records what the permit waits for, once, when the wait begins. */
static void waits_say(struct admission_view *view, const struct permit *asked) {
    struct deciding *d = view->d;
    const struct permit *permit =
        permits_find(&d->decision->live.permits, asked->goal, asked->assignment);
    if (!permit || permit->turn != asked->turn || (permit->wants == PERMIT_NONE && !permit->again))
        return;
    enum bound bound = view_bound(view, permit);
    struct evidence evidence = permit_evidence(d, permit, "permit.waits");
    if (bound == BOUND_NONE)
        bound = admission_bound(d);
    evidence.reason = bound_words(view, permit, bound, &evidence.until);
    decide_record(d, RECORD_PERMIT_WAITS, evidence);
}

/* An ask is never granted twice: a repeated ask gets the same answer again. */
void rule_permit_ask(struct deciding *d) {
    struct permit asked, *permit = permit_in_hand(d, &asked);
    if (!asked_is_right(&asked) || !admission_open(d) ||
        (!permit && d->decision->live.permits.count >= LIMIT_PERMITS)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (permit && asked.turn < permit->turn)
        return;
    bool again = permit && asked.turn == permit->turn;
    if (again && permit->wants != PERMIT_NONE)
        return; /* it already waits */
    live_edit(d, PART_PERMIT, 1);
    permit = permits_find(&d->decision->live.permits, asked.goal, asked.assignment);
    if (!permit)
        permit = permit_add(d, &asked);
    if (again)
        permit->again = 1;
    else
        permit_renew(permit, &asked, d->signal->at);
    live_touch(d, PART_PERMIT, permit);
    accounts_due(d);
    struct admission_view *view = view_make(d);
    view_go_on(view);
    waits_say(view, &asked);
    budgets_store(view);
}

/* ---- settling ---- */

static bool knows_less(const struct permit *permit, const struct permit *reported) {
    return permit->goal_cost < reported->goal_cost || permit->goal_tokens < reported->goal_tokens ||
           permit->goal_starts < reported->goal_starts;
}

/* Tells the goal's other permits what the goal has spent by now, if any budget counts goals. */
static void goal_note(struct deciding *d, const struct permit *reported) {
    struct permits *permits = &d->decision->live.permits;
    for (uint32_t i = 0; budgets_are_of_goals(d->policy) && i < permits->count; i++) {
        if (!id_equal(permits->at[i].goal, reported->goal) ||
            !knows_less(&permits->at[i], reported))
            continue;
        live_edit(d, PART_PERMIT, 0);
        struct permit *permit = &permits->at[i];
        permit->goal_cost = larger(permit->goal_cost, reported->goal_cost);
        permit->goal_tokens = larger(permit->goal_tokens, reported->goal_tokens);
        permit->goal_starts = larger(permit->goal_starts, reported->goal_starts);
        live_touch(d, PART_PERMIT, permit);
    }
}

/* Turns reservation into spending; when the permit is over, the rest of the reservation is released. */
static void permit_settle(struct deciding *d, struct permit *permit,
                          const struct permit *reported) {
    bool over = d->signal->to != 0;
    probe_heard(d, permit, d->signal->spent.cost > 0 || d->signal->spent.tokens > 0, over);
    if (over) {
        live_remove(d, PART_PERMIT, permit);
        return;
    }
    if (permit->state != PERMIT_GRANTED || reported->turn < permit->turn)
        return;
    permit->settled_cost = amount_add(permit->settled_cost, d->signal->spent.cost);
    permit->settled_tokens = amount_add(permit->settled_tokens, d->signal->spent.tokens);
    live_touch(d, PART_PERMIT, permit);
}

/* Hard stop: a permit that has used up its reservation while the budget is empty is told to stop, once. */
static void overspent_stop(struct admission_view *view, const struct permit *reported) {
    struct deciding *d = view->d;
    uint32_t budget = 0;
    struct permit *permit =
        permits_find(&d->decision->live.permits, reported->goal, reported->assignment);
    if (!permit || permit->state != PERMIT_GRANTED || permit->stopped || !admission_may_show(d) ||
        !budgets_overdrawn(view, permit, &budget))
        return;
    live_edit(d, PART_PERMIT, 0);
    permit = permits_find(&d->decision->live.permits, reported->goal, reported->assignment);
    struct permit copy = *permit;
    copy.wants = PERMIT_BEGIN;
    struct evidence evidence = permit_evidence(d, &copy, "permit.overspent");
    evidence.reason = budget_words(view, budget, d->out);
    permit_tell(d, &copy, SIGNAL_PERMIT_DENIED, evidence.reason, 0);
    permit->stopped = 1;
    live_touch(d, PART_PERMIT, permit);
    decide_record(d, RECORD_PERMIT_DENIED, evidence);
}

static void settled_say(struct deciding *d, const struct permit *reported) {
    struct evidence evidence = permit_evidence(d, reported, "permit.settled");
    evidence.threshold =
        (int64_t)(d->signal->spent.cost <= INT64_MAX ? d->signal->spent.cost : INT64_MAX);
    evidence.to = d->signal->to ? STR("over") : STR("goes on");
    decide_record(d, RECORD_PERMIT_SETTLED, evidence);
}

/* Spending is charged in full, even if it exceeds the reservation, and even if the permit no longer exists. */
void rule_settle(struct deciding *d) {
    struct permit reported, *permit = permit_in_hand(d, &reported);
    const struct signal *signal = d->signal;
    bool its = permit && reported.turn >= permit->turn;
    if (reported.agent[0] == 0 || !admission_open(d) ||
        (signal->spent.cost == 0 && signal->spent.tokens == 0 && !its))
        return;
    settled_say(d, &reported);
    if (permit && (its || !signal->to)) {
        live_edit(d, PART_PERMIT, 0);
        permit = permits_find(&d->decision->live.permits, reported.goal, reported.assignment);
        permit_settle(d, permit, &reported);
    }
    goal_note(d, &reported);
    accounts_due(d);
    struct admission_view *view = view_make(d);
    budgets_charge(view, reported.agent, signal->spent.cost, signal->spent.tokens);
    overspent_stop(view, &reported);
    view_go_on(view);
}

/* ---- limits ---- */

/* No reset time is invented: without a reported one, the wait is a guess that doubles each time, and one agent tries
 * first. */
static void limit_set(struct deciding *d, struct account *account, int64_t until) {
    int64_t now = d->signal->at;
    bool known = until > now && until <= now + SECONDS(86400) * LIMIT_QUOTA_DAYS;
    if (known) {
        account->limited_until = until;
        account->guessed = account->tried = 0;
    } else {
        uint32_t doublings =
            account->tried < LIMIT_QUOTA_DOUBLINGS ? account->tried : LIMIT_QUOTA_DOUBLINGS;
        int64_t rest =
            d->policy->spending.quota_guess > 0 ? d->policy->spending.quota_guess : MINUTES(1);
        account->limited_until = time_after(now, rest << doublings);
        account->guessed = 1;
        account->tried++;
    }
    account->probe = 0;
    account->probe_until = 0;
    live_touch(d, PART_ACCOUNT, account);
    decide_record(d, RECORD_ACCOUNT_LIMITED,
                  (struct evidence){.rule = known ? STR("account.limited") : STR("account.guess"),
                                    .text = arena_copy(d->out, str_of(account->name)),
                                    .until = account->limited_until,
                                    .count = account->tried});
}

static bool account_is_known(const struct policy *policy, const char *name) {
    for (uint32_t i = 0; i < policy->dispatch.agent_count; i++)
        if (name[0] && name_same(policy->dispatch.agents[i].account, name))
            return true;
    return false;
}

/* Many agents report the same limit: the first report counts, and a later one only if it knows better. */
static bool is_news(const struct deciding *d, const struct account *reported) {
    const struct account *account =
        accounts_find(&d->decision->live.accounts, str_of(reported->name));
    int64_t now = d->signal->at;
    if (!account)
        return d->decision->live.accounts.count < LIMIT_ACCOUNT_ROWS;
    if (account->limited_until <= now)
        return true;
    return reported->limited_until > now &&
           (account->guessed || reported->limited_until > account->limited_until);
}

void rule_limited(struct deciding *d) {
    struct account reported = {0};
    struct accounts *accounts = &d->decision->live.accounts;
    if (!shape_decode(&ACCOUNT, d->signal->body, &reported) ||
        !account_is_known(d->policy, reported.name)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (!is_news(d, &reported) || !admission_open(d))
        return;
    live_edit(d, PART_ACCOUNT, 1);
    struct account *account = accounts_find(accounts, str_of(reported.name));
    if (!account) {
        account = live_add(d, PART_ACCOUNT, d->decision->goal.parts_made++);
        memcpy(account->name, reported.name, sizeof account->name);
    }
    limit_set(d, account, reported.limited_until);
    admission_go_on(d);
}

/* ---- other hosts ---- */

/* The host that took a lost host over alerts a person once; the alert ends when the lost host is back. The lost host's
 * goals report themselves what waits: run_host.c. */
void rule_host_lost(struct deciding *d) {
    struct str host = arena_format(d->out, "%u", d->signal->to);
    struct str cause = cause_text(CAUSE_HOST_LOST, host.at, d->out);
    if (!d->world->goal && d->signal->returned)
        return;
    if (!admission_open(d))
        return;
    if (d->signal->returned) {
        question_settle(d, cause, STR("host.returned"));
        return;
    }
    struct str words = arena_format(
        d->out,
        "Host %u does not renew its lease any more, and host %u has taken its goals over. Tasks "
        "that had an agent at work there start again once that agent is certainly frozen. Look at "
        "that machine: what its agents made is kept there.",
        d->signal->to, d->decision->goal.kind.admission);
    question_ask(
        d, (struct asking){.kind = QUESTION_ALERT,
                           .of = OF_PERSON,
                           .alarm = ALARM_CRITICAL,
                           .cause = cause,
                           .text = {.title = arena_format(d->out, "Host %u is lost", d->signal->to),
                                    .text = words,
                                    .rule = STR("host.lost"),
                                    .reason = STR("its beat did not change for a whole lease")}});
}

/* ---- people ---- */

/* Everything requested so far proceeds; or, if the person wants the agents left alone, is denied. */
static void admission_release(struct deciding *d, bool alone, struct str rule) {
    struct pace *pace = &d->decision->goal.pace;
    if (!pace->suspended)
        return;
    pace->suspended = 0;
    pace->struck = 0;
    if (alone)
        pace->alone_at = d->signal->at;
    else
        pace->released_at = d->signal->at;
    decide_record(d, RECORD_ADMISSION_RELEASED,
                  (struct evidence){.rule = rule, .to = alone ? STR("alone") : STR("go on")});
    admission_go_on(d);
}

void rule_admission_release(struct deciding *d) {
    if (!d->decision->goal.pace.suspended)
        return;
    if (d->signal->sender.by != WHO_HUMAN) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    questions_end(d, STR("desk.release"));
    admission_release(d, d->signal->to != 0, STR("desk.release"));
}

void admission_answered(struct deciding *d, const struct question *question) {
    if (cause_is(question, CAUSE_OVERAGE)) {
        overage_answered(d, question);
        d->gone_on = false; /* what waited for this answer may begin now */
        admission_go_on(d);
    }
    if (cause_is(question, CAUSE_BLAST))
        admission_release(d, question->answer.option == BLAST_LEAVE_ALONE, STR("desk.answered"));
}

/* ---- time ---- */

static int64_t account_next(const struct account *account) {
    int64_t next = account->limited_until > 0 ? account->limited_until
                   : account->probe           ? account->probe_until
                                              : TIME_NEVER;
    return account->overage != OVERAGE_NONE && account->overage_until < next
               ? account->overage_until
               : next;
}

int64_t admission_next(const struct live *live, const struct goal *goal,
                       const struct policy *policy, int64_t now) {
    int64_t next = batches_next(live);
    for (uint32_t i = 0; i < live->accounts.count; i++)
        next =
            account_next(&live->accounts.at[i]) < next ? account_next(&live->accounts.at[i]) : next;
    if (goal->pace.suspended || !admission_is_asked(live))
        return next;
    int64_t resets = quota_next(live, now);
    next = resets < next ? resets : next;
    int64_t opens = pace_opens(&goal->pace, policy, now);
    next = opens > now && opens < next ? opens : next;
    for (uint32_t i = 0; i < live->budgets.count; i++) {
        const struct budget *budget = &live->budgets.at[i];
        int64_t end = budget->window > 0 ? budget->since + budget->window : TIME_NEVER;
        next = end > now && end < next ? end : next;
    }
    return next;
}

/* An admission that has nothing to decide writes nothing. */
int64_t admission_due(struct deciding *d) {
    admission_go_on(d);
    return admission_next(&d->decision->live, &d->decision->goal, d->policy, d->signal->at);
}
