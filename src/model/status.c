/* SPDX-License-Identifier: Apache-2.0 */
#include "model/status.h"

#define TO(state) (1u << (state))

/* G-17, docs/decisions/0005: core/goal_state.c defines who may do what. Only a person who gives a reason can reopen a
 * completed goal. A cancelled goal is never reopened: a new goal is created instead. */
const struct status_row GOAL_STATUS[GOAL_STATUSES] = {
    [GOAL_ACTIVE] = {"active", TO(GOAL_PAUSED) | TO(GOAL_COMPLETED) | TO(GOAL_CANCELLED), 0},
    [GOAL_PAUSED] = {"paused", TO(GOAL_ACTIVE) | TO(GOAL_CANCELLED), 0},
    [GOAL_COMPLETED] = {"completed", TO(GOAL_ACTIVE) | TO(GOAL_ARCHIVED), 0},
    [GOAL_CANCELLED] = {"cancelled", TO(GOAL_ARCHIVED), 0},
    [GOAL_ARCHIVED] = {"archived", 0, 0},
};

/* PLAN-08: the work's own moves. A node with children follows them instead (the last column, G-16): it may take any
 * status that they lead to, but never leaves cancelled. */
#define OPEN (TO(NODE_TODO) | TO(NODE_QUEUED) | TO(NODE_IN_PROGRESS) | TO(NODE_BLOCKED))
#define ANY (OPEN | TO(NODE_DONE) | TO(NODE_CANCELLED))
const struct status_row NODE_STATUS[NODE_STATUSES] = {
    [NODE_TODO] = {"todo", TO(NODE_QUEUED), ANY},
    [NODE_QUEUED] = {"queued", TO(NODE_IN_PROGRESS) | TO(NODE_BLOCKED) | TO(NODE_CANCELLED), ANY},
    [NODE_IN_PROGRESS] = {"in_progress", TO(NODE_DONE) | TO(NODE_BLOCKED) | TO(NODE_CANCELLED),
                          ANY},
    [NODE_BLOCKED] = {"blocked", TO(NODE_QUEUED) | TO(NODE_CANCELLED), ANY},
    [NODE_DONE] = {"done", 0, OPEN | TO(NODE_CANCELLED)},
    [NODE_CANCELLED] = {"cancelled", 0, 0},
};

/* ready: decided. running: claimed by a host, which may act from now on. unconfirmed: claimed, and the outcome is
 * unknown. ended: reported, or withdrawn before any host claimed it; the row is deleted, its record stays. running
 * becomes ready when its host knows that the effect never began. */
const struct status_row EFFECT_STATE[EFFECT_STATES] = {
    [EFFECT_READY] = {"ready", TO(EFFECT_RUNNING) | TO(EFFECT_UNCONFIRMED) | TO(EFFECT_ENDED), 0},
    [EFFECT_RUNNING] = {"running", TO(EFFECT_READY) | TO(EFFECT_UNCONFIRMED) | TO(EFFECT_ENDED), 0},
    [EFFECT_UNCONFIRMED] = {"unconfirmed", TO(EFFECT_ENDED), 0},
    [EFFECT_ENDED] = {"ended", 0, 0},
};

/* live: beats. lost: taken over, its goals are being adopted. gone: owns no open goal any more. */
const struct status_row HOST_STATE[HOST_STATES] = {
    [HOST_LIVE] = {"live", TO(HOST_LIVE) | TO(HOST_LOST), 0},
    [HOST_LOST] = {"lost", TO(HOST_LIVE) | TO(HOST_GONE), 0},
    [HOST_GONE] = {"gone", TO(HOST_LIVE), 0},
};

static const char *const NEED[NEEDS] = {"nothing", "failed", "unconfirmed"};
static const char *const DISPLAY_STATE[DISPLAY_STATES] = {
    "queued", "working", "needs you", "done", "paused", "cancelled", "archived"};
static const char *const PRIORITY[PRIORITIES] = {"normal", "low", "high", "urgent"};
static const char *const RISK[RISKS] = {"unknown", "low", "med", "high"};
static const char *const TIER[TIERS] = {"phase", "task", "subtask"};
static const char *const BLOCKED[BLOCKED_BYS] = {"nothing",  "person",  "credential",
                                                 "external", "failure", "other"};
static const char *const WHO[WHOS] = {"agent", "human", "overseer"};
static const char *const REASON[REASONS] = {
    "none",           "initial_create", "replan", "guard_violation", "spawn",
    "task_completed", "human_edit",     "review", "approval",        "dependency_cancelled"};

const struct names GOAL_STATUS_NAMES = NAMES_OF(GOAL_STATUS);
const struct names NODE_STATUS_NAMES = NAMES_OF(NODE_STATUS);
const struct names EFFECT_STATE_NAMES = NAMES_OF(EFFECT_STATE);
const struct names NEED_NAMES = NAMES_OF(NEED);
const struct names DISPLAY_STATE_NAMES = NAMES_OF(DISPLAY_STATE);
const struct names PRIORITY_NAMES = NAMES_OF(PRIORITY);
static const char *const PROOF[PROOFS] = {"none", "unverified", "accepted", "verified", "landed"};
const struct names PROOF_NAMES = NAMES_OF(PROOF);
static const char *const ON_FAILURE[ON_FAILURES] = {"mend", "retry_once", "escalate", "fail"};
const struct names ON_FAILURE_NAMES = NAMES_OF(ON_FAILURE);
static const char *const WANTS[WANTS_COUNT] = {"change", "answer"};
const struct names WANTS_NAMES = NAMES_OF(WANTS);
const struct names RISK_NAMES = NAMES_OF(RISK);
const struct names TIER_NAMES = NAMES_OF(TIER);
const struct names BLOCKED_NAMES = NAMES_OF(BLOCKED);
const struct names WHO_NAMES = NAMES_OF(WHO);
const struct names REASON_NAMES = NAMES_OF(REASON);

bool goal_status_may_become(enum goal_status from, enum goal_status to) {
    return GOAL_STATUS[from].next & TO(to);
}

bool node_status_may_become(enum node_status from, enum node_status to) {
    return NODE_STATUS[from].next & TO(to);
}

bool node_status_may_roll_to(enum node_status from, enum node_status to) {
    return NODE_STATUS[from].rollup & TO(to);
}

bool effect_state_may_become(enum effect_state from, enum effect_state to) {
    return EFFECT_STATE[from].next & TO(to);
}
