/* SPDX-License-Identifier: Apache-2.0 */
/* How does a goal ask a desk, and how does it pay? docs/decisions/0009. */
#include "core/desk.h"
#include "core/graph.h"

/* ---- asking ---- */

static bool has_room(const struct deciding *d) {
    return d->decision->goal.open_count < LIMIT_OPEN_EFFECTS;
}

/* docs/decisions/0006: its score without the waiting, which goes on at the desk. */
static uint64_t score_of(struct deciding *d, const struct charge *charge) {
    struct graph_picks picks =
        graph_recommend(&d->decision->plan, &d->decision->goal, d->signal->at, d->out);
    for (uint32_t i = 0; i < picks.count; i++)
        if (picks.at[i].node->n == charge->node)
            return picks.at[i].score - picks.at[i].waited;
    static const uint32_t POINTS[PRIORITIES] = {[PRIORITY_LOW] = SCORE_LOW,
                                                [PRIORITY_NORMAL] = SCORE_NORMAL,
                                                [PRIORITY_HIGH] = SCORE_HIGH,
                                                [PRIORITY_URGENT] = SCORE_URGENT};
    return POINTS[d->decision->goal.priority];
}

static struct permit permit_of(struct deciding *d, const struct charge *charge) {
    const struct goal *goal = &d->decision->goal;
    struct permit permit = {.goal = goal->id,
                            .charge = charge->n,
                            .turn = charge->turn,
                            .goal_cost = goal->cost,
                            .goal_tokens = goal->tokens,
                            .goal_starts = goal->starts};
    name_put(permit.agent, sizeof permit.agent, str_of(charge->agent));
    return permit;
}

static void desk_tell(struct deciding *d, enum signal_kind kind, struct charge *charge,
                      struct signal rest, const struct permit *permit) {
    rest.kind = kind;
    rest.goal = desk_id(charge->desk);
    rest.desk = charge->desk;
    rest.charge = charge->n + 1;
    if (permit)
        rest.body = shape_encode(&PERMIT, permit, d->out);
    decide_tell(d, rest);
}

/* The number of an ask is that of the effect that carries it: never used twice, and growing. */
static void ask(struct deciding *d, struct charge *charge, enum permit_kind kind) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    charge->turn = d->decision->goal.effects_made + 1;
    charge_touch(d, charge);
    struct permit permit = permit_of(d, charge);
    permit.wants = kind;
    permit.score = score_of(d, charge);
    permit.asked_at = node && node->queued_at ? node->queued_at : d->signal->at;
    desk_tell(d, SIGNAL_PERMIT_ASK, charge, (struct signal){0}, &permit);
}

/* Reserve before dispatch. Whoever finds no room among the effects asks when one of them has ended. */
void permit_ask(struct deciding *d, struct charge *charge) {
    if (charge->desk == 0)
        charge->desk = d->decision->goal.owner;
    charge->turn = 0;
    charge_touch(d, charge);
    if (has_room(d))
        ask(d, charge, PERMIT_BEGIN);
}

void permits_catch_up(struct deciding *d) {
    struct charges *charges = &d->decision->live.charges;
    for (uint32_t i = 0; i < charges->count && has_room(d); i++) {
        const struct charge *charge = &charges->at[i];
        bool waits = charge->waiting == WAITS_FOR_PERMIT || charge->waiting == WAITS_FOR_QUOTA;
        if (!waits || charge->turn != 0 || charge->desk == 0)
            continue;
        live_edit(d, PART_CHARGE, 0);
        ask(d, &charges->at[i], PERMIT_BEGIN);
    }
}

/* Bounds on ourselves: whoever acts on one that runs asks first, at the desk that let it run. */
void permit_act(struct deciding *d, struct charge *charge, enum permit_kind kind) {
    must(kind == PERMIT_ACT || kind == PERMIT_STRIKE);
    if (charge->desk == 0)
        charge->desk = d->decision->goal.owner;
    ask(d, charge, kind);
}

void permit_limited(struct deciding *d, struct charge *charge, int64_t until) {
    struct account account = {.limited_until = until};
    name_put(account.name, sizeof account.name, str_of(charge->account));
    if (charge->desk == 0)
        charge->desk = d->decision->goal.owner;
    if (account.name[0] && has_room(d))
        desk_tell(d, SIGNAL_ACCOUNT_LIMITED, charge,
                  (struct signal){.until = until, .body = shape_encode(&ACCOUNT, &account, d->out)},
                  NULL);
}

/* ---- the answer ---- */

/* Nobody is there any more who asked for it: it goes back, as far as it is still that one. */
void permit_decline(struct deciding *d) {
    if (has_room(d))
        decide_tell(d, (struct signal){.kind = SIGNAL_PERMIT_SETTLE,
                                       .goal = desk_id(d->signal->desk),
                                       .desk = d->signal->desk,
                                       .charge = d->signal->charge,
                                       .body = d->signal->body,
                                       .to = 1});
}

