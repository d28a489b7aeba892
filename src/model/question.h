/* SPDX-License-Identifier: Apache-2.0 */
/* What is a person, a parent or the overseer asked, and how does it reach them? A question lives until it is answered,
 * has expired or was withdrawn; its records stay. Agents' requests (REQUEST) are questions to their parent. */
#pragma once

#include "model/effect.h"
#include "model/notice.h"
#include "model/plan.h"

enum question_kind {
    QUESTION_DECIDE,  /* an answer is wanted: one of the options, or words */
    QUESTION_APPROVE, /* yes or no */
    QUESTION_ALERT,   /* nothing to answer: it is acknowledged */
    QUESTION_REQUEST, /* REQUEST-01: a child asks its parent */
    QUESTION_KINDS
};

enum question_state {
    QUESTION_OPEN,
    QUESTION_ANSWERED, /* takes effect at applies_at: until then it can be undone */
    QUESTION_OVER,     /* nobody waits for it: that is still to be said where it was said before */
    QUESTION_STATES
};

enum asked_of { OF_PERSON, OF_PARENT, OF_OVERSEER, ASKED_OFS };

/* What somebody who watches does about it: INTERVENE. */
enum intervention {
    INTERVENTION_NONE,
    INTERVENTION_LOG,
    INTERVENTION_WARN,
    INTERVENTION_REDIRECT,
    INTERVENTION_PAUSE,
    INTERVENTION_ABORT,
    INTERVENTIONS
};

/* What came of a message on a channel: `to` of the outcome of an EFFECT_SAY. */
enum hearing {
    HEARD_YES,     /* the service has taken it */
    HEARD_LATER,   /* it has not, and may the next time */
    HEARD_NO,      /* it has not, and will not as it is */
    HEARD_PERHAPS, /* the answer was lost: the next try looks first */
    HEARDS
};

struct question {
    uint32_t n; /* ordinal among the goal's parts: Q_n */
    enum question_kind kind;
    enum question_state state;
    enum asked_of of;
    enum alarm alarm;
    char cause[LIMIT_CAUSE + 1]; /* ESCALATE-15: one open question for each cause */
    uint32_t node, charge;       /* n + 1 of what it is about; 0: the goal */
    uint32_t parent;             /* n + 1 of the charge that is asked, of OF_PARENT */
    struct hash text;            /* of the encoded QUESTION_TEXT */
    uint32_t options;            /* how many there are */
    uint32_t fallback;           /* option that is taken at expires_at, from 1; 0: none */
    int64_t asked_at, expires_at, applies_at, snoozed_until;
    uint32_t acknowledged;
    uint32_t answer;           /* option, from 1; 0: words only */
    struct hash said;          /* of the words of the answer */
    struct hash fallback_said; /* of the option that is taken at expires_at */
    uint32_t holds;            /* 1: its charge waits for the answer */
    char who[LIMIT_NAME + 1];  /* G-24: who may answer, separated by spaces; empty: any person */

    /* how it reaches people: ESCALATE-03, G-23. One entry for each channel that it was ever said on. */
    int64_t say_at; /* when the next round begins; TIME_NEVER: not by itself */
    uint32_t times; /* rounds so far */
    uint32_t channels;
    uint32_t keys[LIMIT_CHANNELS]; /* channel_key() of its name: it may stand elsewhere tomorrow */
    uint32_t failures[LIMIT_CHANNELS]; /* of the message under way */
    uint32_t again
        [LIMIT_CHANNELS]; /* tried then, seconds after asked_at, from 1; 0: said, or not wanted */
    uint32_t arrived[LIMIT_CHANNELS]; /* rounds that did */
    uint32_t effects[LIMIT_CHANNELS]; /* ordinal + 1 of the effect under way; 0: none */
    uint32_t began
        [LIMIT_CHANNELS]; /* ordinal + 1 of the effect that first carried the message: names it */
    uint32_t unsure[LIMIT_CHANNELS];                  /* 1: a try of it has an unknown outcome */
    char references[LIMIT_CHANNELS][LIMIT_ISSUE + 1]; /* what the service calls it */
};

struct questions {
    struct question *at;
    uint32_t count;
};

struct question_text { /* kept apart, by hash */
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

/* May this person answer it? By name, with or without what kind of caller they are: human:anna, anna. */
bool question_is_for(const struct question *question, struct str actor);

/* ESCALATE-02: how urgent that is. */
enum alarm intervention_alarm(enum intervention intervention, bool critical);

uint32_t channel_key(struct str name); /* never 0 */

/* ---- mail ---- */

enum letter_kind { LETTER_INSTRUCTION, LETTER_INFO, LETTER_ALERT, LETTER_KINDS }; /* MAIL-02 */

/* MAIL-01: a message between those who work on one goal, until it is read or acknowledged. */
struct letter {
    uint32_t n; /* M_n: the order in which they were sent */
    enum letter_kind kind;
    uint32_t to; /* n + 1 of a charge; 0: the overseer */
    char recipient[LIMIT_ACTOR + 1], sender[LIMIT_ACTOR + 1];
    uint32_t ack_required;
    int64_t at;
    struct hash text; /* of the encoded LETTER_TEXT */
    struct hash
        unsaid; /* of the words that its agent is to hear by itself; zero: none, or it has heard them */
    enum wording
        words; /* as what: of ours that could not be said yet; WORDS_NONE: as a person's own */
};

struct letters {
    struct letter *at;
    uint32_t count;
};

struct letter_text {
    struct str subject, body;
};

extern const struct shape LETTER, LETTER_TEXT;
extern const struct names LETTER_KIND_NAMES;
