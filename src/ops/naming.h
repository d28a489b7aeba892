/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the names and titles of goals to lists whose entries have only their ids, with one more read for each page of goals.
 *
 *     next() ──▶ lists are in call->result ──▶ naming_begin() ──▶ naming_next() until false ──▶ result() */
#pragma once

#include "ops/op.h"

struct naming {
    const char *const *lists; /* members of call->result, up to NULL */
    struct id *goals;         /* each once, in key order */
    uint32_t count, named;    /* goals; of them, those of the pages so far */
    uint32_t page;            /* goals that were asked for last */
    bool begun;
};

void naming_begin(struct naming *it, struct op_call *call, const char *const *lists);

/* Takes the page that was asked for last, and asks for the next one. False: that was all. */
bool naming_next(struct naming *it, struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request);
