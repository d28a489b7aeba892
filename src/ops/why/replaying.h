/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a goal's log page by page and replays it. For replay, what-if and why.
 *
 *     history ──▶ records ──▶ replay_take() ──▶ a policy that is not known yet? ──▶ its text ──┐
 *        ▲                                                                                    │
 *        └────────────────────────────────────────────────────────────────────────────────────┘ */
#pragma once

#include "core/replay.h"
#include "ops/op.h"

enum { REPLAYING_POLICIES = 64 };

struct replaying_policy {
    struct hash hash;
    struct policy was, would; /* would: with `set` applied */
};

struct replaying {
    struct replay replay;
    struct op_call *call;
    struct id goal;
    const struct texts *set; /* hypothetical settings (what-if); NULL: none */
    uint64_t until;          /* the last record wanted; 0: all */
    struct replaying_policy *known[REPLAYING_POLICIES];
    uint32_t known_count;
    struct hash wanted; /* hash of the policy being requested; zero: none */
    const struct goal_shown *page;
    char trouble[256]; /* why it could not continue; empty: no trouble */
    bool set_is_wrong; /* `set` does not give a valid policy: `trouble` says why */
};

/* Allocated in the call's arena; end it together with the call. */
struct replaying *replaying_new(struct op_call *call, struct id goal, const struct texts *set);
void replaying_end(struct replaying *it);

/* The first request, and the next one after each answer. False: that was the last answer. */
void replaying_ask(struct replaying *it, struct store_request *ret);
bool replaying_next(struct replaying *it, const struct store_answer *answer,
                    struct store_request *ret);

/* One difference as {signal, at, record, decided: [lines], instead: [lines]}. */
json_t *difference_json(const struct replay_difference *difference);
