/* SPDX-License-Identifier: Apache-2.0 */
/* How do the tests of export and import come by a store in which a lot has happened? A ledger decides, a real
 * engine keeps, chance asks. One seed always makes the same store. */
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
    uint64_t acts; /* let go of so far */
};

void world_begin(struct export_world *world, const char *where, uint64_t seed);
void world_end(struct export_world *world);

/* Something happens; what the ledger lets go of is carried out, now and then, and reported. */
enum error world_signal(struct export_world *world, struct signal signal);
void world_live(struct export_world *world, uint32_t operations);

/* Rows of every live kind, with chance in every field: a desk, and if a goal has a plan, an open assignment, questions
 * and a message. False: no goal has one. After this the ledger is not asked any more. */
bool world_furnish(struct export_world *world);

/* export_check.c: a SQLite store holds nothing that contradicts itself. */
void store_judge(const char *path);
