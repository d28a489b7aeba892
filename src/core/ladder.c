/* SPDX-License-Identifier: Apache-2.0 */
/* The recovery ladder: helps an agent that makes no progress. RECOVER-01 to RECOVER-14.
 *
 * Nudge, resend, replan, reassign, ask a person: in this order, each as often as allowed, each skipped with a reason on
 * the record where it does not apply. An agent is looked at just before the ladder climbs. An adopted session is never
 * helped: a person is told. */
#include "core/admission/permit.h"
#include "core/assignment.h"
#include "core/check.h"
#include "core/effect.h"
#include "core/liveness.h"
#include "core/people/message.h"
#include "core/people/question.h"

enum { LOOK_HOLDS = 5 }; /* seconds: an older observation may be outdated */

/* ---- backoff ---- */

/* TICK-22: doubles with each retry, between its two bounds. */
int64_t ladder_backoff(const struct policy *policy, const struct assignment *assignment) {
    uint32_t times = assignment->recovery.retries + assignment->recovery.restarts;
    int64_t span = policy->recovery.backoff_base;
    for (uint32_t i = 1; i < times && span < policy->recovery.backoff_max; i++)
        span *= 2;
    return span < policy->recovery.backoff_max ? span : policy->recovery.backoff_max;
}

void ladder_reset(struct assignment *assignment) {
    assignment->recovery.rung = assignment->recovery.first;
    assignment->recovery.retries = 0;
    assignment->recovery.allowed = 0;
    assignment->recovery.backoff_until = 0;
    if (assignment->wait.on == WAITS_FOR_PERMIT && assignment->status != ASSIGNMENT_QUEUED &&
        !assignment->outgoing.next)
        assignment->wait.on = WAITS_FOR_NOTHING; /* the requested permit is not needed any more */
}

/* A new run, and a run that a person has just sent something to, gets the idle time of a first run, and the first rung
 * again. */
void ladder_fresh(struct deciding *d, struct assignment *assignment) {
    int64_t idle = assignment->liveness.idle_after ? assignment->liveness.idle_after
                                                   : d->policy->liveness.idle_after;
    assignment->recovery.rung = assignment->recovery.first;
    assignment->recovery.retries = assignment->recovery.allowed = 0;
    assignment->recovery.backoff_until = time_after(d->signal->at, idle);
}

/* RECOVER-13, RECOVER-14: nothing is tried while a question is open, a person is at the terminal or the goal is paused. */
bool ladder_is_suspended(const struct deciding *d, const struct assignment *assignment) {
    return d->decision->goal.status != GOAL_ACTIVE || assignment->wait.question ||
           assignment->liveness.attached || assignment->outgoing.next ||
           assignment->status == ASSIGNMENT_BLOCKED || assignment->wait.on == WAITS_FOR_RETRY ||
           assignment->wait.on == WAITS_FOR_ANSWER || assignment->wait.on == WAITS_FOR_PERSON ||
           assignment->wait.on == WAITS_FOR_PERMIT || assignment->wait.on == WAITS_FOR_CHECK;
}

static void retry_count(struct deciding *d, struct assignment *assignment) {
    assignment->recovery.retries++;
    assignment->recovery.last_retry_at = d->signal->at;
    assignment->recovery.backoff_until =
        time_after(d->signal->at, ladder_backoff(d->policy, assignment));
    assignment_touch(d, assignment);
}

/* ---- the rungs: each says why it does not apply, or acts ---- */

/* RECOVER-02, RECOVER-07. */
static const char *nudge_not(const struct deciding *d, const struct assignment *assignment) {
    if (assignment->ended)
        return "its run is over: there is nobody to ask";
    return assignment->recovery.retries >= d->policy->recovery.max_retries
               ? "it was asked often enough"
               : NULL;
}

/* RECOVER-03. */
static const char *resend_not(const struct deciding *d, const struct assignment *assignment) {
    (void)d;
    if (assignment->ended)
        return NULL; /* the old run did not hear all of it: a new run hears it from the beginning */
    return assignment->delivery.result == DELIVERY_ERROR ? NULL
                                                         : "what was sent has arrived, or may have";
}

/* RECOVER-04. */
static const char *replan_not(const struct deciding *d, const struct assignment *assignment) {
    (void)assignment;
    return d->policy->recovery.planner ? "no planner answers yet" : "there is no planner";
}

