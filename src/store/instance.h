/* SPDX-License-Identifier: Apache-2.0 */
/* Which store may this process write to? STORE-21: a store has a name that was made with it. A process that was
 * told another name gets an error, and so does a connection that suddenly finds another store in its place. */
#pragma once

#include "store/store.h"

struct instance_watch { /* what a driver holds its store to */
    bool set;
    struct id id;
};

enum instance_verdict {
    INSTANCE_OURS,
    INSTANCE_NEW,   /* nobody has used it yet: it takes the name that we were told */
    INSTANCE_OTHER, /* `why` says so */
};

/* Asked with each connection that may write. `fresh`: no host has ever joined this store. */
enum instance_verdict instance_hold(struct instance_watch *watch, struct id stored, bool fresh,
                                    char *why, size_t why_size);
