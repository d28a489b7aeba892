/* SPDX-License-Identifier: Apache-2.0 */
/* On which channels is a question said, and when? One router for everything that people hear: C-45. */
#pragma once

#include "core/rules.h"

/* ESCALATE-03, ESCALATE-04, ESCALATE-05, ESCALATE-13: is this one for that channel? */
bool route_wants(const struct policy *policy, const struct goal *goal,
                 const struct question *question, const struct policy_channel *channel);

/* When something is to be said of it; TIME_NEVER: not by itself. */
int64_t route_next(const struct policy *policy, const struct goal *goal,
                   const struct question *question, int64_t now);

/* Say what is due. The row is this decision's own. */
void route_say(struct deciding *, struct question *question);

/* Is a message of it under way, or still to be sent? */
bool route_pends(const struct policy *policy, const struct goal *goal,
                 const struct question *question);

/* Nothing more of this round is said. */
void route_hush(struct question *question);

/* It is over: where it was said, and somebody there waits for the end of it, that is said too. False: nowhere. */
bool route_close(struct deciding *, struct question *question);

/* What came of one message. */
void route_heard(struct deciding *, struct question *question, uint32_t channel);

/* The words of a notice, when it is said: from what is kept with its question and its goal. */
struct notice notice_worded(struct notice notice, const struct question *question,
                            const struct question_text *text, const struct goal_text *goal,
                            struct str title, struct arena *arena);

/* question.c: the earliest time at which a question wants something; TIME_NEVER: none does. */
int64_t questions_next(const struct live *live, const struct goal *goal,
                       const struct policy *policy, int64_t now);

/* desk.c: a person has answered what a desk asked. */
void desk_answered(struct deciding *, const struct question *question);
