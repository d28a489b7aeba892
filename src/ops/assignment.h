/* SPDX-License-Identifier: Apache-2.0 */
/* Parses names of assignments and shows assignments as JSON. People see an assignment as an agent at work. */
#pragma once

#include "ops/view.h"

/* Parses A_12 as 12. */
bool assignment_parse(struct str text, uint32_t *ret_n);

/* Returns n + 1 of the assignment that the caller names or is bound to; 0: none. A run may name only its own
 * assignment. */
bool assignment_named(struct op_call *call, uint32_t *ret_assignment);

/* An open assignment. */
json_t *assignment_json(const struct goal_loaded *loaded, const struct assignment *assignment,
                        struct arena *scratch);
/* PROGRESS-05: the progress that the agent last reported; null: it reported none, or there is no assignment. */
json_t *progress_json(const struct assignment *assignment);
/* The full text that was last sent to the agent; null: nothing yet, or a text of it is no longer kept. */
json_t *assignment_words(const struct goal_loaded *loaded, const struct goal_shown *shown,
                         const struct assignment *assignment, struct arena *scratch);

/* Open assignments, then finished ones, newest first. */
json_t *assignments_json(const struct goal_loaded *loaded, const struct goal_shown *shown, bool all,
                         struct arena *scratch);

/* work.diff: the commit that waits to land, passed from the store's answer to the code that runs git
 * (runs/run_answer.c). */
struct diff_candidate {
    struct str commit, onto, snapshot;
};
