/* SPDX-License-Identifier: Apache-2.0 */
/* Who works on what next? ASSIGN-17, ASSIGN-20, G-14, G-15; docs/decisions/0006 and 0009. */
#include "core/graph.h"
#include "core/rules.h"

/* ---- whom to give it to ---- */

/* POLICY-01. */
bool agent_is_allowed(const struct deciding *d, const struct policy_agent *agent) {
    struct str allowed = d->policy->allow_agents;
    return allowed.len == 0 || str_equal(allowed, STR("*")) ||
           list_has_word(allowed, str_of(agent->id));
}

/* A session that a person named to be watched: it is given nothing, so no policy has to know it. */
static const struct policy_agent *agent_watched(const struct deciding *d, const struct node *node) {
    struct policy_agent *agent = arena_new(d->out, struct policy_agent, 1);
    name_put(agent->id, sizeof agent->id, str_of(node->agent));
    return agent;
}

/* ASSIGN-20: the one that the plan names, else the first of the role that it names, else the first. Whoever is named, is there
 * and may not is not replaced by another: somebody wanted that one. */
static const struct policy_agent *agent_for(const struct deciding *d, const struct node *node) {
    if (agent_is_watched(str_of(node->agent)))
        return agent_watched(d, node);
    const struct policy_agent *wanted = policy_agent(d->policy, str_of(node->agent));
    if (wanted && !agent_is_allowed(d, wanted))
        return NULL;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < d->policy->agent_count; i++) {
            const struct policy_agent *agent = &d->policy->agents[i];
            bool named = node->agent[0] && str_equal(str_of(agent->id), str_of(node->agent));
            bool fits = !node->role[0] || str_equal(str_of(agent->role), str_of(node->role));
            if (agent_is_allowed(d, agent) && (pass == 0 ? named : fits))
                return agent;
        }
    return NULL;
}

/* ---- giving it out ---- */

/* ASSIGN-02: to a task or a subtask that has no children. */
struct charge *charge_add(struct deciding *d, const struct node *node,
                          const struct policy_agent *agent) {
    struct goal *goal = &d->decision->goal;
    must(!charges_of_node(&d->decision->live.charges, node->n));
    struct charge *charge = live_add(d, PART_CHARGE, goal->parts_made++);
    charge->node = node->n;
    charge->start = node->start;
    charge->first = charge->rung = (enum rung)d->policy->first_rung;
    charge->created_at = charge->updated_at = d->signal->at;
    charge->waiting = WAITS_FOR_PERMIT;
    name_put(charge->agent, sizeof charge->agent, str_of(agent->id));
    name_put(charge->account, sizeof charge->account,
             str_of(agent->account[0] ? agent->account : agent->id));
    decide_record(d, RECORD_CHARGE_QUEUED,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("staff"),
                                                    .text = str_of(charge->agent),
                                                    .to = str_of("queued")}));
    return charge;
}

static bool wants_staff(const struct deciding *d, const struct node *node) {
    const struct plan *plan = &d->decision->plan;
    return node->status == NODE_QUEUED && !node->retired && node->tier != TIER_PHASE &&
           !plan_has_children(plan, node) &&
           !charges_of_node(&d->decision->live.charges, node->n) &&
           node->attempts < d->policy->max_attempts;
}

/* CONFIG-01: without agents nothing is given out; to watch gives nothing. */
static bool anybody_is_wanted(const struct deciding *d) {
    for (uint32_t i = 0; i < d->decision->plan.count; i++) {
        const struct node *node = &d->decision->plan.nodes[i];
        bool may = d->policy->agent_count > 0 || agent_is_watched(str_of(node->agent));
        if (may && wants_staff(d, node))
            return true;
    }
    return false;
}

/* Work that nobody may do does not wait unseen: one question for each node, withdrawn when somebody may after all. */
static struct str nobody_cause(struct deciding *d, const struct node *node) {
    return arena_format(d->out, "nobody.%s", node->id);
}

static void nobody_ask(struct deciding *d, const struct node *node) {
    static const struct str OPTIONS[] = {{"look again", 10}};
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
                        .options = {OPTIONS, count_of(OPTIONS)},
                        .rule = STR("staff.nobody"),
                        .reason = why}});
}

/* Whoever watches needs no permit: it costs nothing, and no agent is acted on. See watches_begin(). */
static void begin_ask(struct deciding *d, struct charge *charge) {
    if (!charge_is_watched(charge))
        permit_ask(d, charge);
}

