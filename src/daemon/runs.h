/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs of agents does this host hold, and what is done to them?
 *
 *   effect ──▶ runs_carry() ──▶ driver (no I/O) ──▶ held (overseer-hold) ──▶ the agent
 *                                  │
 *                     events ◀─────┘ become signals named by run and offset: read twice, applied once
 *
 * Everything but runs_see() is called on the I/O loop. A run has a folder of its own below STATE/runs; what stands there is
 * found again after a restart, with its hold, its driver's state and the offset that was read. */
#pragma once

#include "daemon/house.h"
#include "daemon/input.h"
#include "ops/op.h"

#include <uv.h>

struct hands;
struct runs;

enum { RUNS_HIDDEN = 3 };

struct runs_places {
    const char *state;  /* the host's own folder */
    const char *socket; /* of the door for runs; empty: there is none */
    const char *hidden
        [RUNS_HIDDEN]; /* what else no run may see, with its folder: socket, store, settings */
};

/* NULL: no memory. */
struct runs *runs_start(uv_loop_t *loop, struct hands *hands, struct house *house,
                        const struct runs_places *places);
void runs_find(struct runs *runs); /* those that were begun before this daemon was */
void runs_stop(struct runs *runs); /* lets go of them; they go on */
void runs_end(struct runs *runs);

/* EFFECT_SPAWN, SEND, LOOK, STOP, CHECK and LAND; takes the act over. */
void runs_carry(struct runs *runs, struct act *act);

/* What the operations work.log and work.diff tell of a run joins the answer. From any thread but the doors'. */
void run_finish(struct house *house, struct op_call *call);

/* What waits for a server, and since when; from any thread. How many there are, at most `most`. */
unsigned runs_wait(struct house *house, struct op_wait *ret, unsigned most);

/* Before a stop is committed, from any thread: where the store cannot be written or the disk is low, the runs of that goal
 * (SYSTEM_GOAL: all) are frozen now. */
void runs_stop_first(struct house *house, struct id goal);

/* From any thread: what is known of that run now. False: it is not held here. */
void sighting_to_wall(
    struct sighting *sighting); /* from the steady clock, by which runs are measured */
bool runs_see(struct runs *runs, struct id run, struct sighting *ret);
