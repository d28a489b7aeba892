/* SPDX-License-Identifier: Apache-2.0 */
/* The landing lane: the durable queue of work that wants to land in one repository.
 *
 * A workspace is an aggregate of its own, one for each repository, stepped and stored as a goal is. Its permits are the
 * lane, in the order in which they asked: at most one has the slot (PERMIT_GRANTED), the others wait. The host of the run
 * that has the slot builds, checks and pushes; the push is a compare-and-swap, so a slot that is revoked or held by a host
 * that was cut off costs time and never lets two landings pass each other. docs/decisions/0011. */
#pragma once

#include "model/desk.h"

struct policy;
struct live;
struct goal;

/* The workspace of the policy's repository, as this host names it. */
struct id workspace_id(const struct policy *policy, uint32_t host);

/* How long the slot may be kept before it is revoked. */
int64_t lane_slot_within(const struct policy *policy);

/* The permit that has the slot; NULL: it is free. */
const struct permit *lane_holder(const struct permits *permits);

/* How many wait before this work; of work that does not wait: how many wait at all. */
uint32_t lane_before(const struct permits *permits, struct id goal, uint32_t charge);

/* The first broken promise in words, or NULL. Runs after every step of a workspace. */
const char *lane_broken(const struct live *live);
