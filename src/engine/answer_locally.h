/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the operations that the daemon handles by itself. One row for each operation of kind OP_LOCAL. */
#pragma once

#include "engine/context.h"
#include "ops/op.h"

struct local_answer {
    const struct op *op;
    /* Runs on the caller's thread; must not block. Fills call->result, or call->error and call->why. */
    void (*answer_locally)(struct daemon_context *context, struct op_call *call);
};

extern const struct local_answer LOCAL_ANSWERS[];
extern const size_t LOCAL_ANSWER_COUNT;

void answer_locally(struct daemon_context *context, struct op_call *call);
