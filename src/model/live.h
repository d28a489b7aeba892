/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of an aggregate that are in memory: fixed size, no pointers, in order of n. All kinds are copied, loaded and
 * stored the same way. History stays in the store. */
#pragma once

#include "model/admission.h"
#include "model/assignment.h"
#include "model/question.h"

/* The plan comes first, so that code that holds a struct live can also expose it as `plan`. */
struct live {
    struct plan plan;
    struct assignments assignments;
    struct questions questions;
    struct agent_messages agent_messages;
    struct permits permits; /* this and the next two: of admission */
    struct accounts accounts;
    struct budgets budgets;
    struct host_accesses host_accesses; /* of a workspace */
    struct task_batches task_batches;   /* of admission */
};

/* Common view of any kind of rows: each begins with a pointer to its rows and their count. */
struct live_rows {
    void *at;
    uint32_t count;
};
