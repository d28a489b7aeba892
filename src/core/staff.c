/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns work: decides which agent works on what next. ASSIGN-17, ASSIGN-20, G-14, G-15; docs/decisions/0006 and 0009. */
#include "core/admission/permit.h"
#include "core/assignment.h"
#include "core/effect.h"
#include "core/goal.h"
#include "core/liveness.h"
#include "core/people/message.h"
#include "core/people/question.h"
#include "core/plan/graph.h"
#include "core/plan/node.h"
#include "core/rules.h"
#include "core/run_host.h"

/* ---- choosing an agent ---- */

/* A session that a person named to be watched: it is given no work, so the policy need not know it. */
static const struct policy_agent *agent_watched(const struct deciding *d, const struct node *node) {
    struct policy_agent *agent = arena_new(d->out, struct policy_agent, 1);
    name_put(agent->id, sizeof agent->id, str_of(node->agent));
    return agent;
}

/* ASSIGN-20: the agent that the plan names, else the first with the role that it names, else the first. A named agent
 * that exists and is not allowed is not replaced by another: the plan wants that one. */
static const struct policy_agent *agent_for(const struct deciding *d, const struct node *node) {
    if (agent_is_adopted(str_of(node->agent)))
        return agent_watched(d, node);
    const struct policy_agent *wanted = policy_agent(d->policy, str_of(node->agent));
    if (wanted && !agent_is_allowed(d, wanted))
        return NULL;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < d->policy->dispatch.agent_count; i++) {
            const struct policy_agent *agent = &d->policy->dispatch.agents[i];
            bool named = node->agent[0] && str_equal(str_of(agent->id), str_of(node->agent));
            bool fits = !node->role[0] || str_equal(str_of(agent->role), str_of(node->role));
            if (agent_is_allowed(d, agent) && (pass == 0 ? named : fits))
                return agent;
        }
    return NULL;
}

/* ---- assigning ---- */

static bool has_one_leaf(const struct plan *plan) {
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        leaves += !plan->nodes[i].retired && !plan_has_children(plan, &plan->nodes[i]);
    return leaves == 1;
}

/* ASSIGN-02: only a task or subtask without children is assigned. */
struct assignment *assignment_add(struct deciding *d, const struct node *node,
                                  const struct policy_agent *agent) {
    struct goal *goal = &d->decision->goal;
    must(!assignments_of_node(&d->decision->live.assignments, node->n));
    struct assignment *assignment = live_add(d, PART_ASSIGNMENT, goal->parts_made++);
    assignment->node = node->n;
    assignment->setup.start = node->start;
    branch_name_format(goal, has_one_leaf(&d->decision->plan) ? STR("") : node_id(node),
                       assignment->setup.branch);
    assignment->recovery.first = assignment->recovery.rung =
        (enum rung)d->policy->recovery.first_rung;
    assignment->created_at = assignment->updated_at = d->signal->at;
    assignment->wait.on = WAITS_FOR_PERMIT;
    name_put(assignment->agent, sizeof assignment->agent, str_of(agent->id));
    name_put(assignment->account, sizeof assignment->account,
             str_of(agent->account[0] ? agent->account : agent->id));
    decide_record(d, RECORD_ASSIGNMENT_QUEUED,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = STR("staff"),
                                                        .text = str_of(assignment->agent),
                                                        .to = str_of("queued")}));
    return assignment;
}

static bool wants_staff(const struct deciding *d, const struct node *node) {
    const struct plan *plan = &d->decision->plan;
    return node->status == NODE_QUEUED && !node->retired && node->tier != TIER_PHASE &&
           !plan_has_children(plan, node) &&
           !assignments_of_node(&d->decision->live.assignments, node->n) &&
           node->attempts < d->policy->recovery.max_attempts;
}

