/* SPDX-License-Identifier: Apache-2.0 */
/* What do the rules share? The case in hand, and the ways to write its decision down. */
#pragma once

#include "core/step.h"

struct deciding {
    const struct world *world;
    const struct signal *signal;
    const struct policy *policy;
    struct arena *out;
    struct decision *decision;
};

/* The rules: one file for each question. */
void rule_create(struct deciding *); /* create.c: what does a new goal become? */
void rule_report(struct deciding *); /* report.c: somebody says how it goes */
void rule_due(struct deciding *);    /* deadline.c: how long do we wait for an outcome? */
void rule_claim(struct deciding *);  /* claim.c: who may carry an effect out? */
void rule_ended(struct deciding *);  /* outcome.c: what follows from an outcome? */
void rule_lost(struct deciding *);   /* outcome.c: and from one that will not come? */

/* Write one record about this decision. The evidence is completed from the signal. */
void decide_record(struct deciding *, enum record_type type, struct evidence evidence);
void decide_refuse(struct deciding *, enum error error);

/* The movers: the only code that changes a state. */
void goal_move(struct deciding *, enum goal_status to);
struct effect_slot *effect_make(struct deciding *, struct effect effect);
void effect_move(struct deciding *, struct effect_slot *slot, enum effect_state to);

/* An effect of which nothing is known becomes unconfirmed, and a person is asked. */
void effect_doubt(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);
