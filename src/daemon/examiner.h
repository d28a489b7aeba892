/* SPDX-License-Identifier: Apache-2.0 */
/* Is a SQLite store whole whose start had no reason to look at all of it? Examined beside the ledger, once, by a thread of its own. */
#pragma once

#include "daemon/keeper.h"

#include <pthread.h>

struct examiner {
    const char *where;
    struct keeper *keeper; /* damage puts it into safe mode */
    pthread_t thread;
    bool started;
    atomic_bool ending;
    atomic_bool failed; /* it was damaged, or not read to its end: the next start examines all */
};

bool examiner_start(struct examiner *examiner, const char *where, struct keeper *keeper);
void examiner_stop(struct examiner *examiner);