static void staff_ready(struct deciding *d) {
    uint32_t most = d->policy->most_per_goal ? d->policy->most_per_goal : LIMIT_CHARGES;
    struct graph_picks picks =
        graph_recommend(&d->decision->plan, &d->decision->goal, d->signal->at, d->out);
    if (most > LIMIT_CHARGES)
        most = LIMIT_CHARGES;
    for (uint32_t i = 0; i < picks.count; i++) {
        const struct node *node = picks.at[i].node;
        const struct policy_agent *agent = agent_for(d, node);
        if (!wants_staff(d, node) || d->decision->live.charges.count >= most ||
            !dispatch_has_room(d))
            continue;
        if (!agent) {
            if (d->policy->agent_count > 0)
                nobody_ask(d, node);
            continue;
        }
        question_settle(d, nobody_cause(d, node), STR("staff"));
        begin_ask(d, charge_add(d, node, agent));
    }
}

/* ---- what is not wanted any more ---- */

/* Nobody starts anew beside a run that may still be there. */
void charge_run_end(struct deciding *d, struct charge *charge) {
    if (charge->run == 0 || charge->ended || d->decision->goal.open_count >= LIMIT_OPEN_EFFECTS)
        return;
    effect_make(d, (struct effect){.kind = EFFECT_STOP,
                                   .within = d->policy->act_within,
                                   .charge = charge->n,
                                   .agent = str_of(charge->agent),
                                   .session = str_of(charge->session),
                                   .run = charge->run});
    charge->ended = 1;
    reply_forget(charge);
}

void charge_stop(struct deciding *d, struct charge *charge, struct str rule, struct str reason) {
    uint32_t n = charge->n;
    charge_run_end(d, charge);
    permit_return(d, charge, true);
    questions_drop(d, n, rule);
    charge = charges_find(&d->decision->live.charges, n);
    charge_move(d, charge, CHARGE_CANCELLED, (struct evidence){.rule = rule, .reason = reason});
}

static bool is_unwanted(const struct deciding *d, const struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    enum goal_status status = d->decision->goal.status;
    return (status != GOAL_ACTIVE && status != GOAL_PAUSED) || !node || node->retired ||
           node_is_over(node) || plan_has_children(&d->decision->plan, node);
}

/* Pain 16: whoever works on what is over or was taken out of the plan is stopped. */
static void staff_release(struct deciding *d) {
    struct charges *charges = &d->decision->live.charges;
    for (uint32_t i = charges->count; i-- > 0;)
        if (is_unwanted(d, &charges->at[i]) &&
            d->decision->goal.open_count + 3 <= LIMIT_OPEN_EFFECTS) {
            live_edit(d, PART_CHARGE, 0);
            charge_stop(d, &charges->at[i], STR("work.over"), STR("nobody wants it any more"));
        }
}

void charges_stop(struct deciding *d, struct str rule) {
    struct charges *charges = &d->decision->live.charges;
    for (uint32_t i = charges->count;
         i-- > 0 && d->decision->goal.open_count + 3 <= LIMIT_OPEN_EFFECTS;) {
        live_edit(d, PART_CHARGE, 0);
        charge_stop(d, &charges->at[i], rule, d->signal->reason);
    } /* the rest follows as room comes: staff_release() */
}

/* ---- what the desk says ---- */

static void node_begin(struct deciding *d, const struct charge *charge) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, charge->node);
    if (node->status == NODE_QUEUED)
        node_move(d, node, NODE_IN_PROGRESS, BY_WORK,
                  (struct evidence){.rule = STR("staff.begin"), .text = str_of(charge->agent)});
}

/* It may begin, and cannot just now: what it got is given back, and asked for again. */
static void begin_later(struct deciding *d, struct charge *charge) {
    permit_return(d, charge, true);
    charge->waiting = WAITS_FOR_BACKOFF;
    charge->waits_until = time_after(d->signal->at, d->policy->tick_every);
    charge_touch(d, charge);
    decide_record(d, RECORD_CHARGE_WAITS,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("staff.not-now"),
                                                    .until = charge->waits_until}));
}

