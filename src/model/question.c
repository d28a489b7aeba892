/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of questions and of agent messages. */
#include "model/question.h"

static const char *const KIND[QUESTION_KINDS] = {"decide", "approve", "alert", "request"};
static const char *const STATE[QUESTION_STATES] = {"open", "answered", "over"};
static const char *const OF[ASKED_OFS] = {"person", "parent", "overseer"};
static const char *const INTERVENTION[INTERVENTIONS] = {"none",     "log",   "warn",
                                                        "redirect", "pause", "abort"};
static const char *const HEARD[HEARINGS] = {"said", "later", "refused", "unknown"};
static const char *const AGENT_MESSAGE_KIND[AGENT_MESSAGE_KINDS] = {"instruction", "info", "alert"};

const struct names QUESTION_KIND_NAMES = NAMES_OF(KIND);
const struct names QUESTION_STATE_NAMES = NAMES_OF(STATE);
const struct names ASKED_OF_NAMES = NAMES_OF(OF);
const struct names INTERVENTION_NAMES = NAMES_OF(INTERVENTION);
const struct names HEARD_NAMES = NAMES_OF(HEARD);
const struct names AGENT_MESSAGE_KIND_NAMES = NAMES_OF(AGENT_MESSAGE_KIND);

#define F(name, type, number, of, member, cap, names, text) \
    { name, type, number, FIELD_OF(of, member), cap, 0, names, text, 0, NULL }
#define EACH(name, number, member, text) \
    { \
        name, FIELD_U32S, number, FIELD_OF(question, member), \
            FIELD_OF(question, sending.channels), FIELD_HIDDEN, NULL, text, LIMIT_CHANNELS, NULL \
    }
#define REFERENCE(i) \
    { \
        "reference" #i, FIELD_NAME, 40 + (i), FIELD_OF(question, sending.references[i]), \
            LIMIT_ISSUE, FIELD_HIDDEN, NULL, "the service's reference for it", 0, NULL \
    }
_Static_assert(LIMIT_CHANNELS == 8, "a row for the reference of each channel");
#define LIST(name, number, of, member, cap, text) \
    { name, FIELD_TEXTS, number, FIELD_OF(of, member), cap, 0, NULL, text, LIMIT_LINES, NULL }

