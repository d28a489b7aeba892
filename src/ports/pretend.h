/* SPDX-License-Identifier: Apache-2.0 */
/* What would an agent do? A pretend one, as a state machine: time and randomness are handed in, nothing is done.
 *
 * It works in stretches: so many minutes of progress at an even pace, or one call of a tool. At the end of a stretch comes
 * the next one, its trouble, or the end of its turn. What it is asked and what it shows are those of a real driver; beside
 * that it knows the truth: is it well, is it done? Plain data: it may be copied at any time. */
#pragma once

#include "model/charge.h"
#include "model/effect.h"

enum pretend_kind {
    PRETEND_WORKS,
    PRETEND_SLOW,
    PRETEND_SILENT,
    PRETEND_DIES,
    PRETEND_HANGS,
    PRETEND_CHATTERS,
    PRETEND_LATE,
    PRETEND_TWICE,
    PRETEND_LIES,
    PRETEND_LOOPS,
    PRETEND_ASKS,
    PRETEND_LIMITED,      /* and says until when */
    PRETEND_LIMITED_OPEN, /* does not */
    PRETEND_EXHAUSTS,
    PRETEND_DIES_WITH_HOST,
    PRETEND_COMES_BACK,
    PRETEND_STOPS_SHORT, /* ends its turn before its work */
    PRETEND_WORDY,       /* says it is done, but not in the agreed form */
    PRETEND_FAILS,       /* its turn ends with an error */
    PRETEND_DIALOG,      /* shows a dialog that somebody has to answer */
    PRETEND_PUPPET,      /* does nothing by itself: whoever holds it moves it */
    PRETENDS
};

enum pretend_state {
    PRETEND_GONE,    /* there is no process */
    PRETEND_IDLE,    /* its turn is over; it does nothing until it hears something */
    PRETEND_BUSY,    /* in a turn that goes on by itself */
    PRETEND_STUCK,   /* in a turn from which nothing will come */
    PRETEND_SLEEPS,  /* does not show that it heard; answers later */
    PRETEND_WAITING, /* for a person */
    PRETEND_RESTING, /* until its account may be used again */
    PRETEND_STATES
};

/* How a delivery goes wrong. */
enum pretend_fault {
    FAULT_NONE,
    FAULT_REFUSED,   /* it cannot be delivered, and that is known */
    FAULT_SWALLOWED, /* it stands in a line that nobody sent off */
    FAULT_RECEIPT,   /* it arrived, and nobody said so */
    FAULTS
};

/* What it says at the end of a turn. */
enum pretend_reply {
    REPLY_NONE,
    REPLY_PROSE,    /* words without the agreed block */
    REPLY_PROGRESS, /* it goes on, there is more to do */
    REPLY_DONE,
    REPLY_BLOCKED,  /* it needs somebody */
    REPLY_HANDOVER, /* where things stand, for whoever comes next */
    REPLIES
};

struct pretend {
    enum pretend_kind kind;
    enum pretend_state state;
    uint64_t dice;
    int64_t stretch_since, stretch_until, pace; /* progress every so often in it */
    uint32_t stretches, worked;                 /* of its work, and done of it */
    uint32_t trouble_at;                        /* before which stretch */
    uint32_t troubled, tool, silent_exit, blind, twice, pending, handing_over, hosted;
    uint32_t dispatch;                        /* the last that it heard */
    uint32_t heard[16], heard_count, doubled; /* dispatch ids, newest last; heard twice */
    enum pretend_reply reply, echo;
    int64_t active_at, chatter_since, limited_until, asked_at;
    uint64_t fingerprint, tokens, cost;
    uint32_t context, context_step; /* in hundredths of a percent */
    uint32_t says_done;             /* its word */
    uint32_t typed;                 /* a dispatch that stands in its line and was never sent off */
};

/* What it cannot know by itself. */
struct pretend_world {
    int64_t limited_until;    /* of its account; in the past: not limited */
    uint32_t faults;          /* deliveries in a thousand that go wrong */
    enum pretend_fault fault; /* how this one does */
};

struct pretend_event {
    enum agent_event event;
    enum pretend_reply reply;
    int64_t at;
    uint32_t dispatch;
    int64_t limited_until;
    int64_t exit;
};

struct pretend_row {
    const char *name, *text;
    uint32_t stretches_least, stretches_most; /* its work */
    int64_t stretch_least, stretch_most;      /* minutes of each */
    int64_t pace_least, pace_most;            /* seconds between two signs of progress */
    uint32_t tools;                           /* of a thousand stretches, calls of a tool */
    uint32_t heals; /* of a thousand words to it, those that help it out of its trouble */
};
extern const struct pretend_row PRETEND[PRETENDS];
extern const struct names PRETEND_NAMES, PRETEND_STATE_NAMES, PRETEND_REPLY_NAMES;

/* ---- verbs ---- */

/* It starts with its first words. What it has done before it was started anew counts: `worked` of `stretches`. */
void pretend_start(struct pretend *agent, enum pretend_kind kind, uint64_t seed, uint32_t dispatch,
                   int64_t now);

/* What the sender sees of it. Whether it arrived is another matter: pretend_look() with this dispatch says. */
enum delivery pretend_send(struct pretend *agent, const struct pretend_world *world,
                           uint32_t dispatch, enum wording words, int64_t now);

void pretend_look(const struct pretend *agent, uint32_t dispatch, uint32_t sample, int64_t now,
                  struct sighting *ret);
void pretend_stop(struct pretend *agent, int64_t now);
void pretend_host_dies(struct pretend *agent, int64_t now);
void pretend_sleep(struct pretend *agent, int64_t from,
                   int64_t until); /* the machine does, and it with it */

/* ---- what happens by itself ---- */

int64_t pretend_next(const struct pretend *agent); /* TIME_NEVER: nothing more */
bool pretend_happens(struct pretend *agent, const struct pretend_world *world, int64_t now,
                     struct pretend_event *ret); /* false: nothing worth telling */

/* What it says, with or without the agreed block. */
struct str pretend_words(const struct pretend_event *event, struct str goal, struct str node,
                         struct arena *arena);

/* ---- the truth ---- */

bool pretend_is_well(const struct pretend *agent,
                     int64_t now);                 /* it goes on by itself, or waits as it should */
bool pretend_is_done(const struct pretend *agent); /* really */
