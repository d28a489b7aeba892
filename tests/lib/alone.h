/* SPDX-License-Identifier: Apache-2.0 */
/* What does the core alone make of a month? step() on goals and their desk, a queue of what is to happen, pretend agents, and
 * a person who answers. No store, no ledger: a decision that is made stands.
 *
 * After every decision everything that was promised is checked against the truth that the cast knows. */
#pragma once

#include "core/step.h"
#include "lib/cast.h"

#include <stdio.h>

enum { ALONE_GOALS = 16, ALONE_PERSON = 256 };

enum item_kind {
    ITEM_SIGNAL, /* for an aggregate */
    ITEM_CLAIM,  /* an effect that wants to be claimed */
    ITEM_ACT,    /* an effect that is carried out now */
    ITEM_KINDS
};

struct item {
    int64_t at;
    uint64_t order; /* of those at the same time */
    enum item_kind kind;
    uint32_t life;         /* of the daemon, in which it was queued */
    struct signal *signal; /* owned */
    struct effect *effect; /* owned, with its body behind it */
};

/* One aggregate. The first is the desk. */
struct seat {
    bool used;
    struct goal goal;
    struct live live;
    void *room; /* its rows */
    size_t room_size;
    int64_t due, began, resumed;
    uint32_t notices, notices_hour; /* messages to people in that hour */
    uint32_t asked;                 /* questions that the person has on the desk */
};

struct alone_counts {
    uint64_t steps, decisions, signals, goals, done, cancelled, left, questions, answers, restarts,
        sleeps, actions, lies;
    uint64_t most_actions;  /* in one minute */
    uint64_t agent_minutes; /* simulated: of runs that were there */
};

struct alone {
    struct arena talk, out, shared; /* of signals; of decisions; as long as the run */
    struct policy policy;
    struct cast *cast;
    struct dice dice;
    int64_t now, begin, until, since; /* since: watched without a gap */
    struct seat seats[ALONE_GOALS + 1];
    uint32_t goal_count;
    struct item *heap;
    uint32_t heap_count, heap_cap;
    uint64_t order, sources;
    uint32_t life;
    int64_t minute;
    uint32_t actions; /* in that minute */
    uint64_t busy;    /* microseconds of all runs */
    uint64_t digest;  /* over all records */
    struct decision did;
    struct alone_counts counts;
    FILE *story; /* every decision in words, when wanted */
    char violation[512];
};

struct alone *alone_create(uint64_t seed, uint32_t goals, uint32_t days);
void alone_free(struct alone *alone);

/* One thing happens. False: the time is over, or a promise was broken. */
bool alone_move(struct alone *alone);

/* Everything has ended as it should? */
void alone_finish(struct alone *alone);
