/* SPDX-License-Identifier: Apache-2.0 */
/* What is a goal, and what is always true of one? */
#include "model/goal.h"

static const struct field HOT[] = {
    {"status", FIELD_ENUM, 1, FIELD_OF(goal, status), 0, 0, &GOAL_STATUS_NAMES, "where it stands"},
    {"need", FIELD_ENUM, 2, FIELD_OF(goal, need), 0, 0, &NEED_NAMES, "what it wants from a person"},
    {"createdAt", FIELD_TIME, 3, FIELD_OF(goal, created_at), 0, 0, NULL, "when it was created"},
    {"updatedAt", FIELD_TIME, 4, FIELD_OF(goal, updated_at), 0, 0, NULL, "when it last changed"},
    {"reports", FIELD_U32, 5, FIELD_OF(goal, reports), 0, 0, NULL, "progress reports accepted"},
    {"effectsMade", FIELD_U32, 6, FIELD_OF(goal, effects_made), 0, 0, NULL, "effects ever decided"},
    {"lastExit", FIELD_INT, 7, FIELD_OF(goal, last_exit), 0, 0, NULL,
     "exit status of its last command"},
};

const struct shape GOAL_HOT = SHAPE("goal", 1, HOT);

bool goal_is_open(const struct goal *goal) {
    return goal->status == GOAL_ACTIVE || goal->status == GOAL_PAUSED || goal->open_count > 0;
}

struct effect_slot *goal_effect(struct goal *goal, uint32_t n) {
    for (uint32_t i = 0; i < goal->open_count; i++)
        if (goal->open[i].n == n)
            return &goal->open[i];
    return NULL;
}

int64_t goal_due(const struct goal *goal) {
    int64_t due = TIME_NEVER;
    for (uint32_t i = 0; i < goal->open_count; i++)
        if (goal->open[i].state == EFFECT_RUNNING && goal->open[i].until < due)
            due = goal->open[i].until;
    return due;
}

bool goal_has_effect(const struct goal *goal, enum effect_state state) {
    for (uint32_t i = 0; i < goal->open_count; i++)
        if (goal->open[i].state == state)
            return true;
    return false;
}

enum face goal_face(const struct goal *goal) {
    if (goal->quarantined || goal->need != NEED_NOTHING)
        return FACE_NEEDS_YOU;
    if (goal_has_effect(goal, EFFECT_RUNNING))
        return FACE_WORKING;
    return goal->status == GOAL_ACTIVE || goal->status == GOAL_PAUSED ? FACE_QUEUED : FACE_DONE;
}

static const char *effects_broken(const struct goal *goal) {
    for (uint32_t i = 0; i < goal->open_count; i++) {
        const struct effect_slot *slot = &goal->open[i];
        if (slot->state >= EFFECT_ENDED)
            return "an open effect has ended";
        if (slot->n >= goal->effects_made)
            return "an effect was never made";
        if (i > 0 && slot->n <= goal->open[i - 1].n)
            return "effects are out of order";
        if ((slot->state == EFFECT_READY) != (slot->run_host == 0))
            return "an effect is claimed by nobody, or ready and claimed";
    }
    return NULL;
}

const char *goal_broken(const struct goal *goal) {
    if (goal->version == 0 || goal->seq == 0)
        return "a goal without a version or a record";
    if (goal->status >= GOAL_STATUSES || goal->need >= NEEDS)
        return "a status out of its table";
    if (goal->open_count > LIMIT_OPEN_EFFECTS)
        return "too many open effects";
    if (goal->status == GOAL_COMPLETED && (goal->open_count > 0 || goal->need != NEED_NOTHING))
        return "completed with something open";
    if (goal->due_at > goal_due(goal))
        return "due later than its earliest deadline";
    return effects_broken(goal);
}