static void charge_begin(struct deciding *d, struct charge *charge) {
    bool waits = charge->waiting == WAITS_FOR_PERMIT || charge->waiting == WAITS_FOR_QUOTA;
    if (!waits || (charge->status != CHARGE_QUEUED && charge->status != CHARGE_BLOCKED)) {
        decide_record(/* its start is counted */
                      d, RECORD_CHARGE_WAITS,
                      charge_evidence(d, charge,
                                      (struct evidence){.rule = STR("permit.not-needed")}));
        return;
    }
    if (charge->status == CHARGE_BLOCKED)
        charge_move(d, charge, CHARGE_QUEUED, (struct evidence){.rule = STR("account.open")});
    if (d->decision->goal.status != GOAL_ACTIVE || !dispatch_has_room(d) || charge->effect) {
        begin_later(d, charge);
        return;
    }
    if (!run_may_start(d, charge)) {
        permit_return(d, charge, true);
        charge_waits_for_host(d, charge);
        return;
    }
    node_begin(d, charge);
    charge->waiting = WAITS_FOR_NOTHING;
    charge->instruction =
        (struct hash){0}; /* somebody allowed it: the same words are not too soon */
    charge_dispatch(d, charge, charge->attempts == 0 ? WORDS_TASK : WORDS_AGAIN,
                    charge_is_watched(charge) ? STR("watched.begin") : STR("staff.begin"));
    plan_settle(d);
}

static void watches_begin(struct deciding *d) {
    struct charges *charges = &d->decision->live.charges;
    for (uint32_t i = 0; i < charges->count; i++) {
        bool waits =
            charges->at[i].status == CHARGE_QUEUED && charges->at[i].waiting == WAITS_FOR_PERMIT;
        if (!waits || !charge_is_watched(&charges->at[i]))
            continue;
        live_edit(d, PART_CHARGE, 0);
        charge_begin(d, &charges->at[i]);
    }
}

void staff(struct deciding *d) {
    const struct goal *goal = &d->decision->goal;
    permits_catch_up(d);
    if (d->decision->live.charges.count > 0) {
        staff_release(d);
        goal_settle(d);
    }
    if (goal->status != GOAL_ACTIVE || goal->plan_version == 0 ||
        d->world->level < LEVEL_SUPERVISION)
        return;
    if (anybody_is_wanted(d))
        staff_ready(d);
    watches_begin(d);
}

void rule_granted(struct deciding *d) {
    struct charge *charge = charge_in_hand(d);
    if (!charge) {
        permit_decline(d); /* whoever asked is over by now */
        return;
    }
    switch (permit_answer(d, charge)) {
    case PERMIT_BEGIN: charge_begin(d, charge); break;
    case PERMIT_ACT:
    case PERMIT_STRIKE:
        if (charge->owes)
            reply_granted(d, charge);
        else
            ladder_granted(d, charge);
        break;
    default: break;
    }
}

/* The work waits as a node, with nobody on it, and says why. */
static struct node *work_stops(struct deciding *d, struct charge *charge, struct str rule,
                               struct str reason, enum blocked_by by, struct str why) {
    uint32_t at_node = charge->node;
    charge_stop(d, charge, rule, reason);
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

/* `cause`: seven letters, see stopped_answered(). */
static void stopped_ask(struct deciding *d, const struct node *node, const char *cause,
                        struct question_text text, enum question_kind kind) {
    static const struct str OPTIONS[] = {{"try again", 9}, {"stop working on it", 18}};
    if (kind == QUESTION_DECIDE)
        text.options = (struct texts){OPTIONS, count_of(OPTIONS)};
    question_ask(d,
                 (struct asking){.kind = kind,
                                 .alarm = kind == QUESTION_DECIDE ? ALARM_CRITICAL : ALARM_WARNING,
                                 .cause = arena_format(d->out, "%s%s", cause, node->id),
                                 .text = text});
}

/* Terminal for this dispatch: nothing asks again by itself. A person decides. */
static void begin_denied(struct deciding *d, struct charge *charge) {
    struct str reason = str_cut_utf8(d->signal->reason, LIMIT_REASON);
    decide_record(d, RECORD_CHARGE_DENIED,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("permit.denied"),
                                                    .reason = reason,
                                                    .until = d->signal->until}));
    const struct node *node =
        work_stops(d, charge, STR("permit.denied"), reason, BLOCKED_BY_EXTERNAL, reason);
    stopped_ask(d, node, "denied.",
                (struct question_text){.title = arena_format(d->out, "%s may not go on", node->id),
                                       .text = reason,
                                       .rule = STR("permit.denied"),
                                       .reason = reason},
                QUESTION_DECIDE);
    plan_settle(d);
}

