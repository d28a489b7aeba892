/* SPDX-License-Identifier: Apache-2.0 */
/* Which states are there, and which may follow which? */
#include "model/status.h"

#define TO(state) (1u << (state))

/* Pausing, cancelling and archiving have no operation yet; their rows are here so that the stored
 * numbers never move. */
const struct status_row GOAL_STATUS[GOAL_STATUSES] = {
    [GOAL_ACTIVE] = {"active", TO(GOAL_PAUSED) | TO(GOAL_COMPLETED) | TO(GOAL_CANCELLED)},
    [GOAL_PAUSED] = {"paused", TO(GOAL_ACTIVE) | TO(GOAL_CANCELLED)},
    [GOAL_COMPLETED] = {"completed", TO(GOAL_ARCHIVED)},
    [GOAL_CANCELLED] = {"cancelled", TO(GOAL_ARCHIVED)},
    [GOAL_ARCHIVED] = {"archived", 0},
};

/* ready: decided. running: claimed by a host, which may act from now on. unconfirmed: claimed, and it
 * is not known what came of it. ended: reported; the row goes, its record stays. */
const struct status_row EFFECT_STATE[EFFECT_STATES] = {
    [EFFECT_READY] = {"ready", TO(EFFECT_RUNNING)},
    [EFFECT_RUNNING] = {"running", TO(EFFECT_UNCONFIRMED) | TO(EFFECT_ENDED)},
    [EFFECT_UNCONFIRMED] = {"unconfirmed", TO(EFFECT_ENDED)},
    [EFFECT_ENDED] = {"ended", 0},
};

/* live: beats. lost: taken over, its goals are being adopted. gone: owns no open goal any more. */
const struct status_row HOST_STATE[HOST_STATES] = {
    [HOST_LIVE] = {"live", TO(HOST_LIVE) | TO(HOST_LOST)},
    [HOST_LOST] = {"lost", TO(HOST_LIVE) | TO(HOST_GONE)},
    [HOST_GONE] = {"gone", TO(HOST_LIVE)},
};

static const char *const STATUS_NAME[] = {"active", "paused", "completed", "cancelled", "archived"};
static const char *const STATE_NAME[] = {"ready", "running", "unconfirmed", "ended"};
static const char *const NEED_NAME[] = {"nothing", "failed", "unconfirmed"};
static const char *const FACE_NAME[] = {"queued", "working", "needs you", "done"};

const struct names GOAL_STATUS_NAMES = {STATUS_NAME, count_of(STATUS_NAME)};
const struct names EFFECT_STATE_NAMES = {STATE_NAME, count_of(STATE_NAME)};
const struct names NEED_NAMES = {NEED_NAME, count_of(NEED_NAME)};
const struct names FACE_NAMES = {FACE_NAME, count_of(FACE_NAME)};

bool goal_status_may_become(enum goal_status from, enum goal_status to) {
    return GOAL_STATUS[from].next & TO(to);
}

bool effect_state_may_become(enum effect_state from, enum effect_state to) {
    return EFFECT_STATE[from].next & TO(to);
}
