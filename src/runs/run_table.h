/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the table of the runs on this host, and carries out effects on them.
 *
 *   effect ──▶ runs_carry() ──▶ driver (no I/O) ──▶ held (overseer-hold) ──▶ the agent
 *                                  │
 *                     events ◀─────┘ become signals named by run and offset: read twice, applied once
 *
 * Everything but runs_see() is called on the I/O loop. Each run has a folder below STATE/runs; after a restart the daemon finds
 * it again, with its hold, its driver's state and the offset that was read. */
#pragma once

#include "engine/context.h"
#include "ledger/input.h"
#include "ops/op.h"

#include <uv.h>

struct executor;
struct run_table;

enum { RUNS_HIDDEN = 3 };

struct runs_places {
    const char *state;  /* the host's state folder */
    const char *socket; /* of the HTTP server for runs; empty: there is none */
    const char *hidden
        [RUNS_HIDDEN]; /* what else no run may see, with its folder: socket, store, settings */
};

struct run_table *runs_start(uv_loop_t *loop, struct executor *executor,
                             struct daemon_context *context, const struct runs_places *places);
void runs_find(struct run_table *runs); /* finds the runs that an earlier daemon started */
void runs_stop(struct run_table *runs); /* disconnects from them; they continue */
void runs_end(struct run_table *runs);

/* EFFECT_SPAWN, SEND, LOOK, STOP, CHECK and LAND; takes ownership of the act. */
void runs_carry(struct run_table *runs, struct act *act);

/* Adds to an answer what the operations work.log and work.diff report of a run. From any thread except those of the
 * HTTP servers. */
void run_finish(struct daemon_context *context, struct op_call *call);

/* Lists what waits for a server, and since when; from any thread. Returns the count, at most `most`. */
void runs_logins(struct daemon_context *context, struct op_logins *ret); /* from any thread */
unsigned runs_wait(struct daemon_context *context, struct op_wait *ret, unsigned most);

/* Called before a stop is committed, from any thread: if the store cannot be written or disk space is low, freezes the
 * runs of that goal (SYSTEM_GOAL: all) now. */
void runs_stop_first(struct daemon_context *context, struct id goal);

/* runs_see(), from any thread: reports what is known of that run now. False: this host does not hold it. */
void observation_to_wall(
    struct observation *observation); /* converts from the steady clock, which measures runs */
bool runs_see(struct run_table *runs, struct id run, struct observation *ret);
