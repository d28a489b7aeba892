/* SPDX-License-Identifier: Apache-2.0 */
/* Ring of the newest events, which many followers will want. Each event is rendered once for all of them. */
#pragma once

#include "store/store.h"

struct ringed { /* an event as it is sent */
    struct cursor place;
    struct id goal;
    enum record_type type;
    int64_t at;
    size_t len;
    char text[]; /* id:, event:, data: and an empty line */
};

struct ring {
    struct ringed *at[LIMIT_RING];
    uint64_t first, next; /* numbers of the oldest event and of the next one to come */
    size_t bytes;
    struct cursor base; /* events at or before this place are not in the ring */
    struct cursor tail; /* all events up to this place are in the ring, or before `base` */
    bool known;         /* the ring has been filled */
};

/* NULL: no memory. */
struct ringed *ringed_new(const struct logged *row);

void ring_clear(struct ring *ring);
/* Empties the ring, which then begins at this place. */
void ring_begin(struct ring *ring, struct cursor from);
/* Drops the oldest events to make room. Takes ownership of `event`. */
void ring_add(struct ring *ring, struct ringed *event);
/* By its number, which must not be below `first`. NULL: it does not exist yet. */
const struct ringed *ring_event(const struct ring *ring, uint64_t number);
/* The number of the first event after this place; false: the ring no longer has it. */
bool ring_find(const struct ring *ring, const struct cursor *place, uint64_t *ret_number);
