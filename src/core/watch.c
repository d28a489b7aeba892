/* SPDX-License-Identifier: Apache-2.0 */
/* Is it alive, and what follows from what was seen? TICK-08 to TICK-14; docs/decisions/0009.
 *
 * Silence counts only while somebody listened, and what is not known is looked at before anything is done. */
#include "core/route.h"

/* ---- how long may it stay as it is? ---- */

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The newest progress of which anything is known; what lies in the future is a clock that was wrong. */
static int64_t last_life(const struct charge *charge, const struct sighting *seen, int64_t at) {
    int64_t last = later(charge->last_activity_at, charge->last_dispatch_at);
    if (seen && seen->active_at <= at)
        last = later(last, seen->active_at);
    return sooner(last, at);
}

static int64_t idle_limit(const struct charge *charge, const struct policy *policy) {
    return charge->idle_after ? charge->idle_after : policy->idle_after;
}

/* Output that is no progress puts a stall off, but not for ever: pain 11. */
static int64_t put_off_by_chatter(const struct charge *charge, const struct sighting *seen,
                                  const struct policy *policy, int64_t base) {
    int64_t limit = idle_limit(charge, policy), quiet = time_after(base, limit);
    if (!seen || seen->chatter_at <= base)
        return quiet;
    return sooner(time_after(seen->chatter_at, limit), time_after(quiet, policy->chatter_most));
}

/* When does it count as stalled? An open tool call and a turn in flight have longer limits of their own. TICK-12: a
 * promise to be heard of earlier counts, unless something is going on. */
static int64_t stalled_at(const struct charge *charge, const struct sighting *seen, int64_t since,
                          int64_t at, const struct policy *policy) {
    int64_t base = later(last_life(charge, seen, at), since);
    if (seen && seen->tool_since > 0 && seen->tool_since <= at)
        return time_after(later(base, seen->tool_since), policy->idle_in_tool);
    if (seen && seen->turn == SURE_YES)
        return time_after(base, later(policy->turn_most, idle_limit(charge, policy)));
    int64_t limit = put_off_by_chatter(charge, seen, policy, base);
    if (charge->expected_next_at > 0)
        limit =
            sooner(limit, later(charge->expected_next_at, time_after(since, policy->tick_every)));
    return limit;
}

bool saw_nothing(const struct sighting *seen) {
    return seen->at == 0 || (seen->process == SURE_UNKNOWN && seen->turn == SURE_UNKNOWN);
}

static bool is_busy(const struct sighting *seen) {
    return seen->turn == SURE_YES || seen->tool_since > 0;
}

/* ---- what was seen ---- */

/* It goes on by itself: what was answered about its silence is not carried out any more. */
void charge_wakes(struct deciding *d, struct charge *charge, struct str rule) {
    charge->answered = 0;
    charge->waiting = WAITS_FOR_NOTHING;
    if (charge->status == CHARGE_QUEUED)
        charge_move(d, charge, CHARGE_DISPATCHED, (struct evidence){.rule = rule});
    if (charge_status_may_become(charge->status, CHARGE_ACTIVE))
        charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = rule});
}

static void progress_note(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    charge->last_activity_at =
        later(charge->last_activity_at,
              sooner(seen->active_at ? seen->active_at : d->signal->at, d->signal->at));
    charge->expected_next_at = 0; /* reference fault 1 */
    ladder_reset(charge);         /* TICK-13, reference fault 4 */
    start_alert_end(d, charge, STR("agent.progress"));
    if (charge->answered)
        charge_wakes(d, charge, STR("agent.progress"));
    if (charge->status == CHARGE_DISPATCHED || charge->status == CHARGE_STALLED)
        charge_move(
            d, charge, CHARGE_ACTIVE,
            (struct evidence){.rule = STR("agent.progress"), .until = charge->last_activity_at});
    else
        charge_touch(d, charge);
}

/* ASSIGN-06: progress is what came after the last dispatch. */
static bool is_progress(const struct charge *charge, const struct sighting *seen, int64_t at) {
    return seen->active_at > charge->last_dispatch_at &&
           seen->active_at > charge->last_activity_at && seen->active_at <= at;
}

static void spent_note(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    if (seen->context > 0)
        charge->context = seen->context;
    if (seen->fingerprint)
        charge->fingerprint = seen->fingerprint;
    charge_touch(d, charge);
}

/* Somebody else's session is over, or is not seen any more. Nobody starts it again: a person hears of it, also one who was
 * asked about its silence. */
