/* SPDX-License-Identifier: Apache-2.0 */
/* Effects: what Overseer can do to the outside world, and what is guaranteed about each kind. */
#include "model/effect.h"

#define F(name, type, number, member, cap, text) \
    { name, type, number, FIELD_OF(effect, member), cap, 0, NULL, text, 0, NULL }

static const struct field COMMAND[] = {
    F("command", FIELD_TEXT, 1, command, LIMIT_COMMAND, "for /bin/sh -c"),
    F("within", FIELD_INT, 2, within, 0, "microseconds it may take"),
};

static const char *const WORDS[WORDSES] = {"none",     "task",  "nudge",  "block",    "answer",
                                           "handover", "again", "failed", "conflict", "told"};
const struct names WORDS_NAMES = NAMES_OF(WORDS);

/* One shape for all effects on an agent. */
static const struct field AGENT[] = {
    F("within", FIELD_INT, 1, within, 0, "microseconds it may take"),
    F("charge", FIELD_U32, 2, assignment, 0, "which assignment"),
    F("agent", FIELD_TEXT, 3, agent, LIMIT_AGENT, "who"),
    F("session", FIELD_TEXT, 4, session, LIMIT_SESSION, "where"),
    F("model", FIELD_TEXT, 5, model, LIMIT_AGENT, "with which model"),
    F("account", FIELD_TEXT, 6, account, LIMIT_AGENT, "on whose quota"),
    F("run", FIELD_U32, 7, run, 0, "the run, from 1"),
    F("dispatch", FIELD_U32, 8, dispatch, 0, "the dispatch that is looked for, from 1"),
    F("sample", FIELD_U32, 9, sample, 0, "messages to read"),
    F("text", FIELD_HASH, 10, text, 0, "of the node's words"),
    F("handoff", FIELD_HASH, 11, handoff, 0, "of the handoff"),
    F("said", FIELD_HASH, 12, outgoing, 0, "of words that go with it"),
    {"words", FIELD_ENUM, 13, FIELD_OF(effect, words), 0, 0, &WORDS_NAMES, "what is asked for", 0,
     NULL},
    F("node", FIELD_TEXT, 14, node, LIMIT_NODE_ID, "which node"),
    F("commit", FIELD_TEXT, 15, candidate.commit, LIMIT_COMMIT, "which commit"),
    F("start", FIELD_HASH, 16, start, 0, "of what it was first started with"),
    F("permits", FIELD_U32, 17, permits, 0, "an answer to what it asks permission for"),
    F("onto", FIELD_TEXT, 20, candidate.onto, LIMIT_COMMIT,
      "the target's tip that it was built on"),
    F("snapshot", FIELD_TEXT, 21, candidate.snapshot, LIMIT_COMMIT,
      "what the candidate is built from"),
    F("conflict", FIELD_TEXT, 22, candidate.conflict, LIMIT_COMMIT,
      "the conflict that was told of"),
    F("digest", FIELD_HASH, 23, candidate.digest, 0, "how the candidate was checked"),
    F("orphanAfter", FIELD_INT, 18, orphan_after, 0, "how long its hold waits for its host"),
};

static const struct field TELL[] = {
    F("to", FIELD_ID, 1, to, 0, "for whom"),
    F("body", FIELD_BYTES, 2, body, LIMIT_SIGNAL_BODY, "the signal"),
};

static const struct field SAY[] = {
    F("within", FIELD_INT, 1, within, 0, "microseconds it may take"),
    F("body", FIELD_BYTES, 2, body, LIMIT_BODY, "the notice"),
};

const struct effect_row EFFECTS[EFFECT_KINDS] = {
    [EFFECT_NONE] = {"none", PROMISE_AT_MOST_ONCE, EFFECT_CLASS_COMMANDS, {0}},
    [EFFECT_COMMAND] = {"command", PROMISE_AT_MOST_ONCE, EFFECT_CLASS_COMMANDS,
                        SHAPE("effect.command", 1, COMMAND)},
    [EFFECT_SPAWN] = {"spawn", PROMISE_AT_MOST_ONCE, EFFECT_CLASS_AGENTS,
                      SHAPE("effect.spawn", 1, AGENT)},
    [EFFECT_SEND] = {"send", PROMISE_AT_MOST_ONCE, EFFECT_CLASS_AGENTS,
                     SHAPE("effect.send", 1, AGENT)},
    [EFFECT_LOOK] = {"look", PROMISE_REPEAT, EFFECT_CLASS_STOPS, SHAPE("effect.look", 1, AGENT)},
    [EFFECT_STOP] = {"stop", PROMISE_REPEAT, EFFECT_CLASS_STOPS, SHAPE("effect.stop", 1, AGENT)},
    [EFFECT_TELL] = {"tell", PROMISE_REPEAT, EFFECT_CLASS_INSIDE, SHAPE("effect.tell", 1, TELL)},
    [EFFECT_SAY] = {"say", PROMISE_REPEAT, EFFECT_CLASS_PEOPLE, SHAPE("effect.say", 1, SAY)},
    [EFFECT_CHECK] = {"check", PROMISE_REPEAT, EFFECT_CLASS_CHECKS,
                      SHAPE("effect.check", 1, AGENT)},
    [EFFECT_LAND] = {"land", PROMISE_REPEAT, EFFECT_CLASS_CHECKS, SHAPE("effect.land", 1, AGENT)},
    [EFFECT_THAW] = {"thaw", PROMISE_REPEAT, EFFECT_CLASS_STOPS, SHAPE("effect.thaw", 1, AGENT)},
};

const uint32_t EFFECT_CLASS_MOST[EFFECT_CLASSES] = {
    [EFFECT_CLASS_COMMANDS] = LIMIT_ACTS,      [EFFECT_CLASS_AGENTS] = LIMIT_AGENT_ACTS,
    [EFFECT_CLASS_PEOPLE] = LIMIT_PEOPLE_ACTS, [EFFECT_CLASS_INSIDE] = LIMIT_INSIDE_ACTS,
    [EFFECT_CLASS_CHECKS] = LIMIT_CHECK_ACTS,  [EFFECT_CLASS_STOPS] = LIMIT_STOP_ACTS,
};

struct id effect_id(struct id goal, uint32_t n) {
    uint8_t key[sizeof goal.bytes + 4];
    memcpy(key, goal.bytes, sizeof goal.bytes);
    for (int i = 0; i < 4; i++)
        key[sizeof goal.bytes + (size_t)i] = (uint8_t)(n >> (8 * i));
    return id_derive(STR("effect"), (struct str){(const char *)key, sizeof key});
}

struct str effect_encode(const struct effect *effect, struct arena *arena) {
    return shape_encode(&EFFECTS[effect->kind].shape, effect, arena);
}

bool effect_decode(enum effect_kind kind, struct str body, struct effect *ret_effect) {
    return kind > EFFECT_NONE && kind < EFFECT_KINDS &&
           shape_decode(&EFFECTS[kind].shape, body, ret_effect);
}
