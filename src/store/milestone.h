/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in for records that retention has taken out? EVENT-06, C-61.
 *
 * A row for each run of records without a gap: which ones, how many of each type, and the hash of the last one,
 * so that the chain goes on from there and still verifies. Runs that touch are one run. */
#pragma once

#include "model/record.h"

struct milestone {
    struct id goal;
    uint64_t from, to; /* seq of the first and the last record */
    int64_t at;        /* of the last one */
    struct hash last;  /* its hash */
    uint64_t counts
        [RECORD_TYPES]; /* by type; those of types that this build does not know: at RECORD_NONE */
};

uint64_t milestone_count(const struct milestone *milestone);

/* The counts as they are stored in `body`, and back. What cannot be read counts as nothing. */
struct str milestone_encode(const struct milestone *milestone, struct arena *arena);
void milestone_decode(struct milestone *milestone, struct str body);

/* One more record, the next of its goal. False: it does not follow. */
bool milestone_add(struct milestone *milestone, struct id goal, const struct record *record);

/* `next` begins where `milestone` ends: it becomes a part of it. False: it does not. */
bool milestone_join(struct milestone *milestone, const struct milestone *next);
