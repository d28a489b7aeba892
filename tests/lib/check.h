/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the records of a goal one after the other. EVENT-04: they alone determine every stored state: that of the
 * goal, its nodes and its effects, and the version of its plan. */
#pragma once

#include "lib/dump.h"

struct replay_node {
    char id[LIMIT_NODE_ID + 1];
    enum node_status status;
};

struct replay {
    struct id goal;
    struct arena *arena; /* used for growth; lives as long as the replay */
    uint64_t seq;
    struct hash head;
    enum goal_status status;
    uint64_t plan_version;
    bool aside;              /* quarantined: since then no decision explains the goal's state */
    struct dump_life *lives; /* decided effects, in that order */
    uint32_t life_count, life_cap;
    struct replay_node *nodes; /* nodes that ever moved */
    uint32_t node_count, node_cap;
    struct hash *texts; /* texts that were read and match their hash, in order: they never change */
    uint32_t text_count, text_cap;
};

/* Applies the next record. Returns what is wrong with it, as text from the arena, or NULL. */
const char *replay_record(struct replay *replay, const struct record *record);

/* Skips dropped records: the chain continues after them. */
const char *replay_milestone(struct replay *replay, const struct dump_milestone *milestone);

/* Compares the goal with what its records say. */
const char *replay_against(const struct replay *replay, const struct goal *goal,
                           const struct plan *plan);

/* Checks everything about one goal except its records: seals, invariants, texts, view, tags. */
const char *goal_check(const struct dump *dump, const struct dump_goal *row, struct replay *replay,
                       struct arena *arena);

/* Checks everything that does not belong to one goal: tallies, and the store's own row. */
const char *rest_check(const struct dump *dump, struct arena *arena);
