/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a run is alive, and what follows from what was observed. TICK-08 to TICK-14; docs/decisions/0009.
 *
 * Silence counts only while the run was observed, and an unknown state is looked at before anything is done. */
#include "core/liveness.h"
#include "core/admission/permit.h"
#include "core/assignment.h"
#include "core/check.h"
#include "core/detect/detect.h"
#include "core/effect.h"
#include "core/people/message.h"
#include "core/people/question.h"
#include "core/people/route.h"
#include "core/rules.h"
#include "core/run_host.h"

static struct watched watched_of(const struct deciding *d, const struct assignment *assignment,
                                 const struct observation *seen, int64_t since) {
    return (struct watched){assignment, seen, since, d->signal->at, d->policy, d->out};
}

static bool is_busy(const struct observation *seen) {
    return seen->turn == TRISTATE_YES || seen->tool_since > 0;
}

/* ---- what was observed ---- */

/* The agent continues by itself: an answer about its silence is no longer carried out. */
void assignment_wakes(struct deciding *d, struct assignment *assignment, struct str rule) {
    assignment->wait.answered = 0;
    assignment->wait.on = WAITS_FOR_NOTHING;
    if (assignment->status == ASSIGNMENT_QUEUED)
        assignment_move(d, assignment, ASSIGNMENT_DISPATCHED, (struct evidence){.rule = rule});
    if (assignment_status_may_become(assignment->status, ASSIGNMENT_ACTIVE))
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE, (struct evidence){.rule = rule});
}

static void progress_note(struct deciding *d, struct assignment *assignment,
                          const struct observation *seen) {
    assignment->liveness.last_activity_at =
        time_later(assignment->liveness.last_activity_at,
                   time_sooner(seen->active_at ? seen->active_at : d->signal->at, d->signal->at));
    assignment->liveness.expected_next_at = 0; /* progress cancels the announced time */
    ladder_reset(assignment);                  /* TICK-13: progress resets the ladder */
    start_alert_end(d, assignment, STR("agent.progress"));
    if (assignment->wait.answered)
        assignment_wakes(d, assignment, STR("agent.progress"));
    if (assignment->status == ASSIGNMENT_DISPATCHED || assignment->status == ASSIGNMENT_STALLED)
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                        (struct evidence){.rule = STR("agent.progress"),
                                          .until = assignment->liveness.last_activity_at});
    else
        assignment_touch(d, assignment);
}

/* ASSIGN-06: only activity after the last dispatch is progress. */
static bool is_progress(const struct assignment *assignment, const struct observation *seen,
                        int64_t at) {
    return seen->active_at > assignment->delivery.last_at &&
           seen->active_at > assignment->liveness.last_activity_at && seen->active_at <= at;
}

static void spent_note(struct deciding *d, struct assignment *assignment,
                       const struct observation *seen) {
    if (seen->context > 0)
        assignment->liveness.context = seen->context;
    if (seen->fingerprint)
        assignment->liveness.fingerprint = seen->fingerprint;
    assignment_touch(d, assignment);
}

/* An adopted session is over, or is no longer seen. The supervisor does not start it again: a person is told, even one
 * who was already asked about its silence. */
static void watched_ended(struct deciding *d, struct assignment *assignment, struct str rule) {
    bool ended = str_equal(rule, STR("agent.exited")) && d->signal->exit == 0;
    struct str why = ended ? STR("it has ended") : STR("it cannot be seen any more");
    uint32_t n = assignment->n;
    questions_drop(d, n, rule);
    assignment = assignments_find(&d->decision->live.assignments, n);
    assignment->wait.question = 0;
    if (assignment_status_may_become(assignment->status, ASSIGNMENT_STALLED))
        assignment_move(d, assignment, ASSIGNMENT_STALLED,
                        (struct evidence){.rule = rule, .text = why, .exit = d->signal->exit});
    ladder_ask(d, assignment, STR("watched.ended"), why);
}

