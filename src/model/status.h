/* SPDX-License-Identifier: Apache-2.0 */
/* The state machines: states and permitted transitions. One row for each state; one function moves each machine. */
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
    NODE_TODO,        /* waits for its dependencies */
    NODE_QUEUED,      /* ready, no agent works on it */
    NODE_IN_PROGRESS, /* being worked on */
    NODE_BLOCKED,     /* cannot go on until something happens */
    NODE_DONE,        /* finished and accepted */
    NODE_CANCELLED,   /* stopped on purpose, permanently */
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

/* Who wants it; this determines what they may do. The least trusted comes first, so that an absent field means that
 * one. */
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
    REASON_DEPENDENCY_CANCELLED, /* a node waits for work that will never be done */
    REASONS
};

/* What a goal needs from a person. */
enum need { NEED_NOTHING, NEED_FAILED, NEED_UNCONFIRMED, NEEDS };

/* The display state: the one word that people see. */
enum display_state {
    DISPLAY_QUEUED,
    DISPLAY_WORKING,
    DISPLAY_NEEDS_YOU,
    DISPLAY_DONE,
    DISPLAY_PAUSED,
    DISPLAY_CANCELLED,
    DISPLAY_ARCHIVED,
    DISPLAY_STATES
};

struct status_row {
    const char *name;
    unsigned next;   /* bit set of states that may follow */
    unsigned rollup; /* nodes: the states that their children may lead to */
};

extern const struct status_row GOAL_STATUS[GOAL_STATUSES];
extern const struct status_row NODE_STATUS[NODE_STATUSES];
extern const struct status_row EFFECT_STATE[EFFECT_STATES];
extern const struct status_row HOST_STATE[HOST_STATES];

/* Promise 3: what the word done is based on. Each level proves more than the one before. */
enum proof {
    PROOF_NONE,    /* it is not done */
    PROOF_CLAIMED, /* only claimed by the one who did it */
    PROOF_PERSON,  /* a person accepted it, or did it manually */
    PROOF_CHECKED, /* checked on its exact commit, in a clean checkout */
    PROOF_LANDED,  /* and landed where the operator wants it */
    PROOFS
};

/* VERIFY-02: what follows when work did not produce what it has to. */
/* What a task wants: an answer is never landed, and nothing can check it. */
enum wants { WANTS_CHANGE, WANTS_ANSWER, WANTS_COUNT };

enum on_failure {
    ON_FAILURE_MEND,  /* the agent is sent what is wrong and continues: a bounded number of times */
    ON_FAILURE_RETRY, /* restarted once with a fresh run; then it has failed */
    ON_FAILURE_ESCALATE, /* it has failed, and a person is asked */
    ON_FAILURE_FAIL,     /* it has failed */
    ON_FAILURES
};

extern const struct names GOAL_STATUS_NAMES, NODE_STATUS_NAMES, EFFECT_STATE_NAMES, NEED_NAMES,
    DISPLAY_STATE_NAMES, PRIORITY_NAMES, RISK_NAMES, PROOF_NAMES, ON_FAILURE_NAMES, WANTS_NAMES,
    TIER_NAMES, BLOCKED_NAMES, WHO_NAMES, REASON_NAMES;

bool goal_status_may_become(enum goal_status from, enum goal_status to);
bool node_status_may_become(enum node_status from, enum node_status to);
bool node_status_may_roll_to(enum node_status from, enum node_status to);
bool effect_state_may_become(enum effect_state from, enum effect_state to);
