/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether there is room for one more permit: the caps of G-14, and the supervisor's own pace. */
#include "base/planted.h"
#include "core/admission/admission.h"
#include "core/admission/quota.h"
#include "core/people/question.h"

/* ---- agents by name ---- */

static uint8_t first_with(const struct policy *policy, uint32_t place, size_t member) {
    const char *name = (const char *)&policy->dispatch.agents[place] + member;
    for (uint32_t i = 0; i < place; i++)
        if (name_same((const char *)&policy->dispatch.agents[i] + member, name))
            return (uint8_t)i;
    return (uint8_t)place;
}

static void agents_know(struct admission_view *view) {
    const struct policy *policy = view->d->policy;
    must(policy->dispatch.agent_count <= NOBODY &&
         policy->spending.budget_count <= LIMIT_POLICY_BUDGETS);
    for (uint32_t i = 0; i < policy->dispatch.agent_count; i++) {
        uint8_t at = (uint8_t)name_hash(policy->dispatch.agents[i].id);
        while (view->place_of[at])
            at++;
        view->place_of[at] = (uint8_t)(i + 1);
        view->account_of[i] = first_with(policy, i, offsetof(struct policy_agent, account));
        view->model_of[i] = first_with(policy, i, offsetof(struct policy_agent, model));
        view->team_of[i] = first_with(policy, i, offsetof(struct policy_agent, team));
    }
    view_accounts(view);
}

void view_accounts(struct admission_view *view) {
    const struct policy *policy = view->d->policy;
    const struct accounts *accounts = &view->d->decision->live.accounts;
    for (uint32_t i = 0; i < policy->dispatch.agent_count; i++)
        view->limits[i] = policy->dispatch.agents[i].account[0]
                              ? accounts_find(accounts, str_of(policy->dispatch.agents[i].account))
                              : NULL;
    view->windows = false;
    for (uint32_t i = 0; i < accounts->count && !view->windows; i++)
        view->windows = accounts->at[i].window[0] != 0;
}

/* ---- counting ---- */

/* Each permit of a goal stores what the goal had spent when it asked: the newest value, which is the largest, counts. */
static void view_goal(struct admission_view *view, const struct permit *permit) {
    uint64_t key = goal_key(permit->goal);
    if (!view->counts_goals)
        return;
    sums_raise(&view->goal_spent[UNIT_MONEY], key, permit->goal_cost);
    sums_raise(&view->goal_spent[UNIT_TOKENS], key, permit->goal_tokens);
    sums_raise(&view->goal_spent[UNIT_STARTS], key, permit->goal_starts);
}

void view_grant(struct admission_view *view, const struct permit *permit) {
    uint32_t place = view_place(view, permit->agent);
    view->granted++;
    if (place != NOBODY) {
        view->agents[place]++;
        view->accounts[view->account_of[place]]++;
        view->models[view->model_of[place]]++;
        view->teams[view->team_of[place]]++;
    }
    if (permit->batch)
        sums_add(&view->batches, permit->batch, 1);
    if (permit->repository)
        sums_add(&view->repositories, permit->repository, 1);
    for (uint32_t unit = 0; unit < BUDGET_UNITS && view->counts_goals; unit++)
        sums_add(&view->goal_reserved[unit], goal_key(permit->goal),
                 permit_reserved(permit, (enum budget_unit)unit));
    view_goal(view, permit);
    budgets_reserve(view, permit, place);
}

struct admission_view *view_make(struct deciding *d) {
    struct admission_view *view = arena_new(d->out, struct admission_view, 1);
    const struct permits *permits = &d->decision->live.permits;
    view->d = d;
    view->repositories = sums_make(permits->count + 1, d->out);
    view->batches = sums_make(permits->count + 1, d->out);
    view->counts_goals = budgets_are_of_goals(d->policy);
    for (uint32_t unit = 0; unit < BUDGET_UNITS && view->counts_goals; unit++) {
        view->goal_spent[unit] = sums_make(permits->count + 1, d->out);
        view->goal_reserved[unit] = sums_make(permits->count + 1, d->out);
    }
    agents_know(view);
    budgets_load(view);
    for (uint32_t i = 0; i < permits->count; i++) {
        if (permits->at[i].state == PERMIT_GRANTED)
            view_grant(view, &permits->at[i]);
        else
            view_goal(view, &permits->at[i]);
        view->asking += permits->at[i].wants != PERMIT_NONE || permits->at[i].again;
    }
    return view;
}

/* ---- caps ---- */

static bool is_full(uint32_t used, uint32_t most) {
    return most > 0 && used >= most;
}