/* Restart intensity as in OTP: a run that dies is started again, but not forever. */
static void run_died(struct deciding *d, struct assignment *assignment,
                     const struct observation *seen, struct str rule, struct str why) {
    int64_t at = d->signal->at;
    bool worked = assignment->status != ASSIGNMENT_DISPATCHED || is_progress(assignment, seen, at);
    if (assignment->ended) /* already known, or it was stopped: one death counts once */
        return;
    assignment_run_end(d, assignment); /* ends what is left of it, too */
    assignment->ended = 1;
    if (!str_equal(rule, STR("agent.failed")))
        run_end_known(d, assignment);
    reply_forget(assignment);
    if (assignment->wait.on == WAITS_FOR_CHECK) { /* it has already reported done */
        assignment_touch(d, assignment);
        assignment_noted(d, assignment->n, rule);
        return;
    }
    if (assignment_is_adopted(assignment)) {
        watched_ended(d, assignment, rule);
        return;
    }
    if (assignment->recovery.restart_since == 0 ||
        at - assignment->recovery.restart_since > d->policy->recovery.restart_window) {
        assignment->recovery.restart_since = at;
        assignment->recovery.restarts = 0;
    }
    assignment->recovery.restarts++;
    assignment->recovery.last_retry_at = at;
    assignment->recovery.backoff_until = time_after(at, ladder_backoff(d->policy, assignment));
    struct evidence evidence = {.rule = rule,
                                .text = why,
                                .exit = d->signal->exit,
                                .count = assignment->recovery.restarts,
                                .threshold = d->policy->recovery.max_restarts,
                                .until = assignment->recovery.backoff_until};
    if (assignment->status == ASSIGNMENT_DISPATCHED || assignment->status == ASSIGNMENT_ACTIVE)
        assignment_move(d, assignment, ASSIGNMENT_STALLED, evidence);
    else {
        assignment_touch(d, assignment);
        decide_record(d, RECORD_AGENT_SEEN, assignment_evidence(d, assignment, evidence));
    }
    struct watched watched = watched_of(d, assignment, seen, 0);
    struct finding finding;
    if (detect(&watched, DETECT_DEATH, ANSWER_ASK, &finding))
        ladder_ask_with(d, assignment, str_of(finding.by->rule), str_of(finding.by->summary), why);
    else if (!worked)
        start_alert(d, assignment, why);
}

/* The account waits, and with it all agents that use it; the instruction is sent again afterwards. */
static void run_limited(struct deciding *d, struct assignment *assignment,
                        const struct observation *seen) {
    struct str account = str_of(assignment->account);
    int64_t until = seen->limited_until;
    if (assignment->status != ASSIGNMENT_DISPATCHED && assignment->status != ASSIGNMENT_ACTIVE &&
        assignment->status != ASSIGNMENT_STALLED)
        return;
    bool since = seen->heard && seen->heard < assignment->delivery.dispatch &&
                 assignment->delivery.result ==
                     DELIVERY_ACCEPTED; /* it has accepted a newer dispatch since */
    if (since || assignment->wait.on == WAITS_FOR_CHECK) {
        permit_limited(d, assignment, until);
        assignment_noted(d, assignment->n, STR("account.limited"));
        return; /* a new turn is not interrupted because of the one before, and finished work is checked */
    }
    assignment->wait.until =
        until > d->signal->at ? until : time_after(d->signal->at, d->policy->spending.quota_guess);
    assignment->wait.on = WAITS_FOR_QUOTA;
    assignment_move(d, assignment, ASSIGNMENT_BLOCKED,
                    (struct evidence){.rule = STR("account.limited"),
                                      .reason = STR("its account is at its limit"),
                                      .text = account,
                                      .until = assignment->wait.until});
    permit_limited(d, assignment, until);
    permit_ask(d, assignment); /* admission grants it once the account is open */
}

