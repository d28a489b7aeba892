/* SPDX-License-Identifier: Apache-2.0 */
/* Which files does the daemon leave for whoever guards it? WATCH-01 to WATCH-03.
 *
 * daemon.json says who runs here, from before the first turn until the end; auto.heartbeat is written anew every five
 * seconds by a thread that depends on nothing but the disk, and says beside the time how often the ledger's loop and
 * the I/O loop have gone round: so a hang is seen while the thread lives. */
#pragma once

#include "daemon/keeper.h"

struct registration {
    const char *folder, *socket;
    const char *log_file; /* "" on standard error */
    char instance[37];    /* a random UUID, new at each start */
};

/* Before the first turn. False: the folder cannot be written. */
bool registration_write(struct registration *registration);
void registration_remove(const struct registration *registration);

/* The same for files that somebody else reads: whole or not at all, in place of what was there. */
bool file_replace(const char *folder, const char *name, const char *text, size_t length, bool sync);

struct heartbeat {
    const struct registration *registration;
    const struct keeper *keeper;
    const atomic_uint_least64_t *pulse; /* of the I/O loop */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, stopping;
};

/* The watchdog of the service manager is fed from here too, as long as both loops go round. */
bool heartbeat_start(struct heartbeat *heartbeat);
void heartbeat_stop(struct heartbeat *heartbeat);