/* G-14: caps of host, agent, account, model, team and repository. */
static enum bound caps_bound(const struct admission_view *view, const struct permit *permit,
                             uint32_t place) {
    const struct policy *policy = view->d->policy;
    const struct policy_agent *agent = &policy->dispatch.agents[place];
    if (is_full(view->granted, policy->dispatch.most_at_once))
        return BOUND_HOST;
    if (is_full(view->agents[place], agent->most))
        return BOUND_AGENT;
    if (agent->account[0] &&
        is_full(view->accounts[view->account_of[place]], policy->dispatch.most_per_account))
        return BOUND_ACCOUNT;
    if (agent->model[0] &&
        is_full(view->models[view->model_of[place]], policy->dispatch.most_per_model))
        return BOUND_MODEL;
    if (agent->team[0] &&
        is_full(view->teams[view->team_of[place]], policy->dispatch.most_per_team))
        return BOUND_TEAM;
    if (permit->repository && policy->dispatch.most_per_repository > 0 &&
        sums_get(&view->repositories, permit->repository) >= policy->dispatch.most_per_repository)
        return BOUND_REPOSITORY;
    return batch_bound(view, permit);
}

static const struct account *window_at_mark(const struct admission_view *view,
                                            const struct permit *permit, uint32_t place,
                                            uint32_t *ret_mark) {
    const char *account = view->d->policy->dispatch.agents[place].account;
    uint32_t mark = quota_mark(view->d->policy, account, permit->mark);
    if (ret_mark)
        *ret_mark = mark;
    return view->windows
               ? quota_bound(&view->d->decision->live.accounts, account, mark, view->d->signal->at)
               : NULL;
}

/* All permits that use the account share its wait; after a guess, one of them tries the account first. */
static enum bound account_bound(const struct admission_view *view, const struct permit *permit,
                                uint32_t place) {
    const struct account *account = view->limits[place];
    if (permit->wants == PERMIT_BEGIN && window_at_mark(view, permit, place, NULL))
        return BOUND_QUOTA;
    if (!account)
        return BOUND_NONE;
    if (account_is_held(account, view->d->signal->at) && !planted(OVERAGE_GOES_ON))
        return BOUND_OVERAGE;
    if (account->limited_until > view->d->signal->at)
        return BOUND_LIMIT;
    return account->probe && account->probe != permit->n + 1 ? BOUND_PROBE : BOUND_NONE;
}

/* POLICY-01: an agent that the operator does not name gets nothing. */
static enum bound agent_bound(const struct admission_view *view, const struct permit *permit,
                              uint32_t place) {
    const struct policy *policy = view->d->policy;
    if (policy->dispatch.agent_count == 0)
        return BOUND_OFF;
    if (place == NOBODY)
        return BOUND_UNKNOWN;
    bool all = policy->dispatch.allow_agents.len == 0 ||
               str_equal(policy->dispatch.allow_agents, STR("*"));
    return all || str_has_word(policy->dispatch.allow_agents, str_of(permit->agent))
               ? BOUND_NONE
               : BOUND_NOT_ALLOWED;
}

/* Final bounds come first, so that they are reported at once, however full everything is. A disruptive action costs
 * nothing and frees resources rather than takes them; only the pace and the share of the fleet bound it. */
enum bound view_bound(const struct admission_view *view, const struct permit *permit) {
    uint32_t place = view_place(view, permit->agent), budget;
    if (permit->wants == PERMIT_DISRUPTIVE)
        return permit->wanted_at <= view->d->decision->goal.pace.alone_at ? BOUND_ALONE
                                                                          : BOUND_NONE;
    if (permit->wants == PERMIT_NONE)
        return BOUND_NONE;
    enum bound bound = agent_bound(view, permit, place);
    if (bound != BOUND_NONE)
        return bound;
    enum bound money = budgets_bound(view, permit, &budget);
    if (money >= BOUND_USED_UP)
        return money;
    bound = account_bound(view, permit, place);
    if (bound == BOUND_NONE && permit->wants == PERMIT_BEGIN)
        bound = caps_bound(view, permit, place);
    return bound == BOUND_NONE ? money : bound;
}

static struct str count_words(const struct admission_view *view, const char *what, const char *name,
                              uint32_t most) {
    return arena_format(view->d->out, "%s%s%s has %u at once, as many as it may", what,
                        name[0] ? " " : "", name, most);
}

static struct str cap_words(const struct admission_view *view, uint32_t place, enum bound bound) {
    const struct policy *policy = view->d->policy;
    const struct policy_agent *agent = &policy->dispatch.agents[place];
    switch (bound) {
    case BOUND_HOST: return count_words(view, "the host", "", policy->dispatch.most_at_once);
    case BOUND_AGENT: return count_words(view, "agent", agent->id, agent->most);
    case BOUND_ACCOUNT:
        return count_words(view, "account", agent->account, policy->dispatch.most_per_account);
    case BOUND_MODEL:
        return count_words(view, "model", agent->model, policy->dispatch.most_per_model);
    case BOUND_TEAM: return count_words(view, "team", agent->team, policy->dispatch.most_per_team);
    default: return count_words(view, "its repository", "", policy->dispatch.most_per_repository);
    }
}

