/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes old data while the daemon works: a thread with its own connection. */
#pragma once

#include "engine/safe_mode.h"
#include "store/retain.h"

#include <pthread.h>
#include <stdatomic.h>

struct retainer {
    const char *where;
    const struct safe *safe; /* STORE-10: nothing is written in safe mode */
    struct retain_rules rules;
    pthread_t thread;
    bool started;
    atomic_bool ending;
};

bool retainer_start(struct retainer *retainer, const char *where, const struct safe *safe);
void retainer_stop(struct retainer *retainer);
