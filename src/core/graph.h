/* SPDX-License-Identifier: Apache-2.0 */
/* What does a plan say about itself, and what should be done next? PLAN-29; docs/decisions/0006.
 *
 * Read only, and pure: `now` is handed in. A leaf is a node without children: the work. It is open while neither it
 * nor anything above it is over. */
#pragma once

#include "model/plan.h"

enum {
    EFFORT_UNKNOWN = 60, /* minutes, where nobody said */

    /* What counts how much, in points: a minute of waiting is one. */
    SCORE_CRITICAL = 200,
    SCORE_WAITING = 10, /* for each node that waits for it, */
    SCORE_WAITING_MOST = 200,
    SCORE_LOW = 0,
    SCORE_NORMAL = 100,
    SCORE_HIGH = 300,
    SCORE_URGENT = 600,
    /* Nothing starves: what has waited this many minutes longer than another comes before it, whatever they are. */
    SCORE_MOST = SCORE_CRITICAL + SCORE_WAITING_MOST + SCORE_URGENT,
};

struct graph_wait {
    const struct node *node; /* an open leaf */
    uint32_t waiting;        /* open nodes that cannot begin before it is done */
};

struct graph_insights {
    const struct node *
        *path; /* the critical path: leaves, in the order in which they are to be done */
    uint32_t path_count;
    uint64_t path_minutes; /* how long the rest takes at least, however many work on it */
    uint64_t work_minutes; /* and when one does everything */
    struct graph_wait
        *bottlenecks; /* those that something waits for; what most wait for comes first */
    uint32_t bottleneck_count;
    const struct node *
        *parallel; /* leaves that can be worked on at the same time now: ready or in progress */
    uint32_t parallel_count;
    uint32_t leaves[NODE_STATUSES]; /* how many there are in each status */
};

struct graph_insights graph_insights(const struct plan *plan, struct arena *arena);

/* One leaf that is ready, and what speaks for it. */
struct graph_pick {
    const struct node *node;
    uint64_t score; /* the sum of the others */
    uint32_t critical, unblocks, priority;
    uint64_t waited;
    uint32_t waiting; /* nodes behind `unblocks` */
};

struct graph_picks {
    struct graph_pick *at; /* best first */
    uint32_t count;
};

/* G-15: the order of work. Of a goal that is not active, nothing is to be begun. */
struct graph_picks graph_recommend(const struct plan *plan, const struct goal *goal, int64_t now,
                                   struct arena *arena);
