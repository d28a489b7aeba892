/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done outside? One row for each kind of effect: its promise and its stable encoding. */
#pragma once

#include "model/goal.h"

enum effect_kind {
    EFFECT_NONE,
    EFFECT_COMMAND, /* run a command of the operator's on this host */
    EFFECT_SPAWN,   /* start a run of an agent, with its first instruction */
    EFFECT_SEND,    /* say something to an agent that runs */
    EFFECT_LOOK,    /* go and see: how is it, and did that dispatch arrive? */
    EFFECT_STOP,    /* end a run, and everything that it started */
    EFFECT_TELL,    /* a signal for another aggregate */
    EFFECT_SAY,     /* a NOTICE for a person */
    EFFECT_CHECK,   /* the operator's checks on exactly what a run has made, in a clean checkout */
    EFFECT_LAND,    /* a commit that passed them goes where the operator wants it */
    EFFECT_THAW,    /* a run that the host froze goes on */
    EFFECT_KINDS
};

/* What is promised when a host is lost between the claim and the outcome. */
enum promise {
    PROMISE_AT_MOST_ONCE, /* claimed first; it becomes unconfirmed, and is looked up or a person is asked */
    PROMISE_REPEAT, /* looks, messages, what the other side knows by its id: carried out without a claim, again after a
                     * crash, until an outcome is stored */
};

struct effect {
    enum effect_kind kind;
    struct id goal;
    uint32_t n;
    struct str command;
    int64_t within; /* how long it may take, microseconds */

    /* agents */
    uint32_t charge; /* n of the assignment */
    struct str agent, session, model, account;
    uint32_t run; /* ordinal + 1 of the effect that started the run */
    uint32_t
        dispatch; /* ordinal + 1 of the effect that names the dispatch: send, spawn: an earlier one that did not
                        * arrive, 0: itself; look: what is looked for, 0: nothing special */
    uint32_t sample; /* look: messages to read, at most; 0: only what is cheap */
    struct hash
        text; /* send, spawn: of the node's words; check: the same, where they name artifacts */
    struct hash handoff; /* of a CRYSTAL that goes with it */
    struct hash said;    /* of words that go with it */
    uint32_t words;      /* enum wording: what is asked for */
    uint32_t permits;    /* send: an answer to what it asks permission for: enum permission */
    struct str node;
    struct str commit;   /* land: the candidate that passed */
    struct str onto;     /* land: the target's tip that it was built on */
    struct str snapshot; /* check: build the candidate from this again; empty: from the worktree */
    struct str conflict; /* check: names the conflict that its agent was told of */
    struct hash digest;  /* land: how the candidate was checked: VERIFICATION */
    struct hash
        start; /* spawn: of the BEGINNING that it begins with once more; zero: as the settings say */
    int64_t orphan_after; /* spawn: P10, how long its hold waits for its host, microseconds */

    struct str body; /* tell: an encoded signal; say: an encoded NOTICE */
    struct id to;    /* tell: for whom */
};

/* Only an answer to that very question is yes or no; whatever else is said meanwhile is words. */
enum permission { PERMISSION_NONE, PERMISSION_YES, PERMISSION_NO };

/* What an agent is told. The text is put together from these by core/words.h when it is sent. */
enum wording {
    WORDS_NONE,
    WORDS_TASK,     /* the node itself */
    WORDS_NUDGE,    /* UPDATE-08 */
    WORDS_BLOCK,    /* UPDATE-07: please once more, in the agreed form */
    WORDS_ANSWER,   /* somebody answered */
    WORDS_HANDOVER, /* the window is nearly full: write down where things stand */
    WORDS_AGAIN,    /* the node once more, with what went wrong before */
    WORDS_FAILED,   /* what it called done did not pass */
    WORDS_CONFLICT, /* what it made does not fit what others made meanwhile */
    WORDS_TOLD,     /* a person has something to say */
    WORDSES
};

/* Effects of one lane share a cap on how many are carried out at once: a web hook that hangs keeps no agent waiting. */
enum effect_lane {
    LANE_COMMANDS,
    LANE_AGENTS,
    LANE_PEOPLE,
    LANE_INSIDE,
    LANE_CHECKS,
    LANE_STOPS,
    LANES
};

struct effect_row {
    const char *name;
    enum promise promise;
    enum effect_lane lane;
    struct shape shape; /* of the body */
};

extern const struct effect_row EFFECTS[EFFECT_KINDS];
extern const uint32_t LANE_MOST[LANES];
extern const struct names WORDS_NAMES;

/* What the outside sees as its id: the same for ever, and unlike any other's. */
struct id effect_id(struct id goal, uint32_t n);

struct str effect_encode(const struct effect *effect, struct arena *arena);

/* kind, goal and n are columns beside the body, and are left as they are. */
bool effect_decode(enum effect_kind kind, struct str body, struct effect *ret_effect);
