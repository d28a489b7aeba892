/* SPDX-License-Identifier: Apache-2.0 */
/* How do goals, plans and records look as JSON? One view for every door, so that all show the same. */
#pragma once

#include "ops/op.h"

/* Ask for one goal with everything that people see of it. */
bool show_request(struct op_call *call, struct store_request *ret_request);

/* A text that is kept apart; empty: there is none. */
struct str shown_text(const struct goal_shown *shown, const struct hash *hash);

json_t *goal_view_json(const struct goal_view *view);
json_t *goal_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                  struct arena *scratch);
/* Promise 3: what the word done rests on (null: it is not done), and where it is (empty: nowhere). */
void proof_put(json_t *json, const struct goal_loaded *loaded, const struct goal_shown *shown,
               struct arena *scratch);
json_t *plan_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                  struct arena *scratch);
json_t *record_json(const struct goal *goal, const struct record *record);

/* What its run has to leave; null: nothing is said. */
json_t *contract_json(const struct goal_shown *shown, const struct charge *charge,
                      struct arena *scratch);
/* Where its checks are: state, and once they have been made status, checks and verifiedAt; null: nobody wants any. `charge`: who
 * works on it; NULL: nobody. */
json_t *verification_json(const struct goal_shown *shown, const struct node *node,
                          const struct charge *charge, struct arena *scratch);

/* Is the goal there, with every row of it as it was written? */
bool view_is_whole(struct op_call *call, const struct store_answer *answer);

/* The result, unless memory ran short while it was made. Owns `json`. */
json_t *view_checked(struct op_call *call, json_t *json);
