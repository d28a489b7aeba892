/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the ledger's next request to the store, and handles the answer. */
#include "ledger/ledger_state.h"

#include "store/rows.h"

#include <stdlib.h>

struct ledger *ledger_create(const struct ledger_config *config) {
    must(config->host > 0);
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger)
        return NULL;
    ledger->config = *config;
    ledger->self = (struct store_self){config->host, config->instance, 0};
    ledger->acts_end = &ledger->acts;
    ledger->due_doubt = config->clock_doubt;
    atomic_store(&ledger->observe_until, INT64_MIN);
    ledger->policies = policy_keep(&config->policy, config->policy_text);
    if (!ledger->policies) {
        free(ledger);
        return NULL;
    }
    atomic_store(&ledger->policy, &ledger->policies->policy);
    if (config->acts) {
        const struct act_head *head = act_log_head(config->acts);
        ledger->row_known = (struct store_known){head->instance, head->era,   head->epoch,
                                                 head->beat,     head->batch, 0};
        ledger->timeline = head->timeline;
    }
    return ledger;
}

void ledger_free(struct ledger *ledger) {
    if (!ledger)
        return;
    for (uint32_t i = 0; i < ledger->batch.input_count; i++)
        input_free(ledger->batch.inputs[i]);
    arena_free(&ledger->batch.arena);
    arena_free(&ledger->scratch);
    input_free_all(&ledger->waiting);
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++) {
        input_free_all(&ledger->claims[class]);
        ledger_repeats_free(&ledger->repeats[class]);
    }
    input_free_all(&ledger->answered);
    input_free_all(&ledger->orders);
    for (struct policy_kept *kept; (kept = ledger->policies); free(kept))
        ledger->policies = kept->older;
    for (struct act *act; (act = ledger_take_act(ledger));)
        free(act);
    warm_clear(ledger);
    map_free(&ledger->warm);
    map_free(&ledger->known);
    due_free(&ledger->due);
    free(ledger);
}

void ledger_give_up(struct ledger *ledger) {
    for (uint32_t i = 0; i < ledger->batch.input_count; i++)
        if (ledger->batch.inputs[i])
            input_push(&ledger->waiting, ledger->batch.inputs[i]);
    ledger->batch.input_count = 0;
    for (struct input *input;
         (input = input_pop(&ledger->waiting)) || (input = input_pop(&ledger->orders));)
        ledger_answer(ledger, input, ERROR_STOPPING, NULL);
    ledger->ordering = NULL;
}

/* ---- inputs and outputs ---- */

bool ledger_offer(struct ledger *ledger, struct input *input) {
    bool is_order = order_is(input->signal.kind);
    struct input_list *list = is_order ? &ledger->orders : &ledger->waiting;
    if (list->count >= (is_order ? LIMIT_ORDERS : LIMIT_QUEUE_SIGNALS))
        return false;
    input->stamped = true;
    input->stepped = ledger->now.stepped;
    input_push(list, input);
    return true;
}

struct input *ledger_take_answered(struct ledger *ledger) {
    return input_pop(&ledger->answered);
}

struct act *ledger_take_act(struct ledger *ledger) {
    struct act *act = ledger->acts;
    if (!act)
        return NULL;
    ledger->acts = act->next;
    if (!ledger->acts)
        ledger->acts_end = &ledger->acts;
    act->next = NULL;
    return act;
}

static uint32_t ledger_acting(const struct ledger *ledger) {
    uint32_t count = 0;
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++)
        count += ledger->acting[class];
    return count;
}

/* P14: once nothing from before this process waits for a decision, the notes are complete again, however much else
 * there is to do. */
static void notes_settle(struct ledger *ledger) {
    if (!ledger->config.acts || ledger->settled || ledger->unsettled || !ledger->joined ||
        ledger->reading || ledger->read_again || ledger->lost_pending > 0)
        return;
    ledger->settled = true;
    act_log_settle(ledger->config.acts);
}

enum may_act ledger_may_act(const struct ledger *ledger, const struct act *act, int64_t boot_now) {
    if (act->reign != atomic_load(&ledger->reign))
        return ACT_NEVER;
    if (ledger_acts_are_off(ledger) || boot_now < atomic_load(&ledger->observe_until) ||
        boot_now >= atomic_load(&ledger->act_until))
        return ACT_LATER;
    return batch_may_note(ledger, act) ? ACT_NOW : ACT_NEVER;
}

