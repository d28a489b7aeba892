/* SPDX-License-Identifier: Apache-2.0 */
/* Where is what belongs to the daemon, and which process is it? */
#pragma once

#include "cli/typed.h"

#include <sys/types.h>

/* Fills typed->at from the settings, as overseerd reads them: file, environment, and the flags that were typed. */
void place_find(struct typed *typed);
/* Makes a folder and those above it, for this person alone. */
void place_make(const char *folder);

/* WATCH-01: what the daemon wrote about itself when it started. */
struct registered {
    pid_t pid;
    int pidfd; /* of exactly that process; -1: it is gone */
    char log[PATH_MAX];
};
/* False: there is none, or it is of a process that ended. The pidfd is to be closed. */
bool registered_read(const struct door_at *at, struct registered *ret);
