/* SPDX-License-Identifier: Apache-2.0 */
/* Which goals wait for a person, the one that has waited longest first? Several answers of the store: pages of the list,
 * then each goal that is shown. */
#pragma once

#include "ops/told.h"

enum { ASKING_HOSTS = 16, ASKING_MOST = 1000, ASKING_DEFAULT = 20, ASKING_SHOWN = 100 };

struct waiting_goal {
    struct id id;
    int64_t since;
};

struct asking {
    struct waiting_goal *goals; /* ASKING_MOST */
    uint32_t count, shown, limit;
    uint32_t hosts[ASKING_HOSTS], host_count, host_shown; /* whose desks may ask something too */
    struct id desk;
    bool more; /* than were looked at */
    bool listed;
};

void asking_begin(struct asking *asking, uint32_t limit, struct op_call *call,
                  struct store_request *ret_request);
/* Takes the answer in: what is shown goes to the end of `items`. False: that was the last. */
bool asking_next(struct asking *asking, json_t *items, const struct store_answer *answer,
                 struct store_request *ret_request);
/* Oldest first, by the moment that the record names. */
void asking_sort(json_t *items);
