/* SPDX-License-Identifier: Apache-2.0 */
/* Effects: what Overseer can do to the outside world, and what is guaranteed about each kind. */
#include "model/effect.h"

#define F(name, type, number, member, cap, text) \
    { name, type, number, FIELD_OF(effect, member), cap, 0, NULL, text, 0, NULL }

static const struct field COMMAND[] = {
    F("command", FIELD_TEXT, 1, command, LIMIT_COMMAND, "command for /bin/sh -c"),
    F("within", FIELD_INT, 2, within, 0, "time limit, in microseconds"),
};

static const char *const WORDS[WORDINGS] = {"none",     "task",  "nudge",  "block",    "answer",
                                            "handover", "again", "failed", "conflict", "told"};
const struct names WORDS_NAMES = NAMES_OF(WORDS);

/* One shape for all effects on an agent. */
static const struct field AGENT[] = {
    F("within", FIELD_INT, 1, within, 0, "time limit, in microseconds"),
    F("charge", FIELD_U32, 2, assignment, 0, "ordinal of the assignment"),
    F("agent", FIELD_TEXT, 3, agent, LIMIT_AGENT, "name of the agent"),
    F("session", FIELD_TEXT, 4, session, LIMIT_SESSION, "key of the session"),
    F("model", FIELD_TEXT, 5, model, LIMIT_AGENT, "model of the agent"),
    F("account", FIELD_TEXT, 6, account, LIMIT_AGENT, "account whose quota it uses"),
    F("run", FIELD_U32, 7, run, 0, "ordinal + 1 of the effect that started the run"),
    F("dispatch", FIELD_U32, 8, dispatch, 0,
      "ordinal + 1 of the effect that names the dispatch; 0: itself; look: none in particular"),
    F("sample", FIELD_U32, 9, sample, 0, "look: maximum number of messages to read"),
    F("text", FIELD_HASH, 10, text, 0, "hash of the node's text"),
    F("handoff", FIELD_HASH, 11, handoff, 0, "hash of the handoff that goes with it"),
    F("said", FIELD_HASH, 12, outgoing, 0, "hash of the text that goes with it"),
    {"words", FIELD_ENUM, 13, FIELD_OF(effect, words), 0, 0, &WORDS_NAMES, "kind of the text", 0,
     NULL},
    F("node", FIELD_TEXT, 14, node, LIMIT_NODE_ID, "id of the node"),
    F("commit", FIELD_TEXT, 15, candidate.commit, LIMIT_COMMIT,
      "land: the candidate commit that passed its checks"),
    F("start", FIELD_HASH, 16, start, 0,
      "spawn: hash of the BEGINNING to start with again; zero: as the settings say"),
    F("permits", FIELD_U32, 17, permits, 0,
      "send: answer to a permission request: enum permission"),
    F("onto", FIELD_TEXT, 20, candidate.onto, LIMIT_COMMIT,
      "land: tip of the target that the candidate was built on"),
    F("snapshot", FIELD_TEXT, 21, candidate.snapshot, LIMIT_COMMIT,
      "check: snapshot to build the candidate from again; empty: from the worktree"),
    F("conflict", FIELD_TEXT, 22, candidate.conflict, LIMIT_COMMIT,
      "check: name of the conflict that was reported to its agent"),
    F("digest", FIELD_HASH, 23, candidate.digest, 0,
      "land: digest of the VERIFICATION of the candidate"),
    F("repository", FIELD_UINT, 24, repository, 0, "key of the repository that it works in"),
    F("branch", FIELD_TEXT, 25, candidate.branch, LIMIT_BRANCH,
      "spawn, check, land: branch of the work, below overseer/; empty: by goal and assignment"),
    F("subject", FIELD_TEXT, 26, candidate.subject, LIMIT_SUBJECT,
      "check: first line of the message of the commit that lands"),
    F("orphanAfter", FIELD_INT, 18, orphan_after, 0,
      "spawn: how long its hold waits for its host, in microseconds"),
};

static const struct field TELL[] = {
    F("to", FIELD_ID, 1, to, 0, "id of the recipient"),
    F("body", FIELD_BYTES, 2, body, LIMIT_SIGNAL_BODY, "the encoded signal"),
};

static const struct field SAY[] = {
    F("within", FIELD_INT, 1, within, 0, "time limit, in microseconds"),
    F("body", FIELD_BYTES, 2, body, LIMIT_BODY, "the encoded notice"),
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
