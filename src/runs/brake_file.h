/* SPDX-License-Identifier: Apache-2.0 */
/* Stores which runs this host has frozen by itself, in a file whose blocks were written in advance: recording a freeze
 * needs neither disk space nor a database. A slot stays until a committed decision lets the run continue or the run is
 * over. */
#pragma once

#include "base/id.h"

#include <stdbool.h>
#include <stdint.h>

enum { BRAKE_SLOTS = 256 };

enum brake_state {
    BRAKE_NONE,
    BRAKE_FROZEN,
    BRAKE_ALLOWED /* a decision let it continue; `bytes`: how much it may use before it is frozen for its size again */
};

enum brake_cause {
    BRAKE_DISK, /* too little disk space is free */
    BRAKE_SIZE, /* the run uses too much disk space */
    BRAKE_STOP, /* an operator stops it, and that could not be committed yet */
    BRAKE_CAUSES
};

struct brake_slot {
    enum brake_state state;
    enum brake_cause cause;
    bool reported; /* the ledger has the signal */
    struct id run, goal;
    uint32_t assignment, number; /* number: of the effect that started the run, from 1 */
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
bool brake_file_keep(struct brake_file *file, const struct brake_slot *slot); /* to disk */