/* VERIFY-16: it has failed, and whoever looks at it sees which checks. VERIFY-17: where that is wanted, a person decides. */
void charge_failed(struct deciding *d, struct charge *charge, struct str rule, struct str why,
                   struct str text, bool ask) {
    struct str more = str_cut_utf8(text, LIMIT_OUTPUT);
    const struct node *node =
        work_stops(d, charge, rule, why, BLOCKED_BY_FAILURE,
                   arena_format(d->out, "%.*s: %.*s", STR_ARG(why), STR_ARG(more)));
    stopped_ask(d, node, "failed.",
                (struct question_text){.title = arena_format(d->out, "%s has failed", node->id),
                                       .text = more,
                                       .rule = rule,
                                       .reason = why},
                ask ? QUESTION_DECIDE : QUESTION_ALERT);
    plan_settle(d);
}

void rule_denied(struct deciding *d) {
    struct charge *charge = charge_in_hand(d);
    enum permit_kind kind = charge ? permit_answer(d, charge) : PERMIT_NONE;
    if (kind == PERMIT_BEGIN)
        begin_denied(d, charge);
    else if (kind != PERMIT_NONE && (charge->status == CHARGE_STALLED || charge->owes)) {
        reply_forget(charge); /* a denial is final */
        uint32_t n = charge->n;
        ladder_ask(d, charge, STR("permit.denied"), str_cut_utf8(d->signal->reason, LIMIT_BLOCKED));
        charge_noted(d, n, STR("permit.denied"));
    }
}

/* ---- again, and done ---- */

/* It wants to begin once more, and asks for a permit again. */
void charge_again(struct deciding *d, struct charge *charge, struct str rule) {
    charge->waiting = WAITS_FOR_PERMIT;
    charge->waits_until = charge->backoff_until = 0;
    if (charge->status == CHARGE_BLOCKED)
        charge_move(d, charge, CHARGE_QUEUED, (struct evidence){.rule = rule});
    else
        charge_touch(d, charge);
    begin_ask(d, charge);
    charge_noted(d, charge->n, rule);
}

static void node_done(struct deciding *d, struct node *node, const struct charge *ended,
                      const struct ending *ending) {
    enum proof proof = ending->proof == PROOF_LANDED ? PROOF_CHECKED : ending->proof;
    node->completion = ended->completion;
    node->confidence = ended->confidence;
    node->report = ended->report;
    node->proof = ending->proof;
    node->landed = ending->landed.len ? decide_text(d, ending->landed) : (struct hash){0};
    node_move(d, node, NODE_DONE, BY_WORK,
              (struct evidence){.rule = ending->rule,
                                .text = ending->evidence,
                                .reason = str_of(name_of(&PROOF_NAMES, proof))});
}

/* Promise 3: it is done on evidence, and called unverified until something else has checked it. */
void charge_done(struct deciding *d, struct charge *charge, struct ending ending) {
    struct charge ended = *charge;
    charge_run_end(d, charge); /* pain 20: nothing that it started stays */
    permit_return(d, charge, true);
    questions_drop(d, ended.n, ending.rule);
    charge = charges_find(&d->decision->live.charges, ended.n);
    charge_move(d, charge, CHARGE_DONE,
                (struct evidence){.rule = ending.rule, .text = ending.evidence});
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, ended.node);
    if (node->status == NODE_QUEUED || node->status == NODE_BLOCKED)
        return; /* somebody moved it meanwhile */
    if (!node_is_over(node))
        node_done(d, node, &ended, &ending);
    plan_settle(d);
}

/* RECOVER-11: a person wants it once more: a new dispatch, a new run. */
void rule_retry(struct deciding *d) {
    if (d->signal->by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    plan_edit(d, 0);
    live_edit(d, PART_CHARGE, 0);
    struct node *node = plan_find(&d->decision->plan, d->signal->node);
    if (!node || node->retired || node->tier == TIER_PHASE ||
        plan_has_children(&d->decision->plan, node)) {
        decide_refuse_because(d, ERROR_NOT_FOUND, STR("there is no such piece of work"));
        return;
    }
    if (d->decision->goal.status != GOAL_ACTIVE || node->status == NODE_TODO ||
        node->status == NODE_CANCELLED) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("it cannot be begun now"));
        return;
    }
    struct charge *charge = charges_of_node(&d->decision->live.charges, node->n);
    if (charge)
        charge_stop(d, charge, STR("work.retry"), d->signal->reason);
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