/* CONFIG-01: without agents no work is assigned; watching a session assigns none. */
static bool anybody_is_wanted(const struct deciding *d) {
    for (uint32_t i = 0; i < d->decision->plan.count; i++) {
        const struct node *node = &d->decision->plan.nodes[i];
        bool may = d->policy->dispatch.agent_count > 0 || agent_is_adopted(str_of(node->agent));
        if (may && wants_staff(d, node))
            return true;
    }
    return false;
}

/* Work that no agent may do does not wait unseen: one question per node, withdrawn when an agent may do it after all. */
static struct str nobody_cause(struct deciding *d, const struct node *node) {
    return cause_text(CAUSE_NO_AGENT, node->id, d->out);
}

static void nobody_ask(struct deciding *d, const struct node *node) {
    const char *wanted = node->agent[0] ? node->agent : node->role;
    struct str why =
        wanted[0] ? arena_format(d->out, "none of those in policy.allow_agents is %s", wanted)
                  : STR("policy.allow_agents names none of them");
    question_ask(
        d, (struct asking){
               .kind = QUESTION_DECIDE,
               .alarm = ALARM_CRITICAL,
               .cause = nobody_cause(d, node),
               .text = {.title = arena_format(d->out, "%s: no agent may work on it", node->id),
                        .text = arena_format(
                            d->out,
                            "%s is ready, and no agent may work on it: %.*s. See [[agents]], "
                            "policy.allow_agents and policy.allow_cross_agent.",
                            node->id, STR_ARG(why)),
                        .options = cause_options(CAUSE_NO_AGENT),
                        .rule = STR("staff.nobody"),
                        .reason = why}});
}

/* Watching needs no permit: it costs nothing, and acts on no agent. See watches_begin(). */
static void begin_ask(struct deciding *d, struct assignment *assignment) {
    if (!assignment_is_adopted(assignment))
        permit_ask(d, assignment);
}

static void staff_ready(struct deciding *d) {
    uint32_t most =
        d->policy->dispatch.most_per_goal ? d->policy->dispatch.most_per_goal : LIMIT_ASSIGNMENTS;
    struct graph_picks picks =
        graph_recommend(&d->decision->plan, &d->decision->goal, d->signal->at, d->out);
    if (most > LIMIT_ASSIGNMENTS)
        most = LIMIT_ASSIGNMENTS;
    for (uint32_t i = 0; i < picks.count; i++) {
        const struct node *node = picks.at[i].node;
        const struct policy_agent *agent = agent_for(d, node);
        if (!wants_staff(d, node) || d->decision->live.assignments.count >= most ||
            !dispatch_has_room(d))
            continue;
        if (!agent) {
            if (d->policy->dispatch.agent_count > 0)
                nobody_ask(d, node);
            continue;
        }
        question_settle(d, nobody_cause(d, node), STR("staff"));
        begin_ask(d, assignment_add(d, node, agent));
    }
}

/* ---- stopping ---- */

void assignment_stop(struct deciding *d, struct assignment *assignment, struct str rule,
                     struct str reason) {
    uint32_t n = assignment->n;
    assignment_run_end(d, assignment);
    permit_return(d, assignment, true);
    questions_drop(d, n, rule);
    assignment = assignments_find(&d->decision->live.assignments, n);
    assignment_move(d, assignment, ASSIGNMENT_CANCELLED,
                    (struct evidence){.rule = rule, .reason = reason});
}

static bool is_unwanted(const struct deciding *d, const struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    enum goal_status status = d->decision->goal.status;
    return (status != GOAL_ACTIVE && status != GOAL_PAUSED) || !node || node->retired ||
           node_is_over(node) || plan_has_children(&d->decision->plan, node);
}

/* Stops agents that work on a node that is over or was taken out of the plan. */
static void staff_release(struct deciding *d) {
    struct assignments *assignments = &d->decision->live.assignments;
    for (uint32_t i = assignments->count; i-- > 0;)
        if (is_unwanted(d, &assignments->at[i]) &&
            d->decision->goal.effects.open_count + 3 <= LIMIT_OPEN_EFFECTS) {
            live_edit(d, PART_ASSIGNMENT, 0);
            assignment_stop(d, &assignments->at[i], STR("work.over"),
                            STR("nobody wants it any more"));
        }
}

