/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long the ledger waits while retention works through a long past. */
#pragma once

#include "store/store.h"

enum { RECORDS_EACH = 50, DAYS_EACH = 5 };

struct past {
    const char *where;
    uint64_t records;                /* to be generated; RECORDS_EACH for each goal */
    int32_t first_day, days, stride; /* number of days; only every stride-th day is used */
};

_Noreturn void retain_die(const char *what, const char *why);
double seconds_now(void);

/* Fills an existing store with closed goals and their records, in the order in which a fleet would have written them,
 * with complete chains. */
void past_fill(const struct past *past);

/* The next record in that order. */
struct past_row {
    uint64_t tx;
    uint32_t n;
    int32_t day;
    struct id goal;
    struct record record;
};

struct past_goal {
    struct goal goal;
    struct str hot; /* sealed */
};

struct past_writer {
    void *with;
    void (*record)(void *with, const struct past_row *row);
    void (*goal)(void *with, const struct past_goal *goal);
};

void past_walk(const struct past *past, const struct past_writer *writer);
void past_fill_sqlite(const struct past *past);
void past_fill_postgres(const struct past *past);
