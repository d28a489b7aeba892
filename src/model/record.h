/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided, and from what evidence? A record is a row of the append-only log.
 *
 * Records of one goal form a chain: each hash covers the one before it, the columns, and the hash of
 * the body, so that the chain still verifies after a body has been dropped. */
#pragma once

#include "model/signal.h"

enum record_type {
    RECORD_NONE,
    RECORD_GOAL_CREATED,
    RECORD_GOAL_REPORTED,
    RECORD_GOAL_COMPLETED,
    RECORD_GOAL_NEEDS_PERSON,
    RECORD_GOAL_QUARANTINED,
    RECORD_EFFECT_DECIDED,
    RECORD_EFFECT_CLAIMED,
    RECORD_EFFECT_ENDED,
    RECORD_EFFECT_UNCONFIRMED,
    RECORD_TYPES
};

/* The body: enough to say why, from the record alone. */
struct evidence {
    struct str rule; /* the rule that decided, stable */
    enum signal_kind signal;
    struct id source; /* of that signal */
    struct str actor;
    uint32_t effect; /* ordinal + 1; 0: none */
    uint32_t host;
    uint64_t fence;
    int64_t exit;
    int64_t threshold; /* the limit that was compared, in its own unit */
    struct str text;   /* what was said, run or seen */
};

struct record {
    enum record_type type;
    uint64_t seq;
    int64_t at;
    uint32_t core;      /* version of the rules */
    struct hash policy; /* in force */
    struct hash body_hash, hash;
    struct str body; /* encoded evidence */
};

extern const struct names RECORD_NAMES;
extern const struct shape EVIDENCE;

/* Fill in seq and hashes as the next record after (seq, head) of this goal. */
void record_seal(struct record *record, struct id goal, uint64_t last_seq, const struct hash *head);
