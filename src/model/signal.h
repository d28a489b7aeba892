/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: everything that can happen. One row for each kind, with its stable encoding.
 *
 * A signal is one block of memory with one owner at a time. Its source names the event: a sender that reports the same
 * event twice uses the same source, and it is applied once. */
#pragma once

#include "model/goal.h"

enum signal_kind {
    SIGNAL_NONE,
    SIGNAL_GOAL_CREATE,  /* a new goal is requested */
    SIGNAL_GOAL_REPORT,  /* a caller reports how the goal is going */
    SIGNAL_GOAL_DUE,     /* the goal's due time has come */
    SIGNAL_EFFECT_CLAIM, /* a host wants to carry out an effect */
    SIGNAL_EFFECT_ENDED, /* an effect was carried out, with this outcome */
    SIGNAL_EFFECT_LOST,  /* the host that claimed an effect cannot report its outcome */
    SIGNAL_GOAL_UPDATE,  /* the description of the goal is changed */
    SIGNAL_GOAL_MOVE,    /* pause, resume, complete, cancel, archive */
    SIGNAL_PLAN_APPLY,   /* a whole plan, new or replacing the old one */
    SIGNAL_PLAN_REVIEW,  /* a review of the plan is requested */
    SIGNAL_PLAN_APPROVE, /* a person accepts the proposed plan */
    SIGNAL_PLAN_REJECT,  /* a person rejects it, or the plan stays as it is */
    SIGNAL_WORK_ADD,     /* one more node */
    SIGNAL_WORK_MOVE,    /* a node changes its status */
    SIGNAL_WORK_FOLLOW,  /* an override is withdrawn: the node follows its children again */
    SIGNAL_GOAL_RELEASE, /* a person has reviewed a quarantined goal */
    SIGNAL_PART_PUT,     /* STORE-22: an assignment, dispatch, handoff or run, whole or in part */
    SIGNAL_POLICY_CHANGE, /* an operator changed settings that decisions depend on; of SYSTEM_GOAL, as those below */
    SIGNAL_FLEET_STOP, /* nothing more starts, anywhere */
    SIGNAL_FLEET_RESUME,
    SIGNAL_AGENT_SEEN,        /* something happened to an agent: an OBSERVATION */
    SIGNAL_AGENT_UPDATE,      /* an agent reports its status in the agreed form: an UPDATE */
    SIGNAL_AGENT_ASK,         /* an agent asks its parent or a person: a QUESTION_TEXT */
    SIGNAL_QUESTION_ASK,      /* a person or their program asks: also a QUESTION_TEXT */
    SIGNAL_QUESTION_ANSWER,   /* one of the options, or text */
    SIGNAL_QUESTION_MOVE,     /* acknowledged, snoozed, undone, withdrawn: enum question_move */
    SIGNAL_PERMIT_ASK,        /* to admission: a PERMIT */
    SIGNAL_PERMIT_SETTLE,     /* to admission: what was spent; with `to` 1: the work is over */
    SIGNAL_PERMIT_GRANTED,    /* from admission */
    SIGNAL_PERMIT_DENIED,     /* from admission; final, with a reason */
    SIGNAL_ACCOUNT_LIMITED,   /* to admission: an account is at its limit until `until` */
    SIGNAL_ADMISSION_RELEASE, /* to admission: a person lets the supervisor act again */
    SIGNAL_MAIL_SEND,         /* a message to a participant of the goal: an AGENT_MESSAGE_TEXT */
    SIGNAL_MAIL_ACK,
    SIGNAL_HANDOFF,        /* the state of the work is written down: a HANDOFF */
    SIGNAL_WORK_RETRY,     /* RECOVER-11: a person wants the work done again */
    SIGNAL_AGENT_PROGRESS, /* an agent reports its progress: a PROGRESS */
    SIGNAL_LANE_ASK,       /* to a workspace: this work wants to land: a PERMIT, as those below */
    SIGNAL_LANE_GRANTED,   /* from a workspace: the work has the slot */
    SIGNAL_LANE_RETURN,    /* to a workspace: the work no longer needs the slot */
    SIGNAL_LANE_HOLD,      /* to a workspace: a person holds the lane; with `to` 0: releases it */
    SIGNAL_CLOCK_STEPPED, /* the host's wall clock has stepped since the last decision about the goal */
    SIGNAL_HOST_LOST,  /* to admission: host `to` was taken over; with `returned` it has returned */
    SIGNAL_RUN_BRAKED, /* the host has frozen a run because of its disk */
    SIGNAL_HOST_DENIED, /* to a workspace: a HOST_ACCESS: a run was denied it; with `to`: what a person wants */
    SIGNAL_BATCH_SET, /* to admission: a TASK_BATCH: a person makes or changes one; `to`: enum batch_change */
    SIGNAL_ACCOUNT_SEEN, /* to admission: a QUOTA: what an agent's program reports about its account */
    SIGNAL_TARGET_CHECKED, /* to a workspace: the check on its target's tip: enum target_state */
    SIGNAL_KINDS
};

/* What has happened to a frozen run: `to` of SIGNAL_RUN_BRAKED. */
enum braking {
    BRAKING_DISK,
    BRAKING_OVERAGE,
    BRAKING_OVERAGE_OVER,
    BRAKING_OVERAGE_ENDS,
    BRAKINGS
};