/* A person allows once what the agent wants to do, or refuses it: the answer goes to the agent itself. */
static void run_asks(struct deciding *d, struct assignment *assignment) {
    struct question_text text = {.title = STR("An agent waits for a person"),
                                 .text = str_cut_utf8(d->signal->reason, LIMIT_PROSE),
                                 .rule = STR("agent.asks"),
                                 .reason = STR("it shows a dialog or asks for permission")};
    if (d->signal->reason.len > 0)
        text.options = cause_options(CAUSE_PERMISSION);
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = permission_cause(d, assignment),
                            .assignment = assignment,
                            .text = text,
                            .holds = true};
    if (!(assignment = assignment_asks(d, assignment->n, asking)))
        return;
    if (assignment_status_may_become(assignment->status, ASSIGNMENT_BLOCKED))
        assignment_move(
            d, assignment, ASSIGNMENT_BLOCKED,
            (struct evidence){.rule = STR("agent.asks"), .reason = STR("it waits for a person")});
    assignment_noted(d, assignment->n, STR("agent.asks"));
}

static void attached_set(struct deciding *d, struct assignment *assignment, bool attached) {
    assignment->liveness.attached = attached;
    assignment_touch(d, assignment);
    decide_record(
        d, RECORD_ASSIGNMENT_WAITS,
        assignment_evidence(
            d, assignment,
            (struct evidence){.rule = attached ? STR("person.attached") : STR("person.detached")}));
}

/* TICK-18: a late receipt is recorded in addition to the timeout. */
static void receipt_note(struct deciding *d, struct assignment *assignment,
                         const struct observation *seen) {
    if (seen->dispatch != assignment->delivery.dispatch ||
        assignment->delivery.result == DELIVERY_ACCEPTED ||
        assignment->delivery.result == DELIVERY_OK || assignment->delivery.dispatch == 0)
        return;
    if (assignment->delivery.result == DELIVERY_TIMEOUT)
        dispatch_history(d, assignment, DELIVERY_ACCEPTED, STR("late"));
    delivery_note(d, assignment, DELIVERY_ACCEPTED, STR("agent.receipt"));
}

/* A turn that is over asks for nothing any more: a person answered at its terminal, or the agent gave up. A yes that
 * was still to be delivered applies to nothing else. */
static struct assignment *asked_no_more(struct deciding *d, struct assignment *assignment) {
    struct str cause = permission_cause(d, assignment);
    bool says_done = assignment->wait.on == WAITS_FOR_CHECK;
    if (!questions_about(&d->decision->live.questions, cause))
        return assignment;
    assignment = assignment_asked_no_more(d, assignment->n, cause, STR("agent.turn-ended"));
    if (assignment->wait.question)
        return assignment; /* another question holds it */
    assignment_wakes(d, assignment, STR("agent.turn-ended"));
    if (says_done)
        check_begin(d, assignment);
    return assignment;
}

static void turn_ended(struct deciding *d, struct assignment *assignment,
                       struct observation *seen) {
    assignment = asked_no_more(d, assignment);
    if (seen->active_at == 0)
        seen->active_at = d->signal->at;
    if (is_progress(assignment, seen, d->signal->at))
        progress_note(d, assignment, seen);
    decide_record(
        d, RECORD_AGENT_SEEN,
        assignment_evidence(d, assignment, (struct evidence){.rule = STR("agent.turn-ended")}));
    outgoing_message_go_on(d, assignment);
}

