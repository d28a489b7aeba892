/* SPDX-License-Identifier: Apache-2.0 */
/* How are somebody's words taken out of a store, and its log still holds? G-35.
 *
 * Of a goal that is over its title, tags, texts, handoffs, assignments, dispatches, runs and what was set aside
 * go, and the bodies of its records. What stays says that there was something, and no word of it: ids, times,
 * counts, statuses, and the hashes, so that its chain can still be followed. */
#pragma once

#include "store/store.h"

/* In one transaction. False: the error says why; nothing was changed. */
bool store_forget(struct store *store, struct id goal, char *error, size_t error_size);
