/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules do with assignments: who works, what is sent, how it ends. */
#pragma once

#include "core/deciding.h"

/* staff.c: decides who works next. Runs after every change of an active goal. */
void staff(struct deciding *);
struct assignment *assignment_add(struct deciding *, const struct node *node,
                                  const struct policy_agent *agent);
bool agent_is_allowed(const struct deciding *, const struct policy_agent *agent);
void assignments_stop(struct deciding *, struct str rule); /* all of them: the goal is over */
void assignment_stop(struct deciding *, struct assignment *assignment, struct str rule,
                     struct str reason);
void assignment_run_end(struct deciding *,
                        struct assignment *assignment); /* stop its run, if it has one */

struct ending {
    struct str rule, evidence;
    enum proof proof;
    struct str landed; /* where it landed; empty: nowhere */
};
void assignment_failed(struct deciding *, struct assignment *assignment, struct str rule,
                       struct str why, struct str text, bool ask);
void assignment_done(struct deciding *, struct assignment *assignment,
                     struct ending ending); /* ending.proof: how it was verified, or who says so */
void assignment_again(struct deciding *, struct assignment *assignment,
                      struct str rule); /* back into the queue */

/* dispatch.c: sends it to the agent, or starts an agent with it. */
void assignment_dispatch(struct deciding *, struct assignment *assignment, enum wording words,
                         struct str rule);
struct effect agent_effect(struct deciding *, const struct assignment *assignment,
                           enum effect_kind kind);
struct assignment *assignment_of_effect(struct deciding *,
                                        uint32_t n); /* the one that effect n is open for */
void assignment_look(struct deciding *, struct assignment *assignment, uint32_t dispatch,
                     struct str rule);

/* The only function that changes an assignment's status; the row for people follows it. */
void assignment_move(struct deciding *, struct assignment *assignment, enum assignment_status to,
                     struct evidence evidence);
void assignment_touch(struct deciding *, struct assignment *assignment);
struct str assignment_id(const struct assignment *assignment, struct arena *arena); /* A_n */
struct assignment *assignment_at_hand(struct deciding *); /* the signal's; NULL: none */
struct evidence assignment_evidence(struct deciding *, const struct assignment *assignment,
                                    struct evidence);
void assignment_row_write(struct deciding *, const struct assignment *assignment);
void dispatch_history(struct deciding *, const struct assignment *assignment, enum delivery result,
                      struct str notes);
void delivery_note(struct deciding *, struct assignment *assignment, enum delivery result,
                   struct str rule);
void assignment_noted(
    struct deciding *, uint32_t n,
    struct str rule); /* records it, unless a record of the decision already names it */
bool assignment_is_sampled(
    struct deciding *,
    const struct assignment *assignment); /* true: only samples of it have changed */
void assignment_sample(struct deciding *, struct assignment *assignment);

void report_forget(struct assignment *assignment); /* of the run before */
void reply_forget(struct assignment *assignment);  /* it is not sent any more */
bool saw_nothing(const struct observation *seen);  /* the look had no result */
