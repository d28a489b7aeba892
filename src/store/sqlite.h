/* SPDX-License-Identifier: Apache-2.0 */
/* How is the one-host store opened? */
#pragma once

#include "store/store.h"

struct sqlite_options {
    const char *path;
    const char *vfs; /* NULL: the system's */
    int busy_ms;
    bool read_only; /* nothing is made, changed or brought up to date */
    bool keeps_log; /* its close leaves the write-ahead log, which may be a killed daemon's */
    bool
        inline_checkpoints; /* else somebody calls sqlite_checkpoint() on a connection of its own */
};

struct store *sqlite_open(const struct sqlite_options *options, char *error, size_t error_size);

/* Does a code of the engine say that what is stored is damaged? */
bool sqlite_says_damaged(int code);

/* Move what is in the write-ahead log into the database, so that it stays small. Own thread, own store. */
bool sqlite_checkpoint(struct store *store);