enum permit_kind permit_answer(struct deciding *d, struct charge *charge) {
    struct permit permit = {0};
    bool granted = d->signal->kind == SIGNAL_PERMIT_GRANTED;
    if (!shape_decode(&PERMIT, d->signal->body, &permit))
        return PERMIT_NONE;
    if (charge->turn == 0 || permit.turn != charge->turn || d->signal->desk != charge->desk) {
        if (granted && permit.wants == PERMIT_BEGIN)
            permit_decline(d);
        return PERMIT_NONE;
    }
    if (granted && permit.wants == PERMIT_BEGIN)
        d->decision->goal.starts++;
    return permit.wants;
}

/* ---- paying ---- */

/* Where nobody says what a run cost, the price table does. */
static uint64_t cost_of(const struct policy_agent *agent, const struct charge *charge) {
    uint64_t cost;
    if (charge->cost > 0 || !agent || agent->price == 0)
        return charge->cost;
    if (__builtin_mul_overflow(charge->tokens, agent->price, &cost))
        return UINT64_MAX;
    return cost / 1000000;
}

/* A run that goes on is settled when it has used what was reserved for it, or a hundredth of the smallest budget: so a
 * budget is known to be used up while it can still be stopped. */
static bool is_worth_telling(const struct policy *policy, const struct policy_agent *agent,
                             uint64_t cost, uint64_t tokens) {
    uint64_t money = agent ? agent->reserve : 0, words = agent ? agent->reserve_tokens : 0;
    for (uint32_t i = 0; i < policy->budget_count; i++) {
        const struct policy_budget *budget = &policy->budgets[i];
        uint64_t *least = budget->unit == UNIT_MONEY ? &money : &words;
        if (budget->unit != UNIT_STARTS && (*least == 0 || budget->most / 100 < *least))
            *least = budget->most / 100 > 0 ? budget->most / 100 : 1;
    }
    return policy->budget_count > 0 &&
           ((money > 0 && cost >= money) || (words > 0 && tokens >= words));
}

/* Settle after: what was measured since the last time. */
void permit_return(struct deciding *d, struct charge *charge, bool over) {
    const struct policy_agent *agent = policy_agent(d->policy, str_of(charge->agent));
    struct goal *goal = &d->decision->goal;
    uint64_t cost = cost_of(agent, charge), tokens = charge->tokens;
    cost -= cost < charge->settled_cost ? cost : charge->settled_cost;
    tokens -= tokens < charge->settled_tokens ? tokens : charge->settled_tokens;
    if (charge->desk == 0 ||
        (!over && (!has_room(d) || !is_worth_telling(d->policy, agent, cost, tokens))))
        return;
    goal->cost = amount_add(goal->cost, cost);
    goal->tokens = amount_add(goal->tokens, tokens);
    charge->settled_cost = amount_add(charge->settled_cost, cost);
    charge->settled_tokens = amount_add(charge->settled_tokens, tokens);
    struct permit permit = permit_of(d, charge);
    desk_tell(d, SIGNAL_PERMIT_SETTLE, charge,
              (struct signal){.cost = cost, .tokens = tokens, .to = over}, &permit);
    if (over)
        charge->desk = charge->turn = 0;
    charge_touch(d, charge);
}

/* What a run has spent counts from its own beginning; an assignment may have several. Returns what is new. */
static uint64_t spent_since(uint64_t seen, uint64_t *of_run) {
    uint64_t more = seen > *of_run ? seen - *of_run : 0;
    *of_run += more;
    return more;
}

static bool settles(const struct policy *policy, const struct charge *charge, uint64_t cost,
                    uint64_t tokens) {
    const struct policy_agent *agent = policy_agent(policy, str_of(charge->agent));
    struct charge then = *charge;
    then.cost = amount_add(charge->cost, cost);
    then.tokens = amount_add(charge->tokens, tokens);
    uint64_t all = cost_of(agent, &then);
    return is_worth_telling(
        policy, agent, all > charge->settled_cost ? all - charge->settled_cost : 0,
        then.tokens > charge->settled_tokens ? then.tokens - charge->settled_tokens : 0);
}

/* A sample is stored with the decision that uses it: here, when it is time to settle. */
void permit_measure(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    uint64_t run_cost = charge->run_cost, run_tokens = charge->run_tokens;
    uint64_t cost = spent_since(seen->cost, &run_cost),
             tokens = spent_since(seen->tokens, &run_tokens);
    if (cost == 0 && tokens == 0)
        return;
    if (d->decision->verdict != VERDICT_CHANGE &&
        (!has_room(d) || charge->desk == 0 || !settles(d->policy, charge, cost, tokens)))
        return;
    charge->run_cost = run_cost;
    charge->run_tokens = run_tokens;
    charge->cost = amount_add(charge->cost, cost);
    charge->tokens = amount_add(charge->tokens, tokens);
    charge_touch(d, charge);
    permit_return(d, charge, false);
}
