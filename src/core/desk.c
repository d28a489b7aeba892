/* SPDX-License-Identifier: Apache-2.0 */
/* What may a host begin now? G-14, G-15, and the bounds on ourselves. docs/decisions/0009. */
#include "core/desk.h"

#include "core/route.h"

/* ---- the desk itself ---- */

/* Made by the first who asks. */
static bool desk_open(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    if (d->world->goal)
        return goal->desk != 0;
    aggregate_begin(d);
    if (!id_equal(goal->id, desk_id(goal->desk)) || goal->desk == 0)
        return false;
    decide_record(d, RECORD_DESK_OPENED,
                  (struct evidence){.rule = STR("desk.open"), .host = goal->desk});
    return true;
}

/* Answers are effects; some places stay free for what a person has to hear. */
static bool desk_may_tell(const struct deciding *d) {
    return d->decision->goal.open_count < LIMIT_OPEN_EFFECTS - LIMIT_CHANNELS;
}

static struct evidence permit_evidence(struct deciding *d, const struct permit *permit,
                                       const char *rule) {
    char goal[ID_TEXT + 1];
    id_format(permit->goal, goal);
    return (struct evidence){.rule = str_of(rule),
                             .assignment = arena_format(d->out, "A_%u", permit->charge),
                             .text = arena_format(d->out, "%s %s %s", goal, permit->agent,
                                                  name_of(&PERMIT_KIND_NAMES, permit->wants)),
                             .count = permit->turn};
}

static void permit_tell(struct deciding *d, const struct permit *permit, enum signal_kind kind,
                        struct str reason, int64_t until) {
    struct permit body = {.goal = permit->goal,
                          .charge = permit->charge,
                          .turn = permit->turn,
                          .wants = permit->wants};
    memcpy(body.agent, permit->agent, sizeof body.agent);
    decide_tell(d, (struct signal){.kind = kind,
                                   .goal = permit->goal,
                                   .charge = permit->charge + 1,
                                   .desk = d->decision->goal.desk,
                                   .to = permit->turn,
                                   .until = until,
                                   .reason = reason,
                                   .body = shape_encode(&PERMIT, &body, d->out)});
}

static bool desk_is_asked(const struct live *live) {
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
    live_remove(d, PART_ACCOUNT, account);
}

/* Its time is over. What was only guessed is tried with one agent first. */
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

static void accounts_due(struct deciding *d) {
    struct accounts *accounts = &d->decision->live.accounts;
    for (uint32_t i = accounts->count; i-- > 0;)
        if (account_is_due(&accounts->at[i], d->signal->at)) {
            live_edit(d, PART_ACCOUNT, 0);
            account_due(d, &accounts->at[i]);
        }
}

/* The one who tries it: it has worked, or is gone without having tried. */
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

/* ---- what was spent is used up ---- */

