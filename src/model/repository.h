/* SPDX-License-Identifier: Apache-2.0 */
/* Repositories as decisions see them, and the workspace of each with its landing lane: the durable queue of work that
 * wants to land there.
 *
 * A workspace is an aggregate of its own, one for each repository, stepped and stored like a goal. Its permits are the
 * lane, in the order of their requests: at most one holds the slot (PERMIT_GRANTED), the others wait. The host of the
 * run that holds the slot builds, checks and pushes. The push is a compare-and-swap, so a slot that is revoked, or held
 * by a host that was cut off, costs time but never lets two landings bypass each other. docs/decisions/0011. */
#pragma once

#include "model/admission.h"
#include "model/policy.h"

struct live;

/* ---- repositories ---- */

/* The key of a repository: the prefix of the hash of its name, never 0 or REPOSITORY_NONE. */
uint64_t repository_key(struct str name);

/* How the work of this repository is checked and where it lands; key 0: [repo]. Checks and landings
 * of a repository that is not in the settings any more are tried, and answer that it is missing. */
struct policy_repository policy_repository(const struct policy *policy, uint64_t key);

/* ---- workspaces ---- */

/* The id of a repository's workspace, as this host names it. */
struct id workspace_id(const struct policy *policy, uint64_t repository, uint32_t host);

/* How long the slot may be kept before it is revoked. */
int64_t lane_slot_within(const struct policy *policy, uint64_t repository);

/* The permit that holds the slot; NULL: the slot is free. */
const struct permit *lane_holder(const struct permits *permits);

/* How many wait before this work; for work that does not wait: how many wait in all. */
uint32_t lane_before(const struct permits *permits, struct id goal, uint32_t assignment);

/* The first broken invariant in words, or NULL. Runs after every step of a workspace. */
const char *lane_broken(const struct live *live);
