/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which store this process may write to. STORE-21: a store has an instance id that was created with it. A
 * process that was configured with another id gets an error, and so does a connection that finds a different store at
 * the same place. */
#pragma once

#include "store/store.h"

struct instance_state { /* the instance that a driver requires of its store */
    bool set;
    struct id id;
};

enum instance_verdict {
    INSTANCE_OURS,
    INSTANCE_NEW,   /* not used yet: it takes the id that this process was configured with */
    INSTANCE_OTHER, /* a different store; `why` says so */
};

/* Called for each connection that may write. `fresh`: no host has ever joined this store. */
enum instance_verdict instance_hold(struct instance_state *watch, struct id stored, bool fresh,
                                    char *why, size_t why_size);
