/* SPDX-License-Identifier: Apache-2.0 */
/* What is known while a document is imported? Shared by import*.c only. */
#pragma once

#include "base/map.h"
#include "ops/import.h"
#include "ops/portable.h"
#include "ops/scan.h"

enum import_pass {
    PASS_SURVEY, /* what is there, and is it JSON? */
    PASS_CHECK,  /* is every item right? */
    PASS_LOAD,   /* into the store */
};

struct tally_line {
    int64_t host;
    int64_t faces[FACES];
};

struct import {
    const struct import_options *options;
    struct import_report report;
    enum import_pass pass;
    struct scan scan;
    struct reading reading;
    struct arena arena; /* of one item */
    struct load *load;
    struct arena kept; /* of the whole document: the row of `store`, and all of a plain one */
    json_t *store;     /* overseer.store; NULL: a plain document */
    uint64_t events;   /* surveyed */
    uint64_t tx;       /* events so far: gives each its place in the log */
    struct map goals;  /* ids, as far as IMPORT_IDS goes */
    bool goals_known;  /* all of them, so that references can be checked */
    struct tally_line *tallies;
    uint32_t tally_count;
    struct plain *plain;   /* the goals of a plain document */
    struct table_row *own; /* what the store says of itself before */
    char *error;
    size_t error_size;
};

void import_warn(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One row of the store that is to be: checked, and put in when the pass is to load. */
bool import_row(struct import *import, const struct table_row *row);

/* One more goal of that host has that face. */
bool import_tally(struct import *import, int64_t host, int64_t face);

/* import_plain.c */
struct plain *plain_make(struct import *import);
void plain_free(struct plain *plain);
bool plain_goal(struct import *import, const char *key, const json_t *item);
bool plain_part(struct import *import, enum part_kind kind, const char *key, const json_t *item);
bool plain_task(struct import *import, struct str title, bool done, uint64_t line);
uint64_t plain_events(const struct plain *plain);
bool plain_finish(struct import *import); /* all goals are made: their rows */