/* RECOVER-05: the next agent with the same role that the policy allows. */
static const struct policy_agent *another_agent(const struct deciding *d,
                                                const struct assignment *assignment) {
    const struct policy_agent *own = policy_agent(d->policy, str_of(assignment->agent));
    for (uint32_t i = 0; i < d->policy->dispatch.agent_count; i++) {
        const struct policy_agent *agent = &d->policy->dispatch.agents[i];
        bool same_role = !own || str_equal(str_of(own->role), str_of(agent->role));
        if (!str_equal(str_of(agent->id), str_of(assignment->agent)) && same_role &&
            agent_is_allowed(d, agent))
            return agent;
    }
    return NULL;
}

static const char *reassign_not(const struct deciding *d, const struct assignment *assignment) {
    if (!d->policy->recovery.allow_reassign)
        return "the policy forbids it";
    if (assignment->recovery.moves > 0)
        return "it was moved once already";
    if (assignment->delivery.result == DELIVERY_TIMEOUT)
        return "nobody knows what the agent has heard";
    return another_agent(d, assignment) ? NULL : "no other agent may do it";
}

static const char *ask_not(const struct deciding *d, const struct assignment *assignment) {
    (void)d, (void)assignment;
    return NULL;
}

/* Only an instruction that was sent counts as a retry; one that repeats too soon waits for its time. */
static void rung_say(struct deciding *d, struct assignment *assignment, enum wording words,
                     struct str rule) {
    uint32_t before = assignment->delivery.attempts;
    assignment_dispatch(d, assignment, words, rule);
    if (assignment->delivery.attempts > before)
        retry_count(d, assignment);
}

static void nudge_do(struct deciding *d, struct assignment *assignment) {
    rung_say(d, assignment, WORDS_NUDGE, STR("ladder.nudge"));
}

/* agent:NAME:SESSION; a program that ends after each prompt has no SESSION. */
static bool has_session(const struct assignment *assignment) {
    size_t length = strlen(assignment->session);
    return length > 0 && assignment->session[length - 1] != ':';
}

/* Sends again only what was lost: an agent that already works is not given its task a second time. An agent that begins
 * without a session is sent the task with any instruction, and may end before anything more can be sent: so a person's
 * message comes first. */
static void resend_do(struct deciding *d, struct assignment *assignment) {
    enum wording words = assignment->ended ? WORDS_AGAIN : (enum wording)assignment->delivery.words;
    if (assignment->ended && !has_session(assignment) && !assignment->outgoing.undelivered &&
        outgoing_message_next(d, assignment))
        words = WORDS_MESSAGE;
    rung_say(d, assignment, words, STR("ladder.resend"));
}

static void replan_do(struct deciding *d, struct assignment *assignment) {
    (void)d, (void)assignment;
}

/* The old run ends first, by itself or by a stop; the work continues with the handoff that it left. */
static void reassign_do(struct deciding *d, struct assignment *assignment) {
    const struct policy_agent *agent = another_agent(d, assignment);
    struct assignment old = *assignment;
    assignment_stop(d, assignment, STR("ladder.reassign"),
                    STR("it did not move; another agent takes over"));
    struct assignment *new = assignment_add(d, plan_node(&d->decision->plan, old.node), agent);
    new->recovery.moves = old.recovery.moves + 1;
    new->delivery.handoff = old.delivery.handoff;
    new->delivery.newest_handoff = old.delivery.newest_handoff;
    permit_ask(d, new);
}

/* On a person's request. False: no other agent may do it, or there is no room. */
bool ladder_reassign(struct deciding *d, struct assignment *assignment) {
    if (!another_agent(d, assignment) || d->decision->live.assignments.count >= LIMIT_ASSIGNMENTS ||
        !dispatch_has_room(d))
        return false;
    reassign_do(d, assignment);
    return true;
}

/* One question per cause; whether it is new or was asked before, the assignment waits for it. NULL: it could not be
 * asked. */
struct assignment *assignment_asks(struct deciding *d, uint32_t n, struct asking asking) {
    const struct question *question = question_ask(d, asking);
    if (!question)
        return NULL;
    uint32_t asked = question->n + 1;
    struct assignment *assignment = assignments_find(&d->decision->live.assignments, n);
    assignment->wait.question = asked;
    assignment->wait.on = WAITS_FOR_ANSWER;
    assignment_touch(d, assignment);
    return assignment;
}

