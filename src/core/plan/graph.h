/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses a plan: its critical path, its bottlenecks, and what should be done next. PLAN-29; docs/decisions/0006.
 *
 * Read only, and pure: the caller passes `now`. A leaf is a node without children: the work. It is open while neither
 * it nor any node above it is over. */
#pragma once

#include "model/plan.h"

enum {
    EFFORT_UNKNOWN = 60, /* minutes, if the plan gives none */

    /* Weights, in points: a minute of waiting is one. */
    SCORE_CRITICAL = 200,
    SCORE_WAITING = 10, /* per node that waits for it, */
    SCORE_WAITING_MOST = 200,
    SCORE_LOW = 0,
    SCORE_NORMAL = 100,
    SCORE_HIGH = 300,
    SCORE_URGENT = 600,
    /* Nothing starves: a node that has waited this many minutes longer than another comes before it, whatever their
     * scores. */
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
    uint64_t path_minutes; /* least time for the remaining work, however many agents work on it */
    uint64_t work_minutes; /* time for the remaining work if one agent does all of it */
    struct graph_wait
        *bottlenecks; /* leaves that other nodes wait for; the one that most wait for comes first */
    uint32_t bottleneck_count;
    const struct node *
        *parallel; /* leaves that can be worked on at the same time now: ready or in progress */
    uint32_t parallel_count;
    uint32_t leaves[NODE_STATUSES]; /* number of leaves in each status */
};

struct graph_insights graph_insights(const struct plan *plan, struct arena *arena);

/* One ready leaf, and the parts of its score. */
struct graph_pick {
    const struct node *node;
    uint64_t score; /* critical + unblocks + priority + waited */
    uint32_t critical, unblocks, priority;
    uint64_t waited;
    uint32_t waiting; /* number of nodes behind `unblocks` */
};

struct graph_picks {
    struct graph_pick *at; /* best first */
    uint32_t count;
};

/* G-15: the order of work. Nothing is recommended for a goal that is not active. */
struct graph_picks graph_recommend(const struct plan *plan, const struct goal *goal, int64_t now,
                                   struct arena *arena);
