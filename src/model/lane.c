/* SPDX-License-Identifier: Apache-2.0 */
/* The landing lane: its invariants, and the id of its workspace. */
#include "model/lane.h"

#include "base/planted.h"

#include "model/live.h"
#include "model/policy.h"

struct id workspace_id(const struct policy *policy, uint32_t host) {
    uint8_t key[12];
    uint32_t of_host = policy->landing.workspace_local ? host : 0;
    for (size_t i = 0; i < 8; i++)
        key[i] = (uint8_t)(policy->landing.workspace >> (8 * i));
    for (size_t i = 0; i < 4; i++)
        key[8 + i] = (uint8_t)(of_host >> (8 * i));
    return id_derive(STR("workspace"), (struct str){(const char *)key, sizeof key});
}

/* Time to queue for a worker and to fetch the target, in addition to the checks; for the first build and each rebuild. */
int64_t lane_slot_within(const struct policy *policy) {
    return (policy->checks.within + MINUTES(30)) * (policy->landing.rechecks + 1);
}

const struct permit *lane_holder(const struct permits *permits) {
    for (uint32_t i = 0; i < permits->count; i++)
        if (permits->at[i].state == PERMIT_GRANTED)
            return &permits->at[i];
    return NULL;
}

uint32_t lane_before(const struct permits *permits, struct id goal, uint32_t assignment) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < permits->count; i++) {
        if (permits->at[i].assignment == assignment && id_equal(permits->at[i].goal, goal))
            return before;
        before += permits->at[i].state == PERMIT_WAITING;
    }
    return before;
}

const char *lane_broken(const struct live *live) {
    uint32_t held = 0;
    for (uint32_t i = 0; i < live->permits.count; i++) {
        if (live->permits.at[i].turn == 0)
            return "work waits to land and has asked for nothing";
        if (i > 0 && live->permits.at[i].n <= live->permits.at[i - 1].n)
            return "the landing lane is out of order";
        held += live->permits.at[i].state == PERMIT_GRANTED;
    }
    return held > 1 && !planted(SLOT_FOR_TWO) ? "two have the slot of one landing lane" : NULL;
}
