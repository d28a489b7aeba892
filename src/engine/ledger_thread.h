/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that runs the ledger. It alone touches the ledger and the store that the ledger writes to. */
#pragma once

#include "engine/queue.h"
#include "engine/safe_mode.h"
#include "ledger/ledger.h"

#include <stdatomic.h>

struct ledger_thread_ports { /* receivers of what the ledger releases */
    void (*answer)(
        struct input *input); /* of a waiter whose input has no `done`; takes ownership */
    void (*act)(void *with, struct act *act); /* takes ownership of the act */
    void *with;
    void (*wrote)(void *with); /* something was committed; may be NULL */
};

struct ledger_thread {
    struct ledger *ledger; /* NULL, like the store: the daemon started in safe mode */
    struct store *store;
    struct safe safe;
    struct queue queue;
    struct ledger_thread_ports ports;
    atomic_uint_least64_t *pulse;                /* of the I/O loop */
    atomic_uint_least64_t cycles;                /* iterations of the ledger's loop */
    atomic_int_least64_t turned_at;              /* boot clock: its last iteration */
    atomic_uint_least64_t records[RECORD_TYPES]; /* committed since the start: OBSERVE-07 */
    struct act_log *acts;                        /* P13; NULL: the store is this host's own */
    int64_t noted_at;                            /* boot clock: when `acts` was last written */
    bool note_failed;
    bool store_failed; /* the store failed at least once since the start */
    struct input_list
        ticks; /* API-04: requests that wait for a whole turn that begins after their arrival */
    uint64_t tick_commits; /* commit count when they arrived */
    pthread_t thread;
    pthread_mutex_t view_lock;
    struct ledger_view view; /* as of the last turn */
    char trouble[LIMIT_WHY];
};

void ledger_thread_prepare(
    struct ledger_thread *ledger_thread); /* its queue accepts inputs from now on */
bool ledger_thread_start(struct ledger_thread *ledger_thread);
void ledger_thread_stop(
    struct ledger_thread
        *ledger_thread); /* commits what waits, as far as the store answers, then ends */
/* From any thread: the ledger looks for work now, as if the time for it had come. */
void ledger_thread_wake(struct ledger_thread *ledger_thread);

/* From any thread: data was read that is not what was written. Nothing more is claimed, executed or written; what waits
 * is refused. */
void ledger_thread_enter_safe(struct ledger_thread *ledger_thread, struct str why);

struct ledger_view ledger_thread_view(struct ledger_thread *ledger_thread, char trouble[LIMIT_WHY]);
