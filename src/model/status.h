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

enum effect_state { EFFECT_READY, EFFECT_RUNNING, EFFECT_UNCONFIRMED, EFFECT_ENDED, EFFECT_STATES };

enum host_state { HOST_LIVE, HOST_LOST, HOST_GONE, HOST_STATES };

/* What a goal wants from a person. */
enum need { NEED_NOTHING, NEED_FAILED, NEED_UNCONFIRMED, NEEDS };

/* The one word that people see. */
enum face { FACE_QUEUED, FACE_WORKING, FACE_NEEDS_YOU, FACE_DONE, FACES };

struct status_row {
    const char *name;
    unsigned next; /* bit set of states that may follow */
};

extern const struct status_row GOAL_STATUS[GOAL_STATUSES];
extern const struct status_row EFFECT_STATE[EFFECT_STATES];
extern const struct status_row HOST_STATE[HOST_STATES];

extern const struct names GOAL_STATUS_NAMES, EFFECT_STATE_NAMES, NEED_NAMES, FACE_NAMES;

bool goal_status_may_become(enum goal_status from, enum goal_status to);
bool effect_state_may_become(enum effect_state from, enum effect_state to);
