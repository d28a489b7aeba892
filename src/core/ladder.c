/* SPDX-License-Identifier: Apache-2.0 */
/* What helps an agent that does not move? RECOVER-01 to RECOVER-14.
 *
 * Nudge, resend, replan, reassign, ask a person: in this order, each as often as it may be, each skipped with a reason on
 * the record where it does not apply. Whoever climbs has just been looked at. What is only watched is never helped: a person
 * hears of it. */
#include "core/rules.h"

enum { LOOK_HOLDS = 5 }; /* seconds: what was seen before that may have changed */

/* ---- pace ---- */

/* TICK-22: doubles with each retry, between its two bounds. */
int64_t ladder_backoff(const struct policy *policy, const struct charge *charge) {
    uint32_t times = charge->retries + charge->restarts;
    int64_t span = policy->backoff_base;
    for (uint32_t i = 1; i < times && span < policy->backoff_max; i++)
        span *= 2;
    return span < policy->backoff_max ? span : policy->backoff_max;
}

void ladder_reset(struct charge *charge) {
    charge->rung = charge->first;
    charge->retries = 0;
    charge->allowed = 0;
    charge->backoff_until = 0;
    if (charge->waiting == WAITS_FOR_PERMIT && charge->status != CHARGE_QUEUED && !charge->owes)
        charge->waiting = WAITS_FOR_NOTHING; /* what was asked for is not needed any more */
}

/* A new run, and one that a person has just spoken to, has the time that the first one had, and the first rung again. */
void ladder_fresh(struct deciding *d, struct charge *charge) {
    int64_t idle = charge->idle_after ? charge->idle_after : d->policy->idle_after;
    charge->rung = charge->first;
    charge->retries = charge->allowed = 0;
    charge->backoff_until = time_after(d->signal->at, idle);
}

/* RECOVER-13, RECOVER-14: while somebody is asked, sits at its terminal or has paused the goal, nothing is tried. */
bool ladder_is_suspended(const struct deciding *d, const struct charge *charge) {
    return d->decision->goal.status != GOAL_ACTIVE || charge->question || charge->attached ||
           charge->owes || charge->status == CHARGE_BLOCKED || charge->waiting == WAITS_FOR_RETRY ||
           charge->waiting == WAITS_FOR_ANSWER || charge->waiting == WAITS_FOR_PERSON ||
           charge->waiting == WAITS_FOR_PERMIT || charge->waiting == WAITS_FOR_CHECK;
}

static void retry_count(struct deciding *d, struct charge *charge) {
    charge->retries++;
    charge->last_retry_at = d->signal->at;
    charge->backoff_until = time_after(d->signal->at, ladder_backoff(d->policy, charge));
    charge_touch(d, charge);
}

/* ---- the rungs: each says why it does not apply, or does it ---- */

/* RECOVER-02, RECOVER-07. */
static const char *nudge_not(const struct deciding *d, const struct charge *charge) {
    if (charge->ended)
        return "its run is over: there is nobody to ask";
    return charge->retries >= d->policy->max_retries ? "it was asked often enough" : NULL;
}

/* RECOVER-03. */
static const char *resend_not(const struct deciding *d, const struct charge *charge) {
    (void)d;
    if (charge->ended)
        return NULL; /* nobody heard the end of it: a new run hears it from the beginning */
    return charge->delivery == DELIVERY_ERROR ? NULL : "what was sent has arrived, or may have";
}

/* RECOVER-04. */
static const char *replan_not(const struct deciding *d, const struct charge *charge) {
    (void)charge;
    return d->policy->planner ? "no planner answers yet" : "there is no planner";
}

/* RECOVER-05: the next one that the policy allows, with the same role. */
static const struct policy_agent *another_agent(const struct deciding *d,
                                                const struct charge *charge) {
    const struct policy_agent *own = policy_agent(d->policy, str_of(charge->agent));
    for (uint32_t i = 0; i < d->policy->agent_count; i++) {
        const struct policy_agent *agent = &d->policy->agents[i];
        bool same_role = !own || str_equal(str_of(own->role), str_of(agent->role));
        if (!str_equal(str_of(agent->id), str_of(charge->agent)) && same_role &&
            agent_is_allowed(d, agent))
            return agent;
    }
    return NULL;
}

