/* SPDX-License-Identifier: Apache-2.0 */
/* Which events are so new that many will want them? Each is rendered once, for all who follow. */
#pragma once

#include "store/store.h"

struct ringed { /* an event as it goes out */
    struct cursor place;
    struct id goal;
    enum record_type type;
    int64_t at;
    size_t len;
    char text[]; /* id:, event:, data: and an empty line */
};

struct ring {
    struct ringed *at[LIMIT_RING];
    uint64_t first, next; /* numbers of the oldest, and of the one to come */
    size_t bytes;
    struct cursor base; /* what stands at or before it is not here */
    struct cursor tail; /* up to here everything is here, or before `base` */
    bool known;         /* it has been filled */
};

/* NULL: no memory. */
struct ringed *ringed_new(const struct logged *row);

void ring_clear(struct ring *ring);
/* Empty, and from here on. */
void ring_begin(struct ring *ring, struct cursor from);
/* The oldest make room. Owns `event`. */
void ring_add(struct ring *ring, struct ringed *event);
/* By its number, which is not below `first`. NULL: it has not come yet. */
const struct ringed *ring_event(const struct ring *ring, uint64_t number);
/* The number of the first event behind this place; false: that is not here any more. */
bool ring_find(const struct ring *ring, const struct cursor *place, uint64_t *ret_number);
