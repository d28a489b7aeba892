/* SPDX-License-Identifier: Apache-2.0 */
/* Imports a JSON document or a list of tasks into a store. G-05, G-30, C-02.
 *
 * A document written by export is restored row by row. A document in the seed's format without "overseer", or a list of
 * tasks in Markdown, is treated as a request: every goal in it is created by the same rules as any other, with its own
 * chain of records. The whole document is read and checked before anything is written. */
#pragma once

#include "store/dump.h"

#include <stdio.h>

enum {
    IMPORT_IDS =
        4
        << 20, /* goals whose ids are remembered to check references; beyond that the store checks */
    IMPORT_GOALS = 65536, /* goals of a document without "overseer": all of it is kept in memory */
    IMPORT_BYTES = 256 << 20, /* the same, size of its file */
    IMPORT_WARNINGS = 200,    /* reported one by one; the rest is only counted */
    IMPORT_TALLIES = 4096,    /* hosts whose goals are counted */
    IMPORT_LINE = 4096,       /* length of a line in a list of tasks */
};

struct import_options {
    FILE *file;
    bool tasks;    /* a list of tasks, not JSON */
    bool move;     /* the old store is shut down for good: its pending effects are executed here */
    uint32_t host; /* owner of the goals made from a plain document */
    int64_t now;
    struct store *store; /* NULL: only check the document */
    const char *
        where; /* location of the same store: its chains are verified before the import ends. May be NULL */
    void *with;
    void (*warn)(void *with, const char *what); /* may be NULL */
};

struct import_report {
    bool plain; /* the document had no "overseer" */
    uint64_t goals, events, rows;
    uint64_t warnings;
};

/* False: the error says what is wrong and where, and the store is empty as before. */
bool import_run(const struct import_options *options, struct import_report *ret, char *error,
                size_t error_size);

/* P4, all at once: this host takes over the goals of every other host. For a store on which only one host will work;
 * effects that the others had running are unconfirmed from then on. */
bool import_adopt(struct store *store, uint32_t host, int64_t now, uint64_t *ret_goals, char *error,
                  size_t error_size);
