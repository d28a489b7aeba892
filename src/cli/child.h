/* SPDX-License-Identifier: Apache-2.0 */
/* How is another program run, and watched while it works? */
#pragma once

#include "cli/trouble.h"

#include <limits.h>
#include <sys/types.h>

/* Beside this program, or else in PATH. */
bool program_find(const char *name, char path[PATH_MAX]);

struct child {
    char *const *words;
    const char *grows; /* a file that grows while it works; NULL: none */
    const char *whole; /* and the file that it will be about as large as */
    const char *what;  /* shown while somebody waits for it: "backup" */
    bool quiet;        /* nothing of what it prints is passed on; */
    char said[4096];   /* it is kept here, as far as it fits */
    int status;        /* that it ended with */
};

/* False: it could not be started, or ended by a signal. */
bool child_run(struct child *child, struct trouble *trouble);