static void watched_ended(struct deciding *d, struct charge *charge, struct str rule) {
    bool ended = str_equal(rule, STR("agent.exited")) && d->signal->exit == 0;
    struct str why = ended ? STR("it has ended") : STR("it cannot be seen any more");
    uint32_t n = charge->n;
    questions_drop(d, n, rule);
    charge = charges_find(&d->decision->live.charges, n);
    charge->question = 0;
    if (charge_status_may_become(charge->status, CHARGE_STALLED))
        charge_move(d, charge, CHARGE_STALLED,
                    (struct evidence){.rule = rule, .text = why, .exit = d->signal->exit});
    ladder_ask(d, charge, STR("watched.ended"), why);
}

/* OTP's intensity: a run that dies is started again, but not for ever. Pain 5, pain 6. */
static void run_died(struct deciding *d, struct charge *charge, const struct sighting *seen,
                     struct str rule, struct str why) {
    int64_t at = d->signal->at;
    bool worked = charge->status != CHARGE_DISPATCHED || is_progress(charge, seen, at);
    if (charge->ended) /* it is known already, or it was stopped: one death counts once */
        return;
    charge_run_end(d, charge); /* what is left of it goes too */
    charge->ended = 1;
    if (!str_equal(rule, STR("agent.failed")))
        run_end_known(d, charge);
    reply_forget(charge);
    if (charge->waiting == WAITS_FOR_CHECK) { /* it has said what it had to say */
        charge_touch(d, charge);
        charge_noted(d, charge->n, rule);
        return;
    }
    if (charge_is_watched(charge)) {
        watched_ended(d, charge, rule);
        return;
    }
    if (charge->restart_since == 0 || at - charge->restart_since > d->policy->restart_window) {
        charge->restart_since = at;
        charge->restarts = 0;
    }
    charge->restarts++;
    charge->last_retry_at = at;
    charge->backoff_until = time_after(at, ladder_backoff(d->policy, charge));
    struct evidence evidence = {.rule = rule,
                                .text = why,
                                .exit = d->signal->exit,
                                .count = charge->restarts,
                                .threshold = d->policy->max_restarts,
                                .until = charge->backoff_until};
    if (charge->status == CHARGE_DISPATCHED || charge->status == CHARGE_ACTIVE)
        charge_move(d, charge, CHARGE_STALLED, evidence);
    else {
        charge_touch(d, charge);
        decide_record(d, RECORD_AGENT_SEEN, charge_evidence(d, charge, evidence));
    }
    if (charge->restarts > d->policy->max_restarts && charge->status == CHARGE_STALLED)
        ladder_ask_with(d, charge, STR("agent.dies-again"),
                        STR("it was started again and died each time"), why);
    else if (!worked)
        start_alert(d, charge, why);
}

/* Pain 9: the account waits, and with it everybody who uses it; what was asked is asked again afterwards. */
static void run_limited(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    struct str account = str_of(charge->account);
    int64_t until = seen->limited_until;
    if (charge->status != CHARGE_DISPATCHED && charge->status != CHARGE_ACTIVE &&
        charge->status != CHARGE_STALLED)
        return;
    bool since = seen->heard && seen->heard < charge->dispatch &&
                 charge->delivery == DELIVERY_ACCEPTED; /* it has heard something */
    if (since || charge->waiting == WAITS_FOR_CHECK) {
        permit_limited(d, charge, until);
        charge_noted(d, charge->n, STR("account.limited"));
        return; /* no new turn is interrupted for the one before, and what it made is checked */
    }
    charge->waits_until =
        until > d->signal->at ? until : time_after(d->signal->at, d->policy->quota_guess);
    charge->waiting = WAITS_FOR_QUOTA;
    charge_move(d, charge, CHARGE_BLOCKED,
                (struct evidence){.rule = STR("account.limited"),
                                  .reason = STR("its account is at its limit"),
                                  .text = account,
                                  .until = charge->waits_until});
    permit_limited(d, charge, until);
    permit_ask(d, charge); /* the desk grants it once the account is open */
}

