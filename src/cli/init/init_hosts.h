/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the registries that a repository's dependencies come from. */
#pragma once

#include "model/setting/setting.h"

#include <stdio.h>

struct host_list {
    struct str at[LIMIT_LINES]; /* as in repo.hosts */
    uint32_t count;
};

struct hosts_found {
    struct host_list
        taken; /* the usual registries, and those that the repository's own settings name */
    struct host_list offered; /* others that a lock file names: the operator decides */
};

/* What the operator has set; nothing is added to it later. */
void hosts_keep(struct hosts_found *hosts, const struct texts *old, struct arena *arena);
void hosts_find(struct hosts_found *hosts, const char *folder, struct arena *arena);

/* NULL: there is no such file, or it is not a regular one. It may be a symbolic link. */
FILE *regular_open(const char *folder, const char *name);