/* Handles an event of an agent. Events of an earlier run or dispatch are ignored. */
void rule_seen(struct deciding *d) {
    struct observation seen = {0};
    struct assignment *assignment = assignment_at_hand(d);
    if (d->signal->sender.by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (!assignment || !shape_decode(&OBSERVATION, d->signal->body, &seen) || assignment->run == 0)
        return;
    if (seen.dispatch && seen.dispatch != assignment->delivery.dispatch &&
        seen.dispatch != assignment->run)
        return;
    spent_note(d, assignment, &seen);
    switch (seen.event) {
    case AGENT_STARTED:
    case AGENT_ACCEPTED: receipt_note(d, assignment, &seen); break;
    case AGENT_ENDED: turn_ended(d, assignment, &seen); break;
    case AGENT_FAILED:
        run_died(d, assignment, &seen, STR("agent.failed"), d->signal->reason);
        break;
    case AGENT_EXITED:
        run_died(d, assignment, &seen, STR("agent.exited"), d->signal->reason);
        break;
    case AGENT_LIMITED: run_limited(d, assignment, &seen); break;
    case AGENT_ASKS: run_asks(d, assignment); break;
    case AGENT_ATTACHED: attached_set(d, assignment, true); break;
    case AGENT_DETACHED: attached_set(d, assignment, false); break;
    default: break;
    }
    assignment = assignment_at_hand(d);
    if (assignment)
        permit_measure(d, assignment, &seen);
}

/* ---- due ---- */

static const struct observation *observation_of(const struct observations *observations,
                                                uint32_t assignment) {
    const struct observation *rows = observations->rows.at;
    for (uint32_t i = 0; i < observations->rows.count; i++)
        if (rows[i].assignment == assignment && rows[i].at >= observations->since && rows[i].at > 0)
            return &rows[i];
    return NULL;
}

/* The context window is nearly full: the agent writes its handoff while it still can. */
static bool writes_handoff(struct deciding *d, struct assignment *assignment,
                           const struct watched *watched) {
    struct finding finding;
    if (!detect(watched, DETECT_DUE, ANSWER_HANDOVER, &finding) ||
        ladder_is_suspended(d, assignment) || assignment->delivery.effect || assignment->ended ||
        !dispatch_has_room(d))
        return false;
    assignment->liveness.context = watched->seen->context;
    assignment_reply(d, assignment, WORDS_HANDOVER);
    return true;
}

/* An agent is looked at at most once per sweep. */
static int64_t look_allowed(const struct assignment *assignment, const struct policy *policy) {
    return assignment->liveness.looked_at
               ? time_after(assignment->liveness.looked_at, policy->liveness.tick_every)
               : 0;
}

/* The result of a look is judged by how long the run had been observed when the look was requested. */
static int64_t look_now(struct deciding *d, struct assignment *assignment, int64_t since,
                        struct str rule) {
    assignment->liveness.observed_since = since;
    assignment_look(d, assignment, 0, rule);
    return time_after(d->signal->at, d->policy->liveness.tick_every);
}

static void stall(struct deciding *d, struct assignment *assignment,
                  const struct finding *finding) {
    struct str text = finding->text.len ? finding->text : str_of(finding->by->summary);
    assignment_move(d, assignment, ASSIGNMENT_STALLED,
                    (struct evidence){.rule = str_of(finding->by->rule),
                                      .threshold = finding->threshold,
                                      .until = finding->until,
                                      .text = text});
}

/* The current tool call or turn may end at any time, and the shorter idle limit then counts from before it: so the run
 * is checked no later than that, but not more than once per sweep. */
static int64_t asked_again(const struct assignment *assignment, const struct observation *seen,
                           int64_t since, int64_t at, int64_t limit, const struct policy *policy) {
    int64_t idle = time_after(time_later(last_life(assignment, seen, at), since),
                              idle_limit(assignment, policy));
    return time_later(time_sooner(limit, idle), time_after(at, policy->liveness.tick_every));
}

/* A working assignment: active, or something is wrong with it. Returns when to check again. */
static int64_t working_due(struct deciding *d, struct assignment *assignment,
                           const struct observation *seen, int64_t since) {
    int64_t at = d->signal->at;
    struct watched watched = watched_of(d, assignment, seen, since);
    struct finding finding;
    if (check_waits(assignment, at))
        return assignment->wait.until;
    if (check_go_on(d, assignment) || outgoing_message_go_on(d, assignment))
        return time_after(at, d->policy->liveness.tick_every);
    if (detect(&watched, DETECT_DUE, ANSWER_RESTART, &finding)) {
        run_died(d, assignment, seen, str_of(finding.by->rule), str_of(finding.by->summary));
        return assignment->recovery.backoff_until;
    }
    if (seen && is_progress(assignment, seen, at) && assignment->status == ASSIGNMENT_DISPATCHED)
        progress_note(d, assignment, seen);
    if (writes_handoff(d, assignment, &watched))
        return time_after(at, idle_limit(assignment, d->policy));
    bool found = detect(&watched, DETECT_DUE, ANSWER_STALL, &finding);
    if (!found || assignment->delivery.effect || ladder_is_suspended(d, assignment))
        return asked_again(assignment, seen, since, at, finding.until, d->policy);
    if (!dispatch_has_room(d))
        return time_after(at, d->policy->liveness.tick_every);
    bool certain = seen && !saw_nothing(seen);
    if (certain)
        stall(d, assignment, &finding);
    if (look_allowed(assignment, d->policy) > at)
        return look_allowed(assignment, d->policy);
    return look_now(d, assignment, since,
                    certain ? str_of(finding.by->rule) : str_of(DETECT_UNSEEN.rule));
}

/* A stalled assignment: alive again, or on the next rung once it has waited long enough. */
static int64_t stalled_due(struct deciding *d, struct assignment *assignment,
                           const struct observation *seen, int64_t since) {
    int64_t at = d->signal->at;
    struct watched watched = watched_of(d, assignment, seen, since);
    struct finding finding;
    int64_t heard =
        time_after(since, idle_limit(assignment, d->policy)); /* observed long enough to know */
    if (check_waits(assignment, at))
        return assignment->wait.until;
    if (check_go_on(d, assignment) || outgoing_message_go_on(d, assignment))
        return time_after(at, d->policy->liveness.tick_every);
    if (seen && !assignment->ended && seen->process != TRISTATE_NO &&
        is_progress(assignment, seen, at)) {
        progress_note(d, assignment, seen);
        return time_after(at, d->policy->liveness.tick_every);
    }
    if (assignment->delivery.effect || ladder_is_suspended(d, assignment) || !dispatch_has_room(d))
        return time_after(at, d->policy->liveness.tick_every);
    int64_t next =
        time_later(assignment->recovery.backoff_until, look_allowed(assignment, d->policy));
    if (assignment->ended)
        return assignment->recovery.backoff_until > at ? assignment->recovery.backoff_until
                                                       : ladder_climb(d, assignment);
    if (seen && is_busy(seen) && !detect(&watched, DETECT_DUE, ANSWER_STALL, &finding))
        return time_after(at, d->policy->liveness.tick_every);
    next = since > assignment->delivery.last_at ? time_later(next, heard) : next;
    if (next > at) /* it may become active meanwhile */
        return time_sooner(next, time_after(at, d->policy->liveness.tick_every));
    return look_now(d, assignment, since, STR("agent.still-silent"));
}

static bool waits_for_time(const struct assignment *assignment) {
    return assignment->wait.on == WAITS_FOR_BACKOFF || assignment->wait.on == WAITS_FOR_HOST;
}

/* Puts the assignment back into the queue once its reason to wait is over. */
static int64_t waiting_due(struct deciding *d, struct assignment *assignment) {
    if (!waits_for_time(assignment))
        return TIME_NEVER;
    if (assignment->wait.until > d->signal->at)
        return assignment->wait.until;
    if (!dispatch_has_room(d))
        return time_after(d->signal->at, d->policy->liveness.tick_every);
    assignment_again(d, assignment, STR("wait.over"));
    return TIME_NEVER;
}

bool assignment_lives(struct deciding *d, struct assignment *assignment,
                      const struct observation *seen) {
    if (assignment->ended || !is_progress(assignment, seen, d->signal->at))
        return false;
    assignment = assignment_asked_no_more(d, assignment->n, stalled_cause(d, assignment),
                                          STR("agent.progress"));
    if (!assignment->wait.question)
        assignment_wakes(d, assignment, STR("agent.progress"));
    progress_note(d, assignment, seen);
    return true;
}

/* The run may continue by itself while a person is asked what to do about it: then the person need not answer any more. */
static bool may_wake(const struct deciding *d, const struct assignment *assignment) {
    return !assignment->ended && assignment_question(d, assignment, CAUSE_STALLED);
}

static int64_t assignment_due(struct deciding *d, struct assignment *assignment,
                              const struct observations *observations) {
    const struct observation *seen = observation_of(observations, assignment->n);
    int64_t since = time_later(observations->since,
                               time_sooner(assignment->liveness.observed_since, d->signal->at));
    if (seen)
        permit_measure(d, assignment, seen);
    reply_due(d, assignment);
    if (assignment->wait.answered) {
        answer_go_on(d, assignment);
        return time_after(d->signal->at, d->policy->liveness.tick_every);
    }
    switch (assignment->status) {
    case ASSIGNMENT_DISPATCHED:
    case ASSIGNMENT_ACTIVE: return working_due(d, assignment, seen, since);
    case ASSIGNMENT_STALLED: return stalled_due(d, assignment, seen, since);
    case ASSIGNMENT_BLOCKED:
        if (!may_wake(d, assignment))
            return waiting_due(d, assignment);
        if (seen)
            assignment_lives(d, assignment, seen);
        return time_after(d->signal->at, d->policy->liveness.tick_every);
    default: return waiting_due(d, assignment);
    }
}

/* GOAL-11: the goal is resumed. Silence counts from now, and announced times that have passed meanwhile are dropped. */
void assignments_resume(struct deciding *d) {
    struct assignments *assignments = &d->decision->live.assignments;
    if (assignments->count > 0)
        live_edit(d, PART_ASSIGNMENT, 0);
    for (uint32_t i = 0; i < assignments->count; i++) {
        struct assignment *assignment = &assignments->at[i];
        if (assignment_is_over(assignment))
            continue;
        assignment->liveness.observed_since = d->signal->at;
        if (assignment->liveness.expected_next_at <= d->signal->at)
            assignment->liveness.expected_next_at = 0;
        assignment_touch(d, assignment);
    }
}

int64_t liveness_due(struct deciding *d) {
    struct observations observations = {0};
    struct assignments *assignments = &d->decision->live.assignments;
    int64_t next = TIME_NEVER;
    if (assignments->count == 0)
        return TIME_NEVER;
    if (d->signal->body.len > 0 &&
        !shape_decode_in(&OBSERVATIONS, d->signal->body, d->out, &observations))
        observations = (struct observations){.since = d->signal->at};
    live_edit(d, PART_ASSIGNMENT, 0);
    for (uint32_t i = assignments->count; i-- > 0;)
        next = time_sooner(next, assignment_due(d, &assignments->at[i], &observations));
    return next;
}

/* ---- after a look ---- */

/* Nothing was seen: nothing is done to the agent. */
static void looked_in_vain(struct deciding *d, struct assignment *assignment) {
    assignment->liveness.unseen++;
    assignment_touch(d, assignment);
    struct watched watched = watched_of(d, assignment, NULL, 0);
    struct finding finding;
    if (!detect(&watched, DETECT_LOOK, ANSWER_ASK, &finding))
        return;
    if (assignment->status != ASSIGNMENT_STALLED) {
        finding = silent_now(&watched);
        stall(d, assignment, &finding);
    } else if (!ladder_is_suspended(d, assignment))
        ladder_ask(d, assignment, str_of(finding.by->rule), str_of(finding.by->summary));
}

/* A look found the run silent: decides whether it is still within its limits. A busy run has its longer limit even
 * after a nudge; any other run is helped at the pace of the ladder. */
static void looked_and_silent(struct deciding *d, struct assignment *assignment,
                              const struct observation *seen) {
    int64_t at = d->signal->at;
    struct watched watched = watched_of(d, assignment, seen, assignment->liveness.observed_since);
    struct finding finding;
    bool stalled = detect(&watched, DETECT_DUE, ANSWER_STALL, &finding);
    bool working =
        assignment->status == ASSIGNMENT_ACTIVE || assignment->status == ASSIGNMENT_DISPATCHED;
    if (seen->dispatch)
        return; /* this look was only about whether a dispatch arrived, whatever time has passed */
    if (working && is_busy(seen))
        return; /* its due time decides: it knows how long the run was observed */
    finding.until = at;
    if (stalled && working)
        stall(d, assignment, &finding);
    else if (!stalled && is_busy(seen)) {
        if (assignment->status == ASSIGNMENT_STALLED && assignment->recovery.retries == 0 &&
            assignment->recovery.restarts == 0)
            assignment_move(
                d, assignment, ASSIGNMENT_ACTIVE,
                (struct evidence){.rule = STR("agent.busy"), .until = seen->tool_since});
        return;
    }
    if (assignment->status == ASSIGNMENT_STALLED && assignment->recovery.backoff_until <= at)
        ladder_climb(d, assignment);
}

/* TICK-07: evaluates what a look found in the agent's messages. Only certain facts change anything. */
void assignment_looked_at(struct deciding *d, struct assignment *assignment,
                          const struct observation *seen) {
    int64_t at = d->signal->at;
    assignment->liveness.looked_at = at;
    spent_note(d, assignment, seen);
    decide_record(d, RECORD_AGENT_SEEN,
                  assignment_evidence(
                      d, assignment,
                      (struct evidence){.rule = STR("agent.looked-at"),
                                        .to = str_of(name_of(&SAMPLED_NAMES, seen->sampled)),
                                        .from = str_of(name_of(&TRISTATE_NAMES, seen->process)),
                                        .until = seen->active_at}));
    permit_measure(d, assignment, seen);
    if (assignment->status == ASSIGNMENT_BLOCKED || assignment->status == ASSIGNMENT_QUEUED)
        return;
    if (saw_nothing(seen)) {
        looked_in_vain(d, assignment);
        return;
    }
    assignment->liveness.unseen = 0;
    struct watched watched = watched_of(d, assignment, seen, 0);
    struct finding finding;
    if (detect(&watched, DETECT_DUE, ANSWER_RESTART, &finding))
        run_died(d, assignment, seen, str_of(finding.by->rule), str_of(finding.by->summary));
    else if (is_progress(assignment, seen, at))
        progress_note(d, assignment, seen);
    else if (seen->sampled == SAMPLED_WAITS_FOR_PERSON)
        run_asks(d, assignment); /* RECOVER-13 */
    else
        looked_and_silent(d, assignment, seen);
}

/* ---- when something is next due by itself ---- */

static int64_t assignment_wants(const struct assignment *assignment, const struct policy *policy) {
    int64_t base = time_later(assignment->liveness.last_activity_at, assignment->delivery.last_at);
    if (assignment->wait.answered)
        return time_after(assignment->updated_at, policy->liveness.tick_every);
    if (check_waits(assignment, 0))
        return assignment->wait.until;
    switch (assignment->status) {
    case ASSIGNMENT_DISPATCHED:
    case ASSIGNMENT_ACTIVE: {
        if (assignment->outgoing.next && assignment->wait.on == WAITS_FOR_NOTHING &&
            assignment->delivery.effect == 0)
            return time_after(assignment->updated_at, policy->liveness.tick_every);
        int64_t idle = time_after(base, idle_limit(assignment, policy));
        return assignment->liveness.expected_next_at
                   ? time_sooner(idle, assignment->liveness.expected_next_at)
                   : idle;
    }
    case ASSIGNMENT_STALLED:
        return assignment->delivery.effect ? TIME_NEVER
                                           : time_later(assignment->recovery.backoff_until, 1);
    case ASSIGNMENT_BLOCKED:
        if (assignment->wait.question && !assignment->ended)
            return time_after(assignment->updated_at,
                              policy->liveness.tick_every); /* it may become active again */
        return waits_for_time(assignment) ? assignment->wait.until : TIME_NEVER;
    default: return waits_for_time(assignment) ? assignment->wait.until : TIME_NEVER;
    }
}

int64_t live_wants(const struct live *live, const struct goal *goal, const struct policy *policy) {
    int64_t wants = TIME_NEVER;
    if (goal->kind.workspace)
        wants = lane_next(goal, live, policy);
    else if (goal->kind.admission)
        wants = admission_next(live, goal, policy, goal->times.updated_at);
    for (uint32_t i = 0; goal->status == GOAL_ACTIVE && i < live->assignments.count; i++)
        wants = time_sooner(wants, assignment_wants(&live->assignments.at[i], policy));
    wants = time_sooner(wants, questions_next(live, goal, policy, goal->times.updated_at));
    return wants == TIME_NEVER ? 0 : wants;
}
