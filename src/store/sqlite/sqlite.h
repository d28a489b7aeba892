/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an SQLite store, which serves one host. */
#pragma once

#include "store/store.h"

struct sqlite_options {
    const char *path;
    const char *vfs; /* NULL: the system's default */
    int busy_ms;
    bool read_only; /* nothing is created, changed or migrated */
    bool keeps_log; /* closing it leaves the write-ahead log, which may belong to a killed daemon */
    bool
        inline_checkpoints; /* else another thread calls sqlite_checkpoint() with a store of its own */
};

struct store *sqlite_open(const struct sqlite_options *options, char *error, size_t error_size);

/* True if an SQLite code means that the stored data is damaged. */
bool sqlite_says_damaged(int code);

/* Move the write-ahead log's content into the database, so that the log stays small. Needs its own thread and its own
 * store. */
bool sqlite_checkpoint(struct store *store);
