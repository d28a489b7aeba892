/* SPDX-License-Identifier: Apache-2.0 */
/* Who carries effects out? The I/O loop: it takes acts from the ledger's thread, asks once more whether it
 * may, acts, and reports the outcome as a signal. */
#pragma once

#include "daemon/agents.h"
#include "daemon/keeper.h"

#include <uv.h>

struct hands {
    uv_loop_t *loop;
    struct keeper *keeper;
    uv_async_t arrived;
    uv_timer_t beat;
    pthread_mutex_t lock;
    struct act *inbox; /* from the ledger's thread, newest first */
    struct act *held;  /* waiting for the lease to be renewed */
    atomic_uint_least64_t pulse;
    unsigned running;
    struct agents agents;
    struct sayer *sayer; /* say.h */
};

struct house;
void hands_start(struct hands *hands, uv_loop_t *loop, struct keeper *keeper, struct house *house);

/* What came of an act: exit, to, until and texts are the port's, the rest is filled in here. */
void hands_report(struct hands *hands, const struct act *act, struct signal outcome);
void hands_take(struct hands *hands, struct act *act); /* from any thread; takes the act over */
void hands_stop(struct hands *hands); /* from the loop; what runs goes on without us */
void hands_end(struct hands *hands);
