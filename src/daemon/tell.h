/* SPDX-License-Identifier: Apache-2.0 */
/* What does the daemon answer by itself? One row for each operation of kind OP_TELLS. */
#pragma once

#include "daemon/house.h"
#include "ops/op.h"

struct telling {
    const struct op *op;
    /* On the caller's thread; must not wait. Fills call->result, or call->error and call->why. */
    void (*tell)(struct house *house, struct op_call *call);
};

extern const struct telling TELLINGS[];
extern const size_t TELLING_COUNT;

void tell(struct house *house, struct op_call *call);
