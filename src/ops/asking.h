/* SPDX-License-Identifier: Apache-2.0 */
/* Which goals wait for a person, the one that has waited longest first? Several answers of the store: which they are, and
 * then what they ask, several at a time. */
#pragma once

#include "ops/told.h"

enum { ASKING_HOSTS = 16, ASKING_DEFAULT = 20, ASKING_SHOWN = 100 };

struct asking {
    struct id goals[ASKING_SHOWN];
    uint32_t listed, shown, limit;
    int64_t count; /* all that wait, listed or not */
    bool began;
    uint32_t hosts[ASKING_HOSTS], host_count, host_shown; /* whose desks may ask something too */
    struct id page[LIMIT_BRIEF]; /* of goals or desks that were asked for together, in key order */
    uint32_t page_count, page_first;
};

void asking_begin(struct asking *asking, uint32_t limit, struct op_call *call,
                  struct store_request *ret_request);
/* Takes the answer in: what is shown goes to the end of `items`. False: that was the last. */
bool asking_next(struct asking *asking, json_t *items, const struct store_answer *answer,
                 struct store_request *ret_request);
/* Oldest first, by the moment that the record names. */
void asking_sort(json_t *items);
