/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: each thing that happened becomes one decision that is stored once.
 *
 * ledger_turn() is the only place where anything is decided or written. It does no I/O of its own: it
 * returns its next request to the store; the caller carries it out and passes the answer back. Time is
 * passed in. So many ledgers can run in one thread, and every failure can be tried at every point.
 *
 *     offer ──▶ waiting ──▶ [ batch: load ▸ step ▸ commit ] ──▶ answered, acts
 *                              ▲                    │ unknown
 *                              └── never again ─ resolve (raise the epoch, read the batch number) */
#pragma once

#include "ledger/act_log.h"
#include "ledger/input.h"
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
    int64_t lease;      /* 0: this host alone uses its store, and needs none */
    int64_t beat_every; /* well below the lease */
    int64_t poll_every;
    int64_t retry_every; /* after a failed request */
    uint32_t clock_id;   /* names the step count of this host's clock; 0: steps are not counted */
    bool clock_doubt; /* times that this host stored before its start may be ahead of its clock */
    struct policy policy;
    struct str policy_text; /* canonical; empty: policies are not recorded */
    struct str build;
    struct str
        addr; /* identity that claims the number: host_claim.h; empty: the first host that comes gets it */

    /* What was observed of a goal's agents, as encoded OBSERVATIONS, from the arena; called when the goal is due. NULL:
     * nothing is observed, and this host has watched since it joined. */
    struct str (*see)(void *with, struct id goal, const struct assignments *assignments,
                      struct instant now, struct arena *arena);
    void *see_with;

    struct act_log *acts; /* P13; NULL: not kept */
};

struct ledger;

struct ledger *ledger_create(const struct ledger_config *config); /* NULL: no memory */
void ledger_free(struct ledger *ledger);
/* The policy in force. From any thread; valid for the ledger's whole life. */
const struct policy *ledger_policy(const struct ledger *ledger);

/* Hands a signal over. False: too many wait already; the caller keeps it, and answers that it is busy. */
bool ledger_offer(struct ledger *ledger, struct input *input);

/* Returns the ledger's next request. `answer`: the result of its last request (NULL: there was none). NULL: no request
 * until something is offered or until ledger_wakes_at(). */
const struct store_request *ledger_turn(struct ledger *ledger, const struct store_answer *answer,
                                        struct instant now);

/* Boot clock of the next thing that the ledger does by itself; in the past if something waits. */
int64_t ledger_wakes_at(const struct ledger *ledger, struct instant now);

/* What the ledger has released: answers to give, acts to carry out. The caller owns what it takes. */
struct input *ledger_take_answered(struct ledger *ledger);
struct act *ledger_take_act(struct ledger *ledger);

/* P8, P13, P14: called right before an act is carried out, by one thread. An act that may be done now is noted as
 * begun. */
enum may_act { ACT_NOW, ACT_LATER /* the lease has to be renewed first */, ACT_NEVER };
enum may_act ledger_may_act(const struct ledger *ledger, const struct act *act, int64_t boot_now);

/* P10: the lease of this host. A join begins a new one; unless it is renewed, it ends at `until`. */
struct ledger_lease {
    uint64_t joins; /* number of the join; 0: this host does not have its row now */
    int64_t until;  /* boot clock */
};
struct ledger_lease ledger_lease(const struct ledger *ledger); /* from any thread */
uint32_t ledger_host(const struct ledger *ledger);
int64_t ledger_lease_span(const struct ledger *ledger); /* 0: this host alone uses its store */

/* Makes the ledger look now at the neighbours, the inbox and whatever is due, without waiting for the next time. */
void ledger_look(struct ledger *ledger);
bool ledger_has_looked(const struct ledger *ledger); /* since ledger_look() */

/* Stop flag: nothing new is claimed or carried out; deciding and recording continue. */
void ledger_hold_acts(struct ledger *ledger, bool hold);

/* The process is about to end: every waiting caller is told so. What was sent may or may not stand. */
void ledger_give_up(struct ledger *ledger);

/* How late due times were met: one count for each bound, and one for what is later than all of them. */
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
    struct store_mark mark; /* era, level, safe mode: as last reported by the store */
    struct str trouble;     /* the store's last error; empty when it answers */
    uint64_t backs; /* P13: how often the store was found to have gone back; the last time: */
    uint64_t back_from, back_to; /* these batches are missing: back_from is the last that stands */
    struct str deposition;       /* how the host row was lost the last time; ledger thread only */
    uint64_t depositions_reported;
};
struct ledger_view ledger_view(const struct ledger *ledger);
