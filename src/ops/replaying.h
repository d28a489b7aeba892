/* SPDX-License-Identifier: Apache-2.0 */
/* How is a goal's log read page by page and stepped again? For replay, what-if and why.
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
    struct policy was, would; /* with `set` */
};

struct replaying {
    struct replay replay;
    struct op_call *call;
    struct id goal;
    const struct texts *set; /* what if these were the settings? NULL: not asked */
    uint64_t until;          /* the last record that is wanted; 0: all */
    struct replaying_policy *known[REPLAYING_POLICIES];
    uint32_t known_count;
    struct hash wanted; /* the policy that is being asked for; zero: none is */
    const struct goal_shown *page;
    char trouble[256]; /* why it could not go on; empty: it could */
    bool set_is_wrong; /* what was to be tried is no policy: `trouble` says why */
};

/* In the call's arena; to be ended when the call is. */
struct replaying *replaying_new(struct op_call *call, struct id goal, const struct texts *set);
void replaying_end(struct replaying *it);

/* What to ask first, and after each answer. False: that was the last. */
void replaying_ask(struct replaying *it, struct store_request *ret);
bool replaying_next(struct replaying *it, const struct store_answer *answer,
                    struct store_request *ret);

/* {signal, at, record, decided: [lines], instead: [lines]} of one difference. */
json_t *difference_json(const struct replay_difference *difference);
