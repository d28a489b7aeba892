/* SPDX-License-Identifier: Apache-2.0 */
/* Records: what was decided, and from what evidence. A record is a row of the append-only log.
 *
 * The records of one goal form a chain: each hash covers the one before it, the columns, and the hash of the body, so
 * that the chain still verifies after a body has been dropped. */
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
    RECORD_GOAL_RESTORED, /* the store was restored to an earlier time */
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
    RECORD_EFFECT_WITHDRAWN, /* before any host claimed it */
    RECORD_PART_PUT,
    RECORD_STORE_CORRUPT,
    RECORD_STORE_RESTORED,
    RECORD_STORE_REBUILT,
    RECORD_STORE_IMPORTED,
    RECORD_SIGNAL_REFUSED, /* it came from another host, so no caller waits for the answer */
    RECORD_WORK_HELD,      /* its status was pinned, whatever its children do */
    RECORD_POLICY_CHANGED, /* of SYSTEM_GOAL: the operator's settings from now on */
    RECORD_FLEET_STOPPED,  /* of SYSTEM_GOAL: nothing is started until it is resumed */
    RECORD_FLEET_RESUMED,
    RECORD_ASSIGNMENT_QUEUED, /* in the order of enum assignment_status */
    RECORD_ASSIGNMENT_DISPATCHED,
    RECORD_ASSIGNMENT_ACTIVE,
    RECORD_ASSIGNMENT_STALLED,
    RECORD_ASSIGNMENT_BLOCKED,
    RECORD_ASSIGNMENT_DONE,
    RECORD_ASSIGNMENT_CANCELLED,
    RECORD_ASSIGNMENT_ACCEPTED, /* a dispatch arrived */
    RECORD_ASSIGNMENT_DOUBTED,  /* it is unknown whether a dispatch arrived */
    RECORD_ASSIGNMENT_WAITS,    /* quota, permit, person: and until when */
    RECORD_ASSIGNMENT_DENIED,   /* permanently: budget, policy */
    RECORD_LADDER_CLIMBED,      /* the next rung, and why */
    RECORD_LADDER_SKIPPED,      /* a rung that does not apply, and why */
    RECORD_LADDER_SUPPRESSED,   /* TICK-23: the same text too soon */
    RECORD_AGENT_SEEN,          /* evidence that was used */
    RECORD_UPDATE_TAKEN,        /* UPDATE: an agent's update in the agreed form */
    RECORD_UPDATE_REFUSED,
    RECORD_UPDATE_HELD, /* UPDATE-06: it is unknown which work it is about */
    RECORD_HANDOFF,
    RECORD_QUESTION_ASKED,
    RECORD_QUESTION_SENT,   /* a channel accepted it */
    RECORD_QUESTION_UNSENT, /* a channel did not accept it; the others are tried */
    RECORD_QUESTION_SEEN,
    RECORD_QUESTION_SNOOZED,
    RECORD_QUESTION_ANSWERED,
    RECORD_QUESTION_UNDONE,
    RECORD_QUESTION_APPLIED, /* the answer takes effect */
    RECORD_QUESTION_EXPIRED,
    RECORD_QUESTION_WITHDRAWN,
    RECORD_QUESTION_RAISED, /* REQUEST-09: from a parent to a person */
    RECORD_PERMIT_GRANTED,  /* of admission, as those below */
    RECORD_PERMIT_DENIED,
    RECORD_PERMIT_SETTLED,
    RECORD_ACCOUNT_LIMITED,
    RECORD_ACCOUNT_OPEN,
    RECORD_BUDGET_USED_UP,
    RECORD_ADMISSION_SUSPENDED, /* too much at once: a person is asked */
    RECORD_ADMISSION_RELEASED,
    RECORD_MAIL_SENT,
    RECORD_MAIL_READ,
    RECORD_WORK_RETRIED,
    RECORD_PERMIT_WAITS, /* of admission: requested, and what it waits for */
    RECORD_ADMISSION_OPENED,
    RECORD_WORK_CHECKED, /* the operator's checks ran on exactly that commit */
    RECORD_WORK_LANDED,
    RECORD_WORK_NOT_LANDED,
    RECORD_AGENT_PROGRESS, /* progress that the agent reports */
    RECORD_LANE_OPENED,    /* of a workspace, as those below */
    RECORD_LANE_WAITS,     /* work wants to land, and what it waits for */
    RECORD_LANE_GRANTED,   /* work got the slot */
    RECORD_LANE_RETURNED,
    RECORD_LANE_REVOKED, /* work kept the slot for too long */
    RECORD_LANE_HELD,    /* a person holds the lane */
    RECORD_LANE_RELEASED,
    RECORD_CLOCK_STEPPED,   /* stored times were corrected */
    RECORD_RUN_BRAKED,      /* the host has frozen a run, with the reason */
    RECORD_EFFECT_RENEWED,  /* no host ran at its deadline: it gets a new deadline */
    RECORD_EFFECT_RETURNED, /* its host knows that it never began: it can be claimed again */
    RECORD_HOST_DENIED,     /* of a workspace: a run was denied a host */
    RECORD_HOST_DECIDED,    /* of a workspace: what a person decided about it */
    RECORD_BATCH_SET,       /* of an admission: a person made or changed a batch of tasks */
    RECORD_BATCH_ENDED,     /* of an admission: its time is over */
    RECORD_ACCOUNT_SEEN,    /* of an admission: the newest report about a quota window */
    RECORD_ACCOUNT_OVERAGE, /* of an admission: paid extra usage, and what is done about it */
    RECORD_TYPES
};

