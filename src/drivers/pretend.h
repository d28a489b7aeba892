/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates an agent as a state machine: the caller passes in time and randomness, and nothing is really done.
 *
 * It works in stretches: some minutes of progress at an even pace, or one tool call. A stretch is followed by the next
 * one, its trouble, or the end of its turn. Its requests and observations are those of a real driver; in addition it
 * knows the truth: is it well, is it done? Plain data: it may be copied at any time. */
#pragma once

#include "model/assignment.h"
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
    PRETEND_LIMITED,      /* at a limit, says until when */
    PRETEND_LIMITED_OPEN, /* at a limit, does not say until when */
    PRETEND_EXHAUSTS,
    PRETEND_DIES_WITH_HOST,
    PRETEND_COMES_BACK,
    PRETEND_STOPS_SHORT, /* ends its turn before its work is done */
    PRETEND_WORDY,       /* says it is done, but not in the agreed form */
    PRETEND_FAILS,       /* its turn ends with an error */
    PRETEND_DIALOG,      /* shows a dialog that needs an answer */
    PRETEND_PUPPET,      /* does nothing by itself: its holder controls it */
    PRETENDS
};

enum pretend_state {
    PRETEND_GONE,    /* there is no process */
    PRETEND_IDLE,    /* its turn is over; it does nothing until it receives something */
    PRETEND_BUSY,    /* in a turn that continues by itself */
    PRETEND_STUCK,   /* in a turn that will produce nothing */
    PRETEND_SLEEPS,  /* does not show that it received something; answers later */
    PRETEND_WAITING, /* for a person */
    PRETEND_RESTING, /* until its account may be used again */
    PRETEND_STATES
};

/* How a delivery goes wrong. */
enum pretend_fault {
    FAULT_NONE,
    FAULT_REFUSED,   /* it cannot be delivered, and the sender knows */
    FAULT_SWALLOWED, /* it is in the agent's input line, but was never submitted */
    FAULT_RECEIPT,   /* it arrived, but without a receipt */
    FAULTS
};

/* Its reply at the end of a turn. */
enum pretend_reply {
    REPLY_NONE,
    REPLY_PROSE,    /* text without the agreed block */
    REPLY_PROGRESS, /* it continues, there is more to do */
    REPLY_DONE,
    REPLY_BLOCKED,  /* it needs a person */
    REPLY_HANDOVER, /* current state, for its successor */
    REPLIES
};

struct pretend {
    enum pretend_kind kind;
    enum pretend_state state;
    uint64_t dice;
    int64_t stretch_since, stretch_until, pace; /* pace: time between two signs of progress */
    uint32_t stretches, worked;                 /* of its work: in total, and done */
    uint32_t trouble_at;                        /* stretch before which its trouble comes */
    uint32_t troubled, tool, silent_exit, blind, twice, pending, handing_over, hosted;
    uint32_t dispatch; /* the last one it received */
    uint32_t heard[16], heard_count,
        doubled; /* dispatch ids, newest last; doubled: received twice */
    enum pretend_reply reply, echo;
    int64_t active_at, chatter_since, limited_until, asked_at;
    uint64_t fingerprint, tokens, cost;
    uint32_t context, context_step; /* in hundredths of a percent */
    uint32_t says_done;             /* its own claim */
    uint32_t typed;                 /* dispatch that is in its input line and was never submitted */
};

/* What it cannot know by itself. */
struct pretend_world {
    int64_t limited_until;    /* of its account; in the past: not limited */
    uint32_t faults;          /* deliveries per thousand that go wrong */
    enum pretend_fault fault; /* how this delivery goes wrong */
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
    uint32_t stretches_least, stretches_most; /* amount of its work */
    int64_t stretch_least, stretch_most;      /* minutes of each */
    int64_t pace_least, pace_most;            /* seconds between two signs of progress */
    uint32_t tools;                           /* tool calls per thousand stretches */
    uint32_t heals; /* messages per thousand that help it out of its trouble */
};
extern const struct pretend_row PRETEND[PRETENDS];
extern const struct names PRETEND_NAMES, PRETEND_STATE_NAMES, PRETEND_REPLY_NAMES;

/* ---- actions ---- */

/* It starts with its first message. Work that it did before a restart counts: `worked` of `stretches`. */
void pretend_start(struct pretend *agent, enum pretend_kind kind, uint64_t seed, uint32_t dispatch,
                   int64_t now);

/* Returns what the sender sees. Whether it arrived is another matter: call pretend_look() with this dispatch. */
enum delivery pretend_send(struct pretend *agent, const struct pretend_world *world,
                           uint32_t dispatch, enum wording words, int64_t now);

void pretend_look(const struct pretend *agent, uint32_t dispatch, uint32_t sample, int64_t now,
                  struct observation *ret);
void pretend_stop(struct pretend *agent, int64_t now);
void pretend_host_dies(struct pretend *agent, int64_t now);
void pretend_sleep(struct pretend *agent, int64_t from,
                   int64_t until); /* the machine sleeps, and the agent with it */

/* ---- spontaneous events ---- */

int64_t pretend_next(const struct pretend *agent); /* TIME_NEVER: nothing more */
bool pretend_happens(struct pretend *agent, const struct pretend_world *world, int64_t now,
                     struct pretend_event *ret); /* false: nothing to report */

/* Its text, with or without the agreed block. */
struct str pretend_words(const struct pretend_event *event, struct str goal, struct str node,
                         struct arena *arena);

/* ---- the truth ---- */

bool pretend_is_well(const struct pretend *agent,
                     int64_t now); /* it continues by itself, or waits as it should */
bool pretend_is_done(const struct pretend *agent); /* really done */
