/* SPDX-License-Identifier: Apache-2.0 */
/* Milestones: summaries that replace records which retention has deleted. EVENT-06, C-61.
 *
 * One row for each gapless sequence of records: which ones, how many of each type, and the hash of the last one, so
 * that the chain continues from there and still verifies. Adjacent sequences are merged into one. */
#pragma once

#include "model/record.h"

struct milestone {
    struct id goal;
    uint64_t from, to; /* seq of the first and the last record */
    int64_t at;        /* time of the last record */
    struct hash last;  /* hash of the last record */
    uint64_t counts
        [RECORD_TYPES]; /* by type; types that this build does not know are counted at RECORD_NONE */
};

uint64_t milestone_count(const struct milestone *milestone);

/* Encode the counts as stored in `body`, and decode them. Unreadable counts are taken as zero. */
struct str milestone_encode(const struct milestone *milestone, struct arena *arena);
void milestone_decode(struct milestone *milestone, struct str body);

/* Add the next record of the goal. False: it does not follow the milestone. */
bool milestone_add(struct milestone *milestone, struct id goal, const struct record *record);

/* Merge `next` into `milestone` if it begins where `milestone` ends. False: it does not. */
bool milestone_join(struct milestone *milestone, const struct milestone *next);
