/* SPDX-License-Identifier: Apache-2.0 */
/* Which states are there, and which may follow which? One row a state; one mover for each machine. */
#pragma once

#include "model/field.h"

enum goal_status {
    GOAL_ACTIVE,
    GOAL_PAUSED,
    GOAL_COMPLETED,
    GOAL_CANCELLED,
    GOAL_ARCHIVED,
    GOAL_STATUSES
};

enum node_status {
    NODE_TODO,        /* waits for what it depends on */
    NODE_QUEUED,      /* ready, nobody works on it */
    NODE_IN_PROGRESS, /* being worked on */
    NODE_BLOCKED,     /* cannot go on until something happens */
    NODE_DONE,        /* finished and accepted */
    NODE_CANCELLED,   /* stopped on purpose, for ever */
    NODE_STATUSES
};

enum effect_state { EFFECT_READY, EFFECT_RUNNING, EFFECT_UNCONFIRMED, EFFECT_ENDED, EFFECT_STATES };

enum host_state { HOST_LIVE, HOST_LOST, HOST_GONE, HOST_STATES };

enum priority { PRIORITY_NORMAL, PRIORITY_LOW, PRIORITY_HIGH, PRIORITY_URGENT, PRIORITIES };
enum risk { RISK_UNKNOWN, RISK_LOW, RISK_MED, RISK_HIGH, RISKS };
enum tier { TIER_PHASE, TIER_TASK, TIER_SUBTASK, TIERS };

/* Why a node cannot go on. */
enum blocked_by {
    BLOCKED_BY_NOTHING,
    BLOCKED_BY_PERSON,     /* a decision or an answer */
    BLOCKED_BY_CREDENTIAL, /* STORE-15: which one, and where to configure it; never its value */
    BLOCKED_BY_EXTERNAL,   /* another system or team */
    BLOCKED_BY_FAILURE,    /* it was tried and does not work */
    BLOCKED_BY_OTHER,
    BLOCKED_BYS
};

/* Who wants it: what they may do depends on it. The least trusted comes first, so that it is what an
 * absent field means. */
enum who { WHO_AGENT, WHO_HUMAN, WHO_OVERSEER, WHOS };

/* PLAN-21: why a plan changed. */
enum plan_reason {
    REASON_NONE,
    REASON_INITIAL_CREATE,
    REASON_REPLAN,
    REASON_GUARD_VIOLATION,
    REASON_SPAWN,
    REASON_TASK_COMPLETED,
    REASON_HUMAN_EDIT,
    REASON_REVIEW,
    REASON_APPROVAL,             /* a proposed plan waits for a person */
    REASON_DEPENDENCY_CANCELLED, /* something waits for what will never be done */
    REASONS
};

/* What a goal wants from a person. */
enum need { NEED_NOTHING, NEED_FAILED, NEED_UNCONFIRMED, NEEDS };

/* The one word that people see. */
enum face {
    FACE_QUEUED,
    FACE_WORKING,
    FACE_NEEDS_YOU,
    FACE_DONE,
    FACE_PAUSED,
    FACE_CANCELLED,
    FACE_ARCHIVED,
    FACES
};

struct status_row {
    const char *name;
    unsigned next;   /* bit set of states that may follow */
    unsigned rollup; /* nodes: and those that its children may lead it to */
};

extern const struct status_row GOAL_STATUS[GOAL_STATUSES];
extern const struct status_row NODE_STATUS[NODE_STATUSES];
extern const struct status_row EFFECT_STATE[EFFECT_STATES];
extern const struct status_row HOST_STATE[HOST_STATES];

/* Promise 3: what the word done rests on. Each says more than the one before. */
enum proof {
    PROOF_NONE,    /* it is not done */
    PROOF_SAID,    /* by whoever did it */
    PROOF_PERSON,  /* somebody accepted it, or did it by hand */
    PROOF_CHECKED, /* on its exact commit, in a clean checkout */
    PROOF_LANDED,  /* and it is where the operator wants it */
    PROOFS
};

/* VERIFY-02: what follows when work that has to leave something did not. */
enum on_failure {
    ON_FAILURE_MEND,  /* its agent is told what is wrong, and goes on: a bounded number of times */
    ON_FAILURE_RETRY, /* once from the beginning, by a fresh run; then it has failed */
    ON_FAILURE_ESCALATE, /* it has failed, and a person is asked */
    ON_FAILURE_FAIL,     /* it has failed */
    ON_FAILURES
};

extern const struct names GOAL_STATUS_NAMES, NODE_STATUS_NAMES, EFFECT_STATE_NAMES, NEED_NAMES,
    FACE_NAMES, PRIORITY_NAMES, RISK_NAMES, PROOF_NAMES, ON_FAILURE_NAMES, TIER_NAMES,
    BLOCKED_NAMES, WHO_NAMES, REASON_NAMES;

bool goal_status_may_become(enum goal_status from, enum goal_status to);
bool node_status_may_become(enum node_status from, enum node_status to);
bool node_status_may_roll_to(enum node_status from, enum node_status to);
bool effect_state_may_become(enum effect_state from, enum effect_state to);