void assignments_stop(struct deciding *d, struct str rule) {
    struct assignments *assignments = &d->decision->live.assignments;
    for (uint32_t i = assignments->count;
         i-- > 0 && d->decision->goal.effects.open_count + 3 <= LIMIT_OPEN_EFFECTS;) {
        live_edit(d, PART_ASSIGNMENT, 0);
        assignment_stop(d, &assignments->at[i], rule, d->signal->reason);
    } /* staff_release() stops the rest as there is room */
}

/* ---- answers of the admission ---- */

static void node_begin(struct deciding *d, const struct assignment *assignment) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (node->status == NODE_QUEUED)
        node_move(d, node, NODE_IN_PROGRESS, BY_WORK,
                  (struct evidence){.rule = STR("staff.begin"), .text = str_of(assignment->agent)});
}

/* The assignment may begin, but cannot right now: its permit is returned, and asked for again. */
static void begin_later(struct deciding *d, struct assignment *assignment) {
    permit_return(d, assignment, true);
    assignment->wait.on = WAITS_FOR_BACKOFF;
    assignment->wait.until = time_after(d->signal->at, d->policy->liveness.tick_every);
    assignment_touch(d, assignment);
    decide_record(d, RECORD_ASSIGNMENT_WAITS,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = STR("staff.not-now"),
                                                        .until = assignment->wait.until}));
}

static void assignment_begin(struct deciding *d, struct assignment *assignment) {
    bool waits = assignment->wait.on == WAITS_FOR_PERMIT || assignment->wait.on == WAITS_FOR_QUOTA;
    if (!waits ||
        (assignment->status != ASSIGNMENT_QUEUED && assignment->status != ASSIGNMENT_BLOCKED)) {
        decide_record(/* its start was counted */
                      d, RECORD_ASSIGNMENT_WAITS,
                      assignment_evidence(d, assignment,
                                          (struct evidence){.rule = STR("permit.not-needed")}));
        return;
    }
    if (assignment->status == ASSIGNMENT_BLOCKED)
        assignment_move(d, assignment, ASSIGNMENT_QUEUED,
                        (struct evidence){.rule = STR("account.open")});
    if (d->decision->goal.status != GOAL_ACTIVE || !dispatch_has_room(d) ||
        assignment->delivery.effect) {
        begin_later(d, assignment);
        return;
    }
    if (!run_may_start(d, assignment)) {
        permit_return(d, assignment, true);
        assignment_waits_for_host(d, assignment);
        return;
    }
    node_begin(d, assignment);
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->delivery.instruction =
        (struct hash){0}; /* it was permitted: the same words are not too soon */
    assignment_dispatch(
        d, assignment, assignment->delivery.attempts == 0 ? WORDS_TASK : WORDS_AGAIN,
        assignment_is_adopted(assignment) ? STR("watched.begin") : STR("staff.begin"));
    plan_settle(d);
}

static void watches_begin(struct deciding *d) {
    struct assignments *assignments = &d->decision->live.assignments;
    for (uint32_t i = 0; i < assignments->count; i++) {
        bool waits = assignments->at[i].status == ASSIGNMENT_QUEUED &&
                     assignments->at[i].wait.on == WAITS_FOR_PERMIT;
        if (!waits || !assignment_is_adopted(&assignments->at[i]))
            continue;
        live_edit(d, PART_ASSIGNMENT, 0);
        assignment_begin(d, &assignments->at[i]);
    }
}

void staff(struct deciding *d) {
    const struct goal *goal = &d->decision->goal;
    permits_catch_up(d);
    if (d->decision->live.assignments.count > 0) {
        staff_release(d);
        goal_settle(d);
    }
    if (goal->status != GOAL_ACTIVE || goal->plan.version == 0 ||
        d->world->level < LEVEL_SUPERVISION)
        return;
    if (anybody_is_wanted(d))
        staff_ready(d);
    watches_begin(d);
}

