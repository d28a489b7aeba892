/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to people and parents, and what follows from an answer. */
#pragma once

#include "core/deciding.h"

struct asking {
    enum question_kind kind;
    enum asked_of of;
    enum alarm alarm;
    struct str cause;
    const struct assignment *assignment; /* NULL: about the goal */
    uint32_t parent;                     /* n + 1 of the assignment that is asked */
    struct question_text text;
    uint32_t fallback; /* option, from 1 */
    int64_t expires_at;
    bool holds; /* the assignment waits for the answer */
};

/* answer.c: an answer that ends a run is carried out after a look. True: the look was for that. */
bool answer_looked(struct deciding *, struct assignment *assignment,
                   const struct observation *seen);
void answer_go_on(struct deciding *, struct assignment *assignment);

/* question.c: the question that holds the assignment, if it has this cause. */
const struct question *assignment_question(const struct deciding *,
                                           const struct assignment *assignment, enum cause cause);
void assignment_answered(struct deciding *, const struct question *question);

/* answer.c: ends the run, and begins its work again or gives it up. */
void answer_begin_again(struct deciding *, struct assignment *assignment);
void answer_give_up(struct deciding *, struct assignment *assignment);

/* brake.c; false: the question was about something else. */
bool brake_answered(struct deciding *, struct assignment *assignment,
                    const struct question *question);
struct assignment *assignment_asks(struct deciding *, uint32_t n, struct asking asking);

/* question.c: ESCALATE-15: the open question of this cause, or a new one; NULL: too many are open. */
struct question *question_ask(struct deciding *, struct asking asking);
struct str stalled_cause(struct deciding *, const struct assignment *assignment);
struct str permission_cause(struct deciding *, const struct assignment *assignment);

/* This question need not be answered any more; other questions still hold the assignment. */
struct assignment *assignment_asked_no_more(struct deciding *, uint32_t n, struct str cause,
                                            struct str rule);
bool question_is_fate(const struct question *question);
void question_settle(struct deciding *, struct str cause,
                     struct str rule); /* its cause is gone by itself */
void questions_drop(struct deciding *, uint32_t assignment,
                    struct str rule);                   /* those of an assignment that is over */
void questions_end(struct deciding *, struct str rule); /* all of them: the goal is over */
