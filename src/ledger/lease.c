/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the lease of this host, watches its neighbours, and takes over goals. P2 renew, P3 expiry, P4 take-over. */
#include "ledger/host_claim.h"
#include "ledger/ledger_state.h"

#include <stdio.h>

/* The row says who has it now. A row that is behind what this host knows is from an earlier time. */
static void deposition_find(struct ledger *ledger, const struct host_row *row) {
    char how[160];
    if (!ledger->deposition_open)
        return;
    bool back = row->epoch < ledger->self.epoch || row->batch < ledger->batch_number;
    if (row->epoch == 0)
        snprintf(how, sizeof how, "the store has no row of this host any more");
    else if (back)
        snprintf(how, sizeof how, "the store was set back: it knows batch %llu, this host %llu",
                 (unsigned long long)row->batch, (unsigned long long)ledger->batch_number);
    else if (row->state != HOST_LIVE)
        snprintf(how, sizeof how,
                 "another host took over, because this one did not renew its lease in time");
    else if (row->instance != ledger->self.instance)
        snprintf(how, sizeof how, "another process joined under the number of this host");
    else
        snprintf(how, sizeof how, "a request of this host whose answer was lost raised its epoch");
    deposition_report(ledger, how);
}

void lease_claim(struct ledger *ledger) {
    ledger->request.verb = STORE_HOSTS;
    ledger->request.limit = 1;
}

/* The row has not moved for a lease, plus a quarter for the clock of the host that beats. */
static bool claim_is_silent(const struct ledger *ledger) {
    return ledger->now.boot - ledger->claim_since >=
           ledger->config.lease + ledger->config.lease / 4;
}

/* P2: a number belongs to the machine and state folder that claimed it. Two daemons under one number do not depose each
 * other: a daemon whose row was taken by another process stays out while that process beats. */
void lease_absorb_claim(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE) {
        ledger_retry_later(ledger, answer);
        return;
    }
    struct host_row row =
        answer->host_count > 0 ? answer->hosts[0] : (struct host_row){.host = ledger->self.host};
    deposition_find(ledger, &row);
    enum claim claim = row.epoch ? host_claim(&row, ledger->config.addr, ledger->self.instance,
                                              atomic_load(&ledger->joins) == 0)
                                 : CLAIM_FREE;
    bool moved = ledger->claim.epoch != row.epoch || ledger->claim.beat != row.beat;
    bool neighbour = ledger->claim.host != 0;
    if (moved || !neighbour)
        ledger->claim_since = ledger->now.boot;
    ledger->claimed = claim == CLAIM_FREE || (claim == CLAIM_SILENT && claim_is_silent(ledger));
    if (!ledger->claimed)
        ledger->retry_at = time_after(ledger->now.boot, ledger->config.poll_every);
    ledger->contested =
        claim == CLAIM_SILENT && !ledger->claimed && (ledger->contested || (moved && neighbour));
    if (claim == CLAIM_REFUSED || ledger->contested)
        host_claim_explain(&row, claim == CLAIM_REFUSED, ledger->trouble, sizeof ledger->trouble);
    ledger->claim = (struct host_row){.host = row.host, .epoch = row.epoch, .beat = row.beat};
}

/* ---- the lease ---- */

/* P2: the ledger beats, and only while the I/O loop moves: a host that cannot act must not seem alive. */
void lease_beat(struct ledger *ledger) {
    ledger->request.verb = STORE_BEAT;
    ledger->request.known = batch_known(ledger, true);
    ledger->pulse_beaten = ledger->now.pulse;
}

/* The deadline counts from before the request was sent, on this host's own clock. */
void lease_absorb_beat(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE) {
        ledger->pulse_beaten = ledger->now.pulse - 1; /* this pulse may be used again */
        ledger_retry_later(ledger, answer);
        return;
    }
    if (!answer->held) {
        ledger_deposed(ledger);
        return;
    }
    ledger->row_known.beat++;
    ledger_confirm(ledger);
    ledger->beat_at = ledger->request_sent + ledger->config.beat_every;
    atomic_store(&ledger->act_until, ledger->request_sent + ledger->config.lease);
}

void lease_poll(struct ledger *ledger) {
    ledger->request.verb = STORE_POLL;
    ledger->request.limit = ledger->inbox_pending == 0 ? LIMIT_INBOX_PAGE : 0;
}

