/* SPDX-License-Identifier: Apache-2.0 */
/* What do the records of a goal say, one after the other? EVENT-04: from them alone follows every state that
 * is stored: of the goal, of its nodes, of its effects, and the version of its plan. */
#pragma once

#include "lib/dump.h"

struct replay_node {
    char id[LIMIT_NODE_ID + 1];
    enum node_status status;
};

struct replay {
    struct id goal;
    struct arena *arena; /* where it grows; lives as long as the replay */
    uint64_t seq;
    struct hash head;
    enum goal_status status;
    uint64_t plan_version;
    bool aside;              /* it was set aside: what the goal is since then nobody decided */
    struct dump_life *lives; /* of effects that were decided, in that order */
    uint32_t life_count, life_cap;
    struct replay_node *nodes; /* that ever moved */
    uint32_t node_count, node_cap;
    struct hash
        *texts; /* that were read and are what their hash says, in order: they never change */
    uint32_t text_count, text_cap;
};

/* The next record. Returns what is wrong with it, in words from the arena, or NULL. */
const char *replay_record(struct replay *replay, const struct record *record);

/* Records that were dropped: the chain goes on behind them. */
const char *replay_milestone(struct replay *replay, const struct dump_milestone *milestone);

/* What the goal is must be what its records say. */
const char *replay_against(const struct replay *replay, const struct goal *goal,
                           const struct plan *plan);

/* Everything about one goal but its records: seals, promises, texts, view, tags. */
const char *goal_check(const struct dump *dump, const struct dump_goal *row, struct replay *replay,
                       struct arena *arena);

/* Everything that is not about one goal: tallies, and the store's own row. */
const char *rest_check(const struct dump *dump, struct arena *arena);
