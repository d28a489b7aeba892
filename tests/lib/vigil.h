/* SPDX-License-Identifier: Apache-2.0 */
/* Does a whole fleet watch over its agents when everything goes wrong at random? Real ledgers and a store; pretend agents, a
 * person who answers, crashes, lost connections, sleeping machines. Days pass in the time that they need, not in ticks. */
#pragma once

#include "lib/fleet.h"

struct vigil_counts {
    uint64_t atoms, goals, done, cancelled, asked, answers, sleeps, commits;
};

struct vigil {
    struct fleet *fleet;
    struct arena arena;
    struct dice dice;
    struct policy_agent agents[2];
    int64_t until;
    struct id goals[16];
    uint32_t goal_count;
    uint64_t swarm;     /* which faults this one knows */
    bool calm;          /* no more faults */
    uint64_t questions; /* seen so far: names the answers */
    struct id answered[512];
    uint32_t answered_count;
    struct vigil_counts counts;
};

struct vigil *vigil_create(struct backend *backend, uint64_t seed, uint32_t agents, uint32_t days);
void vigil_free(struct vigil *vigil);

/* From the beginning to the end; what is broken then stands in fleet->violation. */
void vigil_run(struct vigil *vigil);

/* Over all records, in order. */
uint64_t vigil_digest(struct vigil *vigil);
