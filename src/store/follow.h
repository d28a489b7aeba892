/* SPDX-License-Identifier: Apache-2.0 */
/* What do both drivers make of the log as it is read in the order of commits?
 *
 * Records are kept by day, and a day is that of the host which wrote them. So the order of commits runs through
 * several days at once where clocks differ: of each day the head is looked at, the next record behind the cursor, and
 * the day with the lowest head is read up to the head of the next one. */
#pragma once

#include "store/store.h"

struct following { /* one page in the making */
    const struct store_request *request;
    struct store_answer *answer;
    uint32_t limit; /* of what is given */
    uint32_t left;  /* of what is looked at */
    bool may_reach;
};

struct follow_mark { /* what the store says of its log */
    uint64_t era;
    int64_t settled;  /* every transaction below has ended */
    bool may_reach;   /* and none of them can ever come again: the cursor may go as far as that */
    bool has_dropped; /* retention has taken something out */
    bool has_oldest;
    int64_t oldest; /* the first transaction that is kept whole */
};

/* False: there is nothing to be read, and the answer says why. */
bool following_begin(struct following *following, const struct store_request *request,
                     struct store_answer *answer, const struct follow_mark *mark,
                     struct arena *arena);

/* How many records are looked at: more than are given, where not all of them are wanted. */
uint32_t following_page(const struct store_request *request);

/* Is anything of this day wanted? Day 0 has what is kept for ever. */
bool following_wants_day(const struct store_request *request, int64_t day);

/* The next record, in order. False: the page is full. */
bool following_add(struct following *following, const struct logged *row);

/* Everything below this place has been looked at; `more` if that is not the end. */
void following_end(struct following *following, int64_t tx, uint32_t n, bool more);
