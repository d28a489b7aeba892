/* SPDX-License-Identifier: Apache-2.0 */
/* Reads pages of the log in the order of commits: the part that both drivers share.
 *
 * Records are stored by day, according to the clock of the host that wrote them. So where clocks differ, the order of
 * commits runs through several days at once. For each day the reader finds the head, which is the next record after the
 * cursor; it then reads the day with the lowest head up to the head of the next day. */
#pragma once

#include "store/store.h"

struct following { /* one page being built */
    const struct store_request *request;
    struct store_answer *answer;
    uint32_t limit; /* records that may be returned */
    uint32_t left;  /* records that may still be examined */
    bool may_reach;
};

struct follow_mark { /* the state of the store's log */
    uint64_t era;
    int64_t settled; /* every transaction below this one has ended */
    bool
        may_reach; /* and none of these numbers can be issued again: the cursor may advance that far */
    bool has_dropped; /* retention has deleted something */
    bool has_oldest;
    int64_t oldest; /* the first transaction that is kept completely */
};

/* False: there is nothing to read, and the answer says why. */
bool following_begin(struct following *following, const struct store_request *request,
                     struct store_answer *answer, const struct follow_mark *mark,
                     struct arena *arena);

/* How many records are examined: more than are returned if the request filters them. */
uint32_t following_page(const struct store_request *request);

/* True if the request wants records of this day. Day 0 holds what is kept for ever. */
bool following_wants_day(const struct store_request *request, int64_t day);

/* Add the next record, in order. False: the page is full. */
bool following_add(struct following *following, const struct logged *row);

/* Everything below this place has been examined; `more` if the log continues. */
void following_end(struct following *following, int64_t tx, uint32_t n, bool more);
