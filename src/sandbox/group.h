/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how much of the machine all processes of a run may use together, with a control group (cgroup v2) of the run's
 * own, where we may create one; group_probe() has tried it. */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum group_limit {
    GROUP_MEMORY,    /* bytes */
    GROUP_CPU,       /* percent of one processor */
    GROUP_PROCESSES, /* at once */
    GROUP_LIMITS
};

enum { GROUP_PATH = 1024, GROUP_WHY = 200 };

struct group_place {
    char parent[GROUP_PATH]; /* groups of runs are created in it; empty: not possible */
    bool can[GROUP_LIMITS];
    char why[GROUP_WHY]; /* what a group cannot limit, and why; empty: it can limit everything */
};

/* `given`: a group that the operator created for us; empty: the one that is delegated to the daemon. Creates a group,
 * checks what can be set there, and removes it. */
void group_probe(const char *given, struct group_place *ret);

/* Creates a group with these limits; 0: none. False: no group was created, and errno says why. */
bool group_make(const char *path, const uint64_t limits[GROUP_LIMITS]);

/* True: the kernel killed something in it, because it needed more memory than allowed. */
bool group_ran_out(const char *path);

/* Kills everything in it and removes it: for when nothing else is left that would do it. */
void group_end(const char *path);