static const char *reassign_not(const struct deciding *d, const struct charge *charge) {
    if (!d->policy->allow_reassign)
        return "the policy forbids it";
    if (charge->moves > 0)
        return "it was moved once already";
    if (charge->delivery == DELIVERY_TIMEOUT)
        return "nobody knows what the agent has heard";
    return another_agent(d, charge) ? NULL : "no other agent may do it";
}

static const char *ask_not(const struct deciding *d, const struct charge *charge) {
    (void)d, (void)charge;
    return NULL;
}

/* Only what was said counts; what was said too lately waits for its time. */
static void rung_say(struct deciding *d, struct charge *charge, enum wording words,
                     struct str rule) {
    uint32_t before = charge->attempts;
    charge_dispatch(d, charge, words, rule);
    if (charge->attempts > before)
        retry_count(d, charge);
}

static void nudge_do(struct deciding *d, struct charge *charge) {
    rung_say(d, charge, WORDS_NUDGE, STR("ladder.nudge"));
}

/* agent:NAME:SESSION; a program that ends after each prompt has none. */
static bool has_session(const struct charge *charge) {
    size_t length = strlen(charge->session);
    return length > 0 && charge->session[length - 1] != ':';
}

/* What was lost is said again, and nothing else: an agent that works already is not given its task a second time. Whoever
 * begins without a session is told the task with whatever it is told, and may end before it can be told anything more: what a
 * person has to say comes first. */
static void resend_do(struct deciding *d, struct charge *charge) {
    enum wording words = charge->ended ? WORDS_AGAIN : (enum wording)charge->words;
    if (charge->ended && !has_session(charge) && !charge->unheard && told_next(d, charge))
        words = WORDS_TOLD;
    rung_say(d, charge, words, STR("ladder.resend"));
}

static void replan_do(struct deciding *d, struct charge *charge) {
    (void)d, (void)charge;
}

/* The old run is ended first, by itself or by us; the work goes on with what it left. */
static void reassign_do(struct deciding *d, struct charge *charge) {
    const struct policy_agent *agent = another_agent(d, charge);
    struct charge old = *charge;
    charge_stop(d, charge, STR("ladder.reassign"),
                STR("it did not move; another agent takes over"));
    struct charge *new = charge_add(d, plan_node(&d->decision->plan, old.node), agent);
    new->moves = old.moves + 1;
    new->handoff = old.handoff;
    new->crystal = old.crystal;
    permit_ask(d, new);
}

/* A person wants it. False: there is nobody else who may. */
bool ladder_reassign(struct deciding *d, struct charge *charge) {
    if (!another_agent(d, charge) || d->decision->live.charges.count >= LIMIT_CHARGES ||
        !dispatch_has_room(d))
        return false;
    reassign_do(d, charge);
    return true;
}

/* One question for each cause; whether it is new or was asked before, the charge waits for it. NULL: it could not be
 * asked. */
struct charge *charge_asks(struct deciding *d, uint32_t n, struct asking asking) {
    const struct question *question = question_ask(d, asking);
    if (!question)
        return NULL;
    uint32_t asked = question->n + 1;
    struct charge *charge = charges_find(&d->decision->live.charges, n);
    charge->question = asked;
    charge->waiting = WAITS_FOR_ANSWER;
    charge_touch(d, charge);
    return charge;
}

