/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks to agents, and what was seen of them? On the I/O loop; the ledger's thread asks what was seen. */
#pragma once

#include "base/due.h"
#include "base/map.h"
#include "base/recent.h"
#include "daemon/house.h"
#include "daemon/input.h"

#include <uv.h>

struct hands;
struct runs;

struct agents {
    struct hands *hands;
    struct house *house;
    struct runs *real; /* runs.h: those of agents that are programs */
    uv_timer_t timer;
    pthread_mutex_t lock;  /* of what follows: see() comes from the ledger's thread */
    struct map runs;       /* struct run, by the id of the effect that started it */
    struct recent stopped; /* runs that were stopped before they began */
    struct map past;       /* what ended pretend runs have done, by their work */
    struct due due;        /* when something happens to a run by itself */
    int64_t since;         /* wall clock: watched without a gap since then */
    int64_t beat_boot;
    int64_t stepped; /* sum of the steps of the wall clock at that time */
};

void agents_start(struct agents *agents, uv_loop_t *loop, struct hands *hands, struct house *house);
void agents_stop(struct agents *agents); /* from the loop */
void agents_end(struct agents *agents);

/* Carry EFFECT_SPAWN, SEND, LOOK, STOP, CHECK or LAND out; takes the act over. */
void agents_carry(struct agents *agents, struct act *act);

/* The loop goes round: a gap means that nobody was listening. */
void agents_beat(struct agents *agents);

/* For the ledger: SIGHTINGS of a goal's agents. `with` is the struct agents. */
struct str agents_see(void *with, struct id goal, const struct charges *charges, struct instant now,
                      struct arena *arena);
