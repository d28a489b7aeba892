/* SPDX-License-Identifier: Apache-2.0 */
/* What can happen? One row for each kind of signal, with its stable encoding.
 *
 * A signal is one block of memory with one owner at a time. Its source names the happening: whoever
 * reports the same thing twice uses the same source, and it is applied once. */
#pragma once

#include "model/goal.h"

enum signal_kind {
    SIGNAL_NONE,
    SIGNAL_GOAL_CREATE,  /* somebody wants a goal */
    SIGNAL_GOAL_REPORT,  /* somebody says how it goes */
    SIGNAL_GOAL_DUE,     /* the time that the goal asked for has come */
    SIGNAL_EFFECT_CLAIM, /* a host wants to carry an effect out */
    SIGNAL_EFFECT_ENDED, /* it was carried out, with this outcome */
    SIGNAL_EFFECT_LOST,  /* whoever had claimed it cannot say what came of it */
    SIGNAL_GOAL_UPDATE,  /* what is wanted is said anew */
    SIGNAL_GOAL_MOVE,    /* pause, resume, complete, cancel, archive */
    SIGNAL_PLAN_APPLY,   /* a whole plan, new or in place of the old one */
    SIGNAL_PLAN_REVIEW,  /* somebody wants the plan looked at */
    SIGNAL_PLAN_APPROVE, /* a person accepts the proposed plan */
    SIGNAL_PLAN_REJECT,  /* a person does not, or the plan stands as it is */
    SIGNAL_WORK_ADD,     /* one more node */
    SIGNAL_WORK_MOVE,    /* a node changes its status */
    SIGNAL_WORK_FOLLOW,  /* an override is taken back: the node follows its children again */
    SIGNAL_GOAL_RELEASE, /* a person looked at a goal that was set aside */
    SIGNAL_PART_PUT,     /* STORE-22: an assignment, dispatch, handoff or run, whole or in part */
    SIGNAL_POLICY_CHANGE, /* an operator changed what decisions depend on; of SYSTEM_GOAL, as those below */
    SIGNAL_FLEET_STOP, /* nothing more is begun, anywhere */
    SIGNAL_FLEET_RESUME,
    SIGNAL_AGENT_SEEN,      /* something happened to an agent: a SIGHTING */
    SIGNAL_AGENT_UPDATE,    /* an agent says how it goes, in the agreed form: an UPDATE */
    SIGNAL_AGENT_ASK,       /* an agent asks its parent or a person: a QUESTION_TEXT */
    SIGNAL_QUESTION_ASK,    /* a person or a program of theirs asks: the same */
    SIGNAL_QUESTION_ANSWER, /* one of the options, or words */
    SIGNAL_QUESTION_MOVE,   /* seen, put off, taken back: enum question_move */
    SIGNAL_PERMIT_ASK,      /* to a desk: a PERMIT */
    SIGNAL_PERMIT_SETTLE,   /* to a desk: what was spent; with `to` 1: it is over */
    SIGNAL_PERMIT_GRANTED,  /* from a desk */
    SIGNAL_PERMIT_DENIED,   /* from a desk; for good, with a reason */
    SIGNAL_ACCOUNT_LIMITED, /* to a desk: at its limit until `until` */
    SIGNAL_DESK_RELEASE,    /* to a desk: a person lets the supervisor act again */
    SIGNAL_MAIL_SEND,       /* a message to somebody who works on the goal: a LETTER_TEXT */
    SIGNAL_MAIL_ACK,
    SIGNAL_HANDOFF,        /* somebody says where things stand: a CRYSTAL */
    SIGNAL_WORK_RETRY,     /* RECOVER-11: a person wants it done once more */
    SIGNAL_AGENT_PROGRESS, /* an agent says how far it is: a PROGRESS */
    SIGNAL_LANE_ASK,       /* to a workspace: this work wants to land: a PERMIT, as those below */
    SIGNAL_LANE_GRANTED,   /* from a workspace: it has the slot */
    SIGNAL_LANE_RETURN,    /* to a workspace: it does not need the slot any more */
    SIGNAL_LANE_HOLD,      /* to a workspace: a person holds the lane; with `to` 0: lets it go on */
    SIGNAL_CLOCK_STEPPED, /* the wall clock of the host has stepped since the goal was last decided about */
    SIGNAL_HOST_LOST,  /* to a desk: host `to` was taken over; with `override` it has returned */
    SIGNAL_RUN_BRAKED, /* the host has frozen a run: disk */
    SIGNAL_KINDS
};

struct signal {
    enum signal_kind kind;
    struct id source;
    struct id goal;
    int64_t at;       /* the only now that a decision knows */
    uint32_t keyed;   /* the sender may repeat it: remember the source */
    struct id key;    /* of its caller, which names one source; zero: none */
    struct id before; /* its source as builds named it that did not know `key`; zero: none */
    struct str actor; /* who, by name */
    enum who by;      /* and as what */
    struct str trace; /* PLAN-20: of a causal chain, passed through */

    struct str title, command; /* create, update */
    struct str text; /* report: what is said; ended: the tail of the output; work: evidence */
    uint32_t effect; /* claim, ended, lost: its ordinal */
    uint32_t host;   /* claim, create: whose it is to be */
    int64_t exit;    /* ended: the exit status, -1 when it could not be started */

    struct str
        body; /* create, update: GOAL_TEXT; apply, approve, add: PLAN_TEXT; part: its shape */
    struct str tags;         /* create, update: a TAGS list; update: empty leaves them */
    struct hash base;        /* update: of the text that this one was made from */
    struct str node;         /* work: which */
    struct str reason;       /* move: in words; NULL where none was given */
    enum plan_reason why;    /* plan: which of PLAN-21 */
    enum blocked_by blocked; /* work, to blocked: by what */
    enum priority priority;  /* create, update */
    uint32_t to;             /* move: the status; part: its kind */
    uint32_t override;       /* work: past the table, on the record */
    uint64_t expected;       /* plan: the version that the sender saw; 0: none, or any */
    uint32_t charge;         /* agents, permits: n + 1 of the assignment; 0: none */
    uint32_t
        run; /* agents: ordinal + 1 of the effect that started the run it comes from; 0: not said */
    uint32_t question;     /* n + 1 of the question or letter */
    uint32_t desk;         /* permits: the host whose desk it is */
    int64_t until;         /* snooze, limits: until when; ended: when it may be tried again */
    uint64_t cost, tokens; /* settle: spent since the last */
    int64_t stepped;       /* clock: by how much the stored times are to be moved */
};

enum question_move {
    QUESTION_SEEN,     /* somebody has it in hand: it is not said again */
    QUESTION_SNOOZE,   /* until `until` */
    QUESTION_UNDO,     /* the answer, while it can be */
    QUESTION_WITHDRAW, /* it need not be answered any more */
    QUESTION_MOVES
};

struct tags { /* encoded in signal.tags */
    struct texts tags;
};
extern const struct shape TAGS;

struct signal_row {
    const char *name;
    const struct field *fields; /* beyond the common ones */
    size_t count;
};

extern const struct signal_row SIGNALS[SIGNAL_KINDS];
extern const struct names SIGNAL_NAMES;
extern const struct shape SIGNAL_COMMON; /* the fields that all of them have */

struct str signal_encode(const struct signal *signal, struct arena *arena);
bool signal_decode(struct str bytes, struct signal *ret_signal); /* texts point into the bytes */

/* Copy a signal whose texts are to stand in `room`, which has signal_text_size() bytes. */
size_t signal_text_size(const struct signal *signal);
void signal_copy(struct signal *to, const struct signal *from, char *room);
