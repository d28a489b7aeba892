/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs has this host frozen by itself? Kept in a file whose blocks were written in advance: noting a freeze needs no room on the
 * disk, and no database. A slot stays until a committed decision lets the run go on or the run is over. */
#pragma once

#include "base/id.h"

#include <stdbool.h>
#include <stdint.h>

enum { BRAKE_SLOTS = 256 };

enum brake_state {
    BRAKE_NONE,
    BRAKE_FROZEN,
    BRAKE_ALLOWED /* it went on by a decision; `bytes`: how much it may have before it is frozen for its size again */
};

enum brake_cause {
    BRAKE_DISK, /* too little is free */
    BRAKE_SIZE, /* the run has too much */
    BRAKE_STOP, /* a person stops it, and that could not be committed yet */
    BRAKE_CAUSES
};

struct brake_slot {
    enum brake_state state;
    enum brake_cause cause;
    bool told; /* the ledger has the signal */
    struct id run, goal;
    uint32_t charge, number; /* number: of the effect that began the run, from 1 */
    int64_t at;
    uint64_t bytes, free;
};

struct brake_file {
    int fd; /* -1: there is none; slots are in memory only */
    struct brake_slot slots[BRAKE_SLOTS];
};

bool brake_file_open(struct brake_file *file, const char *folder); /* false: errno */
void brake_file_close(struct brake_file *file);
struct brake_slot *brake_file_find(struct brake_file *file, struct id run); /* NULL: none */
struct brake_slot *brake_file_free(struct brake_file *file); /* an unused one; NULL: none */
bool brake_file_keep(struct brake_file *file, const struct brake_slot *slot); /* on the disk */
