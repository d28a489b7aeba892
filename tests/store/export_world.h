/* SPDX-License-Identifier: Apache-2.0 */
/* Creates stores with a rich history for the tests of export and import: a ledger decides, a real engine stores, and
 * the requests are random. One seed always makes the same store. */
#pragma once

#include "ledger/ledger.h"
#include "lib/gen.h"
#include "unit/unit.h"

enum { WORLD_GOALS = 4 };

struct export_world {
    struct store *store;
    struct ledger *ledger;
    struct arena arena;
    struct gen gen;
    struct instant now;
    struct id goals[WORLD_GOALS];
    uint32_t goal_count;
    uint64_t acts; /* acts released by the ledger so far */
};

void world_begin(struct export_world *world, const char *where, uint64_t seed);
void world_end(struct export_world *world);

/* Delivers a signal; some of the acts that the ledger releases are carried out and reported. */
enum error world_signal(struct export_world *world, struct signal signal);
void world_live(struct export_world *world, uint32_t operations);

/* Adds rows of every live kind, with random values in every field: an admission, and if a goal has a plan, an open
 * assignment, questions and a message. False: no goal has a plan. The ledger must not be used after this. */
bool world_furnish(struct export_world *world);

/* export_check.c: checks that a SQLite store does not contradict itself. */
void store_judge(const char *path);