/* What it wants to do is allowed once, or not: the answer goes to the agent itself. */
static void run_asks(struct deciding *d, struct charge *charge) {
    static const struct str OPTIONS[] = {{"allow it once", 13}, {"do not allow it", 15}};
    struct question_text text = {.title = STR("An agent waits for a person"),
                                 .text = str_cut_utf8(d->signal->reason, LIMIT_PROSE),
                                 .rule = STR("agent.asks"),
                                 .reason = STR("it shows a dialog or asks for permission")};
    if (d->signal->reason.len > 0)
        text.options = (struct texts){OPTIONS, count_of(OPTIONS)};
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = arena_format(d->out, "asks.A_%u", charge->n),
                            .charge = charge,
                            .text = text,
                            .holds = true};
    if (!(charge = charge_asks(d, charge->n, asking)))
        return;
    if (charge_status_may_become(charge->status, CHARGE_BLOCKED))
        charge_move(
            d, charge, CHARGE_BLOCKED,
            (struct evidence){.rule = STR("agent.asks"), .reason = STR("it waits for a person")});
    charge_noted(d, charge->n, STR("agent.asks"));
}

static void attached_set(struct deciding *d, struct charge *charge, bool attached) {
    charge->attached = attached;
    charge_touch(d, charge);
    decide_record(d, RECORD_CHARGE_WAITS,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = attached ? STR("person.attached")
                                                                     : STR("person.detached")}));
}

/* TICK-18: a receipt that comes late is put down beside the time-out. */
static void receipt_note(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    if (seen->dispatch != charge->dispatch || charge->delivery == DELIVERY_ACCEPTED ||
        charge->delivery == DELIVERY_OK || charge->dispatch == 0)
        return;
    if (charge->delivery == DELIVERY_TIMEOUT)
        dispatch_history(d, charge, DELIVERY_ACCEPTED, STR("late"));
    delivery_note(d, charge, DELIVERY_ACCEPTED, STR("agent.receipt"));
}

/* A turn that is over asks for nothing any more: somebody said yes or no at its terminal, or it gave up. A yes that was to be
 * given to it is for nothing else. */
static struct charge *asked_no_more(struct deciding *d, struct charge *charge) {
    struct str cause = arena_format(d->out, "asks.A_%u", charge->n);
    bool says_done = charge->waiting == WAITS_FOR_CHECK;
    if (!questions_about(&d->decision->live.questions, cause))
        return charge;
    charge = charge_asked_no_more(d, charge->n, cause, STR("agent.turn-ended"));
    if (charge->question)
        return charge; /* something else holds it */
    charge_wakes(d, charge, STR("agent.turn-ended"));
    if (says_done)
        check_begin(d, charge);
    return charge;
}

static void turn_ended(struct deciding *d, struct charge *charge, struct sighting *seen) {
    charge = asked_no_more(d, charge);
    if (seen->active_at == 0)
        seen->active_at = d->signal->at;
    if (is_progress(charge, seen, d->signal->at))
        progress_note(d, charge, seen);
    decide_record(d, RECORD_AGENT_SEEN,
                  charge_evidence(d, charge, (struct evidence){.rule = STR("agent.turn-ended")}));
    told_go_on(d, charge);
}