void rule_granted(struct deciding *d) {
    struct assignment *assignment = assignment_at_hand(d);
    if (!assignment) {
        permit_decline(d); /* the assignment that asked is over by now */
        return;
    }
    switch (permit_answer(d, assignment)) {
    case PERMIT_BEGIN: assignment_begin(d, assignment); break;
    case PERMIT_ACT:
    case PERMIT_DISRUPTIVE:
        if (assignment->outgoing.next)
            reply_granted(d, assignment);
        else
            ladder_granted(d, assignment);
        break;
    default: break;
    }
}

/* The work waits as a node without an assignment, and says why. */
static struct node *work_stops(struct deciding *d, struct assignment *assignment, struct str rule,
                               struct str reason, enum blocked_by by, struct str why) {
    uint32_t at_node = assignment->node;
    assignment_stop(d, assignment, rule, reason);
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, at_node);
    if (node_status_may_become(node->status, NODE_BLOCKED)) {
        node_move(d, node, NODE_BLOCKED, BY_WORK,
                  (struct evidence){.rule = rule, .reason = reason, .blocked = by});
        node->blocked = by;
        node->why = decide_text(d, why);
    }
    return node;
}

static void stopped_ask(struct deciding *d, const struct node *node, enum cause cause,
                        struct question_text text, enum question_kind kind) {
    if (kind == QUESTION_DECIDE)
        text.options = cause_options(cause);
    question_ask(d,
                 (struct asking){.kind = kind,
                                 .alarm = kind == QUESTION_DECIDE ? ALARM_CRITICAL : ALARM_WARNING,
                                 .cause = cause_text(cause, node->id, d->out),
                                 .text = text});
}

/* Final for this dispatch: nothing asks again by itself. A person decides. */
static void begin_denied(struct deciding *d, struct assignment *assignment) {
    struct str reason = str_cut_utf8(d->signal->reason, LIMIT_REASON);
    decide_record(d, RECORD_ASSIGNMENT_DENIED,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = STR("permit.denied"),
                                                        .reason = reason,
                                                        .until = d->signal->until}));
    const struct node *node =
        work_stops(d, assignment, STR("permit.denied"), reason, BLOCKED_BY_EXTERNAL, reason);
    stopped_ask(d, node, CAUSE_DENIED,
                (struct question_text){.title = arena_format(d->out, "%s may not go on", node->id),
                                       .text = reason,
                                       .rule = STR("permit.denied"),
                                       .reason = reason},
                QUESTION_DECIDE);
    plan_settle(d);
}

/* VERIFY-16: the work has failed, and its node says which checks. VERIFY-17: if the contract wants it, a person
 * decides. */
void assignment_failed(struct deciding *d, struct assignment *assignment, struct str rule,
                       struct str why, struct str text, bool ask) {
    struct str more = str_cut_utf8(text, LIMIT_OUTPUT);
    const struct node *node =
        work_stops(d, assignment, rule, why, BLOCKED_BY_FAILURE,
                   arena_format(d->out, "%.*s: %.*s", STR_ARG(why), STR_ARG(more)));
    stopped_ask(d, node, CAUSE_FAILED,
                (struct question_text){.title = arena_format(d->out, "%s has failed", node->id),
                                       .text = more,
                                       .rule = rule,
                                       .reason = why},
                ask ? QUESTION_DECIDE : QUESTION_ALERT);
    plan_settle(d);
}

void rule_denied(struct deciding *d) {
    struct assignment *assignment = assignment_at_hand(d);
    enum permit_kind kind = assignment ? permit_answer(d, assignment) : PERMIT_NONE;
    if (kind == PERMIT_BEGIN)
        begin_denied(d, assignment);
    else if (kind != PERMIT_NONE &&
             (assignment->status == ASSIGNMENT_STALLED || assignment->outgoing.next)) {
        reply_forget(assignment); /* a denial is final */
        uint32_t n = assignment->n;
        ladder_ask(d, assignment, STR("permit.denied"),
                   str_cut_utf8(d->signal->reason, LIMIT_BLOCKED));
        assignment_noted(d, n, STR("permit.denied"));
    }
}

