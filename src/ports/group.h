/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the machine may a run use, all of its processes together? A control group (cgroup v2) of its own, where we may make
 * one; group_probe() has tried it. */
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
    char parent[GROUP_PATH]; /* groups of runs are made in it; empty: nowhere */
    bool can[GROUP_LIMITS];
    char why[GROUP_WHY]; /* what cannot be held by a group, and why; empty: everything can */
};

/* `given`: a group that the operator made for us; empty: the one that is delegated to the daemon. It makes a group, looks what can
 * be set there, and removes it. */
void group_probe(const char *given, struct group_place *ret);

/* A group with these limits; 0: none. false: there is none, and errno says why. */
bool group_make(const char *path, const uint64_t limits[GROUP_LIMITS]);

/* The kernel ended something in it, because it needed more memory than it may have. */
bool group_ran_out(const char *path);

/* Whatever is in it is killed, and it is removed: for when nobody else is there to do it. */
void group_end(const char *path);
