/* SPDX-License-Identifier: Apache-2.0 */
/* Generates random operations from what is known of a goal: valid ones, and invalid ones with the error that must
 * refuse them. One seed always generates the same operations. */
#pragma once

#include "model/error.h"
#include "model/part.h"
#include "model/signal.h"

/* ---- randomness ---- */

struct dice {
    uint64_t state;
};

uint64_t dice_next(struct dice *dice);
uint32_t dice_pick(struct dice *dice, uint32_t count);
bool dice_chance(struct dice *dice, uint32_t per_mille);
struct id dice_id(struct dice *dice);

/* ---- operations ---- */

/* What is known of the goal that an operation is about. */
struct knowledge {
    bool exists;
    struct goal goal;
    struct plan plan;
    struct str proposal; /* the plan that waits for approval; empty: none */
};

struct gen {
    struct dice dice;
    uint32_t max_nodes;    /* in a generated plan */
    bool approve_plans;    /* as set in the policy */
    struct str plan_agent; /* an agent that may plan; empty: none */
};

struct op {
    struct signal signal;
    enum error
        expect; /* expected answer, if the goal is still as it was known; an unauthorized caller gets the same answer
                    * whatever the state of the goal, if the goal exists */
    bool wrong; /* refused whatever the state of the goal */
    bool may_idle; /* when accepted, it may have nothing to decide: then it writes nothing */
};

/* A new goal, sometimes with a definition, tags and a priority. */
struct op gen_create(struct gen *gen, struct arena *arena);

/* A random operation on a goal. Texts are allocated from the arena. */
struct op gen_op(struct gen *gen, const struct knowledge *known, struct arena *arena);

/* An operation of one kind: SIGNAL_GOAL_UPDATE to SIGNAL_PART_PUT, or SIGNAL_GOAL_REPORT. */
struct op gen_op_of(struct gen *gen, enum signal_kind kind, const struct knowledge *known,
                    struct arena *arena);

/* The first plan of a goal, for callers that need only one. */
struct str gen_plan(struct gen *gen, const struct knowledge *known, struct arena *arena);
