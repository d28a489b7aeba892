/* SPDX-License-Identifier: Apache-2.0 */
/* How does a JSON document, or a list of tasks, become a store? G-05, G-30, C-02.
 *
 * A document that export wrote comes back row by row. One of the seed's shape without "overseer", or a list of
 * tasks in Markdown, is taken as somebody's wish: every goal in it is made by the same rules as any other, with
 * a chain of records of its own. The whole document is read and checked before anything is written. */
#pragma once

#include "store/dump.h"

#include <stdio.h>

enum {
    IMPORT_IDS =
        4 << 20, /* goals whose ids are remembered, for references; beyond that the store checks */
    IMPORT_GOALS = 65536,     /* of a document without "overseer": all of it is kept in memory */
    IMPORT_BYTES = 256 << 20, /* the same, of its file */
    IMPORT_WARNINGS = 200,    /* said one by one; the rest is counted */
    IMPORT_TALLIES = 4096,    /* hosts whose goals are counted */
    IMPORT_LINE = 4096,       /* of a list of tasks */
};

struct import_options {
    FILE *file;
    bool tasks;    /* a list of tasks, not JSON */
    bool move;     /* the old store is shut down for good: what it was about to do is done here */
    uint32_t host; /* that goals made from a plain document belong to */
    int64_t now;
    struct store *store; /* NULL: only check the document */
    const char *
        where; /* the same, by name: its chains are followed before the import is over. May be NULL */
    void *with;
    void (*warn)(void *with, const char *what); /* may be NULL */
};

struct import_report {
    bool plain; /* it had no "overseer" */
    uint64_t goals, events, rows;
    uint64_t warnings;
};

/* False: the error says what is wrong where, and the store is as it was: empty. */
bool import_run(const struct import_options *options, struct import_report *ret, char *error,
                size_t error_size);

/* P4, all at once: the goals of every other host become this one's. For a store on which only one host will
 * work; what the others had running is unconfirmed from here on. */
bool import_adopt(struct store *store, uint32_t host, int64_t now, uint64_t *ret_goals, char *error,
                  size_t error_size);