/* Read in this order: a join raises the number before it sets its deadline, and losing the row removes the deadline
 * first. */
struct ledger_lease ledger_lease(const struct ledger *ledger) {
    int64_t until = atomic_load(&ledger->act_until);
    uint64_t joins = atomic_load(&ledger->joins);
    bool same = until == atomic_load(&ledger->act_until);
    bool held = until != INT64_MIN && until != 0 && joins > 0 && same;
    return held ? (struct ledger_lease){joins, until} : (struct ledger_lease){0};
}

uint32_t ledger_host(const struct ledger *ledger) {
    return ledger->config.host;
}

int64_t ledger_lease_span(const struct ledger *ledger) {
    return ledger->config.lease;
}

void ledger_hold_acts(struct ledger *ledger, bool hold) {
    atomic_store(&ledger->held, hold);
}

/* P14: checks whether the notes of what this host began are complete. If not, they are once everything that it has
 * claimed was decided again. */
static void notes_judge(struct ledger *ledger, const struct store_answer *answer) {
    struct act_log *log = ledger->config.acts;
    if (!log)
        return;
    bool whole =
        !answer->back && act_log_is_whole(log, answer->mark.instance, answer->epoch, answer->batch);
    ledger->trusts_notes = whole && atomic_load(&ledger->joins) == 0;
    if (whole)
        return;
    ledger->settled = false;
    act_log_doubt(log);
}

/* P13 */
static void join_known(struct ledger *ledger, const struct store_answer *answer) {
    bool same = id_equal(ledger->row_known.instance, answer->mark.instance);
    notes_judge(ledger, answer);
    if (same && answer->back) {
        ledger->backs++;
        ledger->back_from = answer->batch_was;
        ledger->back_to = ledger->row_known.batch;
    }
    ledger->row_known =
        (struct store_known){.instance = answer->mark.instance, .beat = answer->beat};
    ledger_confirm(ledger);
}

static void join_absorb(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE) {
        ledger_retry_later(ledger, answer);
        return;
    }
    ledger->claimed = false;
    if (ledger->request.claims && !answer->held)
        return; /* the row has changed since it was read: it is read again */
    ledger->joined = true;
    ledger->joined_at = ledger->now.wall;
    ledger->self.epoch = answer->epoch;
    ledger->batch_number = answer->batch;
    order_heard(ledger, answer);
    numbers_absorb(ledger, answer);
    join_known(ledger, answer);
    ledger->unrecorded = ledger->policies->text.len > 0 &&
                         !hash_equal(&answer->policy, &ledger_policy(ledger)->hash);
    ledger->meet_count = 0;
    ledger->reading = true;
    ledger->read_after = (struct id){0};
    ledger->beat_at = ledger->request_sent + ledger->config.beat_every;
    ledger->poll_at = ledger->now.boot;
    ledger->last_poll = INT64_MIN;
    int64_t lease = ledger->config.lease;
    atomic_fetch_add(&ledger->joins, 1);
    atomic_store(&ledger->act_until, lease ? ledger->request_sent + lease : INT64_MAX);
    if (ledger->batch.stage != BATCH_NONE)
        batch_after_join(ledger, answer->batch);
}

static void meet_request(struct ledger *ledger) {
    ledger->request.verb = STORE_OWNED;
    ledger->request.only = ledger->meet;
    ledger->request.only_count = ledger->request.limit = ledger->meet_count;
}

static void owned_request(struct ledger *ledger) {
    ledger->request.verb = STORE_OWNED;
    ledger->request.after = ledger->read_after;
    ledger->request.limit = LIMIT_OWNED_PAGE;
    if (id_equal(ledger->read_after, (struct id){0}))
        ledger->read_again = false;
}

static void owned_absorb(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE) {
        ledger_retry_later(ledger, answer);
        return;
    }
    lease_meet_owned(ledger, answer);
    if (ledger->request.only_count > 0) {
        ledger->meet_count = 0;
        return;
    }
    if (answer->owned_count > 0)
        ledger->read_after = answer->owned[answer->owned_count - 1].goal;
    ledger->reading = answer->more;
}

static void trouble_over(struct ledger *ledger) {
    if (ledger->trouble[0] == 0)
        return;
    ledger->away_for = ledger->now.boot - ledger->trouble_since;
    ledger->away_until = ledger->now.boot;
    ledger->trouble[0] = 0;
}

