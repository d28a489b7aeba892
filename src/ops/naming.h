/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the names and titles of goals to the result of a read whose lists have only their ids, with one more read for each
 * page of goals. An operation that wants this begins call->own with a struct naming, and has naming_next() and
 * naming_result() as its own. */
#pragma once

#include "ops/op.h"

struct naming {
    json_t *(*make)(struct op_call *call, const struct goal_loaded *loaded); /* the result so far */
    const char *const *lists; /* its members with entries that have a goalId, up to NULL */

    struct id *goals;      /* of these entries: each once, in key order */
    uint32_t count, named; /* goals; of them, those of the pages so far */
    uint32_t page;         /* goals that were asked for last */
};

bool naming_next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request);
json_t *naming_result(struct op_call *call, const struct store_answer *answer);
