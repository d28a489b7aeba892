/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an agent makes progress, and the ladder that helps it. */
#pragma once

#include "core/deciding.h"

void assignments_resume(struct deciding *); /* liveness.c: the goal is resumed */
void life_note(struct deciding *,
               struct assignment *assignment); /* agent_update.c: a sign of life */

/* liveness.c: the earliest time at which something is due by itself, from what is stored; 0: never. */
int64_t live_wants(const struct live *live, const struct goal *goal, const struct policy *policy);

/* liveness.c: the run continues without help. assignment_lives() says whether it does, and lets it. */
bool assignment_lives(struct deciding *, struct assignment *assignment,
                      const struct observation *seen);
void assignment_wakes(struct deciding *, struct assignment *assignment, struct str rule);

/* liveness.c: handles the result of a look. */
void assignment_looked_at(struct deciding *, struct assignment *assignment,
                          const struct observation *seen);

/* ladder.c: helps an assignment that makes no progress. Returns when it has to be called again. */
int64_t ladder_climb(struct deciding *, struct assignment *assignment);
void ladder_reset(struct assignment *assignment);                    /* progress was seen */
void ladder_fresh(struct deciding *, struct assignment *assignment); /* a new run has begun */
void ladder_granted(struct deciding *,
                    struct assignment *assignment); /* admission allows the rung */
int64_t ladder_backoff(const struct policy *policy, const struct assignment *assignment);
bool ladder_is_suspended(const struct deciding *, const struct assignment *assignment);
bool ladder_reassign(struct deciding *, struct assignment *assignment);
void ladder_ask(struct deciding *, struct assignment *assignment, struct str rule, struct str why);
void ladder_ask_with(struct deciding *, struct assignment *assignment, struct str rule,
                     struct str why, struct str more); /* with what was heard last */

/* ladder.c: tells a person at once that an agent does not start, and why; the start is tried again all the same. */
void start_alert(struct deciding *, const struct assignment *assignment, struct str why);
void start_alert_end(struct deciding *, const struct assignment *assignment, struct str rule);
