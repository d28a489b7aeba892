/* SPDX-License-Identifier: Apache-2.0 */
/* Examines a SQLite store in the background if the start had no reason to examine all of it. A thread of its own does
 * this once, beside the ledger. */
#pragma once

#include "engine/ledger_thread.h"

#include <pthread.h>

struct examiner {
    const char *where;
    struct ledger_thread *ledger_thread; /* damage switches it to safe mode */
    pthread_t thread;
    bool started;
    atomic_bool ending;
    atomic_bool
        failed; /* the store is damaged or was not read to its end: the next start examines all of it */
};

bool examiner_start(struct examiner *examiner, const char *where,
                    struct ledger_thread *ledger_thread);
void examiner_stop(struct examiner *examiner);
