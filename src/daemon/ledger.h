/* SPDX-License-Identifier: Apache-2.0 */
/* How does one thing that happened become one decision that is stored once?
 *
 * ledger_turn() is the only place where anything is decided or written. It does no I/O of its own: it
 * says what it wants from the store next, the caller carries that out and brings the answer back. Time
 * is handed in. So many ledgers can run in one thread, and every failure can be tried at every point.
 *
 *     offer ──▶ waiting ──▶ [ batch: load ▸ step ▸ commit ] ──▶ answered, acts
 *                              ▲                    │ unknown
 *                              └── never again ─ resolve (raise the epoch, read the batch number) */
#pragma once

#include "daemon/act_log.h"
#include "daemon/input.h"
#include "store/store.h"

struct instant {
    int64_t wall;    /* UTC, for records and due times */
    int64_t boot;    /* since boot, suspend included: for leases; never compared across hosts */
    uint64_t pulse;  /* moves while the I/O loop lives */
    int64_t stepped; /* the sum of the steps of the wall clock so far */
};

struct ledger_config {
    uint32_t host;
    uint64_t instance;
    int64_t lease;      /* 0: this host is alone with its store, and needs none */
    int64_t beat_every; /* well below the lease */
    int64_t poll_every;
    int64_t retry_every; /* after a failed request */
    uint32_t clock_id;   /* names the count of steps of this host's clock; 0: none is counted */
    bool clock_doubt;    /* what this host stored before its start may be ahead of its clock */
    struct policy policy;
    struct str policy_text; /* canonical; empty: policies are not recorded */
    struct str build;
    struct str
        addr; /* who claims the number: host_claim.h; empty: the first host that comes gets it */

    /* What was seen of a goal's agents, as encoded SIGHTINGS, from the arena; asked when the goal is due. NULL: nobody
     * looks, and this host has watched since it joined. */
    struct str (*see)(void *with, struct id goal, const struct charges *charges, struct instant now,
                      struct arena *arena);
    void *see_with;

    struct act_log *acts; /* P13; NULL: not kept */
};

struct ledger;

struct ledger *ledger_create(const struct ledger_config *config); /* NULL: no memory */
void ledger_free(struct ledger *ledger);
/* In force now. From any thread, and valid for the ledger's whole life. */
const struct policy *ledger_policy(const struct ledger *ledger);

/* Hand a signal over. False when too much waits already: the caller keeps it, and says busy. */
bool ledger_offer(struct ledger *ledger, struct input *input);

/* What does the ledger want next? `answer` is what came of its last request (NULL when there was none).
 * NULL: nothing, until something is offered or ledger_wakes_at(). */
const struct store_request *ledger_turn(struct ledger *ledger, const struct store_answer *answer,
                                        struct instant now);

/* Boot clock of the next thing to do by itself; the past when something waits. */
int64_t ledger_wakes_at(const struct ledger *ledger, struct instant now);

/* What was let go of: answers to give, acts to carry out. The caller owns what it takes. */
struct input *ledger_take_answered(struct ledger *ledger);
struct act *ledger_take_act(struct ledger *ledger);

/* P8, P13, P14: asked right before an act is carried out, by one thread. What may be done now is noted as begun. */
enum may_act { ACT_NOW, ACT_LATER /* the lease has to be renewed first */, ACT_NEVER };
enum may_act ledger_may_act(const struct ledger *ledger, const struct act *act, int64_t boot_now);

/* P10: the lease of this host. A join begins a new one; until it is renewed it ends at `until`. */
struct ledger_lease {
    uint64_t joins; /* number of the join; 0: the host row is not ours now */
    int64_t until;  /* boot clock */
};
struct ledger_lease ledger_lease(const struct ledger *ledger); /* from any thread */
uint32_t ledger_host(const struct ledger *ledger);
int64_t ledger_lease_span(const struct ledger *ledger); /* 0: alone with its store */

/* Somebody wants a look now: at the neighbours, the inbox and whatever is due, without waiting for the next time. */
void ledger_look(struct ledger *ledger);
bool ledger_has_looked(const struct ledger *ledger); /* since then */

/* Stop flag: nothing new is claimed or carried out; deciding and recording go on. */
void ledger_hold_acts(struct ledger *ledger, bool hold);

/* The process is about to end: whoever still waits is told so. What was sent may or may not stand. */
void ledger_give_up(struct ledger *ledger);

/* How late were due times met? One count for each bound, and one for what is later than all of them. */
enum { LATE_BOUNDS = 7 };
extern const int64_t LATE_BOUND[LATE_BOUNDS]; /* microseconds */
struct lateness {
    uint64_t count[LATE_BOUNDS + 1];
    int64_t sum;
};

/* For status and tests. */
struct ledger_view {
    uint32_t host;
    bool joined, reading, in_doubt;
    uint64_t epoch, batch, reign;
    uint32_t waiting, claims, acting;
    uint64_t turns, commits, conflicts, quarantined, takeovers, deposed, dropped;
    struct lateness late;
    struct store_mark mark; /* era, level, safe mode: as last heard */
    struct str trouble;     /* what the store last complained of; empty when it answers */
    uint64_t backs; /* P13: how often the store was found to have gone back; the last time: */
    uint64_t back_from, back_to; /* these batches are missing: the first is the last that stands */
    struct str deposition;       /* how the host row was lost the last time; of this thread only */
    uint64_t depositions_told;
};
struct ledger_view ledger_view(const struct ledger *ledger);
