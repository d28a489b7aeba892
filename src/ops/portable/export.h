/* SPDX-License-Identifier: Apache-2.0 */
/* Exports a whole store as one JSON document, without loss. C-02, STORE-03, G-05.
 *
 * The root has the seed's format; everything that has no place in it is under "overseer". One item per line, in key
 * order: two stores with the same rows produce the same bytes, whatever the engine. docs/export.md */
#pragma once

#include "store/dump.h"

#include <stdio.h>

enum {
    EXPORT_VERSION = 2,
    EXPORT_FORMAT = 1,
    EXPORT_HISTORY = 1000 /* newest revisions exported of a plan */
};

struct export_report {
    uint64_t goals, events, items; /* items: of all other collections */
    uint64_t raw;                  /* items of which something had to be kept raw */
    uint64_t orphans;              /* rows of goals that do not exist: left out */
};

/* Writes row by row from one snapshot: memory does not grow with the store. False: the error says why, and the document
 * is incomplete. */
bool export_write(struct walk *walk, FILE *to, struct export_report *ret, char *error,
                  size_t error_size);

/* Prints the tables of docs/export.md, from the tables of fields. */
void export_describe(FILE *to);
