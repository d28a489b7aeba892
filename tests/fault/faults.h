/* SPDX-License-Identifier: Apache-2.0 */
/* Injects faults, one kind at a time: its Nth occurrence fails, and with `for_us` every later one too until that much
 * pretend time has passed. */
#pragma once

#include "lib/memvfs.h"

#include <stdbool.h>
#include <stdint.h>

enum fault {
    FAULT_NONE,
    FAULT_ALLOC,  /* malloc, calloc, realloc, strdup in our own code */
    FAULT_ARENA,  /* an arena needs a new chunk, in any code */
    FAULT_JSON,   /* an allocation inside jansson */
    FAULT_ENGINE, /* an allocation inside SQLite */
    FAULT_WRITE,  /* disk faults, from here to FAULT_READ */
    FAULT_FULL,
    FAULT_SYNC,
    FAULT_READ,
    FAULT_QUERY, /* a PostgreSQL query cannot be sent */
    FAULT_LINE,  /* the connection to PostgreSQL breaks, before or after a call of libpq */
    FAULTS
};

extern const char *const FAULT_NAMES[FAULTS];

/* Once, before anything uses SQLite or jansson. */
void faults_install(void);

void fault_arm(enum fault kind, struct memdisk *disk, uint64_t nth, int64_t for_us);
void fault_disarm(void);
bool fault_struck(void); /* since it was armed */

/* While paused, the test's own operations do not fail. */
void fault_pause(bool paused);

/* This kind neither fails nor counts, until FAULT_NONE is spared instead. */
void fault_spare(enum fault kind);

/* Call before each request: arms a disk fault again that is meant to last for a while. */
void fault_renew(void);
