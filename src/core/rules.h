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
    bool *
        touched; /* nodes that changed, by place in the plan; NULL: the plan is still the world's */
};

/* The rules: one file for each question. */
void rule_create(struct deciding *);  /* create.c: what does a new goal become? */
void rule_update(struct deciding *);  /* update.c: what is wanted is said anew */
void rule_move(struct deciding *);    /* goal_state.c: who may pause, complete, cancel, archive? */
void rule_release(struct deciding *); /* goal_state.c: a person has looked at it */
void rule_report(struct deciding *);  /* report.c: somebody says how it goes */
void rule_due(struct deciding *);     /* deadline.c: how long do we wait for an outcome? */
void rule_claim(struct deciding *);   /* claim.c: who may carry an effect out? */
void rule_ended(struct deciding *);   /* outcome.c: what follows from an outcome? */
void rule_lost(struct deciding *);    /* outcome.c: and from one that will not come? */
void rule_apply(struct deciding *);   /* plan_apply.c: what does a new plan change? */
void rule_add(struct deciding *);     /* plan_apply.c: and one more node? */
void rule_review(struct deciding *);  /* review.c: who looks at a plan, and what then? */
void rule_approve(struct deciding *); /* review.c */
void rule_reject(struct deciding *);  /* review.c */
void rule_work(struct deciding *);    /* work.c: who may move a node, and where? */
void rule_follow(struct deciding *);  /* work.c: and let it follow its children again? */
void rule_part(struct deciding *);    /* part.c: an assignment, dispatch, handoff or run */
void rule_era(struct deciding *);     /* era.c: what if the store was put back? */

/* Write one record about this decision. The evidence is completed from the signal. */
void decide_record(struct deciding *, enum record_type type, struct evidence evidence);
void decide_refuse(struct deciding *, enum error error);
void decide_refuse_because(struct deciding *, enum error error, struct str why);

/* PLAN-23: may whoever sent this signal change plans? Otherwise it is refused here. */
bool decide_may_plan(struct deciding *);

/* Keep a text apart; its hash names it. */
struct hash decide_text(struct deciding *, struct str body);
void decide_part(struct deciding *, struct part_change change);

/* The movers: the only code that changes a state. */
void goal_move(struct deciding *, enum goal_status to);
struct effect_slot *effect_make(struct deciding *, struct effect effect);
void effect_move(struct deciding *, struct effect_slot *slot, enum effect_state to);

enum node_cause {
    BY_WORK /* the table */,
    BY_ROLLUP /* its children */,
    BY_OVERRIDE /* somebody */
};
void node_move(struct deciding *, struct node *node, enum node_status to, enum node_cause cause,
               struct evidence evidence);

/* The plan becomes this decision's own, with room for more nodes. Pointers to its nodes change. */
void plan_edit(struct deciding *, uint32_t more);
void node_touch(struct deciding *, const struct node *node);
void plan_version_raise(struct deciding *, enum plan_reason why, struct evidence evidence);

/* rollup.c: everything that follows from a node that moved or a plan that changed. */
void plan_settle(struct deciding *);
void goal_settle(struct deciding *); /* is the goal done? */
void task_finished(struct deciding *, const struct node *node);

/* An effect of which nothing is known becomes unconfirmed, and a person is asked. */
void effect_doubt(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);

/* update.c: the words and tags that come with a goal. False: refused. */
bool goal_words(struct deciding *);
bool goal_tags(struct deciding *);

/* plan_check.c: what is wrong with a plan that is handed in? Empty: nothing. */
struct str plan_check(const struct deciding *, const struct plan_text *text, bool planned);