static void absorb(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome == STORE_DONE)
        trouble_over(ledger);
    switch (ledger->request.verb) {
    case STORE_JOIN: join_absorb(ledger, answer); break;
    case STORE_HOSTS: lease_absorb_claim(ledger, answer); break;
    case STORE_OWNED: owned_absorb(ledger, answer); break;
    case STORE_BEAT: lease_absorb_beat(ledger, answer); break;
    case STORE_POLL: lease_absorb_poll(ledger, answer); break;
    case STORE_TAKE: lease_absorb_take(ledger, answer); break;
    case STORE_ORDER: order_absorb(ledger, answer); break;
    case STORE_RESOLVE:
        if (ledger->batch.stage == BATCH_RESOLVE)
            batch_absorb(ledger, answer);
        else
            lease_absorb_fence(ledger, answer);
        break;
    case STORE_ADOPT:
        if (ledger->request.only_count > 0)
            batch_absorb(ledger, answer);
        else
            lease_absorb_adopt(ledger, answer);
        break;
    default: batch_absorb(ledger, answer);
    }
}

static bool beat_is_due(const struct ledger *ledger) {
    return ledger->config.lease > 0 && ledger->now.boot >= ledger->beat_at &&
           ledger->now.pulse != ledger->pulse_beaten;
}

/* A full read starts again if an earlier one overflowed and the overflow has been worked off. */
static void reading_again(struct ledger *ledger) {
    if (!ledger->read_again || ledger->reading || ledger_claims(ledger) > 0 ||
        ledger->waiting.count > 0)
        return;
    ledger->reading = true;
    ledger->read_after = (struct id){0};
}

static void choose(struct ledger *ledger) {
    arena_reset(&ledger->scratch);
    ledger->request = (struct store_request){.self = ledger->self, .at = ledger->now.wall};
    if (ledger->now.boot < ledger->retry_at)
        return;
    bool odd = ledger->turns & 1; /* reading and new batches alternate */
    reading_again(ledger);
    if (!ledger->joined && lease_claims(ledger) && !ledger->claimed)
        lease_claim(ledger);
    else if (!ledger->joined) {
        ledger->request.verb = STORE_JOIN;
        ledger->request.claims = lease_claims(ledger);
        ledger->request.known = batch_known(ledger, false);
        ledger->request.victim = ledger->claim;
        ledger->request.build = ledger->config.build;
        ledger->request.addr = ledger->config.addr;
        ledger->request.speaks = SCHEMA_LEVEL;
    } else if (ledger->batch.stage == BATCH_RESOLVE)
        batch_request(ledger);
    else if (ledger->fencing)
        lease_fence(ledger);
    else if (beat_is_due(ledger))
        lease_beat(ledger);
    else if (ledger->batch.stage != BATCH_NONE)
        batch_request(ledger);
    else if (order_is_wanted(ledger))
        order_request(ledger);
    else if (ledger->taking)
        lease_take(ledger);
    else if (ledger->now.boot >= ledger->poll_at)
        lease_poll(ledger);
    else if (ledger->adopting && odd)
        lease_adopt(ledger);
    else if (ledger->reading && odd)
        owned_request(ledger);
    else if (ledger->meet_count > 0 && odd)
        meet_request(ledger);
    else if (batch_begin(ledger))
        batch_request(ledger);
    else if (ledger->meet_count > 0)
        meet_request(ledger);
    else if (ledger->adopting)
        lease_adopt(ledger);
    else if (ledger->reading)
        owned_request(ledger);
}

/* ---- steps of the wall clock ---- */

/* DESIGN 6: after a leap the daemon observes before it acts. Further leaps within OBSERVE_AGAIN do not prolong that: a
 * clock that steps all the time must not stop the host. */
#define OBSERVE_FOR SECONDS(5)
#define OBSERVE_AGAIN SECONDS(10)
#define LEAP SECONDS(5)

static void leap_observe(struct ledger *ledger) {
    int64_t boot = ledger->now.boot;
    if (ledger->observe_since != 0 && boot - ledger->observe_since < OBSERVE_AGAIN)
        return;
    ledger->observe_since = boot;
    atomic_store(&ledger->observe_until, boot + OBSERVE_FOR);
}

/* Every goal that waits for a time is stepped now: it corrects its stored times, records the clock step and says again
 * when it is due. */
