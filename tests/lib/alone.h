/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the core alone for a simulated month: step() on goals and their admission, a queue of pending events, pretend
 * agents, and a person who answers. There is no store and no ledger: every decision takes effect.
 *
 * After every decision all guarantees are checked against the truth that the cast knows. */
#pragma once

#include "core/step.h"
#include "lib/cast.h"

#include <stdio.h>

enum { ALONE_GOALS = 16, ALONE_PERSON = 256 };

enum item_kind {
    ITEM_SIGNAL, /* for delivery to an aggregate */
    ITEM_CLAIM,  /* an effect to be claimed */
    ITEM_ACT,    /* an effect to be carried out now */
    ITEM_KINDS
};

struct item {
    int64_t at;
    uint64_t order; /* orders items with the same time */
    enum item_kind kind;
    uint32_t life;         /* life of the daemon in which it was queued */
    struct signal *signal; /* owned */
    struct effect *effect; /* owned, followed by its body */
};

/* One aggregate. The first one is the admission. */
struct seat {
    bool used;
    struct goal goal;
    struct live live;
    void *room; /* storage of its rows */
    size_t room_size;
    int64_t due, began, resumed;
    uint32_t notices, notices_hour; /* messages to people in that hour */
    uint32_t asked;                 /* questions that the person has received */
};

struct alone_counts {
    uint64_t steps, decisions, signals, goals, done, cancelled, left, questions, answers, restarts,
        sleeps, actions, lies;
    uint64_t most_actions;  /* in one minute */
    uint64_t agent_minutes; /* simulated: sum over the runs that existed */
};

struct alone {
    struct arena talk, out, shared; /* lifetime: signals; decisions; the whole simulation */
    struct policy policy;
    struct cast *cast;
    struct dice dice;
    int64_t now, begin, until, since; /* since: start of observation without a gap */
    struct seat seats[ALONE_GOALS + 1];
    uint32_t goal_count;
    struct item *heap;
    uint32_t heap_count, heap_cap;
    uint64_t order, sources;
    uint32_t life;
    int64_t minute;
    uint32_t actions; /* in that minute */
    uint64_t busy;    /* microseconds, summed over all runs */
    uint64_t digest;  /* over all records */
    struct decision did;
    struct alone_counts counts;
    FILE *story; /* every decision as text, if requested */
    char violation[512];
};

struct alone *alone_create(uint64_t seed, uint32_t goals, uint32_t days);
void alone_free(struct alone *alone);

/* Processes one event. False: the simulated time is over, or a guarantee was violated. */
bool alone_move(struct alone *alone);

/* Checks that everything has ended as it should. */
void alone_finish(struct alone *alone);
