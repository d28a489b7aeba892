/* SPDX-License-Identifier: Apache-2.0 */
/* Asks an admission for the permits of a goal, and settles what was spent. docs/decisions/0009. */
#include "core/admission/permit.h"
#include "core/admission/admission.h"
#include "core/assignment.h"
#include "core/effect.h"
#include "core/plan/graph.h"

/* ---- asking ---- */

static bool has_room(const struct deciding *d) {
    return d->decision->goal.effects.open_count < LIMIT_OPEN_EFFECTS;
}

/* docs/decisions/0006: the score without the waiting time, which the admission counts. */
static uint64_t score_of(struct deciding *d, const struct assignment *assignment) {
    struct graph_picks picks =
        graph_recommend(&d->decision->plan, &d->decision->goal, d->signal->at, d->out);
    for (uint32_t i = 0; i < picks.count; i++)
        if (picks.at[i].node->n == assignment->node)
            return picks.at[i].score - picks.at[i].waited;
    static const uint32_t POINTS[PRIORITIES] = {[PRIORITY_LOW] = SCORE_LOW,
                                                [PRIORITY_NORMAL] = SCORE_NORMAL,
                                                [PRIORITY_HIGH] = SCORE_HIGH,
                                                [PRIORITY_URGENT] = SCORE_URGENT};
    return POINTS[d->decision->goal.priority];
}

/* The repository that a cap counts. That of [repo] has no key, and is counted by its workspace. */
static uint64_t capped_repository(const struct deciding *d) {
    uint64_t key = d->decision->goal.repository;
    if (key == REPOSITORY_NONE)
        return 0;
    bool capped = d->policy->dispatch.most_per_repository > 0;
    return key || !capped ? key : d->policy->landing.workspace;
}

static struct permit permit_of(struct deciding *d, const struct assignment *assignment) {
    const struct goal *goal = &d->decision->goal;
    struct permit permit = {.goal = goal->id,
                            .assignment = assignment->n,
                            .turn = assignment->permit.turn,
                            .repository = capped_repository(d),
                            .mark = goal->kind.quota_mark,
                            .goal_cost = goal->spent.cost,
                            .goal_tokens = goal->spent.tokens,
                            .goal_starts = goal->spent.starts,
                            .batch = goal->kind.batch.key,
                            .batch_until = goal->kind.batch.until};
    name_put(permit.agent, sizeof permit.agent, str_of(assignment->agent));
    return permit;
}

static void admission_signal(struct deciding *d, enum signal_kind kind,
                             struct assignment *assignment, struct signal rest,
                             const struct permit *permit) {
    rest.kind = kind;
    rest.goal = admission_id(assignment->permit.host);
    rest.admission = assignment->permit.host;
    rest.about.assignment = assignment->n + 1;
    if (permit)
        rest.body = shape_encode(&PERMIT, permit, d->out);
    decide_tell(d, rest);
}

/* An ask has the number of the effect that carries it: never reused, and increasing. */
static void ask(struct deciding *d, struct assignment *assignment, enum permit_kind kind) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    assignment->permit.turn = d->decision->goal.effects.made + 1;
    assignment_touch(d, assignment);
    struct permit permit = permit_of(d, assignment);
    permit.wants = kind;
    permit.score = score_of(d, assignment);
    permit.asked_at = node && node->times.queued_at ? node->times.queued_at : d->signal->at;
    admission_signal(d, SIGNAL_PERMIT_ASK, assignment, (struct signal){0}, &permit);
}

/* Reserve before dispatch. If there is no room for another effect, the ask is made when one of them has ended. */
void permit_ask(struct deciding *d, struct assignment *assignment) {
    if (assignment->permit.host == 0)
        assignment->permit.host = d->decision->goal.owner;
    assignment->permit.turn = 0;
    assignment_touch(d, assignment);
    if (has_room(d))
        ask(d, assignment, PERMIT_BEGIN);
}

void permits_catch_up(struct deciding *d) {
    struct assignments *assignments = &d->decision->live.assignments;
    for (uint32_t i = 0; i < assignments->count && has_room(d); i++) {
        const struct assignment *assignment = &assignments->at[i];
        bool waits =
            assignment->wait.on == WAITS_FOR_PERMIT || assignment->wait.on == WAITS_FOR_QUOTA;
        if (!waits || assignment->permit.turn != 0 || assignment->permit.host == 0)
            continue;
        live_edit(d, PART_ASSIGNMENT, 0);
        ask(d, &assignments->at[i], PERMIT_BEGIN);
    }
}

/* Limits on the supervisor itself: an action on a running agent needs a permit first, from the admission that let it
 * run. */
void permit_act(struct deciding *d, struct assignment *assignment, enum permit_kind kind) {
    must(kind == PERMIT_ACT || kind == PERMIT_DISRUPTIVE);
    if (assignment->permit.host == 0)
        assignment->permit.host = d->decision->goal.owner;
    ask(d, assignment, kind);
}

void permit_limited(struct deciding *d, struct assignment *assignment, int64_t until) {
    struct account account = {.limited_until = until};
    name_put(account.name, sizeof account.name, str_of(assignment->account));
    if (assignment->permit.host == 0)
        assignment->permit.host = d->decision->goal.owner;
    if (account.name[0] && has_room(d))
        admission_signal(
            d, SIGNAL_ACCOUNT_LIMITED, assignment,
            (struct signal){.until = until, .body = shape_encode(&ACCOUNT, &account, d->out)},
            NULL);
}

/* ---- the answer ---- */

/* The assignment that asked for the permit is gone: the permit is returned, if it is still the same one. */
void permit_decline(struct deciding *d) {
    if (has_room(d))
        decide_tell(d, (struct signal){.kind = SIGNAL_PERMIT_SETTLE,
                                       .goal = admission_id(d->signal->admission),
                                       .admission = d->signal->admission,
                                       .about.assignment = d->signal->about.assignment,
                                       .body = d->signal->body,
                                       .to = 1});
}

