/* SPDX-License-Identifier: Apache-2.0 */
/* Shows questions to people, and parses the names by which people refer to them. */
#pragma once

#include "ops/view.h"

#define PARAM_QUESTION \
    PARAM("question", FIELD_TEXT, question, LIMIT_QUESTION_NAME, FIELD_REQUIRED, \
          "the question, such as Q7.1")

/* For operations on one question: if no goal is named, the goal is searched for, provided that only one has such a
 * question. `signal` or `result` then gets the goal's STORE_SHOW. */
bool question_request(struct op_call *call, struct store_request *ret_request);
bool question_next(struct op_call *call, const struct store_answer *answer,
                   struct store_request *ret_request);

/* The requested question and its text; NULL: refused, call->error says why. */
const struct question *question_given(struct op_call *call, const struct store_answer *answer,
                                      struct question_text *ret_text);

/* {questionId, goalId, kind, state, level, title, text, options, …} */
json_t *question_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                      const struct question *question, struct arena *arena);
bool question_words(const struct goal_shown *shown, const struct question *question,
                    struct arena *arena, struct question_text *ret);

/* Appends the questions to `items`, as the inbox shows them. */
void questions_append(json_t *items, const struct goal_loaded *loaded,
                      const struct goal_shown *shown);

enum { QUESTION_MEMBER_COUNT = 33 };
extern const struct op_member QUESTION_MEMBERS[QUESTION_MEMBER_COUNT]; /* of question.show */