static struct neighbour *watched_find(struct ledger *ledger, uint32_t host) {
    for (uint32_t i = 0; i < ledger->neighbour_count; i++)
        if (ledger->neighbour[i].row.host == host)
            return &ledger->neighbour[i];
    return NULL;
}

/* A gap between two polls breaks the span: a host that was asleep knows nothing about the others. */
static bool polls_unbroken(const struct ledger *ledger) {
    return ledger->last_poll != INT64_MIN &&
           ledger->request_sent - ledger->last_poll <= 2 * ledger->config.poll_every;
}

static struct neighbour watch_again(struct ledger *ledger, const struct host_row *row) {
    const struct neighbour *before =
        polls_unbroken(ledger) ? watched_find(ledger, row->host) : NULL;
    bool same = before && before->row.epoch == row->epoch && before->row.beat == row->beat;
    return (struct neighbour){*row, same ? before->since : ledger->now.boot};
}

/* P3: a host is dead if its beat stayed unchanged for the lease, on this host's clock, while every poll of this host in
 * that span succeeded. The span begins when its first poll had returned, and ends when its last poll was sent. */
static bool watched_is_dead(const struct ledger *ledger, const struct neighbour *neighbour) {
    return neighbour->row.state == HOST_LIVE && ledger->config.lease > 0 &&
           ledger->request_sent >= time_after(neighbour->since, ledger->config.lease);
}

/* This host's admission tells people that a host is lost, and that it is back. */
static void host_tell(struct ledger *ledger, uint32_t host, bool back) {
    uint32_t self = ledger->config.host;
    if (!lease_claims(ledger))
        return; /* a host without a name: a test */
    ledger_offer_internal(ledger, (struct signal){.kind = SIGNAL_HOST_LOST,
                                                  .goal = admission_id(self),
                                                  .admission = self,
                                                  .to = host,
                                                  .returned = back});
}

/* A host that this process took over beats again. */
static void hosts_returned(struct ledger *ledger, const struct store_answer *answer) {
    for (uint32_t i = 0; i < answer->host_count; i++)
        for (uint32_t k = 0; k < LOST_KNOWN; k++)
            if (answer->hosts[i].state == HOST_LIVE && ledger->lost[k] == answer->hosts[i].host) {
                ledger->lost[k] = 0;
                host_tell(ledger, answer->hosts[i].host, true);
            }
}

static void host_is_lost(struct ledger *ledger, uint32_t host) {
    for (uint32_t k = 0; k < LOST_KNOWN; k++)
        if (ledger->lost[k] == host || ledger->lost[k] == 0) {
            ledger->lost[k] = host;
            break;
        }
    host_tell(ledger, host, false);
}

/* P13: a standby that was promoted may have lost the last commits of a host. A host that has beaten on this timeline
 * has checked its row. */
static void first_note(struct ledger *ledger, const struct host_row *row) {
    for (uint32_t i = 0; i < ledger->first_count; i++)
        if (ledger->first[i].host == row->host)
            return;
    if (ledger->first_count < LOST_KNOWN)
        ledger->first[ledger->first_count++] = *row;
}

static void inbox_meet(struct ledger *ledger, const struct inbox_row *row) {
    struct signal signal;
    if (!signal_decode(row->body, &signal))
        return; /* written by a newer build: the row stays for such a build */
    signal.source = row->source;
    signal.once.keyed = 1; /* its sender may repeat it */
    struct input *input = input_make(&signal, NULL);
    if (!input)
        return; /* the row stays, and the next poll returns it again */
    input->from_inbox = true;
    ledger->inbox_pending++;
    input_push(&ledger->waiting, input);
}

#define INBOX_REST MILLISECONDS(50) /* after some rows, more are likely to follow */

/* A page that begins like the one before has rows that this host cannot use: they wait for the next poll. */
static void inbox_read(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->inbox_count == 0)
        return;
    bool again = id_equal(answer->inbox[0].source, ledger->inbox_first);
    ledger->inbox_first = answer->inbox[0].source;
    ledger->inbox_more = !again;
    ledger->inbox_rest = answer->inbox_count < LIMIT_INBOX_PAGE ? INBOX_REST : 0;
    for (uint32_t i = 0; i < answer->inbox_count; i++)
        inbox_meet(ledger, &answer->inbox[i]);
}

