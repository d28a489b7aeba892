/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done outside? One row for each kind of effect: its promise and its stable encoding. */
#pragma once

#include "model/goal.h"

enum effect_kind {
    EFFECT_NONE,
    EFFECT_COMMAND, /* run a command of the operator's on this host */
    EFFECT_KINDS
};

/* What is promised when a host is lost between the claim and the outcome. */
enum promise {
    PROMISE_AT_MOST_ONCE, /* it becomes unconfirmed, and a person is asked */
};

struct effect {
    enum effect_kind kind;
    struct id goal;
    uint32_t n;
    struct str command;
    int64_t within; /* how long it may take, microseconds */
};

struct effect_row {
    const char *name;
    enum promise promise;
    struct shape shape; /* of the body */
};

extern const struct effect_row EFFECTS[EFFECT_KINDS];

/* What the outside sees as its id: the same for ever, and unlike any other's. */
struct id effect_id(struct id goal, uint32_t n);

struct str effect_encode(const struct effect *effect, struct arena *arena);

/* kind, goal and n are columns beside the body, and are left as they are. */
bool effect_decode(enum effect_kind kind, struct str body, struct effect *ret_effect);
