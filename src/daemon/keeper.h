/* SPDX-License-Identifier: Apache-2.0 */
/* Who turns the ledger? A thread of its own: it alone touches the ledger and the store it writes to. */
#pragma once

#include "daemon/ledger.h"
#include "daemon/queue.h"
#include "daemon/safe.h"

#include <stdatomic.h>

struct keeper_ports {                                /* where things go when they are let go of */
    void (*answer)(void *with, struct input *input); /* takes the input over */
    void (*act)(void *with, struct act *act);        /* takes the act over */
    void *with;
    void (*wrote)(void *with); /* something was committed; may be NULL */
};

struct keeper {
    struct ledger *ledger; /* NULL, as the store: it began in safe mode */
    struct store *store;
    struct safe safe;
    struct queue queue;
    struct keeper_ports ports;
    atomic_uint_least64_t *pulse;   /* of the I/O loop */
    atomic_uint_least64_t cycles;   /* how often the ledger's loop went round */
    atomic_int_least64_t turned_at; /* boot clock: when it last did */
    atomic_uint_least64_t
        records[RECORD_TYPES]; /* that were committed since the start: OBSERVE-07 */
    struct act_log *acts;      /* P13; NULL: the store is this host's own */
    int64_t noted_at;          /* boot clock: when it was last written */
    bool note_failed;
    bool store_failed; /* the store failed at least once since the start */
    struct input_list
        ticks; /* API-04: requests that wait for a whole turn, which begins after them */
    uint64_t tick_commits; /* when they came */
    pthread_t thread;
    pthread_mutex_t view_lock;
    struct ledger_view view; /* as of the last turn */
    char trouble[LIMIT_WHY];
};

void keeper_prepare(struct keeper *keeper); /* its queue can be filled from now on */
bool keeper_start(struct keeper *keeper);
void keeper_stop(
    struct keeper *keeper); /* commits what waits, as far as the store answers, and ends */
/* From any thread: look now, as if the time for it had come. */
void keeper_wake(struct keeper *keeper);

/* From any thread: something was read that is not what was written. Nothing more is claimed, carried out or
 * written; what waits is refused. */
void keeper_enter_safe(struct keeper *keeper, struct str why);

struct ledger_view keeper_view(struct keeper *keeper, char trouble[LIMIT_WHY]);