static void clock_look(struct ledger *ledger) {
    int64_t by = ledger->now.stepped - ledger->stepped;
    ledger->stepped = ledger->now.stepped;
    if (ledger->turns == 1 || by == 0)
        return;
    ledger->due_doubt = true;
    due_all(&ledger->due, ledger->now.wall);
    if (by >= LEAP || by <= -LEAP)
        leap_observe(ledger);
}

struct turn {
    struct ledger *ledger;
    const struct store_answer *answer;
};

static void turn_run(void *with) {
    struct turn *turn = with;
    if (turn->answer)
        absorb(turn->ledger, turn->answer);
    choose(turn->ledger);
}

const struct store_request *ledger_turn(struct ledger *ledger, const struct store_answer *answer,
                                        struct instant now) {
    ledger->now = now;
    ledger->turns++;
    clock_look(ledger);
    struct turn turn = {ledger, answer};
    struct crash_guard_report report;
    enum crash_guard_result result = crash_guard_run(turn_run, &turn, &report);
    if (result == CRASH_GUARD_BROKEN)
        must_failed(__FILE__, __LINE__,
                    report.why); /* outside of a step there is no goal to quarantine */
    if (result == CRASH_GUARD_MEMORY) {
        if (!batch_was_sent(ledger)) /* otherwise it continues where it was, once there is memory */
            batch_abandon(ledger, ERROR_NO_MEMORY);
        warm_clear(ledger);
        ledger_retry_later(ledger, &(struct store_answer){.error = STR("out of memory")});
        ledger->request.verb = STORE_NOTHING;
    }
    notes_settle(ledger);
    ledger->request_sent = now.boot;
    return ledger->request.verb == STORE_NOTHING ? NULL : &ledger->request;
}

void ledger_look(struct ledger *ledger) {
    ledger->poll_at = INT64_MIN;
}

bool ledger_has_looked(const struct ledger *ledger) {
    return ledger->poll_at != INT64_MIN;
}

static bool something_can_begin(const struct ledger *ledger) {
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++)
        if (ledger->claims[class].count + ledger->repeats[class].count > 0 &&
            ledger->acting[class] < EFFECT_CLASS_MOST[class] &&
            (class == EFFECT_CLASS_INSIDE || !ledger_is_held(ledger)))
            return true;
    return false;
}

int64_t ledger_wakes_at(const struct ledger *ledger, struct instant now) {
    int64_t at = INT64_MAX;
    if (!ledger->joined || ledger->waiting.count > 0 || ledger->batch.stage != BATCH_NONE ||
        order_is_wanted(ledger) || ledger->reading || ledger->taking || ledger->adopting ||
        ledger->fencing || ledger->meet_count > 0)
        at = now.boot;
    if (something_can_begin(ledger))
        at = now.boot;
    if (ledger->config.lease > 0 && ledger->beat_at < at)
        at = ledger->beat_at;
    if (ledger->poll_at < at)
        at = ledger->poll_at;
    int64_t observed = atomic_load(&ledger->observe_until);
    if (observed > ledger->now.boot && observed < at) /* the last turn was still observing */
        at = observed;
    int64_t due = due_next(&ledger->due);
    if (due != TIME_NEVER && now.boot + (due - now.wall) < at)
        at = now.boot + (due - now.wall);
    return at > ledger->retry_at ? at : ledger->retry_at;
}

struct ledger_view ledger_view(const struct ledger *ledger) {
    return (struct ledger_view){
        .host = ledger->self.host,
        .joined = ledger->joined,
        .reading = ledger->reading,
        .in_doubt = ledger->batch.stage == BATCH_RESOLVE || ledger->batch.stage == BATCH_RECHECK,
        .epoch = ledger->self.epoch,
        .batch = ledger->batch_number,
        .reign = atomic_load(&ledger->reign),
        .waiting = ledger->waiting.count + ledger->orders.count,
        .claims = ledger_claims(ledger),
        .acting = ledger_acting(ledger),
        .late = ledger->late,
        .turns = ledger->turns,
        .commits = ledger->commits,
        .conflicts = ledger->conflicts,
        .quarantined = ledger->quarantined,
        .takeovers = ledger->takeovers,
        .deposed = ledger->deposed,
        .dropped = ledger->dropped,
        .mark = ledger->mark,
        .backs = ledger->backs,
        .back_from = ledger->back_from,
        .back_to = ledger->back_to,
        .trouble = str_of(ledger->trouble),
        .deposition = str_of(ledger->deposition),
        .depositions_reported = ledger->depositions_reported,
    };
}
