/* SPDX-License-Identifier: Apache-2.0 */
/* Routes effects to agents, carries out simulated runs (drivers/driver.h), and reports observations of agents. Runs on the I/O loop; the ledger
 * thread asks for observations. */
#pragma once

#include "base/due.h"
#include "base/map.h"
#include "base/recent.h"
#include "engine/context.h"
#include "ledger/input.h"

#include <uv.h>

struct executor;
struct run_table;

struct agents {
    struct executor *executor;
    struct daemon_context *context;
    struct run_table *real; /* run_table.h: runs of agents that are real programs */
    uv_timer_t timer;
    pthread_mutex_t lock;  /* for the fields below: the ledger thread calls agents_see() */
    struct map runs;       /* struct simulated_run, by the id of the effect that started it */
    struct recent stopped; /* runs that were stopped before they started */
    struct map past;       /* the newest ended run of each work, by the id of the work */
    struct due due;        /* next timed event of each run */
    int64_t since;         /* wall clock: observed without a gap since then */
    int64_t beat_boot;
    int64_t stepped; /* sum of all wall clock steps at that time */
};

void agents_start(struct agents *agents, uv_loop_t *loop, struct executor *executor,
                  struct daemon_context *context);
void agents_stop(struct agents *agents); /* on the loop */
void agents_end(struct agents *agents);

/* Carries out EFFECT_SPAWN, SEND, LOOK, STOP, CHECK or LAND; takes ownership of the act. */
void agents_carry(struct agents *agents, struct act *act);

/* Called on each beat of the loop: a gap means that the loop was not listening. */
void agents_beat(struct agents *agents);

/* For the ledger: the encoded OBSERVATIONS of a goal's agents. `with` is the struct agents. */
struct str agents_see(void *with, struct id goal, const struct assignments *assignments,
                      struct instant now, struct arena *arena);
