/* SPDX-License-Identifier: Apache-2.0 */
/* What does a store hold, all of it? Read from outside of the code under test. */
#pragma once

#include "store/store.h"

struct dump_goal {
    struct id id;
    uint32_t owner;
    uint64_t fence, version, seq;
    struct hash head;
    int64_t due_at;
    bool open, aside;
    struct str hot;
};

struct dump_record {
    struct id goal;
    struct record record; /* without body_hash */
};

struct dump_effect {
    struct id goal;
    struct effect_slot slot;
};

struct dump {
    struct dump_goal *goals;
    uint32_t goal_count;
    struct dump_record *records; /* in order of goal, seq */
    uint32_t record_count;
    struct dump_effect *effects; /* in order of goal, n */
    uint32_t effect_count;
    struct host_row *hosts;
    uint32_t host_count;
    uint32_t inbox_count, seen_count, aside_count;
};

/* The first thing in the store that contradicts itself, in words from the arena, or NULL: chains, sequence
 * numbers, effects against records, goals against their own promises. */
const char *dump_broken(const struct dump *dump, struct arena *arena);

const struct dump_goal *dump_goal(const struct dump *dump, struct id id);

/* How many records of a goal say that this source was applied? */
uint32_t dump_applied(const struct dump *dump, struct id goal, struct id source);

/* Of an effect, by its records. */
struct dump_life {
    uint32_t decided, claimed, ended, unconfirmed;
};
struct dump_life dump_life(const struct dump *dump, struct id goal, uint32_t n);
