/* SPDX-License-Identifier: Apache-2.0 */
/* What does an agent's reply say in the agreed form? UPDATE-01 to UPDATE-07.
 *
 * Only a fenced block labelled json with the one key overseerUpdate counts, the last of them, and only in the agent's own
 * words: a quote of ours, or our own example sent back, says nothing. Prose says nothing. */
#pragma once

#include "model/signal.h"
#include "model/update.h"

enum update_found {
    UPDATE_ABSENT,  /* no such block, or only our own */
    UPDATE_REFUSED, /* UPDATE-05: there is one, and it is not as agreed; `why` says what is wrong */
    UPDATE_THERE,
};

/* Texts come from the arena. */
enum update_found update_read(struct str reply, struct arena *arena, struct update *ret, char *why,
                              size_t why_size);

/* What stands in our own example is taken out. False: nothing is left that says anything. */
bool update_clean(struct update *update, struct arena *arena);

/* The signal that a reply is, but for source, time and actor. `by` wrote it; only an agent's is one. `charge` is n + 1 of
 * the assignment that caused it; 0: nobody knows. A refused block has a reason and no body, prose has neither. False:
 * there is nothing to say. */
bool update_signal(struct str reply, enum who by, struct id goal, uint32_t charge,
                   struct arena *arena, struct signal *ret);
