/* SPDX-License-Identifier: Apache-2.0 */
/* Retention: selects data that need not be kept any longer, and deletes it. G-10, EVENT-06, C-61.
 *
 * By age, in this order: the bodies of records of closed goals; then the records themselves, which are replaced by a
 * milestone (records of an open goal stay, however old they are, until it is closed); the sources that closed goals
 * remember; texts that nothing names any more. Record types that RECORDS marks as kept, the newest record of a goal,
 * and everything without a goal stay for ever. Records that stay past their day are moved to day 0, so that a past day
 * has no rows left: no pass reads it again, and in PostgreSQL its partition is dropped. An admission aggregate, which
 * is open as long as its host, is treated as a closed goal.
 *
 * A pass consists of small steps; each is one transaction that is planned before it begins. The size of a step follows
 * the duration of the last one, so that the ledger never waits long for it. A step that was interrupted is simply
 * repeated. */
#pragma once

#include "store/milestone.h"
#include "store/store.h"

struct retain_rules {
    int32_t bodies_days;  /* days to keep the bodies of closed goals' records */
    int32_t records_days; /* days to keep the records of closed goals */
    int32_t seen_days;    /* days to keep the sources that closed goals remember */
};

/* 30 days of evidence, half a year of history. */
#define RETAIN_DEFAULT \
    (struct retain_rules) { \
        .bodies_days = 30, .records_days = 180, .seen_days = 30 \
    }

struct retain_report {
    uint64_t bodies, records, kept; /* dropped, dropped, moved to day 0 */
    uint64_t milestones;            /* new ones, minus those merged into another */
    uint64_t seen, texts, days;
    uint64_t steps;
    int64_t longest_us; /* longest time that one step kept others from writing, */
    int64_t dearest_us; /* and highest cost of one step: on a busy machine less than its duration */
};

struct retain;

/* `alone`: no daemon uses the store, and no other process checkpoints its write-ahead log. NULL with an error. */
struct retain *retain_open(struct str where, bool alone, char *error, size_t error_size);
void retain_close(struct retain *retain);

/* Begin a pass as of `now`. `whole`: also look for texts that nothing names in goals that this pass does not touch. */
void retain_begin(struct retain *retain, const struct retain_rules *rules, int64_t now, bool whole);

/* After retain_begin(): limit the pass to this share of all records, or to `least` rows if that is more. The next pass
 * continues. This limits the harm that a wrong clock can do. */
void retain_cap(struct retain *retain, uint32_t percent, uint64_t least);

/* Perform one step. False: the pass is over, or something failed: see retain_failed(). */
bool retain_step(struct retain *retain);

/* How long to leave the store alone before the next step, in microseconds. */
int64_t retain_rest_us(const struct retain *retain);

const char *retain_failed(const struct retain *retain); /* NULL: nothing failed */
const struct retain_report *retain_report(const struct retain *retain);