/* A sender may repeat itself, and it is applied once. */
struct signal_once {
    uint32_t keyed;   /* the sender may repeat it: remember the source */
    struct id key;    /* the caller's key, which names one source; zero: none */
    struct id before; /* its source as named by builds that did not know `key`; zero: none */
};

struct signal_sender {
    struct str actor; /* its name */
    enum who by;      /* its kind */
    struct str trace; /* PLAN-20: of a causal chain, passed through */
};

/* What it is about; 0: nothing of that kind. */
struct signal_about {
    uint32_t assignment; /* agents, permits: n + 1 of the assignment */
    uint32_t run;        /* agents: ordinal + 1 of the effect that started the run it comes from */
    uint32_t question;   /* n + 1 of the question or agent message */
};

/* Spent since the last settlement. */
struct signal_spent {
    uint64_t cost, tokens;
};

/* create, update: the description of a goal. */
struct signal_goal {
    struct str title, command;
    struct str tags;  /* a TAGS list; update: empty leaves them unchanged */
    struct hash base; /* update: of the text that it is based on */
    enum priority priority;
    uint64_t repository; /* create, lane.hold, host.denied: see struct goal */
    struct str task;     /* create: a PLAN_TEXT of one row, which becomes its plan; empty: none */
    struct goal_batch batch; /* create */
    uint32_t quota_mark;     /* create: see struct goal_kind */
};

/* work: a node, and how it moves. */
struct signal_work {
    struct str node;
    enum blocked_by blocked; /* to blocked: by what */
    uint32_t override;       /* bypasses the status table, and is recorded */
};

/* plan: a revision. */
struct signal_plan {
    enum plan_reason why; /* one of the reasons of PLAN-21 */
    uint64_t expected;    /* the version that the sender saw; 0: none, or any */
};

/* ended: what an effect left behind. */
struct signal_outcome {
    struct str
        reference; /* spawn, send: the session; check: the candidate, or what it conflicts with; land: where it
                    * landed; say: the service's reference for the message */
    struct str sandbox; /* spawn: what confines the run, */
    struct str scope;   /* whether its tool scope is enforced, */
    struct str limits;  /* and what it may use of the machine */
};

struct signal {
    enum signal_kind kind;
    struct id source;
    struct id goal;
    int64_t at;      /* the only current time that a decision knows */
    uint64_t number; /* for the name of its goal, if that has none yet; 0: none is available */
    struct signal_once once;
    struct signal_sender sender;

    struct signal_goal describe;
    struct signal_work work;
    struct signal_plan plan;
    struct signal_outcome outcome;
    struct str text; /* report: its text; ended: the tail of the output; work: evidence */
    uint32_t effect; /* claim, ended, lost: its ordinal */
    uint32_t host;   /* claim, create: the host that gets it */
    int64_t exit;    /* ended: the exit status, -1 when it could not be started */

    struct str
        body; /* create, update: GOAL_TEXT; apply, approve, add: PLAN_TEXT; part: its shape */
    struct str reason; /* move: in words; NULL where none was given */
    uint32_t to;       /* move: the status; part: its kind */
    struct signal_about about;
    uint32_t admission;        /* permits: the host whose admission it is */
    int64_t until;             /* snooze, limits: end time; ended: when it may be tried again */
    struct signal_spent spent; /* settle */
    struct str commit;         /* answer: the commit that was shown; empty: none */
    uint32_t returned;         /* host lost: 1: it has returned */
    int64_t stepped;           /* clock: by how much to move the stored times */
};

enum question_move {
    QUESTION_SEEN,     /* a person is handling it: it is not sent again */
    QUESTION_SNOOZE,   /* until `until` */
    QUESTION_UNDO,     /* takes the answer back, while that is possible */
    QUESTION_WITHDRAW, /* it no longer needs an answer */
    QUESTION_MOVES
};

/* SIGNAL_TARGET_CHECKED. */
enum target_state { TARGET_UNKNOWN, TARGET_PASSES, TARGET_FAILS, TARGET_STATES };

/* SIGNAL_HOST_DENIED: what a person wants, for every task of the repository. */
enum host_order {
    HOST_ORDER_NONE,
    HOST_FORGET,
    HOST_DENY,
    HOST_ALLOW,
    HOST_ALLOW_CHECKS,
    HOST_ORDERS
};

/* SIGNAL_BATCH_SET: which fields of the row are set; without any, nothing but its existence is asked for. */
enum batch_change {
    BATCH_MOST = 1,
    BATCH_UNTIL = 2,
    BATCH_HELD = 4,
    BATCH_MAKE = 8, /* it is made if it does not exist, and begins again if it has ended */
    BATCH_CHANGES = 16
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
extern const struct shape SIGNAL_COMMON; /* the fields common to all kinds */

struct str signal_encode(const struct signal *signal, struct arena *arena);
bool signal_decode(struct str bytes, struct signal *ret_signal); /* texts point into the bytes */

/* Copies a signal; its texts are stored in `room`, which has signal_text_size() bytes. */
size_t signal_text_size(const struct signal *signal);
void signal_copy(struct signal *to, const struct signal *from, char *room);
