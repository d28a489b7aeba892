/* SPDX-License-Identifier: Apache-2.0 */
/* Caches answers as bytes for as long as they are valid.
 *
 * An answer is cached for one operation, one goal and every caller that is not a run: these callers may all see the
 * same. It is valid as long as nothing is written about the goal. docs/decisions/0012-answer-cache.md says why this is
 * exact. */
#pragma once

#include "ops/op.h"

enum { ANSWER_TAG = 18 }; /* 16 hexadecimal digits in quotes */

/* The cache is off until this is called: only if this process is the single writer of the store does it know all
 * changes without a query. `random`: a number of this process. */
void answer_cache_enable(bool on, uint32_t random);

/* Called by any thread that has written, before the write is reported: this goal has changed, or any goal may have. */
void answer_cache_changed(struct id goal);
void answer_cache_all_changed(void);

/* The number of writes about this goal. Take it before a read begins. */
uint64_t answer_cache_mark(struct id goal);

/* True if cached bytes can answer this kind of request. `ret_goal`: the goal it asks about. */
bool answer_cache_may_answer(const struct op *op, const struct caller *caller, const json_t *params,
                             struct id *ret_goal);

/* Caches the answer to a read that began at `mark`, unless it is too large or there is no memory. */
void answer_cache_put(const struct op *op, struct id goal, uint64_t mark, struct str result);

/* The cached bytes between `before` and `after`; the caller frees them. NULL: nothing valid is cached. `same`: if the
 * answer has this tag, only the tag is returned and ret->at is empty. */
struct answer_cache_found {
    char *at; /* NULL: nothing is cached, or it is `same` */
    size_t len;
    bool is_same;
    char tag[ANSWER_TAG + 1];
};
bool answer_cache_find(const struct op *op, struct id goal, struct str before, struct str after,
                       const char *same, struct answer_cache_found *ret);

/* For tests: the number of cached bytes. */
size_t answer_cache_bytes(void);
