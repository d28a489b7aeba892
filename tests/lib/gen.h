/* SPDX-License-Identifier: Apache-2.0 */
/* What might anybody ask for? Operations at random, made from what is known of a goal: right ones, and wrong
 * ones with the error that they must be refused with. One seed always asks for the same things. */
#pragma once

#include "model/error.h"
#include "model/part.h"
#include "model/signal.h"

/* ---- chance ---- */

struct dice {
    uint64_t state;
};

uint64_t dice_next(struct dice *dice);
uint32_t dice_pick(struct dice *dice, uint32_t count);
bool dice_chance(struct dice *dice, uint32_t per_mille);
struct id dice_id(struct dice *dice);

/* ---- operations ---- */

/* What is known of the goal that is asked about. */
struct knowledge {
    bool exists;
    struct goal goal;
    struct plan plan;
    struct str proposal; /* the plan that waits for approval; empty: none */
};

struct gen {
    struct dice dice;
    uint32_t max_nodes;    /* of a plan that is made up */
    bool approve_plans;    /* as the policy has it */
    struct str plan_agent; /* an agent that may plan; empty: none */
};

struct op {
    struct signal signal;
    enum error
        expect;    /* what has to be answered, if the goal is as it was known; to whom may not ask,
                        * the same is answered whatever the goal is, if there is one */
    bool wrong;    /* it is refused whatever the goal is */
    bool may_idle; /* accepted, it may have nothing to decide: then it writes nothing */
};

/* A new goal, with a definition, tags and a priority now and then. */
struct op gen_create(struct gen *gen, struct arena *arena);

/* Something about a goal. Texts come from the arena. */
struct op gen_op(struct gen *gen, const struct knowledge *known, struct arena *arena);

/* One kind of it. SIGNAL_GOAL_UPDATE to SIGNAL_PART_PUT, or SIGNAL_GOAL_REPORT. */
struct op gen_op_of(struct gen *gen, enum signal_kind kind, const struct knowledge *known,
                    struct arena *arena);

/* The first plan of a goal, for those who only need one. */
struct str gen_plan(struct gen *gen, const struct knowledge *known, struct arena *arena);
