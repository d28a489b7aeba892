/* SPDX-License-Identifier: Apache-2.0 */
/* Reads structured updates from an agent's reply: UPDATE-01 to UPDATE-07.
 *
 * Only a fenced block labelled json with the single key overseerUpdate counts, the last one, and only in the agent's
 * own words: a quotation of our text, or our own example sent back, is ignored. Prose is ignored. */
#pragma once

#include "model/signal.h"
#include "model/update.h"

enum update_found {
    UPDATE_ABSENT,  /* no such block, or only our own */
    UPDATE_REFUSED, /* UPDATE-05: there is a block, but not as agreed; `why` says what is wrong */
    UPDATE_THERE,
};

/* Texts come from the arena. */
enum update_found update_read(struct str reply, struct arena *arena, struct update *ret, char *why,
                              size_t why_size);

/* Builds the signal for a reply, except for source, time and actor. `by` wrote the reply; only an agent's reply makes a
 * signal. `assignment` is n + 1 of the assignment that caused it; 0: unknown. A refused block gives a reason and no
 * body, prose gives neither. False: there is no signal. */
bool update_signal(struct str reply, enum who by, struct id goal, uint32_t assignment,
                   struct arena *arena, struct signal *ret);

/* The same for an agent's reply, with one argument, as the crash guard calls it: a struct update_reading. */
struct update_reading {
    struct str reply;
    struct id goal;
    uint32_t assignment;
    struct arena *arena;
    bool found; /* then `signal` is set */
    struct signal signal;
};
void update_find(void *with);