/* The text that a person reads, and the possible answers. */
static struct question_text stalled_text(struct deciding *d, const struct assignment *assignment,
                                         struct str why, struct str more) {
    const char *node = plan_node(&d->decision->plan, assignment->node)->id;
    if (assignment_is_adopted(assignment))
        return (struct question_text){
            .text = arena_format(d->out,
                                 "%s is only watched, and nothing was done to it: %.*s. See to it "
                                 "yourself where it runs.",
                                 assignment->agent, STR_ARG(why)),
            .options = adopted_options()};
    return (struct question_text){
        .text = arena_format(d->out,
                             "%s has worked on %s and does not get on: %.*s. It was sent "
                             "something %u times.%s%.*s",
                             assignment->agent, node, STR_ARG(why), assignment->delivery.attempts,
                             more.len ? " What was heard last: " : "",
                             STR_ARG(str_cut_utf8(more, LIMIT_LINE))),
        .options = cause_options(CAUSE_STALLED)};
}

/* RECOVER-06: a question with options, and nothing more is tried until it is answered. */
static struct str start_cause(struct deciding *d, const struct assignment *assignment) {
    return cause_text(CAUSE_START, plan_node(&d->decision->plan, assignment->node)->id, d->out);
}

/* ESCALATE-01: the inbox shows what the program wrote before it ended, whatever else is tried. The alert holds nothing
 * up. */
void start_alert(struct deciding *d, const struct assignment *assignment, struct str why) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (why.len == 0 || assignment_is_adopted(assignment))
        return;
    question_ask(
        d,
        (struct asking){
            .kind = QUESTION_ALERT,
            .alarm = ALARM_WARNING,
            .cause = start_cause(d, assignment),
            .assignment = assignment,
            .text = {.title = arena_format(d->out, "%s: %s does not start: %.*s", node->id,
                                           assignment->agent, STR_ARG(str_cut_utf8(why, 300))),
                     .text = arena_format(d->out,
                                          "%.*s\nIt is tried again. `overseer doctor` starts each "
                                          "agent in its sandbox and says what fails.",
                                          STR_ARG(str_cut_utf8(why, LIMIT_LINE))),
                     .rule = STR("agent.does-not-start"),
                     .reason = STR("its run ended before it did anything")}});
}

void start_alert_end(struct deciding *d, const struct assignment *assignment, struct str rule) {
    question_settle(d, start_cause(d, assignment), rule);
}

static void ask_about(struct deciding *d, struct assignment *assignment, enum cause cause,
                      struct str rule, struct str why, struct str more) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = cause_text(cause, node->id, d->out),
                            .assignment = assignment,
                            .text = stalled_text(d, assignment, why, more),
                            .holds = true};
    asking.text.title = arena_format(d->out, "%s: %.*s", node->id, STR_ARG(why));
    asking.text.rule = rule;
    asking.text.reason = why;
    start_alert_end(d, assignment, rule); /* this question says more */
    if (!(assignment = assignment_asks(d, assignment->n, asking)))
        return;
    assignment->wait.on = WAITS_FOR_ANSWER;
    if (assignment_status_may_become(assignment->status, ASSIGNMENT_BLOCKED))
        assignment_move(d, assignment, ASSIGNMENT_BLOCKED,
                        (struct evidence){.rule = rule, .reason = why});
    assignment_noted(d, assignment->n, rule);
}

void ladder_ask(struct deciding *d, struct assignment *assignment, struct str rule,
                struct str why) {
    ask_about(d, assignment, CAUSE_STALLED, rule, why, STR(""));
}

void ladder_ask_with(struct deciding *d, struct assignment *assignment, struct str rule,
                     struct str why, struct str more) {
    ask_about(d, assignment, CAUSE_STALLED, rule, why, more);
}

/* The agent's work is right, but does not land: a sign of life from the agent does not answer this question. */
void landing_ask(struct deciding *d, struct assignment *assignment, struct str rule,
                 struct str more, struct str why) {
    ask_about(d, assignment, CAUSE_LANDING, rule, why, more);
}

static void ask_do(struct deciding *d, struct assignment *assignment) {
    struct str why =
        assignment_is_adopted(assignment) ? STR("it is silent")
        : assignment->delivery.result == DELIVERY_TIMEOUT
            ? STR("nobody can tell whether it heard what was said")
        : assignment->recovery.retries > 0
            ? arena_format(d->out, "no progress after %u nudges", assignment->recovery.retries)
            : STR("no progress");
    ladder_ask(d, assignment, STR("ladder.ask"), why);
}

