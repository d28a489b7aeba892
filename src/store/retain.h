/* SPDX-License-Identifier: Apache-2.0 */
/* What need not be kept any longer, and how does it go? G-10, EVENT-06, C-61.
 *
 * By age, in this order: the bodies of records of goals that are closed; then the records themselves, which
 * leave a milestone; records of an open goal stay, however old they are, until it is closed; sources that closed goals remember; texts that nothing names any more. Types that
 * RECORDS calls kept, the newest record of a goal, and whatever has no goal stay for ever. What stays past its
 * day is moved to day 0, so that a day that is over has no rows left: no pass looks at it again, and in
 * PostgreSQL its partition is dropped. A desk, which is open for as long as its host, is treated as a closed goal.
 *
 * A pass is made of small steps, each one transaction that is planned before it begins. The size of a step
 * follows how long the last one took: the ledger never waits long for it. A step that was cut off is simply
 * made again. */
#pragma once

#include "store/milestone.h"
#include "store/store.h"

struct retain_rules {
    int32_t bodies_days;  /* of records of closed goals */
    int32_t records_days; /* of closed goals */
    int32_t seen_days;    /* of closed goals */
};

/* 30 days of evidence, half a year of history. */
#define RETAIN_DEFAULT \
    (struct retain_rules) { \
        .bodies_days = 30, .records_days = 180, .seen_days = 30 \
    }

struct retain_report {
    uint64_t bodies, records, kept; /* dropped, dropped, moved to day 0 */
    uint64_t milestones;            /* new ones, less those that became part of another */
    uint64_t seen, texts, days;
    uint64_t steps;
    int64_t longest_us; /* that one step kept others from writing, */
    int64_t dearest_us; /* and what a step cost at most: on a busy machine less */
};

struct retain;

/* `alone`: no daemon works on the store, nobody else moves its write-ahead log on. NULL with an error. */
struct retain *retain_open(struct str where, bool alone, char *error, size_t error_size);
void retain_close(struct retain *retain);

/* Begin a pass as of `now`. `whole`: also look for unnamed texts of goals that this pass does not touch. */
void retain_begin(struct retain *retain, const struct retain_rules *rules, int64_t now, bool whole);

/* After retain_begin(): let the pass drop no more than this share of all records, or `least` rows if that is more. The next pass
 * goes on. A clock that is wrong does limited harm. */
void retain_cap(struct retain *retain, uint32_t percent, uint64_t least);

/* One step. False: the pass is over, or something failed: see retain_failed(). */
bool retain_step(struct retain *retain);

/* How long to leave the store alone before the next step, in microseconds. */
int64_t retain_rest_us(const struct retain *retain);

const char *retain_failed(const struct retain *retain); /* NULL: nothing has */
const struct retain_report *retain_report(const struct retain *retain);
