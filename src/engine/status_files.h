/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the status files for the process that guards the daemon. WATCH-01 to WATCH-03.
 *
 * daemon.json identifies the running daemon, from before the first turn until the end. auto.heartbeat is rewritten
 * every five seconds by a thread that depends on nothing but the disk; beside the time, it says how many iterations the
 * ledger's loop and the I/O loop have made: so a hang is visible while the thread lives. */
#pragma once

#include "engine/ledger_thread.h"

struct registration {
    const char *folder, *socket;
    const char *log_file;         /* "": standard error */
    char instance[UUID_TEXT + 1]; /* a random UUID, new at each start */
};

/* Before the first turn. False: the folder cannot be written. */
bool registration_write(struct registration *registration);
void registration_remove(const struct registration *registration);

struct heartbeat {
    const struct registration *registration;
    const struct ledger_thread *ledger_thread;
    const atomic_uint_least64_t *pulse; /* of the I/O loop */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, stopping;
};

/* This thread also notifies the service manager's watchdog, as long as both loops make progress. */
bool heartbeat_start(struct heartbeat *heartbeat);
void heartbeat_stop(struct heartbeat *heartbeat);