enum permit_kind permit_answer(struct deciding *d, struct assignment *assignment) {
    struct permit permit = {0};
    bool granted = d->signal->kind == SIGNAL_PERMIT_GRANTED;
    if (!shape_decode(&PERMIT, d->signal->body, &permit))
        return PERMIT_NONE;
    if (assignment->permit.turn == 0 || permit.turn != assignment->permit.turn ||
        d->signal->admission != assignment->permit.host) {
        if (granted && permit.wants == PERMIT_BEGIN)
            permit_decline(d);
        return PERMIT_NONE;
    }
    if (granted && permit.wants == PERMIT_BEGIN)
        d->decision->goal.spent.starts++;
    return permit.wants;
}

/* ---- paying ---- */

/* If no cost is reported for a run, the price table gives it. */
static uint64_t cost_of(const struct policy_agent *agent, const struct assignment *assignment) {
    uint64_t cost;
    if (assignment->usage.cost > 0 || !agent || agent->price == 0)
        return assignment->usage.cost;
    if (__builtin_mul_overflow(assignment->usage.tokens, agent->price, &cost))
        return UINT64_MAX;
    return cost / 1000000;
}

/* A continuing run is settled when it has used its reservation, or a hundredth of the smallest budget: so a used-up
 * budget is noticed while the run can still be stopped. */
static bool is_worth_telling(const struct policy *policy, const struct policy_agent *agent,
                             uint64_t cost, uint64_t tokens) {
    uint64_t money = agent ? agent->reserve : 0, words = agent ? agent->reserve_tokens : 0;
    for (uint32_t i = 0; i < policy->spending.budget_count; i++) {
        const struct policy_budget *budget = &policy->spending.budgets[i];
        uint64_t *least = budget->unit == UNIT_MONEY ? &money : &words;
        if (budget->unit != UNIT_STARTS && (*least == 0 || budget->most / 100 < *least))
            *least = budget->most / 100 > 0 ? budget->most / 100 : 1;
    }
    return policy->spending.budget_count > 0 &&
           ((money > 0 && cost >= money) || (words > 0 && tokens >= words));
}

/* Settle afterwards: charges what was measured since the last time. */
void permit_return(struct deciding *d, struct assignment *assignment, bool over) {
    const struct policy_agent *agent = policy_agent(d->policy, str_of(assignment->agent));
    struct goal *goal = &d->decision->goal;
    uint64_t cost = cost_of(agent, assignment), tokens = assignment->usage.tokens;
    cost -= cost < assignment->usage.settled_cost ? cost : assignment->usage.settled_cost;
    tokens -= tokens < assignment->usage.settled_tokens ? tokens : assignment->usage.settled_tokens;
    if (assignment->permit.host == 0 ||
        (!over && (!has_room(d) || !is_worth_telling(d->policy, agent, cost, tokens))))
        return;
    goal->spent.cost = amount_add(goal->spent.cost, cost);
    goal->spent.tokens = amount_add(goal->spent.tokens, tokens);
    assignment->usage.settled_cost = amount_add(assignment->usage.settled_cost, cost);
    assignment->usage.settled_tokens = amount_add(assignment->usage.settled_tokens, tokens);
    struct permit permit = permit_of(d, assignment);
    admission_signal(d, SIGNAL_PERMIT_SETTLE, assignment,
                     (struct signal){.spent.cost = cost, .spent.tokens = tokens, .to = over},
                     &permit);
    if (over)
        assignment->permit.host = assignment->permit.turn = 0;
    assignment_touch(d, assignment);
}

/* A run's spending counts from its own beginning, and an assignment may have several runs. Returns the new part. */
static uint64_t spent_since(uint64_t seen, uint64_t *of_run) {
    uint64_t more = seen > *of_run ? seen - *of_run : 0;
    *of_run += more;
    return more;
}

static bool settles(const struct policy *policy, const struct assignment *assignment, uint64_t cost,
                    uint64_t tokens) {
    const struct policy_agent *agent = policy_agent(policy, str_of(assignment->agent));
    struct assignment then = *assignment;
    then.usage.cost = amount_add(assignment->usage.cost, cost);
    then.usage.tokens = amount_add(assignment->usage.tokens, tokens);
    uint64_t all = cost_of(agent, &then);
    return is_worth_telling(
        policy, agent,
        all > assignment->usage.settled_cost ? all - assignment->usage.settled_cost : 0,
        then.usage.tokens > assignment->usage.settled_tokens
            ? then.usage.tokens - assignment->usage.settled_tokens
            : 0);
}

/* A sample is stored with the decision that uses it: here, when it is time to settle. */
void permit_measure(struct deciding *d, struct assignment *assignment,
                    const struct observation *seen) {
    uint64_t run_cost = assignment->usage.run_cost, run_tokens = assignment->usage.run_tokens;
    uint64_t cost = spent_since(seen->cost, &run_cost),
             tokens = spent_since(seen->tokens, &run_tokens);
    if (cost == 0 && tokens == 0)
        return;
    if (d->decision->verdict != VERDICT_CHANGE && (!has_room(d) || assignment->permit.host == 0 ||
                                                   !settles(d->policy, assignment, cost, tokens)))
        return;
    assignment->usage.run_cost = run_cost;
    assignment->usage.run_tokens = run_tokens;
    assignment->usage.cost = amount_add(assignment->usage.cost, cost);
    assignment->usage.tokens = amount_add(assignment->usage.tokens, tokens);
    assignment_touch(d, assignment);
    permit_return(d, assignment, false);
}
