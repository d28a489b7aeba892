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
    RECORD_CHARGE_QUEUED, /* in the order of enum charge_status */
    RECORD_CHARGE_DISPATCHED,
    RECORD_CHARGE_ACTIVE,
    RECORD_CHARGE_STALLED,
    RECORD_CHARGE_BLOCKED,
    RECORD_CHARGE_DONE,
    RECORD_CHARGE_CANCELLED,
    RECORD_CHARGE_ACCEPTED,   /* a dispatch arrived */
    RECORD_CHARGE_DOUBTED,    /* nobody knows whether it did */
    RECORD_CHARGE_WAITS,      /* quota, permit, person: and until when */
    RECORD_CHARGE_DENIED,     /* for good: budget, policy */
    RECORD_LADDER_CLIMBED,    /* the next rung, and why */
    RECORD_LADDER_SKIPPED,    /* a rung that does not apply, and why */
    RECORD_LADDER_SUPPRESSED, /* TICK-23: the same words too soon */
    RECORD_AGENT_SEEN,        /* evidence that was used */
    RECORD_UPDATE_TAKEN,      /* UPDATE: what an agent said, in the agreed form */
    RECORD_UPDATE_REFUSED,
    RECORD_UPDATE_HELD, /* UPDATE-06: nobody knows which work it is about */
    RECORD_HANDOFF,
    RECORD_QUESTION_ASKED,
    RECORD_QUESTION_SAID,   /* a channel took it */
    RECORD_QUESTION_UNSAID, /* a channel did not; the others are tried */
    RECORD_QUESTION_SEEN,
    RECORD_QUESTION_SNOOZED,
    RECORD_QUESTION_ANSWERED,
    RECORD_QUESTION_UNDONE,
    RECORD_QUESTION_APPLIED, /* the answer takes effect */
    RECORD_QUESTION_EXPIRED,
    RECORD_QUESTION_WITHDRAWN,
    RECORD_QUESTION_RAISED, /* REQUEST-09: from a parent to a person */
    RECORD_PERMIT_GRANTED,  /* of a desk, as those below */
    RECORD_PERMIT_DENIED,
    RECORD_PERMIT_SETTLED,
    RECORD_ACCOUNT_LIMITED,
    RECORD_ACCOUNT_OPEN,
    RECORD_BUDGET_USED_UP,
    RECORD_DESK_SUSPENDED, /* too much at once: a person is asked */
    RECORD_DESK_RELEASED,
    RECORD_MAIL_SENT,
    RECORD_MAIL_READ,
    RECORD_WORK_RETRIED,
    RECORD_PERMIT_WAITS, /* of a desk: asked for, and what it waits for */
    RECORD_DESK_OPENED,
    RECORD_WORK_CHECKED, /* the operator's checks, on exactly that commit */
    RECORD_WORK_LANDED,
    RECORD_WORK_NOT_LANDED,
    RECORD_AGENT_PROGRESS, /* how far it says it is */
    RECORD_LANE_OPENED,    /* of a workspace, as those below */
    RECORD_LANE_WAITS,     /* work wants to land, and what it waits for */
    RECORD_LANE_GRANTED,   /* it has the slot */
    RECORD_LANE_RETURNED,
    RECORD_LANE_REVOKED, /* it kept the slot for too long */
    RECORD_LANE_HELD,    /* a person holds the lane */
    RECORD_LANE_RELEASED,
    RECORD_CLOCK_STEPPED,   /* stored times were corrected */
    RECORD_RUN_BRAKED,      /* the host has frozen a run, and why */
    RECORD_EFFECT_RENEWED,  /* no host ran when its time was over: it has its time again */
    RECORD_EFFECT_RETURNED, /* its host knows that it never began: it may be claimed again */
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
    uint32_t owner;        /* of the goal, when it was decided: for replay */
    struct str
        input; /* the encoded signal, on the first record of a decision; empty: it is apart, */
    struct hash input_apart; /* under this hash */
    struct str question;     /* Q_n */
    int64_t until;
    uint64_t count; /* how often, how many */
    uint64_t era;   /* of the store, and */
    uint32_t level; /* what the fleet had agreed to write: both for replay */
    struct str
        samples; /* encoded SAMPLES: stored without a record since the decision before, on the
                           first record of this one; empty: none, or they are apart, */
    struct hash samples_apart; /* under this hash */
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