/* Something happened to an agent. What belongs to a run or dispatch of before is of no use: pain 16. */
void rule_seen(struct deciding *d) {
    struct sighting seen = {0};
    struct charge *charge = charge_in_hand(d);
    if (d->signal->by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (!charge || !shape_decode(&SIGHTING, d->signal->body, &seen) || charge->run == 0)
        return;
    if (seen.dispatch && seen.dispatch != charge->dispatch && seen.dispatch != charge->run)
        return;
    spent_note(d, charge, &seen);
    switch (seen.event) {
    case AGENT_STARTED:
    case AGENT_ACCEPTED: receipt_note(d, charge, &seen); break;
    case AGENT_ENDED: turn_ended(d, charge, &seen); break;
    case AGENT_FAILED: run_died(d, charge, &seen, STR("agent.failed"), d->signal->reason); break;
    case AGENT_EXITED: run_died(d, charge, &seen, STR("agent.exited"), d->signal->reason); break;
    case AGENT_LIMITED: run_limited(d, charge, &seen); break;
    case AGENT_ASKS: run_asks(d, charge); break;
    case AGENT_ATTACHED: attached_set(d, charge, true); break;
    case AGENT_DETACHED: attached_set(d, charge, false); break;
    default: break;
    }
    charge = charge_in_hand(d);
    if (charge)
        permit_measure(d, charge, &seen);
}

/* ---- due ---- */

static const struct sighting *sighting_of(const struct sightings *sightings, uint32_t charge) {
    const struct sighting *rows = sightings->rows.at;
    for (uint32_t i = 0; i < sightings->rows.count; i++)
        if (rows[i].charge == charge && rows[i].at >= sightings->since && rows[i].at > 0)
            return &rows[i];
    return NULL;
}

/* The window is nearly full: it writes down where things stand while it still can. Pain 23. */
static bool hands_over(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    uint32_t most = d->policy->context_most;
    if (!seen || most == 0 || seen->context < most || charge->handover || seen->turn == SURE_YES ||
        ladder_is_suspended(d, charge) || charge->effect || charge->ended || !dispatch_has_room(d))
        return false;
    charge->context = seen->context;
    charge_reply(d, charge, WORDS_HANDOVER);
    return true;
}

/* Nobody is looked at more than once in a sweep. */
static int64_t look_allowed(const struct charge *charge, const struct policy *policy) {
    return charge->looked_at ? time_after(charge->looked_at, policy->tick_every) : 0;
}

/* What it sees is judged by how long somebody had listened when it was sent off. */
static int64_t look_now(struct deciding *d, struct charge *charge, int64_t since, struct str rule) {
    charge->listened_since = since;
    charge_look(d, charge, 0, rule);
    return time_after(d->signal->at, d->policy->tick_every);
}

static void stall(struct deciding *d, struct charge *charge, int64_t limit) {
    charge_move(d, charge, CHARGE_STALLED,
                (struct evidence){.rule = STR("agent.silent"),
                                  .threshold = idle_limit(charge, d->policy),
                                  .until = limit,
                                  .text = arena_format(d->out, "no progress since %lld",
                                                       (long long)charge->last_activity_at)});
}

/* What it does now may end at any time, and its shorter limit then counts from before: so it is asked about no later than
 * that, but not more than once in a sweep. */
static int64_t asked_again(const struct charge *charge, const struct sighting *seen, int64_t since,
                           int64_t at, int64_t limit, const struct policy *policy) {
    int64_t idle =
        time_after(later(last_life(charge, seen, at), since), idle_limit(charge, policy));
    return later(sooner(limit, idle), time_after(at, policy->tick_every));
}

/* A working charge: fresh, or silent for too long. Returns when to look again. */
static int64_t working_due(struct deciding *d, struct charge *charge, const struct sighting *seen,
                           int64_t since) {
    int64_t at = d->signal->at;
    if (check_go_on(d, charge) || told_go_on(d, charge))
        return time_after(at, d->policy->tick_every);
    if (seen && seen->process == SURE_NO && !charge->ended) {
        run_died(d, charge, seen, STR("agent.gone"), STR("its process is not there any more"));
        return charge->backoff_until;
    }
    if (seen && is_progress(charge, seen, at) && charge->status == CHARGE_DISPATCHED)
        progress_note(d, charge, seen);
    if (hands_over(d, charge, seen))
        return time_after(at, idle_limit(charge, d->policy));
    int64_t limit = stalled_at(charge, seen, since, at, d->policy);
    if (limit > at || charge->effect || ladder_is_suspended(d, charge))
        return asked_again(charge, seen, since, at, limit, d->policy);
    if (!dispatch_has_room(d))
        return time_after(at, d->policy->tick_every);
    bool certain = seen && !saw_nothing(seen);
    if (certain)
        stall(d, charge, limit);
    if (look_allowed(charge, d->policy) > at)
        return look_allowed(charge, d->policy);
    return look_now(d, charge, since, certain ? STR("agent.silent") : STR("agent.unseen"));
}

/* A stalled one: life again, or the next rung once it has waited long enough. */
static int64_t stalled_due(struct deciding *d, struct charge *charge, const struct sighting *seen,
                           int64_t since) {
    int64_t at = d->signal->at;
    int64_t heard = time_after(since, idle_limit(charge, d->policy)); /* enough to know */
    if (check_go_on(d, charge) || told_go_on(d, charge))
        return time_after(at, d->policy->tick_every);
    if (seen && !charge->ended && seen->process != SURE_NO && is_progress(charge, seen, at)) {
        progress_note(d, charge, seen);
        return time_after(at, d->policy->tick_every);
    }
    if (charge->effect || ladder_is_suspended(d, charge) || !dispatch_has_room(d))
        return time_after(at, d->policy->tick_every);
    int64_t next = later(charge->backoff_until, look_allowed(charge, d->policy));
    if (charge->ended)
        return charge->backoff_until > at ? charge->backoff_until : ladder_climb(d, charge);
    if (seen && is_busy(seen) && stalled_at(charge, seen, since, at, d->policy) > at)
        return time_after(at, d->policy->tick_every);
    next = since > charge->last_dispatch_at ? later(next, heard) : next;
    if (next > at) /* it may come to life meanwhile */
        return sooner(next, time_after(at, d->policy->tick_every));
    return look_now(d, charge, since, STR("agent.still-silent"));
}

static bool waits_for_time(const struct charge *charge) {
    return charge->waiting == WAITS_FOR_BACKOFF || charge->waiting == WAITS_FOR_HOST;
}

/* Back into the queue once the reason to wait is over. */
static int64_t waiting_due(struct deciding *d, struct charge *charge) {
    if (!waits_for_time(charge))
        return TIME_NEVER;
    if (charge->waits_until > d->signal->at)
        return charge->waits_until;
    if (!dispatch_has_room(d))
        return time_after(d->signal->at, d->policy->tick_every);
    charge_again(d, charge, STR("wait.over"));
    return TIME_NEVER;
}

bool charge_lives(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    if (charge->ended || !is_progress(charge, seen, d->signal->at))
        return false;
    charge = charge_asked_no_more(d, charge->n, stalled_cause(d, charge), STR("agent.progress"));
    if (!charge->question)
        charge_wakes(d, charge, STR("agent.progress"));
    progress_note(d, charge, seen);
    return true;
}

/* It may go on by itself while a person is asked what to do about it: then nobody has to answer any more. */
static bool may_wake(const struct deciding *d, const struct charge *charge) {
    return !charge->ended && charge_question(d, charge, STR("stalled."));
}

static int64_t charge_due(struct deciding *d, struct charge *charge,
                          const struct sightings *sightings) {
    const struct sighting *seen = sighting_of(sightings, charge->n);
    int64_t since = later(sightings->since, sooner(charge->listened_since, d->signal->at));
    if (seen)
        permit_measure(d, charge, seen);
    reply_due(d, charge);
    if (charge->answered) {
        answer_go_on(d, charge);
        return time_after(d->signal->at, d->policy->tick_every);
    }
    switch (charge->status) {
    case CHARGE_DISPATCHED:
    case CHARGE_ACTIVE: return working_due(d, charge, seen, since);
    case CHARGE_STALLED: return stalled_due(d, charge, seen, since);
    case CHARGE_BLOCKED:
        if (!may_wake(d, charge))
            return waiting_due(d, charge);
        if (seen)
            charge_lives(d, charge, seen);
        return time_after(d->signal->at, d->policy->tick_every);
    default: return waiting_due(d, charge);
    }
}

/* GOAL-11: the goal goes on. Its silence counts from here, and what was promised for the time between is forgotten. */
void charges_resume(struct deciding *d) {
    struct charges *charges = &d->decision->live.charges;
    if (charges->count > 0)
        live_edit(d, PART_CHARGE, 0);
    for (uint32_t i = 0; i < charges->count; i++) {
        struct charge *charge = &charges->at[i];
        if (charge_is_over(charge))
            continue;
        charge->listened_since = d->signal->at;
        if (charge->expected_next_at <= d->signal->at)
            charge->expected_next_at = 0;
        charge_touch(d, charge);
    }
}

int64_t watch_due(struct deciding *d) {
    struct sightings sightings = {0};
    struct charges *charges = &d->decision->live.charges;
    int64_t next = TIME_NEVER;
    if (charges->count == 0)
        return TIME_NEVER;
    if (d->signal->body.len > 0 &&
        !shape_decode_in(&SIGHTINGS, d->signal->body, d->out, &sightings))
        sightings = (struct sightings){.since = d->signal->at};
    live_edit(d, PART_CHARGE, 0);
    for (uint32_t i = charges->count; i-- > 0;)
        next = sooner(next, charge_due(d, &charges->at[i], &sightings));
    return next;
}

/* ---- after a look ---- */

/* Nothing was seen: nothing is done to it. */
static void looked_in_vain(struct deciding *d, struct charge *charge) {
    charge->unseen++;
    charge_touch(d, charge);
    if (charge->unseen >= UNSEEN_MOST && !ladder_is_suspended(d, charge) &&
        charge->status == CHARGE_STALLED)
        ladder_ask(d, charge, STR("agent.unseen"), STR("nobody can see whether it is alive"));
    else if (charge->unseen >= UNSEEN_MOST && charge->status != CHARGE_STALLED)
        stall(d, charge, d->signal->at);
}

/* It has been looked at, and is silent: is it still within what it may take? Whoever is busy has its longer limit also
 * after it was nudged; whoever is not is helped at the pace of the ladder. */
static void looked_and_silent(struct deciding *d, struct charge *charge,
                              const struct sighting *seen) {
    int64_t at = d->signal->at;
    bool stalled = stalled_at(charge, seen, charge->listened_since, at, d->policy) <= at;
    bool working = charge->status == CHARGE_ACTIVE || charge->status == CHARGE_DISPATCHED;
    if (seen->dispatch)
        return; /* whether that arrived was to be seen, whatever time has passed */
    if (working && is_busy(seen))
        return; /* its due time knows how long somebody has listened */
    if (stalled && working)
        stall(d, charge, at);
    else if (!stalled && is_busy(seen)) {
        if (charge->status == CHARGE_STALLED && charge->retries == 0 && charge->restarts == 0)
            charge_move(d, charge, CHARGE_ACTIVE,
                        (struct evidence){.rule = STR("agent.busy"), .until = seen->tool_since});
        return;
    }
    if (charge->status == CHARGE_STALLED && charge->backoff_until <= at)
        ladder_climb(d, charge);
}

/* TICK-07: what its messages say. Only what is certain changes anything. */
void charge_looked_at(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    int64_t at = d->signal->at;
    charge->looked_at = at;
    spent_note(d, charge, seen);
    decide_record(
        d, RECORD_AGENT_SEEN,
        charge_evidence(d, charge,
                        (struct evidence){.rule = STR("agent.looked-at"),
                                          .to = str_of(name_of(&SAMPLED_NAMES, seen->sampled)),
                                          .from = str_of(name_of(&SURE_NAMES, seen->process)),
                                          .until = seen->active_at}));
    permit_measure(d, charge, seen);
    if (charge->status == CHARGE_BLOCKED || charge->status == CHARGE_QUEUED)
        return;
    if (saw_nothing(seen)) {
        looked_in_vain(d, charge);
        return;
    }
    charge->unseen = 0;
    if (seen->process == SURE_NO && !charge->ended)
        run_died(d, charge, seen, STR("agent.gone"), STR("its process is not there any more"));
    else if (is_progress(charge, seen, at))
        progress_note(d, charge, seen);
    else if (seen->sampled == SAMPLED_WAITS_FOR_PERSON)
        run_asks(d, charge); /* RECOVER-13 */
    else
        looked_and_silent(d, charge, seen);
}

/* ---- when does anything want to be done by itself? ---- */

static int64_t charge_wants(const struct charge *charge, const struct policy *policy) {
    int64_t base = later(charge->last_activity_at, charge->last_dispatch_at);
    if (charge->answered)
        return time_after(charge->updated_at, policy->tick_every);
    switch (charge->status) {
    case CHARGE_DISPATCHED:
    case CHARGE_ACTIVE: {
        if (charge->owes && charge->waiting == WAITS_FOR_NOTHING && charge->effect == 0)
            return time_after(charge->updated_at, policy->tick_every);
        int64_t idle = time_after(base, idle_limit(charge, policy));
        return charge->expected_next_at ? sooner(idle, charge->expected_next_at) : idle;
    }
    case CHARGE_STALLED: return charge->effect ? TIME_NEVER : later(charge->backoff_until, 1);
    case CHARGE_BLOCKED:
        if (charge->question && !charge->ended)
            return time_after(charge->updated_at, policy->tick_every); /* it may wake up */
        return waits_for_time(charge) ? charge->waits_until : TIME_NEVER;
    default: return waits_for_time(charge) ? charge->waits_until : TIME_NEVER;
    }
}

int64_t live_wants(const struct live *live, const struct goal *goal, const struct policy *policy) {
    int64_t wants = TIME_NEVER;
    if (goal->workspace)
        wants = lane_next(live, policy);
    else if (goal->desk)
        wants = desk_next(live, goal, policy, goal->updated_at);
    for (uint32_t i = 0; goal->status == GOAL_ACTIVE && i < live->charges.count; i++)
        wants = sooner(wants, charge_wants(&live->charges.at[i], policy));
    wants = sooner(wants, questions_next(live, goal, policy, goal->updated_at));
    return wants == TIME_NEVER ? 0 : wants;
}
