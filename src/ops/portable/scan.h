/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON documents that are larger than memory, item by item: the scanner reads what is between the items and
 * passes each complete item to the parser. */
#pragma once

#include "base/buffer.h"

#include <jansson.h>
#include <stdio.h>

enum {
    SCAN_ITEM = 256 << 20, /* bytes of one item: enough for a goal with the largest possible plan */
    SCAN_KEY = 512,        /* bytes of a member's name */
    SCAN_DEPTH = 24,       /* nesting of one item */
};

struct scan {
    FILE *file;
    unsigned long line, column; /* of the next character, from 1 */
    struct buffer item;         /* the current item, as text */
    unsigned long item_line, item_column;
    char why[256]; /* "": nothing is wrong */
};

void scan_begin(struct scan *scan, FILE *file);
void scan_free(struct scan *scan);

/* Returns false and keeps line and column. Only the first refusal is kept. */
bool scan_refuse(struct scan *scan, const char *what);

bool scan_take(struct scan *scan,
               char c); /* takes the next character that is not a space, if it is `c` */
bool scan_expect(struct scan *scan, char c); /* the next character has to be `c` */

/* The name of a member and the colon after it. */
bool scan_name(struct scan *scan, char ret_name[SCAN_KEY]);

/* Reads one value as text into `item`; scan_parse() parses it. False or NULL: see `why`. */
bool scan_value(struct scan *scan);
json_t *scan_parse(struct scan *scan);

/* Is only white space left? */
bool scan_end(struct scan *scan);