struct record_row {
    const char *name;
    bool kept; /* EVENT-06: retention does not remove it */
};
extern const struct record_row RECORDS[RECORD_TYPES];

/* The body: enough to explain the decision from the record alone. */
/* What a replay needs besides: on the first record of a decision. */
struct evidence_replay {
    uint32_t owner;          /* of the goal, when it was decided */
    uint64_t era;            /* of the store, and */
    uint32_t level;          /* the level that the fleet had agreed to write */
    struct str input;        /* the encoded signal; empty: stored separately, */
    struct hash input_apart; /* under this hash */
    struct str
        samples; /* encoded SAMPLES: stored without a record since the previous decision; empty: none, or stored
                  * separately, */
    struct hash samples_apart; /* under this hash */
};

struct evidence_plan {
    uint64_t version; /* PLAN-19: after the change */
    enum plan_reason why;
};

struct evidence {
    struct str rule; /* the rule that decided; a stable name */
    enum signal_kind signal;
    struct id source; /* of that signal */
    struct str actor;
    uint32_t effect; /* ordinal + 1; 0: none */
    uint32_t host;
    uint64_t fence;
    int64_t exit;
    int64_t threshold;   /* the limit that was compared, in its own unit */
    struct str text;     /* what was said, run or observed */
    struct str node;     /* EVENT-02: workNodeId */
    struct str from, to; /* old and new status */
    struct str reason;   /* PLAN-14: the person's reason */
    enum who by;
    uint32_t override; /* 1: bypassed the status table */
    struct evidence_plan plan;
    struct hash more; /* of a text that did not fit into the record */
    struct str trace;
    enum blocked_by blocked;
    struct str assignment; /* EVENT-02 */
    struct str question;   /* Q_n */
    int64_t until;
    uint64_t count; /* how often, how many */
    struct evidence_replay replay;
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

/* The goal of records about the store itself; no other goal can have this id. */
extern const struct id SYSTEM_GOAL;

/* What the hash of the record has to be, from its columns and the hash of its body: works after the body has been
 * dropped. */
struct hash record_hash(const struct record *record, struct id goal, const struct hash *head);

/* Fills in seq and hashes as the next record after (seq, head) of this goal. */
void record_seal(struct record *record, struct id goal, uint64_t last_seq, const struct hash *head);
