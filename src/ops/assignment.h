/* SPDX-License-Identifier: Apache-2.0 */
/* Which assignment is meant, and how does one look as JSON? People see it as an agent at work. */
#pragma once

#include "ops/view.h"

/* A_12 is 12. */
bool assignment_parse(struct str text, uint32_t *ret_n);

/* n + 1 of the one that the caller names or is bound to; 0: none. A run may name no assignment but its own. */
bool assignment_named(struct op_call *call, uint32_t *ret_charge);

/* One that is open. */
json_t *assignment_json(const struct goal_loaded *loaded, const struct charge *charge,
                        struct arena *scratch);
/* PROGRESS-05: how far it says it is; null: it says nothing, or nobody works. */
json_t *progress_json(const struct charge *charge);
/* What it was last told, in full; null: nothing yet, or a text of it is gone. */
json_t *assignment_words(const struct goal_loaded *loaded, const struct goal_shown *shown,
                         const struct charge *charge, struct arena *scratch);

/* Those that are open, then those that are over, newest first. */
json_t *assignments_json(const struct goal_loaded *loaded, const struct goal_shown *shown, bool all,
                         struct arena *scratch);

/* work.diff: what waits to land, handed on from the store's answer to who runs git (daemon/run_tell.c). */
struct diff_candidate {
    struct str commit, onto, snapshot;
};
