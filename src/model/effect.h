/* SPDX-License-Identifier: Apache-2.0 */
/* Effects: what Overseer can do to the outside world. One row for each kind: its guarantee and its stable encoding. */
#pragma once

#include "model/goal.h"

enum effect_kind {
    EFFECT_NONE,
    EFFECT_COMMAND, /* run an operator's command on this host */
    EFFECT_SPAWN,   /* start a run of an agent, with its first instruction */
    EFFECT_SEND,    /* send something to a running agent */
    EFFECT_LOOK,    /* observe: how is the agent, and did that dispatch arrive? */
    EFFECT_STOP,    /* end a run, and everything that it started */
    EFFECT_TELL,    /* send a signal to another aggregate */
    EFFECT_SAY,     /* send a NOTICE to a person */
    EFFECT_CHECK, /* run the operator's checks on exactly what a run has made, in a clean checkout */
    EFFECT_LAND,  /* land a commit that passed them where the operator wants it */
    EFFECT_THAW,  /* resume a run that the host froze */
    EFFECT_KINDS
};

/* What is guaranteed when a host is lost between the claim and the outcome. */
enum promise {
    PROMISE_AT_MOST_ONCE, /* claimed first; when lost, it becomes unconfirmed and is looked up, or a person is asked */
    PROMISE_REPEAT, /* looks, messages, effects that the other side knows by id: carried out without a claim, and again
                     * after a crash, until an outcome is stored */
};

/* check, land: the commit that lands. */
struct effect_candidate {
    struct str
        branch; /* spawn, check, land: of the work, below overseer/; empty: GOAL/RUN, as before */
    struct str subject;  /* check: first line of its message */
    struct str commit;   /* land: the candidate that passed */
    struct str onto;     /* land: the target's tip that it was built on */
    struct str snapshot; /* check: build the candidate from this again; empty: from the worktree */
    struct str conflict; /* check: names the conflict that was reported to its agent */
    struct hash digest;  /* land: how the candidate was checked: VERIFICATION */
};

struct effect {
    enum effect_kind kind;
    struct id goal;
    uint32_t n;
    struct str command;
    int64_t within;      /* time limit, microseconds */
    uint64_t repository; /* of the goal: see struct goal */

    /* agents */
    uint32_t assignment; /* n of the assignment */
    struct str agent, session, model, account;
    uint32_t run; /* ordinal + 1 of the effect that started the run */
    uint32_t
        dispatch; /* ordinal + 1 of the effect that names the dispatch: send, spawn: an earlier one that did not arrive,
                   * 0: itself; look: the one to look for, 0: none in particular */
    uint32_t sample;  /* look: maximum number of messages to read; 0: only what is cheap */
    struct hash text; /* send, spawn: of the node's text; check: the same, if it names artifacts */
    struct hash handoff;  /* of a HANDOFF that goes with it */
    struct hash outgoing; /* of text that goes with it */
    uint32_t words;       /* enum wording: kind of the text */
    uint32_t permits;     /* send: answer to a permission request: enum permission */
    struct str node;
    struct effect_candidate candidate;
    struct hash start; /* spawn: of the BEGINNING to start with again; zero: as the settings say */
    int64_t orphan_after; /* spawn: P10, how long its hold waits for its host, microseconds */

    struct str body; /* tell: an encoded signal; say: an encoded NOTICE */
    struct id to;    /* tell: the recipient */
};

/* Only an answer to the permission request itself is yes or no; any other text that is sent meanwhile is only text. */
enum permission { PERMISSION_NONE, PERMISSION_YES, PERMISSION_NO };

/* Kinds of text that an agent is sent. core/people/words.h composes the text from these when it is sent. */
enum wording {
    WORDS_NONE,
    WORDS_TASK,     /* the node itself */
    WORDS_NUDGE,    /* UPDATE-08 */
    WORDS_BLOCK,    /* UPDATE-07: asks once more for the block in the agreed form */
    WORDS_ANSWER,   /* an answer to a question */
    WORDS_HANDOVER, /* the context window is nearly full: write a handoff */
    WORDS_AGAIN,    /* the node again, with what went wrong before */
    WORDS_FAILED,   /* work that it reported as done did not pass */
    WORDS_CONFLICT, /* its work conflicts with what others made meanwhile */
    WORDS_MESSAGE,  /* a message from a person */
    WORDINGS
};

/* Effects of one class share a cap on how many are carried out at once: a hanging web hook keeps no agent waiting. */
enum effect_class {
    EFFECT_CLASS_COMMANDS,
    EFFECT_CLASS_AGENTS,
    EFFECT_CLASS_PEOPLE,
    EFFECT_CLASS_INSIDE,
    EFFECT_CLASS_CHECKS,
    EFFECT_CLASS_STOPS,
    EFFECT_CLASSES
};

struct effect_row {
    const char *name;
    enum promise promise;
    enum effect_class class;
    struct shape shape; /* of the body */
};

extern const struct effect_row EFFECTS[EFFECT_KINDS];
extern const uint32_t EFFECT_CLASS_MOST[EFFECT_CLASSES];
extern const struct names WORDS_NAMES;

/* The id that the outside sees: permanent and unique. */
struct id effect_id(struct id goal, uint32_t n);

struct str effect_encode(const struct effect *effect, struct arena *arena);

/* kind, goal and n are separate columns; this function leaves them unchanged. */
bool effect_decode(enum effect_kind kind, struct str body, struct effect *ret_effect);
