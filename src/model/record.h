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
    RECORD_GOAL_UPDATED,
    RECORD_GOAL_PAUSED,
    RECORD_GOAL_RESUMED,
    RECORD_GOAL_CANCELLED,
    RECORD_GOAL_ARCHIVED,
    RECORD_GOAL_REOPENED,
    RECORD_GOAL_RELEASED,
    RECORD_GOAL_RESTORED, /* the store was put back to an earlier time */
    RECORD_PLAN_CREATED,
    RECORD_PLAN_UPDATED,
    RECORD_PLAN_REVIEW_NEEDED,
    RECORD_PLAN_APPROVED,
    RECORD_PLAN_REJECTED,
    RECORD_WORK_TODO, /* in the order of enum node_status */
    RECORD_WORK_QUEUED,
    RECORD_WORK_STARTED,
    RECORD_WORK_BLOCKED,
    RECORD_WORK_DONE,
    RECORD_WORK_CANCELLED,
    RECORD_WORK_FOLLOWS,
    RECORD_EFFECT_WITHDRAWN, /* before anybody claimed it */
    RECORD_PART_PUT,
    RECORD_STORE_CORRUPT,
    RECORD_STORE_RESTORED,
    RECORD_STORE_REBUILT,
    RECORD_STORE_IMPORTED,
    RECORD_SIGNAL_REFUSED, /* it came from another host, so nobody waits for the answer */
    RECORD_WORK_HELD,      /* somebody wants it to stay as it is, whatever its children do */
    RECORD_POLICY_CHANGED, /* of SYSTEM_GOAL: an operator's settings, from now on these */
    RECORD_FLEET_STOPPED,  /* of SYSTEM_GOAL: nothing is started until it is resumed */
    RECORD_FLEET_RESUMED,
    RECORD_TYPES
};

struct record_row {
    const char *name;
    bool kept; /* EVENT-06: retention leaves it where it is */
};
extern const struct record_row RECORDS[RECORD_TYPES];

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
    int64_t threshold;   /* the limit that was compared, in its own unit */
    struct str text;     /* what was said, run or seen */
    struct str node;     /* EVENT-02: workNodeId */
    struct str from, to; /* a status left, a status reached */
    struct str reason;   /* PLAN-14: why a person wanted it */
    enum who by;
    uint32_t override;     /* 1: past the table */
    uint64_t plan_version; /* PLAN-19: afterwards */
    enum plan_reason why;
    struct hash more; /* of a text that did not fit here */
    struct str trace;
    enum blocked_by blocked;
    struct str assignment; /* EVENT-02 */
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

/* The goal that records about the store itself belong to: no goal of anybody's can have this id. */
extern const struct id SYSTEM_GOAL;

/* What its hash has to be, from its columns and the hash of its body: also once the body has been dropped. */
struct hash record_hash(const struct record *record, struct id goal, const struct hash *head);

/* Fill in seq and hashes as the next record after (seq, head) of this goal. */
void record_seal(struct record *record, struct id goal, uint64_t last_seq, const struct hash *head);
