/* SPDX-License-Identifier: Apache-2.0 */
/* How does a whole store become one JSON document, and nothing is lost? C-02, STORE-03, G-05.
 *
 * The root has the shape of the seed; what it has no place for stands under "overseer". One item a line, in the
 * order of keys: two stores with the same rows make the same bytes, whatever the engine. docs/export.md */
#pragma once

#include "store/dump.h"

#include <stdio.h>

enum {
    EXPORT_VERSION = 2,
    EXPORT_FORMAT = 1,
    EXPORT_HISTORY = 1000 /* newest revisions shown of a plan */
};

struct export_report {
    uint64_t goals, events, items; /* items: of all other collections */
    uint64_t raw;                  /* of which something had to be kept as it is */
    uint64_t orphans;              /* rows of goals that there are not: left out */
};

/* Row by row out of one snapshot: memory does not grow with the store. False: the error says why, and the
 * document is not whole. */
bool export_write(struct walk *walk, FILE *to, struct export_report *ret, char *error,
                  size_t error_size);

/* The tables of docs/export.md, from the tables of fields. */
void export_describe(FILE *to);