/* Somebody is told once in each window, not everybody who is denied. */
static void used_up_say(struct desk_view *view, const struct permit *permit, int64_t until) {
    struct deciding *d = view->d;
    uint32_t budget = 0;
    budgets_bound(view, permit, &budget);
    struct use *use = budgets_use(view, budget, permit->agent);
    if (!use || use->told)
        return;
    use->told = true;
    struct str words = budget_words(view, budget, d->out);
    decide_record(d, RECORD_BUDGET_USED_UP,
                  (struct evidence){.rule = STR("budget.used-up"),
                                    .text = words,
                                    .until = until,
                                    .threshold = (int64_t)d->policy->budgets[budget].most});
    struct str cause = arena_format(d->out, "desk.budget.%s", d->policy->budgets[budget].scope);
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

static void permit_deny(struct desk_view *view, struct permit *permit, enum bound bound) {
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

static void permit_begin(struct desk_view *view, struct permit *permit) {
    struct deciding *d = view->d;
    uint32_t place = view_place(view, permit->agent);
    const struct policy_agent *agent = &d->policy->agents[place];
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

/* After a guess: whoever is let through first tries it. */
static void probe_begin(struct desk_view *view, const struct permit *permit) {
    struct deciding *d = view->d;
    uint32_t place = view_place(view, permit->agent);
    if (place == NOBODY || !view->limits[place])
        return;
    live_edit(d, PART_ACCOUNT, 0);
    struct account *account =
        accounts_find(&d->decision->live.accounts, str_of(d->policy->agents[place].account));
    account->probe = permit->n + 1;
    account->probe_until = time_after(d->signal->at, 2 * d->policy->tick_every);
    live_touch(d, PART_ACCOUNT, account);
    view_accounts(view);
}

static void permit_grant(struct desk_view *view, struct permit *permit) {
    struct deciding *d = view->d;
    struct pace *pace = &d->decision->goal.pace;
    struct evidence evidence = permit_evidence(d, permit, "permit.granted");
    permit_tell(d, permit, SIGNAL_PERMIT_GRANTED, (struct str){0}, 0);
    pace_take(pace, d->policy, d->signal->at);
    if (permit->wants == PERMIT_STRIKE && permit->wanted_at > pace->released_at)
        pace_strike(pace, d->signal->at);
    if (permit->wants != PERMIT_STRIKE)
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

/* Somebody asked again for what was granted: the same answer. */
static void permit_repeat(struct desk_view *view, struct permit *permit) {
    struct deciding *d = view->d;
    struct permit copy = *permit;
    copy.wants = permit->granted;
    permit_tell(d, &copy, SIGNAL_PERMIT_GRANTED, (struct str){0}, 0);
    decide_record(d, RECORD_PERMIT_GRANTED, permit_evidence(d, &copy, "permit.repeated"));
    permit->again = 0;
    live_touch(d, PART_PERMIT, permit);
    view->asking--;
}

/* ---- who is next ---- */

/* What can never be had is denied at once, whatever else waits: a denial is final for that dispatch. */
static void desk_deny(struct desk_view *view) {
    struct deciding *d = view->d;
    struct permits *permits = &d->decision->live.permits;
    if (view->asking == 0 || d->decision->goal.pace.suspended)
        return;
    for (uint32_t i = permits->count; i-- > 0 && desk_may_tell(d);) {
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

/* docs/decisions/0006: the score and a point for each minute of waiting; then the goal's id, then the assignment. */
static bool comes_before(const struct permits *permits, struct rank a, struct rank b) {
    const struct permit *x = &permits->at[a.at], *y = &permits->at[b.at];
    int order = id_compare(x->goal, y->goal);
    if (a.points != b.points)
        return a.points > b.points;
    return order != 0 ? order < 0 : x->charge < y->charge;
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

/* Those that there is room for now, best first on top. */
static struct rank *rank_all(const struct desk_view *view, uint32_t *ret_count) {
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

/* DESIGN 6, blast radius: it suspends itself and asks a person. */
static void desk_suspend(struct desk_view *view) {
    static const struct str OPTIONS[] = {{"go on", 5}, {"leave these agents alone", 24}};
    struct deciding *d = view->d;
    struct pace *pace = &d->decision->goal.pace;
    struct str words = arena_format(
        d->out,
        "Overseer wants to stop, move or resend to more than %u of %u agents within a minute. "
        "It may be mistaken, and does nothing more until somebody has looked.",
        pace->struck, view->granted);
    pace->suspended = 1;
    decide_record(d, RECORD_DESK_SUSPENDED,
                  (struct evidence){.rule = STR("desk.blast"),
                                    .text = words,
                                    .count = pace->struck + 1,
                                    .threshold = d->policy->blast_share});
    question_ask(d, (struct asking){.kind = QUESTION_DECIDE,
                                    .of = OF_PERSON,
                                    .alarm = ALARM_EMERGENCY,
                                    .cause = STR("desk.blast"),
                                    .text = {.title = STR("Overseer has suspended itself"),
                                             .text = words,
                                             .options = {OPTIONS, count_of(OPTIONS)},
                                             .rule = STR("desk.blast"),
                                             .reason = STR("too many agents at once")}});
}

static bool is_blast(const struct desk_view *view, const struct permit *permit) {
    const struct pace *pace = &view->d->decision->goal.pace;
    return permit->wants == PERMIT_STRIKE && permit->wanted_at > pace->released_at &&
           pace_is_blast(pace, view->d->policy, view->granted, view->d->signal->at);
}

/* Why nothing at all is granted now. */
static enum bound desk_bound(const struct deciding *d) {
    const struct pace *pace = &d->decision->goal.pace;
    if (pace->suspended)
        return BOUND_SUSPENDED;
    if (!pace_is_open(pace, d->policy, d->signal->at))
        return BOUND_PACE;
    return desk_may_tell(d) ? BOUND_NONE : BOUND_SLOT;
}

static void desk_grant(struct desk_view *view) {
    struct deciding *d = view->d;
    struct permits *permits = &d->decision->live.permits;
    uint32_t count;
    if (view->asking == 0 || desk_bound(d) != BOUND_NONE)
        return;
    struct rank *heap = rank_all(view, &count);
    while (count > 0 && desk_bound(d) == BOUND_NONE) {
        uint32_t at = heap[0].at;
        heap[0] = heap[--count];
        rank_sink(permits, heap, count, 0);
        if (view_bound(view, &permits->at[at]) != BOUND_NONE)
            continue;
        if (is_blast(view, &permits->at[at])) {
            desk_suspend(view);
            return;
        }
        live_edit(d, PART_PERMIT, 0);
        permit_grant(view, &permits->at[at]);
    }
}

static void view_go_on(struct desk_view *view) {
    view->d->gone_on = true;
    uint32_t before = view->granted;
    desk_deny(view);
    desk_grant(view);
    if (view->granted > before && view->d->policy->budget_count > 0)
        desk_deny(view); /* the last start of a budget was somebody else's */
    budgets_store(view);
}

void desk_go_on(struct deciding *d) {
    if (d->gone_on)
        return;
    accounts_due(d);
    if (desk_is_asked(&d->decision->live))
        view_go_on(view_make(d));
}

/* ---- what happens ---- */

static struct permit *permit_in_hand(struct deciding *d, struct permit *ret_asked) {
    *ret_asked = (struct permit){0};
    if (!shape_decode(&PERMIT, d->signal->body, ret_asked) || ret_asked->agent[0] == 0)
        return NULL;
    return permits_find(&d->decision->live.permits, ret_asked->goal, ret_asked->charge);
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Whoever is acted on runs, whether this desk let it or not: it came from elsewhere, or to life while it waited for its
 * account. It is there, and counts; nothing is reserved for it. */
static void permit_adopt(struct permit *permit, int64_t now) {
    if (permit->state == PERMIT_GRANTED)
        return;
    permit->state = PERMIT_GRANTED;
    permit->granted_at = now;
}

/* It asks anew: what it had is free, what it has spent stays spent, and its place in the queue is as old as it is. */
static void permit_renew(struct permit *permit, const struct permit *asked, int64_t now) {
    permit->wanted_at = now;
    permit->turn = asked->turn;
    permit->wants = asked->wants;
    permit->again = permit->stopped = 0;
    permit->goal_cost = larger(permit->goal_cost, asked->goal_cost);
    permit->goal_tokens = larger(permit->goal_tokens, asked->goal_tokens);
    permit->goal_starts = larger(permit->goal_starts, asked->goal_starts);
    permit->repository = asked->repository;
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
    permit->charge = asked->charge;
    permit->asked_at = asked->asked_at < d->signal->at ? asked->asked_at : d->signal->at;
    return permit;
}

static bool asked_is_right(const struct permit *asked) {
    return asked->agent[0] && asked->turn > 0 && asked->wants > PERMIT_NONE &&
           asked->wants < PERMIT_KINDS && asked->score <= UINT32_MAX;
}

/* What it waits for is said once, when it begins to. */
static void waits_say(struct desk_view *view, const struct permit *asked) {
    struct deciding *d = view->d;
    const struct permit *permit =
        permits_find(&d->decision->live.permits, asked->goal, asked->charge);
    if (!permit || permit->turn != asked->turn || (permit->wants == PERMIT_NONE && !permit->again))
        return;
    enum bound bound = view_bound(view, permit);
    struct evidence evidence = permit_evidence(d, permit, "permit.waits");
    if (bound == BOUND_NONE)
        bound = desk_bound(d);
    evidence.reason = bound_words(view, permit, bound, &evidence.until);
    decide_record(d, RECORD_PERMIT_WAITS, evidence);
}

/* Never granted twice for one ask: whoever repeats it hears the same again. */
void rule_permit_ask(struct deciding *d) {
    struct permit asked, *permit = permit_in_hand(d, &asked);
    if (!asked_is_right(&asked) || !desk_open(d) ||
        (!permit && d->decision->live.permits.count >= LIMIT_PERMITS)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (permit && asked.turn < permit->turn)
        return;
    bool again = permit && asked.turn == permit->turn;
    if (again && permit->wants != PERMIT_NONE)
        return; /* it waits already */
    live_edit(d, PART_PERMIT, 1);
    permit = permits_find(&d->decision->live.permits, asked.goal, asked.charge);
    if (!permit)
        permit = permit_add(d, &asked);
    if (again)
        permit->again = 1;
    else
        permit_renew(permit, &asked, d->signal->at);
    live_touch(d, PART_PERMIT, permit);
    accounts_due(d);
    struct desk_view *view = view_make(d);
    view_go_on(view);
    waits_say(view, &asked);
    budgets_store(view);
}

/* ---- settling ---- */

static bool knows_less(const struct permit *permit, const struct permit *told) {
    return permit->goal_cost < told->goal_cost || permit->goal_tokens < told->goal_tokens ||
           permit->goal_starts < told->goal_starts;
}

/* The others of its goal learn what it has spent by now, where that matters. */
static void goal_note(struct deciding *d, const struct permit *told) {
    struct permits *permits = &d->decision->live.permits;
    for (uint32_t i = 0; budgets_are_of_goals(d->policy) && i < permits->count; i++) {
        if (!id_equal(permits->at[i].goal, told->goal) || !knows_less(&permits->at[i], told))
            continue;
        live_edit(d, PART_PERMIT, 0);
        struct permit *permit = &permits->at[i];
        permit->goal_cost = larger(permit->goal_cost, told->goal_cost);
        permit->goal_tokens = larger(permit->goal_tokens, told->goal_tokens);
        permit->goal_starts = larger(permit->goal_starts, told->goal_starts);
        live_touch(d, PART_PERMIT, permit);
    }
}

/* Its reservation becomes what was spent; when it is over, what is left of it is free. */
static void permit_settle(struct deciding *d, struct permit *permit, const struct permit *told) {
    bool over = d->signal->to != 0;
    probe_heard(d, permit, d->signal->cost > 0 || d->signal->tokens > 0, over);
    if (over) {
        live_remove(d, PART_PERMIT, permit);
        return;
    }
    if (permit->state != PERMIT_GRANTED || told->turn < permit->turn)
        return;
    permit->settled_cost = amount_add(permit->settled_cost, d->signal->cost);
    permit->settled_tokens = amount_add(permit->settled_tokens, d->signal->tokens);
    live_touch(d, PART_PERMIT, permit);
}

/* Hard stop: one that has used up its reservation while the budget is empty is told to stop. Once. */
static void overspent_stop(struct desk_view *view, const struct permit *told) {
    struct deciding *d = view->d;
    uint32_t budget = 0;
    struct permit *permit = permits_find(&d->decision->live.permits, told->goal, told->charge);
    if (!permit || permit->state != PERMIT_GRANTED || permit->stopped || !desk_may_tell(d) ||
        !budgets_overdrawn(view, permit, &budget))
        return;
    live_edit(d, PART_PERMIT, 0);
    permit = permits_find(&d->decision->live.permits, told->goal, told->charge);
    struct permit copy = *permit;
    copy.wants = PERMIT_BEGIN;
    struct evidence evidence = permit_evidence(d, &copy, "permit.overspent");
    evidence.reason = budget_words(view, budget, d->out);
    permit_tell(d, &copy, SIGNAL_PERMIT_DENIED, evidence.reason, 0);
    permit->stopped = 1;
    live_touch(d, PART_PERMIT, permit);
    decide_record(d, RECORD_PERMIT_DENIED, evidence);
}

static void settled_say(struct deciding *d, const struct permit *told) {
    struct evidence evidence = permit_evidence(d, told, "permit.settled");
    evidence.threshold = (int64_t)(d->signal->cost <= INT64_MAX ? d->signal->cost : INT64_MAX);
    evidence.to = d->signal->to ? STR("over") : STR("goes on");
    decide_record(d, RECORD_PERMIT_SETTLED, evidence);
}

/* What was spent is charged in full, also more than was reserved, and also for a permit that is gone by now. */
void rule_settle(struct deciding *d) {
    struct permit told, *permit = permit_in_hand(d, &told);
    const struct signal *signal = d->signal;
    bool its = permit && told.turn >= permit->turn;
    if (told.agent[0] == 0 || !desk_open(d) || (signal->cost == 0 && signal->tokens == 0 && !its))
        return;
    settled_say(d, &told);
    if (permit && (its || !signal->to)) {
        live_edit(d, PART_PERMIT, 0);
        permit = permits_find(&d->decision->live.permits, told.goal, told.charge);
        permit_settle(d, permit, &told);
    }
    goal_note(d, &told);
    accounts_due(d);
    struct desk_view *view = view_make(d);
    budgets_charge(view, told.agent, signal->cost, signal->tokens);
    overspent_stop(view, &told);
    view_go_on(view);
}

/* ---- limits ---- */

/* Pain 9: no reset time is invented. Without one it is a guess, doubled each time, and one agent tries first. */
static void limit_set(struct deciding *d, struct account *account, int64_t until) {
    int64_t now = d->signal->at;
    bool said = until > now && until <= now + SECONDS(86400) * LIMIT_QUOTA_DAYS;
    if (said) {
        account->limited_until = until;
        account->guessed = account->tried = 0;
    } else {
        uint32_t doublings =
            account->tried < LIMIT_QUOTA_DOUBLINGS ? account->tried : LIMIT_QUOTA_DOUBLINGS;
        int64_t rest = d->policy->quota_guess > 0 ? d->policy->quota_guess : MINUTES(1);
        account->limited_until = time_after(now, rest << doublings);
        account->guessed = 1;
        account->tried++;
    }
    account->probe = 0;
    account->probe_until = 0;
    live_touch(d, PART_ACCOUNT, account);
    decide_record(d, RECORD_ACCOUNT_LIMITED,
                  (struct evidence){.rule = said ? STR("account.limited") : STR("account.guess"),
                                    .text = arena_copy(d->out, str_of(account->name)),
                                    .until = account->limited_until,
                                    .count = account->tried});
}

static bool account_is_known(const struct policy *policy, const char *name) {
    for (uint32_t i = 0; i < policy->agent_count; i++)
        if (name[0] && name_same(policy->agents[i].account, name))
            return true;
    return false;
}

/* Many agents hear of the same limit: the first says it, and a later one only if it knows better. */
static bool is_news(const struct deciding *d, const struct account *told) {
    const struct account *account = accounts_find(&d->decision->live.accounts, str_of(told->name));
    int64_t now = d->signal->at;
    if (!account)
        return d->decision->live.accounts.count < LIMIT_ACCOUNTS;
    if (account->limited_until <= now)
        return true;
    return told->limited_until > now &&
           (account->guessed || told->limited_until > account->limited_until);
}

void rule_limited(struct deciding *d) {
    struct account told = {0};
    struct accounts *accounts = &d->decision->live.accounts;
    if (!shape_decode(&ACCOUNT, d->signal->body, &told) ||
        !account_is_known(d->policy, told.name)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (!is_news(d, &told) || !desk_open(d))
        return;
    live_edit(d, PART_ACCOUNT, 1);
    struct account *account = accounts_find(accounts, str_of(told.name));
    if (!account) {
        account = live_add(d, PART_ACCOUNT, d->decision->goal.parts_made++);
        memcpy(account->name, told.name, sizeof account->name);
    }
    limit_set(d, account, told.limited_until);
    desk_go_on(d);
}

/* ---- other hosts ---- */

/* A person is told of a lost host once, from the host that took it over; the alert goes when that host is back. Its goals say
 * themselves what waits: run_host.c. */
void rule_host_lost(struct deciding *d) {
    struct str cause = arena_format(d->out, "host.lost.%u", d->signal->to);
    if (!d->world->goal && d->signal->override)
        return;
    if (!desk_open(d))
        return;
    if (d->signal->override) {
        question_settle(d, cause, STR("host.returned"));
        return;
    }
    struct str words = arena_format(
        d->out,
        "Host %u does not renew its lease any more, and host %u has taken its goals over. Tasks "
        "that had an agent at work there start again once that agent is certainly frozen. Look at "
        "that machine: what its agents made is kept there.",
        d->signal->to, d->decision->goal.desk);
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

/* What was asked for until now goes on; or, if that is what they want, is denied. */
static void desk_release(struct deciding *d, bool alone, struct str rule) {
    struct pace *pace = &d->decision->goal.pace;
    if (!pace->suspended)
        return;
    pace->suspended = 0;
    pace->struck = 0;
    if (alone)
        pace->alone_at = d->signal->at;
    else
        pace->released_at = d->signal->at;
    decide_record(d, RECORD_DESK_RELEASED,
                  (struct evidence){.rule = rule, .to = alone ? STR("alone") : STR("go on")});
    desk_go_on(d);
}

void rule_desk_release(struct deciding *d) {
    if (!d->decision->goal.pace.suspended)
        return;
    if (d->signal->by != WHO_HUMAN) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    questions_end(d, STR("desk.release"));
    desk_release(d, d->signal->to != 0, STR("desk.release"));
}

void desk_answered(struct deciding *d, const struct question *question) {
    if (name_same(question->cause, "desk.blast"))
        desk_release(d, question->answer == 2, STR("desk.answered"));
}

/* ---- time ---- */

static int64_t account_next(const struct account *account) {
    return account->limited_until > 0 ? account->limited_until
           : account->probe           ? account->probe_until
                                      : TIME_NEVER;
}

int64_t desk_next(const struct live *live, const struct goal *goal, const struct policy *policy,
                  int64_t now) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 0; i < live->accounts.count; i++)
        next =
            account_next(&live->accounts.at[i]) < next ? account_next(&live->accounts.at[i]) : next;
    if (goal->pace.suspended || !desk_is_asked(live))
        return next;
    int64_t opens = pace_opens(&goal->pace, policy, now);
    next = opens > now && opens < next ? opens : next;
    for (uint32_t i = 0; i < live->budgets.count; i++) {
        const struct budget *budget = &live->budgets.at[i];
        int64_t end = budget->window > 0 ? budget->since + budget->window : TIME_NEVER;
        next = end > now && end < next ? end : next;
    }
    return next;
}

/* A desk that has nothing to decide writes nothing. */
int64_t desk_due(struct deciding *d) {
    desk_go_on(d);
    return desk_next(&d->decision->live, &d->decision->goal, d->policy, d->signal->at);
}
