/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates a whole fleet that supervises its agents while everything goes wrong at random. It uses real ledgers and a
 * store; the agents are simulated, as are a person who answers, crashes, lost connections and sleeping machines. Time
 * advances from event to event, not in ticks. */
#pragma once

#include "lib/fleet.h"

struct vigil_counts {
    uint64_t atoms, goals, done, cancelled, asked, answers, sleeps, commits, waits;
};

struct vigil {
    struct fleet *fleet;
    struct arena arena;
    struct dice dice;
    struct policy_agent agents[2];
    int64_t until;
    struct id goals[16];
    uint32_t goal_count;
    struct policy_repository repositories[2];
    uint64_t swarm;     /* set of faults that this simulation uses */
    bool calm;          /* no more faults */
    uint64_t questions; /* seen so far: used to name the answers */
    struct id answered[512];
    uint32_t answered_count;
    struct vigil_counts counts;
};

struct vigil *vigil_create(struct backend *backend, uint64_t seed, uint32_t agents, uint32_t days);
void vigil_free(struct vigil *vigil);

/* Runs from beginning to end; any violation is in fleet->violation. */
void vigil_run(struct vigil *vigil);

/* Covers all records, in order. */
uint64_t vigil_digest(struct vigil *vigil);
