/* SPDX-License-Identifier: Apache-2.0 */
/* Routes questions to people: decides on which channels a question is sent, and when. One router for everything that
 * people are sent: C-45. */
#pragma once

#include "core/deciding.h"

/* ESCALATE-03, ESCALATE-04, ESCALATE-05, ESCALATE-13: does the question go to that channel? */
bool route_wants(const struct policy *policy, const struct goal *goal,
                 const struct question *question, const struct policy_channel *channel);

/* When something has to be sent about the question; TIME_NEVER: not by itself. */
int64_t route_next(const struct policy *policy, const struct goal *goal,
                   const struct question *question, int64_t now);

/* Sends what is due. The row is this decision's own. */
void route_say(struct deciding *, struct question *question);

/* Is a message about the question in progress, or still to be sent? */
bool route_pends(const struct policy *policy, const struct goal *goal,
                 const struct question *question);

/* Nothing more is sent in this round. */
void route_hush(struct question *question);

/* The question is over: a channel that was sent it and waits for its end is sent that, too. False: there is none. */
bool route_close(struct deciding *, struct question *question);

/* Handles the outcome of one message. */
void route_heard(struct deciding *, struct question *question, uint32_t channel);

/* Fills in the text of a notice when it is sent, from what is kept with its question and its goal. */
struct notice notice_worded(struct notice notice, const struct question *question,
                            const struct question_text *text, const struct goal_text *goal,
                            struct str title, struct arena *arena);

/* question.c: the earliest time at which something is due for a question; TIME_NEVER: never. */
int64_t questions_next(const struct live *live, const struct goal *goal,
                       const struct policy *policy, int64_t now);

/* admission.c: a person has answered a question of an admission. */
void admission_answered(struct deciding *, const struct question *question);
