/* SPDX-License-Identifier: Apache-2.0 */
/* Repositories as decisions see them: their keys, what the policy says of each, and the landing lane of each. */
#include "model/repository.h"

#include "base/bytes.h"
#include "base/planted.h"
#include "base/sha256.h"
#include "model/live.h"

/* ---- keys ---- */

uint64_t repository_key(struct str name) {
    struct hash hash = sha256(name);
    uint64_t key = le_get((const char *)hash.bytes, 8) & INT64_MAX; /* a number of JSON and SQL */
    return key == 0 || key == REPOSITORY_NONE ? 1 : key;
}

struct policy_repository policy_repository(const struct policy *policy, uint64_t key) {
    if (key == 0)
        return (struct policy_repository){.checks = policy->checks, .landing = policy->landing};
    for (uint32_t i = 0; i < policy->repositories.count; i++)
        if (policy->repositories.at[i].key == key)
            return policy->repositories.at[i];
    struct policy_repository missing = {.key = key, .checks = policy->checks};
    missing.checks.configured = missing.landing.automatic = key != REPOSITORY_NONE;
    return missing;
}

/* ---- the workspace and its lane ---- */

struct id workspace_id(const struct policy *policy, uint64_t repository, uint32_t host) {
    struct policy_landing landing =
        policy_repository(policy, planted(LANE_FOR_ALL) ? 0 : repository).landing;
    char key[12];
    le_put(le_put(key, landing.workspace, 8), landing.workspace_local ? host : 0, 4);
    return id_derive(STR("workspace"), (struct str){key, sizeof key});
}

/* Time to queue for a worker and to fetch the target, in addition to the checks; for the first build and each rebuild. */
int64_t lane_slot_within(const struct policy *policy, uint64_t repository) {
    struct policy_repository its = policy_repository(policy, repository);
    return (its.checks.within + MINUTES(30)) * (its.landing.rechecks + 1);
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