/* ---- retry and completion ---- */

/* The assignment begins once more, and asks for a permit again. */
void assignment_again(struct deciding *d, struct assignment *assignment, struct str rule) {
    assignment->wait.on = WAITS_FOR_PERMIT;
    assignment->wait.until = assignment->recovery.backoff_until = 0;
    if (assignment->status == ASSIGNMENT_BLOCKED)
        assignment_move(d, assignment, ASSIGNMENT_QUEUED, (struct evidence){.rule = rule});
    else
        assignment_touch(d, assignment);
    begin_ask(d, assignment);
    assignment_noted(d, assignment->n, rule);
}

static void node_done(struct deciding *d, struct node *node, const struct assignment *ended,
                      const struct ending *ending) {
    enum proof proof = ending->proof == PROOF_LANDED ? PROOF_CHECKED : ending->proof;
    node->result.completion = ended->progress.completion;
    node->result.confidence = ended->progress.confidence;
    node->result.report = ended->progress.report;
    node->result.proof = ending->proof;
    node->result.landed = ending->landed.len ? decide_text(d, ending->landed) : (struct hash){0};
    node_move(d, node, NODE_DONE, BY_WORK,
              (struct evidence){.rule = ending->rule,
                                .text = ending->evidence,
                                .reason = str_of(name_of(&PROOF_NAMES, proof))});
}

/* Promise 3: work is done on evidence, and called unverified until something else has checked it. */
void assignment_done(struct deciding *d, struct assignment *assignment, struct ending ending) {
    struct assignment ended = *assignment;
    assignment_run_end(d, assignment); /* nothing that it started stays */
    permit_return(d, assignment, true);
    questions_drop(d, ended.n, ending.rule);
    assignment = assignments_find(&d->decision->live.assignments, ended.n);
    assignment_move(d, assignment, ASSIGNMENT_DONE,
                    (struct evidence){.rule = ending.rule, .text = ending.evidence});
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, ended.node);
    if (node->status == NODE_QUEUED || node->status == NODE_BLOCKED)
        return; /* the node was moved meanwhile */
    if (!node_is_over(node))
        node_done(d, node, &ended, &ending);
    plan_settle(d);
}

/* RECOVER-11: a person wants the work done once more: a new dispatch, a new run. */
void rule_retry(struct deciding *d) {
    if (d->signal->sender.by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    plan_edit(d, 0);
    live_edit(d, PART_ASSIGNMENT, 0);
    struct node *node = plan_find(&d->decision->plan, d->signal->work.node);
    if (!node || node->retired || node->tier == TIER_PHASE ||
        plan_has_children(&d->decision->plan, node)) {
        decide_refuse_because(d, ERROR_NOT_FOUND, STR("there is no such task"));
        return;
    }
    if (d->decision->goal.status != GOAL_ACTIVE || node->status == NODE_TODO ||
        node->status == NODE_CANCELLED) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("it cannot be started now"));
        return;
    }
    struct assignment *assignment = assignments_of_node(&d->decision->live.assignments, node->n);
    if (assignment)
        assignment_stop(d, assignment, STR("work.retry"), d->signal->reason);
    node->attempts = 0;
    decide_record(d, RECORD_WORK_RETRIED,
                  (struct evidence){.rule = STR("work.retry"),
                                    .node = arena_copy(d->out, node_id(node)),
                                    .reason = d->signal->reason});
    if (node->status != NODE_QUEUED)
        node_move(d, node, NODE_QUEUED, BY_OVERRIDE,
                  (struct evidence){.rule = STR("work.retry"), .reason = d->signal->reason});
    node_touch(d, node);
    plan_settle(d);
}
