/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the daemon's socket, folder and store, and its process. */
#pragma once

#include "cli/typed.h"

#include <sys/types.h>

/* Fills typed->at from the settings, as overseerd reads them: file, environment, and the flags that were typed. */
void place_find(struct typed *typed);
/* Makes a folder and its parents, accessible to this user only. */
void place_make(const char *folder);

/* WATCH-01: what the daemon registered about itself when it started. */
struct registered {
    pid_t pid;
    int pidfd; /* refers to exactly that process; -1: it is gone */
    char log[PATH_MAX];
};
/* False: there is no registration, or its process has ended. The caller closes the pidfd. */
bool registered_read(const struct daemon_address *at, struct registered *ret);
