/* SPDX-License-Identifier: Apache-2.0 */
/* Which answers are kept as bytes, and for how long are they true?
 *
 * An answer is kept for one operation, one goal and every caller that is not a run: what these may see is the same. It
 * is true as long as nothing was written about the goal. docs/decisions/0012-answer-cache.md says why this is exact. */
#pragma once

#include "ops/op.h"

enum { ANSWER_TAG = 18 }; /* "16 hexadecimal digits", in quotes */

/* Off until this is called: only a store with one writer, this process, is known without a query. `random`: of
 * this process. */
void answer_cache_enable(bool on, uint32_t random);

/* From any thread that has written, before anybody is told: about these goals, or about any. */
void answer_cache_changed(struct id goal);
void answer_cache_all_changed(void);

/* How often was something written about this goal? Taken before a read begins. */
uint64_t answer_cache_mark(struct id goal);

/* What kind of request can be answered by bytes that are kept? `ret_goal`: of which goal. */
bool answer_cache_may_answer(const struct op *op, const struct caller *caller, const json_t *params,
                             struct id *ret_goal);

/* What was answered to a read that began at `mark`. Too much, or no memory: it is not kept. */
void answer_cache_put(const struct op *op, struct id goal, uint64_t mark, struct str result);

/* The same bytes between `before` and `after`, to be freed; NULL: nothing true is kept. `same`: only the tag is
 * wanted if it is this one, and ret->at is empty then. */
struct answer_cache_found {
    char *at; /* NULL: nothing is kept, or it is `same` */
    size_t len;
    bool is_same;
    char tag[ANSWER_TAG + 1];
};
bool answer_cache_find(const struct op *op, struct id goal, struct str before, struct str after,
                       const char *same, struct answer_cache_found *ret);

/* For tests: how many bytes are kept. */
size_t answer_cache_bytes(void);