/* For people; `*ret_until` is when the bound ends by itself, 0: unknown. */
struct str bound_words(const struct admission_view *view, const struct permit *permit,
                       enum bound bound, int64_t *ret_until) {
    const struct policy *policy = view->d->policy;
    const struct goal *goal = &view->d->decision->goal;
    uint32_t place = view_place(view, permit->agent), budget = 0;
    *ret_until = 0;
    switch (bound) {
    case BOUND_LIMIT:
        *ret_until = view->limits[place]->limited_until;
        return arena_format(view->d->out, "account %s is at its limit",
                            policy->dispatch.agents[place].account);
    case BOUND_QUOTA: {
        uint32_t mark;
        const struct account *window = window_at_mark(view, permit, place, &mark);
        *ret_until = account_holds_until(window);
        return quota_words(window, mark, view->d->out);
    }
    case BOUND_OVERAGE:
        *ret_until = view->limits[place]->overage_until;
        return arena_format(view->d->out,
                            "account %s would use paid extra usage, which is not allowed",
                            policy->dispatch.agents[place].account);
    case BOUND_PROBE:
        return arena_format(view->d->out, "one agent tries account %s first",
                            policy->dispatch.agents[place].account);
    case BOUND_BUDGET:
    case BOUND_USED_UP:
    case BOUND_TOO_LARGE: {
        budgets_bound(view, permit, &budget);
        int64_t window = policy->spending.budgets[budget].window;
        if (window > 0 && bound == BOUND_USED_UP)
            *ret_until = budget_since(window, view->d->signal->at) + window;
        return budget_words(view, budget, view->d->out);
    }
    case BOUND_BATCH:
    case BOUND_BATCH_HELD:
    case BOUND_BATCH_OVER: return batch_words(view, permit, bound);
    case BOUND_PACE:
        *ret_until = pace_opens(&goal->pace, policy, view->d->signal->at);
        return STR("the supervisor does no more in a minute");
    case BOUND_SUSPENDED: return STR("the supervisor has suspended itself, and a person was asked");
    case BOUND_OFF: return STR("supervision is switched off");
    case BOUND_SLOT: return STR("many answers are under way");
    case BOUND_NOT_ALLOWED: return STR("the policy does not allow this agent");
    case BOUND_UNKNOWN: return STR("there is no such agent");
    case BOUND_ALONE: return STR("a person wants this agent left alone");
    case BOUND_NONE: return STR("it is its turn");
    default: return cap_words(view, place, bound);
    }
}

/* ---- pace ---- */

/* A quarter of a minute's actions may happen at once; after that, each one costs a span. Burst and span are chosen so
 * that no 60 seconds, wherever they begin, contain more than `most` actions. An eighth of `most` is kept for actions
 * that were allowed in the previous minute and are carried out now: a look comes in between. */
static int64_t pace_span(uint32_t most, int64_t *ret_ahead) {
    most -= most / 8;
    uint32_t burst = most / 4 > 0 ? most / 4 : 1, rest = most - burst + 1;
    int64_t span = (MINUTES(1) + rest - 1) / rest;
    *ret_ahead = span * (burst - 1);
    return span;
}

/* Actions are never paid for more than a minute ahead: a later time was stored by a clock that was ahead, and is
 * ignored. */
static int64_t pace_next(const struct pace *pace, int64_t now) {
    return pace->next > time_after(now, MINUTES(1)) ? now : pace->next;
}

int64_t pace_opens(const struct pace *pace, const struct policy *policy, int64_t now) {
    int64_t ahead;
    if (policy->pace.actions_per_minute == 0)
        return 0;
    pace_span(policy->pace.actions_per_minute, &ahead);
    return pace_next(pace, now) - ahead;
}

bool pace_is_open(const struct pace *pace, const struct policy *policy, int64_t now) {
    return pace_opens(pace, policy, now) <= now;
}

void pace_take(struct pace *pace, const struct policy *policy, int64_t now) {
    int64_t ahead;
    if (policy->pace.actions_per_minute == 0)
        return;
    int64_t span = pace_span(policy->pace.actions_per_minute, &ahead);
    int64_t next = pace_next(pace, now);
    pace->next = (next > now ? next : now) + span;
}

/* DESIGN 6: a supervisor that wants to act against a large share of the fleet at once is probably wrong itself. */
bool pace_is_blast(const struct pace *pace, const struct policy *policy, uint32_t granted,
                   int64_t now) {
    bool this_minute = pace->since <= now && pace->since + MINUTES(1) > now;
    uint32_t struck = this_minute ? pace->struck : 0;
    return policy->pace.blast_share > 0 && struck + 1 > policy->pace.blast_least &&
           (uint64_t)(struck + 1) * 100 > (uint64_t)policy->pace.blast_share * granted;
}

void pace_disruptive(struct pace *pace, int64_t now) {
    if (pace->since + MINUTES(1) <= now || pace->since > now) {
        pace->since = now;
        pace->struck = 0;
    }
    pace->struck++;
}
