/* SPDX-License-Identifier: Apache-2.0 */
/* Shows goals, plans and records as JSON. One view for every interface, so that all show the same. */
#pragma once

#include "ops/op.h"

/* Requests one goal with everything that people see of it. */
bool show_request(struct op_call *call, struct store_request *ret_request);

/* A text that is stored separately, by hash; empty: there is none. */
struct str shown_text(const struct goal_shown *shown, const struct hash *hash);

json_t *goal_view_json(const struct goal_view *view);
json_t *goal_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                  struct arena *scratch);
/* Promise 3: adds what the status done is based on (null: not done), and where the work landed (empty: nowhere). */
void proof_put(json_t *json, const struct goal_loaded *loaded, const struct goal_shown *shown,
               struct arena *scratch);
json_t *plan_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                  struct arena *scratch);
json_t *record_json(const struct goal *goal, const struct record *record);

/* What its run has to produce; null: nothing is specified. */
json_t *contract_json(const struct goal_shown *shown, const struct assignment *assignment,
                      struct arena *scratch);
/* The state of its checks, and once they have run status, checks and verifiedAt; null: no checks. `assignment`: the one
 * that works on the node; NULL: none. */
json_t *answer_json(const struct goal_shown *shown, const struct node *node);
json_t *verification_json(const struct goal_shown *shown, const struct node *node,
                          const struct assignment *assignment, struct arena *scratch);

/* Appends the goals that were found to call->why. Returns false. */
bool view_name_found(struct op_call *call, const struct store_answer *answer);

/* Does the goal exist, with every row undamaged? */
bool view_is_whole(struct op_call *call, const struct store_answer *answer);

/* Returns the result, unless memory ran short while it was built. Takes ownership of `json`. */
json_t *view_checked(struct op_call *call, json_t *json);