void lease_absorb_poll(struct ledger *ledger, const struct store_answer *answer) {
    ledger->poll_at = time_after(ledger->now.boot, ledger->config.poll_every);
    if (answer->outcome != STORE_DONE) {
        ledger->neighbour_count = 0;
        ledger->last_poll = INT64_MIN;
        ledger_retry_later(ledger, answer);
        return;
    }
    order_heard(ledger, answer);
    ledger_confirm(ledger);
    hosts_returned(ledger, answer);
    struct neighbour fresh[LIMIT_NEIGHBOURS];
    uint32_t count = answer->host_count < LIMIT_NEIGHBOURS ? answer->host_count : LIMIT_NEIGHBOURS;
    for (uint32_t i = 0; i < count; i++) {
        fresh[i] = watch_again(ledger, &answer->hosts[i]);
        first_note(ledger, &answer->hosts[i]);
    }
    memcpy(ledger->neighbour, fresh, count * sizeof fresh[0]);
    ledger->neighbour_count = count;
    ledger->last_poll = ledger->request_sent;
    for (uint32_t i = 0; i < count && !ledger->taking && !ledger->adopting; i++) {
        ledger->victim = fresh[i].row;
        ledger->taking = watched_is_dead(ledger, &fresh[i]);
        ledger->adopting = fresh[i].row.state == HOST_LOST;
    }
    inbox_read(ledger, answer);
}

/* P4: raise the epoch first, which fences all goals of the host at once. */
void lease_take(struct ledger *ledger) {
    ledger->request.verb = STORE_TAKE;
    ledger->request.known = batch_take_known(ledger);
    ledger->request.victim = ledger->victim;
}

void lease_absorb_take(struct ledger *ledger, const struct store_answer *answer) {
    ledger->taking = false;
    ledger->neighbour_count = 0;
    if (answer->outcome != STORE_DONE) {
        ledger_retry_later(ledger, answer); /* the next poll shows the outcome */
        return;
    }
    if (!answer->held)
        return;                                     /* it is alive, or another host was faster */
    ledger->mark.era += ledger->request.known.back; /* P13: before its goals are loaded */
    host_is_lost(ledger, ledger->victim.host);
    ledger->victim.epoch++;
    ledger->victim.state = HOST_LOST;
    ledger->adopting = true;
    ledger->takeovers++;
}

void lease_adopt(struct ledger *ledger) {
    ledger->request.verb = STORE_ADOPT;
    ledger->request.victim = ledger->victim;
    ledger->request.limit = LIMIT_ADOPT_PAGE;
}

/* A due time that was stored before a clock step may never come: the goal is stepped now, corrects its times and says
 * when it is due. */
static int64_t due_of(const struct ledger *ledger, int64_t due_at) {
    bool doubt = ledger->due_doubt && due_at != TIME_NEVER;
    return doubt && due_at > ledger->now.wall ? ledger->now.wall : due_at;
}

void lease_meet_owned(struct ledger *ledger, const struct store_answer *answer) {
    for (uint32_t i = 0; i < answer->owned_count; i++)
        if (!due_set(&ledger->due, answer->owned[i].goal, due_of(ledger, answer->owned[i].due_at)))
            ledger->read_again = true;
    for (uint32_t i = 0; i < answer->effect_count; i++)
        ledger_meet_effect(ledger, &answer->effects[i]);
}

/* If the outcome is unknown, the adoption may even be committed later: then this host would own goals without knowing
 * it. */
void lease_adopt_failed(struct ledger *ledger, const struct store_answer *answer) {
    ledger->fencing = answer->outcome == STORE_UNKNOWN;
    ledger->adopting = false;
    ledger_retry_later(ledger, answer);
}

/* An adoption is bound to this host's epoch: raising the epoch waits for the pending adoption, or fences it. Then
 * reading shows the outcome. */
void lease_fence(struct ledger *ledger) {
    ledger->request.verb = STORE_RESOLVE;
}

void lease_absorb_fence(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE) {
        ledger_retry_later(ledger, answer);
        return;
    }
    ledger->fencing = false;
    ledger->row_known.back = answer->held && batch_row_is_behind(ledger, answer);
    if (!answer->held || ledger->row_known.back) {
        ledger_deposed(ledger);
        return;
    }
    ledger->self.epoch = answer->epoch;
    ledger->read_again = true;
}

void lease_absorb_adopt(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE) {
        lease_adopt_failed(ledger, answer);
        return;
    }
    lease_meet_owned(ledger, answer);
    for (uint32_t i = 0; i < answer->owned_count;
         i++) /* P10: the runs of these goals stayed where they were */
        if (!due_set(&ledger->due, answer->owned[i].goal, ledger->now.wall))
            ledger->read_again = true;
    ledger->adopting = answer->more;
}
