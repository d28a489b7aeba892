/* SPDX-License-Identifier: Apache-2.0 */
/* How is a JSON document read that is larger than memory? Item by item: what is between the items is read
 * here, each item as a whole is handed to the parser. */
#pragma once

#include "base/str.h"

#include <jansson.h>
#include <stdio.h>

enum {
    SCAN_ITEM = 256 << 20, /* bytes of one item: a goal with the largest plan there may be */
    SCAN_KEY = 512,        /* bytes of a member's name */
    SCAN_DEPTH = 24,       /* of one item */
};

struct scan {
    FILE *file;
    unsigned long line, column; /* of the next character, from 1 */
    char *item;                 /* the item in hand, as text */
    size_t len, cap;
    unsigned long item_line, item_column;
    char why[256]; /* "": nothing is wrong */
};

void scan_begin(struct scan *scan, FILE *file);
void scan_free(struct scan *scan);

/* False, with line and column. The first one stays. */
bool scan_refuse(struct scan *scan, const char *what);

bool scan_take(struct scan *scan,
               char c); /* the next character that is no space, if it is this one */
bool scan_expect(struct scan *scan, char c); /* it has to be */

/* The name of a member and the colon behind it. */
bool scan_name(struct scan *scan, char ret_name[SCAN_KEY]);

/* One value, as text in `item`; scan_parse() makes JSON of it. NULL: see `why`. */
bool scan_value(struct scan *scan);
json_t *scan_parse(struct scan *scan);

/* Nothing but spaces is left. */
bool scan_end(struct scan *scan);
