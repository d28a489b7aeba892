/* SPDX-License-Identifier: Apache-2.0 */
/* Executes effects. The I/O loop takes acts from the ledger thread, checks once more whether it may act, acts, and
 * reports the outcome as a signal. */
#pragma once

#include "engine/ledger_thread.h"
#include "runs/agents.h"

#include <uv.h>

struct executor {
    uv_loop_t *loop;
    struct ledger_thread *ledger_thread;
    uv_async_t arrived;
    uv_timer_t beat;
    pthread_mutex_t lock;
    struct act *inbox; /* from the ledger thread, newest first */
    struct act *held;  /* waiting for the lease to be renewed */
    atomic_uint_least64_t pulse;
    unsigned running;
    struct agents agents;
    struct notice_sender *notice_sender; /* notice_send.h */
};

struct daemon_context;
void executor_start(struct executor *executor, uv_loop_t *loop, struct ledger_thread *ledger_thread,
                    struct daemon_context *context);

/* Reports the outcome of an act: the caller sets exit, to, until and texts; the rest is filled in here. */
void executor_report(struct executor *executor, const struct act *act, struct signal outcome);
void executor_take(struct executor *executor,
                   struct act *act);           /* from any thread; takes ownership of the act */
void executor_stop(struct executor *executor); /* on the loop; running work continues without us */
void executor_end(struct executor *executor);