static const struct rung_row {
    const char *(*not )(const struct deciding *, const struct assignment *);
    void (*climb)(struct deciding *, struct assignment *);
    enum permit_kind permit; /* admission bounds what the supervisor does to agents */
} LADDER[RUNGS] = {
    [RUNG_NUDGE] = {nudge_not, nudge_do, PERMIT_ACT},
    [RUNG_RESEND] = {resend_not, resend_do, PERMIT_DISRUPTIVE},
    [RUNG_REPLAN] = {replan_not, replan_do, PERMIT_ACT},
    [RUNG_REASSIGN] = {reassign_not, reassign_do, PERMIT_DISRUPTIVE},
    [RUNG_ASK] = {ask_not, ask_do, PERMIT_NONE},
};

/* ---- climbing ---- */

static void rung_record(struct deciding *d, const struct assignment *assignment,
                        enum record_type type, enum rung rung, const char *why) {
    decide_record(
        d, type,
        assignment_evidence(d, assignment,
                            (struct evidence){.rule = STR("ladder"),
                                              .to = str_of(name_of(&RUNG_NAMES, rung)),
                                              .reason = str_of(why ? why : ""),
                                              .count = assignment->recovery.retries,
                                              .threshold = d->policy->recovery.max_retries}));
}

/* RECOVER-08, C-68: a cap over everything that was ever sent for this node, to whichever agent. */
static enum rung rung_least(const struct deciding *d, const struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    return node->attempts >= d->policy->recovery.max_attempts ? RUNG_ASK
                                                              : assignment->recovery.rung;
}

/* An adopted session is only watched: the only rung that applies is to ask a person. */
static const char *rung_not(const struct deciding *d, const struct assignment *assignment,
                            enum rung rung) {
    if (rung < RUNG_ASK && assignment_is_adopted(assignment))
        return "it is only watched";
    return LADDER[rung].not(d, assignment);
}

static void rung_begin(struct deciding *d, struct assignment *assignment) {
    if (LADDER[assignment->recovery.rung].permit == PERMIT_NONE || assignment->recovery.allowed) {
        assignment->recovery.allowed = 0;
        LADDER[assignment->recovery.rung].climb(d, assignment);
        return;
    }
    assignment->wait.on = WAITS_FOR_PERMIT;
    permit_act(d, assignment, LADDER[assignment->recovery.rung].permit);
}

int64_t ladder_climb(struct deciding *d, struct assignment *assignment) {
    int64_t again = time_after(d->signal->at, d->policy->liveness.tick_every);
    if (assignment->delivery.effect || ladder_is_suspended(d, assignment) ||
        !dispatch_has_room(d) || assignment->recovery.backoff_until > d->signal->at)
        return again;
    if (outgoing_message_go_on(d, assignment))
        return again; /* a person's message comes before anything of the supervisor's */
    for (enum rung rung = rung_least(d, assignment); rung < RUNGS; rung++) {
        const char *not = rung_not(d, assignment, rung);
        if (not ) {
            if (rung != assignment->recovery.rung || rung != RUNG_NUDGE ||
                assignment->recovery.retries == 0)
                rung_record(d, assignment, RECORD_LADDER_SKIPPED, rung, not );
            continue;
        }
        assignment->recovery.rung = rung;
        assignment_touch(d, assignment);
        rung_record(d, assignment, RECORD_LADDER_CLIMBED, rung, NULL);
        rung_begin(d, assignment);
        return again;
    }
    return again;
}

/* The agent may have become active while admission decided: then its next due time looks once more, and knows how long
 * the agent was observed. */
void ladder_granted(struct deciding *d, struct assignment *assignment) {
    if (assignment->status != ASSIGNMENT_STALLED || assignment->wait.on != WAITS_FOR_PERMIT)
        return;
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->recovery.allowed = 1;
    assignment_touch(d, assignment);
    bool fresh =
        assignment->ended || d->signal->at - assignment->liveness.looked_at < SECONDS(LOOK_HOLDS);
    bool rested =
        assignment->recovery.backoff_until <= d->signal->at; /* false: it may have died meanwhile */
    uint32_t n = assignment->n;
    if (fresh && rested && !assignment->delivery.effect && !ladder_is_suspended(d, assignment) &&
        dispatch_has_room(d))
        ladder_climb(d, assignment);
    else
        decide_record(
            d, RECORD_ASSIGNMENT_WAITS,
            assignment_evidence(d, assignment, (struct evidence){.rule = STR("ladder.not-now")}));
    assignment_noted(d, n, STR("ladder"));
}
