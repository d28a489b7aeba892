/* SPDX-License-Identifier: Apache-2.0 */
/* State of an import. Shared by import*.c only. */
#pragma once

#include "base/map.h"
#include "ops/portable/import.h"
#include "ops/portable/portable.h"
#include "ops/portable/scan.h"

enum import_pass {
    PASS_SURVEY, /* finds out what the document contains, and whether it is JSON */
    PASS_CHECK,  /* checks every item */
    PASS_LOAD,   /* writes to the store */
};

struct tally_line {
    int64_t host;
    int64_t display_states[DISPLAY_STATES];
};

struct import {
    const struct import_options *options;
    struct import_report report;
    enum import_pass pass;
    struct scan scan;
    struct reading reading;
    struct arena arena; /* for one item */
    struct load *load;
    struct arena
        kept; /* for the whole document: the row of `store`, and everything of a plain document */
    json_t *store;    /* overseer.store; NULL: a plain document */
    uint64_t events;  /* counted in PASS_SURVEY */
    uint64_t tx;      /* events so far: gives each its position in the log */
    struct map goals; /* ids, up to IMPORT_IDS */
    bool goals_known; /* `goals` is complete, so that references can be checked */
    struct tally_line *tallies;
    uint32_t tally_count;
    struct plain *plain;   /* the goals of a plain document */
    struct table_row *own; /* row of TABLE_STORE before the import */
    char *error;
    size_t error_size;
};

void import_warn(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One row of the new store: checked, and written in PASS_LOAD. */
bool import_row(struct import *import, const struct table_row *row);

/* Counts one more goal of that host in that display state. */
bool import_tally(struct import *import, int64_t host, int64_t display_state);

/* import_plain.c */
struct plain *plain_make(struct import *import);
void plain_free(struct plain *plain);
bool plain_goal(struct import *import, const char *key, const json_t *item);
bool plain_part(struct import *import, enum part_kind kind, const char *key, const json_t *item);
bool plain_task(struct import *import, struct str title, bool done, uint64_t line);
uint64_t plain_events(const struct plain *plain);
bool plain_finish(struct import *import); /* all goals are built: writes their rows */