/* What a person is told of it, and what can be said about it. */
static struct question_text stalled_text(struct deciding *d, const struct charge *charge,
                                         struct str why, struct str more) {
    static const struct str OPTIONS[] = {
        {"try again", 9}, {"give it to another agent", 24}, {"stop working on it", 18}};
    static const struct str WATCHED[] = {
        {"go on watching it", 17}, {"it is done", 10}, {"stop watching it", 16}};
    const char *node = plan_node(&d->decision->plan, charge->node)->id;
    if (charge_is_watched(charge))
        return (struct question_text){
            .text = arena_format(d->out,
                                 "%s is only watched, and nothing was done to it: %.*s. See to it "
                                 "yourself where it runs.",
                                 charge->agent, STR_ARG(why)),
            .options = {WATCHED, count_of(WATCHED)}};
    return (struct question_text){
        .text = arena_format(d->out,
                             "%s has worked on %s and does not get on: %.*s. It was sent "
                             "something %u times.%s%.*s",
                             charge->agent, node, STR_ARG(why), charge->attempts,
                             more.len ? " What was heard last: " : "",
                             STR_ARG(str_cut_utf8(more, LIMIT_LINE))),
        .options = {OPTIONS, count_of(OPTIONS)}};
}

/* RECOVER-06: a question with options, and nothing more is tried until it is answered. */
static struct str start_cause(struct deciding *d, const struct charge *charge) {
    return arena_format(d->out, "start.%s", plan_node(&d->decision->plan, charge->node)->id);
}

/* ESCALATE-01: what the program wrote before it ended is in the inbox, whatever else is tried. It holds nothing up. */
void start_alert(struct deciding *d, const struct charge *charge, struct str why) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    if (why.len == 0 || charge_is_watched(charge))
        return;
    question_ask(
        d,
        (struct asking){
            .kind = QUESTION_ALERT,
            .alarm = ALARM_WARNING,
            .cause = start_cause(d, charge),
            .charge = charge,
            .text = {.title = arena_format(d->out, "%s: %s does not start: %.*s", node->id,
                                           charge->agent, STR_ARG(str_cut_utf8(why, 300))),
                     .text = arena_format(d->out,
                                          "%.*s\nIt is tried again. `overseer doctor` starts each "
                                          "agent in its sandbox and says what fails.",
                                          STR_ARG(str_cut_utf8(why, LIMIT_LINE))),
                     .rule = STR("agent.does-not-start"),
                     .reason = STR("its run ended before it did anything")}});
}

void start_alert_end(struct deciding *d, const struct charge *charge, struct str rule) {
    question_settle(d, start_cause(d, charge), rule);
}

static void ask_about(struct deciding *d, struct charge *charge, const char *cause, struct str rule,
                      struct str why, struct str more) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = arena_format(d->out, "%s.%s", cause, node->id),
                            .charge = charge,
                            .text = stalled_text(d, charge, why, more),
                            .holds = true};
    asking.text.title = arena_format(d->out, "%s: %.*s", node->id, STR_ARG(why));
    asking.text.rule = rule;
    asking.text.reason = why;
    start_alert_end(d, charge, rule); /* this says more */
    if (!(charge = charge_asks(d, charge->n, asking)))
        return;
    charge->waiting = WAITS_FOR_ANSWER;
    if (charge_status_may_become(charge->status, CHARGE_BLOCKED))
        charge_move(d, charge, CHARGE_BLOCKED, (struct evidence){.rule = rule, .reason = why});
    charge_noted(d, charge->n, rule);
}

void ladder_ask(struct deciding *d, struct charge *charge, struct str rule, struct str why) {
    ask_about(d, charge, "stalled", rule, why, STR(""));
}

void ladder_ask_with(struct deciding *d, struct charge *charge, struct str rule, struct str why,
                     struct str more) {
    ask_about(d, charge, "stalled", rule, why, more);
}

/* What the agent made is right, and does not get home: that it shows life answers nothing. */
void landing_ask(struct deciding *d, struct charge *charge, struct str rule, struct str more,
                 struct str why) {
    ask_about(d, charge, "landing", rule, why, more);
}

static void ask_do(struct deciding *d, struct charge *charge) {
    struct str why = charge_is_watched(charge) ? STR("it is silent")
                     : charge->delivery == DELIVERY_TIMEOUT
                         ? STR("nobody can tell whether it heard what was said")
                     : charge->retries > 0
                         ? arena_format(d->out, "no progress after %u nudges", charge->retries)
                         : STR("no progress");
    ladder_ask(d, charge, STR("ladder.ask"), why);
}

