/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the goals that wait for a person, longest wait first. This takes several answers of the store: first which
 * goals they are, then what they ask, several goals at a time. */
#pragma once

#include "ops/why/explain.h"

enum { ASKING_HOSTS = 16, ASKING_DEFAULT = 20, ASKING_SHOWN = 100 };

struct asking {
    const struct op_call *call;
    struct id goals[ASKING_SHOWN];
    uint32_t listed, shown, limit;
    int64_t count; /* all goals that wait, listed or not */
    bool began;
    uint32_t hosts[ASKING_HOSTS], host_count; /* hosts whose admissions may ask something too, */
    struct id systems[ASKING_HOSTS + LIMIT_REPOSITORIES + 1];
    uint32_t system_count,
        system_shown; /* and with the workspaces of the repositories: their ids */
    struct id
        page[LIMIT_BRIEF]; /* goals or admissions that were requested together, in key order */
    uint32_t page_count, page_first;
};

void asking_begin(struct asking *asking, uint32_t limit, struct op_call *call,
                  struct store_request *ret_request);
/* Processes the answer and appends the items to `items`. False: this was the last answer. */
bool asking_next(struct asking *asking, json_t *items, const struct store_answer *answer,
                 struct store_request *ret_request);
/* Oldest first, by "since". */
void asking_sort(json_t *items);
