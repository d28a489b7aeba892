/* SPDX-License-Identifier: Apache-2.0 */
/* Erases a goal's content from a store while its log still verifies. G-35.
 *
 * For a closed goal it deletes the title, tags, texts, handoffs, assignments, dispatches, runs, the signals that were
 * set aside, and the bodies of its records. What remains shows that something existed, without its content: ids, times,
 * counts, statuses, and the hashes, so that the chain can still be verified. */
#pragma once

#include "store/store.h"

/* Runs in one transaction. False: the error says why; nothing was changed. */
bool store_forget(struct store *store, struct id goal, char *error, size_t error_size);