static const struct rung_row {
    const char *(*not )(const struct deciding *, const struct charge *);
    void (*climb)(struct deciding *, struct charge *);
    enum permit_kind permit; /* the desk bounds what we do to agents */
} LADDER[RUNGS] = {
    [RUNG_NUDGE] = {nudge_not, nudge_do, PERMIT_ACT},
    [RUNG_RESEND] = {resend_not, resend_do, PERMIT_STRIKE},
    [RUNG_REPLAN] = {replan_not, replan_do, PERMIT_ACT},
    [RUNG_REASSIGN] = {reassign_not, reassign_do, PERMIT_STRIKE},
    [RUNG_ASK] = {ask_not, ask_do, PERMIT_NONE},
};

/* ---- climbing ---- */

static void rung_record(struct deciding *d, const struct charge *charge, enum record_type type,
                        enum rung rung, const char *why) {
    decide_record(d, type,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("ladder"),
                                                    .to = str_of(name_of(&RUNG_NAMES, rung)),
                                                    .reason = str_of(why ? why : ""),
                                                    .count = charge->retries,
                                                    .threshold = d->policy->max_retries}));
}

/* RECOVER-08, C-68: a cap over everything that was ever sent for this node, whoever it went to. */
static enum rung rung_least(const struct deciding *d, const struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    return node->attempts >= d->policy->max_attempts ? RUNG_ASK : charge->rung;
}

/* Whom nobody gave to us is only watched: nothing but a person is asked. */
static const char *rung_not(const struct deciding *d, const struct charge *charge, enum rung rung) {
    if (rung < RUNG_ASK && charge_is_watched(charge))
        return "it is only watched";
    return LADDER[rung].not(d, charge);
}

static void rung_begin(struct deciding *d, struct charge *charge) {
    if (LADDER[charge->rung].permit == PERMIT_NONE || charge->allowed) {
        charge->allowed = 0;
        LADDER[charge->rung].climb(d, charge);
        return;
    }
    charge->waiting = WAITS_FOR_PERMIT;
    permit_act(d, charge, LADDER[charge->rung].permit);
}

int64_t ladder_climb(struct deciding *d, struct charge *charge) {
    int64_t again = time_after(d->signal->at, d->policy->tick_every);
    if (charge->effect || ladder_is_suspended(d, charge) || !dispatch_has_room(d) ||
        charge->backoff_until > d->signal->at)
        return again;
    if (told_go_on(d, charge))
        return again; /* what a person has to say comes before anything that we have */
    for (enum rung rung = rung_least(d, charge); rung < RUNGS; rung++) {
        const char *not = rung_not(d, charge, rung);
        if (not ) {
            if (rung != charge->rung || rung != RUNG_NUDGE || charge->retries == 0)
                rung_record(d, charge, RECORD_LADDER_SKIPPED, rung, not );
            continue;
        }
        charge->rung = rung;
        charge_touch(d, charge);
        rung_record(d, charge, RECORD_LADDER_CLIMBED, rung, NULL);
        rung_begin(d, charge);
        return again;
    }
    return again;
}

/* It may have come to life while the desk took its time: then its next due time looks once more, and knows how long
 * somebody has listened. */
void ladder_granted(struct deciding *d, struct charge *charge) {
    if (charge->status != CHARGE_STALLED || charge->waiting != WAITS_FOR_PERMIT)
        return;
    charge->waiting = WAITS_FOR_NOTHING;
    charge->allowed = 1;
    charge_touch(d, charge);
    bool fresh = charge->ended || d->signal->at - charge->looked_at < SECONDS(LOOK_HOLDS);
    bool rested = charge->backoff_until <= d->signal->at; /* it may have died meanwhile */
    uint32_t n = charge->n;
    if (fresh && rested && !charge->effect && !ladder_is_suspended(d, charge) &&
        dispatch_has_room(d))
        ladder_climb(d, charge);
    else
        decide_record(d, RECORD_CHARGE_WAITS,
                      charge_evidence(d, charge, (struct evidence){.rule = STR("ladder.not-now")}));
    charge_noted(d, n, STR("ladder"));
}
