/* SPDX-License-Identifier: Apache-2.0 */
/* Runs another program, and watches it while it works. */
#pragma once

#include "cli/trouble.h"

#include <limits.h>
#include <sys/types.h>

/* Looks beside this program first, then in PATH. */
bool program_find(const char *name, char path[PATH_MAX]);

/* Tries it, as the daemon does: an installed bubblewrap may still not be allowed to create namespaces. */
bool bwrap_works(char path[PATH_MAX]);

struct child {
    char *const *words;
    const char *grows; /* a file that grows while it works; NULL: none */
    const char *whole; /* a file of about the size that it will reach */
    const char *what;  /* label shown while the user waits: "backup" */
    bool quiet;        /* its output is not passed on */
    char output[4096]; /* its output, as far as it fits */
    int status;        /* its exit status */
};

/* False: it could not be started, or a signal ended it. */
bool child_run(struct child *child, struct trouble *trouble);
