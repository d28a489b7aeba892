/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a person, a parent or the overseer, and how they reach them. A question lives until it is answered,
 * expires or is withdrawn; its records stay. Agents' requests (REQUEST) are questions to their parent. */
#pragma once

#include "model/effect.h"
#include "model/notice.h"
#include "model/plan.h"

enum question_kind {
    QUESTION_DECIDE,  /* wants an answer: one of the options, or text */
    QUESTION_APPROVE, /* yes or no */
    QUESTION_ALERT,   /* nothing to answer: it is only acknowledged */
    QUESTION_REQUEST, /* REQUEST-01: a child agent asks its parent */
    QUESTION_KINDS
};

enum question_state {
    QUESTION_OPEN,
    QUESTION_ANSWERED, /* takes effect at applies_at; can be undone until then */
    QUESTION_OVER, /* nothing waits for it any more: the channels that sent it still have to say so */
    QUESTION_STATES
};

enum asked_of { OF_PERSON, OF_PARENT, OF_OVERSEER, ASKED_OFS };

/* What an observer does about it: INTERVENE. */
enum intervention {
    INTERVENTION_NONE,
    INTERVENTION_LOG,
    INTERVENTION_WARN,
    INTERVENTION_REDIRECT,
    INTERVENTION_PAUSE,
    INTERVENTION_ABORT,
    INTERVENTIONS
};

/* Outcome of a message on a channel: `to` of the outcome of an EFFECT_SAY. */
enum hearing {
    HEARD_YES,     /* the service accepted it */
    HEARD_LATER,   /* not accepted; it may be next time */
    HEARD_NO,      /* not accepted, and will not be as it is */
    HEARD_PERHAPS, /* the answer was lost: the next attempt looks first */
    HEARINGS
};

struct question_answer {
    uint32_t option;  /* from 1; 0: none, text only */
    struct hash text; /* of its text */
};

/* How it reaches people: ESCALATE-03, G-23. One entry for each channel that it was ever sent on. */
struct question_sending {
    int64_t next_at; /* when the next round begins; TIME_NEVER: not automatically */
    uint32_t rounds; /* so far */
    uint32_t channels;
    uint32_t keys[LIMIT_CHANNELS];     /* channel_key() of its name: its position may change */
    uint32_t failures[LIMIT_CHANNELS]; /* of the message being sent */
    uint32_t again
        [LIMIT_CHANNELS]; /* time of the next attempt, seconds after asked_at, from 1; 0: sent, or not wanted */
    uint32_t arrived[LIMIT_CHANNELS]; /* rounds that arrived */
    uint32_t effects[LIMIT_CHANNELS]; /* ordinal + 1 of the effect in progress; 0: none */
    uint32_t began
        [LIMIT_CHANNELS]; /* ordinal + 1 of the effect that first carried the message: names it */
    uint32_t unsure[LIMIT_CHANNELS]; /* 1: an attempt to send it has an unknown outcome */
    char references[LIMIT_CHANNELS][LIMIT_ISSUE + 1]; /* the service's reference for it */
};

struct question {
    uint32_t n; /* ordinal among the goal's parts: Q_n */
    enum question_kind kind;
    enum question_state state;
    enum asked_of of;
    enum alarm alarm;
    char cause[LIMIT_CAUSE + 1];     /* ESCALATE-15: one open question for each cause */
    uint32_t node, assignment;       /* n + 1 of what it is about; 0: the goal */
    uint32_t parent;                 /* OF_PARENT: n + 1 of the assignment that is asked */
    struct hash text;                /* of the encoded QUESTION_TEXT */
    uint32_t options;                /* number of options */
    struct question_answer fallback; /* taken at expires_at */
    int64_t asked_at, expires_at, applies_at, snoozed_until;
    uint32_t acknowledged;
    struct question_answer answer;
    uint32_t holds;           /* 1: its assignment waits for the answer */
    char who[LIMIT_NAME + 1]; /* G-24: who may answer, separated by spaces; empty: any person */
    struct question_sending sending;
};

struct questions {
    struct question *at;
    uint32_t count;
};

struct question_text { /* stored separately, by hash */
    struct str title, text;
    struct texts options;
    struct str rule, reason;
    struct str evidence; /* JSON */
    struct str who;      /* who may answer: names, separated by spaces; empty: any person */
    struct str detection, severity, intervention; /* ESCALATE-08, ESCALATE-11 */
    struct texts recommendations;
    uint64_t iteration;
    struct str level; /* how urgent it is, by name; empty: warning */
};

extern const struct shape QUESTION, QUESTION_TEXT;
extern const struct names QUESTION_KIND_NAMES, QUESTION_STATE_NAMES, ASKED_OF_NAMES, HEARD_NAMES,
    INTERVENTION_NAMES;

struct question *questions_find(const struct questions *questions, uint32_t n);
struct question *questions_about(const struct questions *questions,
                                 struct str cause); /* not over */

/* Does a person have to do something about it? */
bool question_counts(const struct question *question);

/* May this person answer it? Compares names, with or without the kind of caller: human:anna, anna. */
bool question_is_for(const struct question *question, struct str actor);

/* ESCALATE-02: how urgent the intervention is. */
enum alarm intervention_alarm(enum intervention intervention, bool critical);

uint32_t channel_key(struct str name); /* never 0 */

/* ---- agent messages ---- */

enum agent_message_kind {
    AGENT_MESSAGE_INSTRUCTION,
    AGENT_MESSAGE_INFO,
    AGENT_MESSAGE_ALERT,
    AGENT_MESSAGE_KINDS
}; /* MAIL-02 */

/* MAIL-01: a message between those who work on one goal, kept until it is read or acknowledged. */
struct agent_message {
    uint32_t n; /* M_n: the order in which they were sent */
    enum agent_message_kind kind;
    uint32_t to; /* n + 1 of an assignment; 0: the overseer */
    char recipient[LIMIT_ACTOR + 1], sender[LIMIT_ACTOR + 1];
    uint32_t ack_required;
    int64_t at;
    struct hash text; /* of the encoded AGENT_MESSAGE_TEXT */
    struct hash
        outgoing; /* of the text that is to be sent to its agent; zero: none, or it has received it */
    enum wording
        words; /* kind of a text of Overseer that could not be sent yet; WORDS_NONE: a person's own message */
};

struct agent_messages {
    struct agent_message *at;
    uint32_t count;
};

struct agent_message_text {
    struct str subject, body;
};

extern const struct shape AGENT_MESSAGE, AGENT_MESSAGE_TEXT;
extern const struct names AGENT_MESSAGE_KIND_NAMES;