static const struct field QUESTION_FIELDS[] = {
    F("n", FIELD_U32, 1, question, n, 0, NULL, "its ordinal among the goal's parts: n of Q_n"),
    F("kind", FIELD_ENUM, 2, question, kind, 0, &QUESTION_KIND_NAMES, "kind of question"),
    F("state", FIELD_ENUM, 3, question, state, 0, &QUESTION_STATE_NAMES, "its state"),
    F("of", FIELD_ENUM, 4, question, of, 0, &ASKED_OF_NAMES, "recipient of the question"),
    F("level", FIELD_ENUM, 5, question, alarm, 0, &ALARM_NAMES, "how urgent it is"),
    F("cause", FIELD_NAME, 6, question, cause, LIMIT_CAUSE, NULL,
      "key of its cause: each cause has one open question"),
    F("node", FIELD_U32, 7, question, node, 0, NULL, "ordinal + 1 of its node; 0: none"),
    F("charge", FIELD_U32, 8, question, assignment, 0, NULL,
      "ordinal + 1 of its assignment; 0: none"),
    F("parent", FIELD_U32, 9, question, parent, 0, NULL,
      "ordinal + 1 of the assignment that is asked"),
    F("text", FIELD_HASH, 10, question, text, 0, NULL, "hash of its text"),
    F("options", FIELD_U32, 11, question, options, 0, NULL, "number of options"),
    F("fallback", FIELD_U32, 12, question, fallback.option, 0, NULL,
      "option that counts when it expires, from 1; 0: none"),
    F("askedAt", FIELD_TIME, 13, question, asked_at, 0, NULL, "time at which it was asked"),
    F("expiresAt", FIELD_TIME, 14, question, expires_at, 0, NULL, "time at which it expires"),
    F("appliesAt", FIELD_TIME, 15, question, applies_at, 0, NULL,
      "time at which the answer takes effect"),
    F("snoozedUntil", FIELD_TIME, 16, question, snoozed_until, 0, NULL,
      "time until which it is snoozed"),
    F("acknowledged", FIELD_FLAG, 17, question, acknowledged, 0, NULL,
      "whether a person has acknowledged it"),
    F("answer", FIELD_U32, 18, question, answer.option, 0, NULL,
      "option of the answer, from 1; 0: none, or text only"),
    F("said", FIELD_HASH, 19, question, answer.text, 0, NULL, "hash of the text of the answer"),
    F("holds", FIELD_FLAG, 20, question, holds, 0, NULL,
      "whether its assignment waits for the answer"),
    F("sayAt", FIELD_TIME, 21, question, sending.next_at, 0, NULL,
      "time at which the next round of messages begins"),
    F("times", FIELD_U32, 22, question, sending.rounds, 0, NULL,
      "number of rounds of messages so far"),
    EACH("failures", 23, sending.failures,
         "for each channel: failed attempts of the message being sent"),
    EACH("again", 24, sending.again,
         "for each channel: time of the next attempt, in seconds after askedAt, from 1; 0: none"),
    EACH("arrived", 25, sending.arrived, "for each channel: number of rounds that arrived"),
    EACH("effects", 26, sending.effects,
         "for each channel: ordinal + 1 of the effect in progress; 0: none"),
    EACH("keys", 28, sending.keys, "for each channel: its key"),
    EACH("began", 29, sending.began,
         "for each channel: ordinal + 1 of the effect that first carried the message"),
    EACH("unsure", 30, sending.unsure,
         "for each channel: 1: an attempt to send the message has an unknown outcome"),
    F("fallbackSaid", FIELD_HASH, 31, question, fallback.text, 0, NULL,
      "hash of the text of the fallback option"),
    F("who", FIELD_NAME, 32, question, who, LIMIT_NAME, NULL,
      "names of the people who may answer, separated by spaces; empty: any person"),
    REFERENCE(0),
    REFERENCE(1),
    REFERENCE(2),
    REFERENCE(3),
    REFERENCE(4),
    REFERENCE(5),
    REFERENCE(6),
    REFERENCE(7),
};
const struct shape QUESTION = SHAPE_OF(question, "question", 1, QUESTION_FIELDS);

static const struct field TEXT_FIELDS[] = {
    F("title", FIELD_TEXT, 1, question_text, title, LIMIT_TITLE, NULL, "title, in one line"),
    F("text", FIELD_TEXT, 2, question_text, text, LIMIT_PROSE, NULL, "full text"),
    LIST("options", 3, question_text, options, LIMIT_LINE, "options to choose from"),
    F("rule", FIELD_TEXT, 4, question_text, rule, LIMIT_TAG, NULL, "the rule that asks"),
    F("reason", FIELD_TEXT, 5, question_text, reason, LIMIT_REASON, NULL, "why it is asked"),
    F("evidence", FIELD_TEXT, 6, question_text, evidence, LIMIT_SNAPSHOT, NULL,
      "evidence, as JSON"),
    F("who", FIELD_TEXT, 7, question_text, who, LIMIT_LINE, NULL,
      "names of the people who may answer, separated by spaces; empty: any person"),
    F("detection", FIELD_TEXT, 8, question_text, detection, LIMIT_LINE, NULL, "what was detected"),
    F("severity", FIELD_TEXT, 9, question_text, severity, LIMIT_TAG, NULL,
      "severity of what was detected"),
    F("intervention", FIELD_TEXT, 10, question_text, intervention, LIMIT_TAG, NULL,
      "what was done about it"),
    LIST("recommendations", 11, question_text, recommendations, LIMIT_LINE, "recommended actions"),
    F("iteration", FIELD_UINT, 12, question_text, iteration, 0, NULL, "number of the iteration"),
    F("level", FIELD_TEXT, 13, question_text, level, LIMIT_TAG, NULL, "how urgent it is"),
};
const struct shape QUESTION_TEXT = SHAPE_OF(question_text, "question_text", 1, TEXT_FIELDS);

static const struct field AGENT_MESSAGE_FIELDS[] = {
    F("n", FIELD_U32, 1, agent_message, n, 0, NULL, "its ordinal: n of M_n"),
    F("kind", FIELD_ENUM, 2, agent_message, kind, 0, &AGENT_MESSAGE_KIND_NAMES,
      "instruction, info or alert"),
    F("charge", FIELD_U32, 3, agent_message, to, 0, NULL,
      "ordinal + 1 of the recipient's assignment; 0: the overseer"),
    F("to", FIELD_NAME, 4, agent_message, recipient, LIMIT_ACTOR, NULL, "name of the recipient"),
    F("sender", FIELD_NAME, 5, agent_message, sender, LIMIT_ACTOR, NULL, "name of the sender"),
    F("ack_required", FIELD_FLAG, 6, agent_message, ack_required, 0, NULL,
      "whether it is delivered until it is acknowledged"),
    F("at", FIELD_TIME, 7, agent_message, at, 0, NULL, "time at which it was sent"),
    F("text", FIELD_HASH, 8, agent_message, text, 0, NULL, "hash of its text"),
    F("unsaid", FIELD_HASH, 9, agent_message, outgoing, 0, NULL,
      "hash of the text that is still to be sent to its agent; zero: none"),
    F("words", FIELD_ENUM, 10, agent_message, words, 0, &WORDS_NAMES,
      "kind of that text; none: a person's own message"),
};
const struct shape AGENT_MESSAGE = SHAPE_OF(agent_message, "letter", 1, AGENT_MESSAGE_FIELDS);

static const struct field AGENT_MESSAGE_TEXT_FIELDS[] = {
    F("subject", FIELD_TEXT, 1, agent_message_text, subject, LIMIT_NAME, NULL, "its subject"),
    F("body", FIELD_TEXT, 2, agent_message_text, body, LIMIT_MAIL, NULL, "its text"),
};
const struct shape AGENT_MESSAGE_TEXT =
    SHAPE_OF(agent_message_text, "letter_text", 1, AGENT_MESSAGE_TEXT_FIELDS);

struct question *questions_find(const struct questions *questions, uint32_t n) {
    for (uint32_t i = 0; i < questions->count; i++)
        if (questions->at[i].n == n)
            return &questions->at[i];
    return NULL;
}

struct question *questions_about(const struct questions *questions, struct str cause) {
    for (uint32_t i = 0; i < questions->count; i++)
        if (questions->at[i].state != QUESTION_OVER &&
            str_equal(str_of(questions->at[i].cause), cause))
            return &questions->at[i];
    return NULL;
}

bool question_counts(const struct question *question) {
    return question->of == OF_PERSON && question->state == QUESTION_OPEN;
}

bool question_is_for(const struct question *question, struct str actor) {
    struct str who = str_of(question->who), human = STR("human:");
    bool is_human = actor.len > human.len && memcmp(actor.at, human.at, human.len) == 0;
    struct str name = {actor.at + human.len, actor.len - human.len};
    return who.len == 0 || str_has_word(who, actor) || (is_human && str_has_word(who, name));
}

enum alarm intervention_alarm(enum intervention intervention, bool critical) {
    static const enum alarm ALARM_OF[INTERVENTIONS][2] = {
        [INTERVENTION_NONE] = {ALARM_WARNING, ALARM_WARNING},
        [INTERVENTION_LOG] = {ALARM_INFO, ALARM_INFO},
        [INTERVENTION_WARN] = {ALARM_WARNING, ALARM_WARNING},
        [INTERVENTION_REDIRECT] = {ALARM_WARNING, ALARM_CRITICAL},
        [INTERVENTION_PAUSE] = {ALARM_CRITICAL, ALARM_CRITICAL},
        [INTERVENTION_ABORT] = {ALARM_EMERGENCY, ALARM_EMERGENCY},
    };
    must(intervention < INTERVENTIONS);
    return ALARM_OF[intervention][critical];
}

uint32_t channel_key(struct str name) {
    struct hash hash = sha256(name);
    uint32_t key = (uint32_t)hash.bytes[0] << 24 | (uint32_t)hash.bytes[1] << 16 |
                   (uint32_t)hash.bytes[2] << 8 | hash.bytes[3];
    return key ? key : 1;
}
