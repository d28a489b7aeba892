/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of signals and their encoding. */
#include "model/signal.h"

enum { SIGNAL_ENCODING = 1 };

#define F(name, type, number, member, cap, text) \
    { name, type, number, FIELD_OF(signal, member), cap, 0, NULL, text, 0, NULL }
#define E(name, number, member, names, text) \
    { name, FIELD_ENUM, number, FIELD_OF(signal, member), 0, 0, names, text, 0, NULL }

static const struct field COMMON[] = {
    F("source", FIELD_ID, 1, source, 0, "names the happening"),
    F("goal", FIELD_ID, 2, goal, 0, "whom it concerns"),
    F("at", FIELD_TIME, 3, at, 0, "when"),
    F("keyed", FIELD_U32, 4, once.keyed, 0, "1: the sender may repeat it"),
    F("actor", FIELD_TEXT, 5, sender.actor, LIMIT_ACTOR, "who"),
    E("by", 6, sender.by, &WHO_NAMES, "as what"),
    F("traceId", FIELD_TEXT, 7, sender.trace, LIMIT_KEY, "of a causal chain"),
    F("key", FIELD_ID, 8, once.key, 0, "the caller's key, which names one source"),
    F("before", FIELD_ID, 9, once.before, 0, "its source as older builds name it"),
};

static const struct field CREATE[] = {
    F("title", FIELD_TEXT, 16, describe.title, LIMIT_TITLE, "what is wanted, in a line"),
    F("command", FIELD_TEXT, 17, describe.command, LIMIT_COMMAND, "what to run"),
    F("body", FIELD_BYTES, 18, body, LIMIT_BODY, "its definition"),
    F("tags", FIELD_BYTES, 19, describe.tags, LIMIT_TAGS *(LIMIT_TAG + 8), "its tags"),
    E("priority", 20, describe.priority, &PRIORITY_NAMES, "how urgent it is"),
    F("host", FIELD_U32, 21, host, 0, "whose it is to be"),
};
static const struct field CLOCK[] = {
    F("stepped", FIELD_INT, 16, stepped, 0, "by how much, in microseconds"),
};
static const struct field REPORT[] = {
    F("text", FIELD_TEXT, 16, text, LIMIT_REPORT, "what is said"),
};
static const struct field CLAIM[] = {
    F("effect", FIELD_U32, 16, effect, 0, "its ordinal in the goal"),
    F("host", FIELD_U32, 17, host, 0, "who wants to carry it out"),
};
static const struct field ENDED[] = {
    F("effect", FIELD_U32, 16, effect, 0, "its ordinal in the goal"),
    F("exit", FIELD_INT, 17, exit, 0, "exit status, -1: not started"),
    {"text", FIELD_TEXT, 18, FIELD_OF(signal, text), LIMIT_OUTPUT, FIELD_TAIL, NULL,
     "the tail of its output", 0, NULL},
    F("result", FIELD_U32, 19, to, 0,
      "of a send: enum delivery; of a message: enum channel_result"),
    F("body", FIELD_BYTES, 20, body, LIMIT_BODY, "of a look: a SIGHTING; of a spawn: a BEGINNING"),
    F("until", FIELD_TIME, 21, until, 0, "when it may be tried again"),
    F("session", FIELD_TEXT, 22, outcome.reference, LIMIT_SESSION, "of a spawn: where it runs"),
    F("sandbox", FIELD_TEXT, 23, outcome.sandbox, LIMIT_SANDBOX, "of a spawn: what holds it"),
    F("scope", FIELD_TEXT, 24, outcome.scope, LIMIT_SANDBOX, "of a spawn: who sees to its tools"),
    F("limits", FIELD_TEXT, 25, outcome.limits, LIMIT_LIMITS, "of a spawn: what it may use"),
};
static const struct field LOST[] = {
    F("effect", FIELD_U32, 16, effect, 0, "its ordinal in the goal"),
    F("host", FIELD_U32, 17, host, 0, "the one that had claimed it and knows that it never began"),
};
static const struct field UPDATE[] = {
    F("title", FIELD_TEXT, 16, describe.title, LIMIT_TITLE, "new; empty: as it was"),
    F("body", FIELD_BYTES, 18, body, LIMIT_BODY, "the new definition; empty: as it was"),
    F("tags", FIELD_BYTES, 19, describe.tags, LIMIT_TAGS *(LIMIT_TAG + 8),
      "new; empty: as they were"),
    E("priority", 20, describe.priority, &PRIORITY_NAMES, "how urgent it is"),
    F("base", FIELD_HASH, 22, describe.base, 0, "of the definition that was read"),
    F("keepsPriority", FIELD_FLAG, 24, to, 0, "the priority stays as it was"),
    F("reason", FIELD_TEXT, 23, reason, LIMIT_REASON, "why"),
};
static const struct field MOVE[] = {
    F("to", FIELD_U32, 16, to, 0, "the status"),
    F("reason", FIELD_TEXT, 17, reason, LIMIT_REASON, "why"),
};
static const struct field APPLY[] = {
    F("body", FIELD_BYTES, 16, body, LIMIT_BODY, "the plan"),
    F("expected", FIELD_UINT, 17, plan.expected, 0, "the version that was seen"),
    E("why", 18, plan.why, &REASON_NAMES, "why the plan changes"),
    F("reason", FIELD_TEXT, 19, reason, LIMIT_REASON, "the same in words"),
    F("node", FIELD_TEXT, 20, work.node, LIMIT_NODE_ID, "add: the node above"),
};
static const struct field WORK[] = {
    F("node", FIELD_TEXT, 16, work.node, LIMIT_NODE_ID, "which"),
    F("to", FIELD_U32, 17, to, 0, "the status"),
    F("reason", FIELD_TEXT, 18, reason, LIMIT_REASON, "why"),
    F("text", FIELD_TEXT, 19, text, LIMIT_REPORT, "evidence"),
    F("override", FIELD_FLAG, 20, work.override, 0, "past the table, on the record"),
    E("blocked", 21, work.blocked, &BLOCKED_NAMES, "by what"),
    F("expected", FIELD_UINT, 22, plan.expected, 0, "the plan's version that was seen"),
};
static const struct field PART_FIELDS[] = {
    F("kind", FIELD_U32, 16, to, 0, "which kind of part"),
    F("body", FIELD_BYTES, 17, body, LIMIT_BODY, "its fields"),
    F("n", FIELD_U32, 18, effect, 0, "its ordinal + 1; 0: a new one"),
    F("expected", FIELD_UINT, 19, plan.expected, 0, "the goal's version that was seen"),
};

static const struct field DUE[] = {
    F("body", FIELD_BYTES, 16, body, LIMIT_BODY, "what was seen of its agents: SIGHTINGS"),
};
static const struct field AGENT[] = {
    F("charge", FIELD_U32, 16, about.assignment, 0, "the assignment, from 1"),
    F("body", FIELD_BYTES, 17, body, LIMIT_BODY, "what was seen or said"),
    F("node", FIELD_TEXT, 18, work.node, LIMIT_NODE_ID, "which node, where somebody says so"),
    F("reason", FIELD_TEXT, 19, reason, LIMIT_PROSE, "why"),
    F("to", FIELD_U32, 20, to, 0, "ask: enum asked_of; update: 1: in the agent's own words"),
    F("until", FIELD_TIME, 21, until, 0, "update: when it will be heard of again"),
    F("run", FIELD_U32, 22, about.run, 0, "the run that it comes from, from 1"),
};
static const struct field ASK[] = {
    F("question", FIELD_U32, 16, about.question, 0, "which, from 1"),
    F("to", FIELD_U32, 17, to, 0, "answer: the option, from 1; move: enum question_move"),
    F("text", FIELD_TEXT, 18, text, LIMIT_REPORT, "in words"),
    F("until", FIELD_TIME, 19, until, 0, "until when"),
    F("reason", FIELD_TEXT, 20, reason, LIMIT_REASON, "why"),
    F("charge", FIELD_U32, 21, about.assignment, 0, "the assignment, from 1"),
    F("body", FIELD_BYTES, 22, body, LIMIT_BODY, "the question, the message"),
    F("node", FIELD_TEXT, 23, work.node, LIMIT_NODE_ID, "which node"),
    F("commit", FIELD_TEXT, 25, commit, LIMIT_COMMIT, "answer: the commit that was shown"),
    F("run", FIELD_U32, 24, about.run, 0, "the run that it comes from, from 1"),
};
static const struct field ADMISSION[] = {
    F("charge", FIELD_U32, 16, about.assignment, 0, "the assignment, from 1"),
    F("body", FIELD_BYTES, 17, body, LIMIT_BODY, "the permit"),
    F("desk", FIELD_U32, 18, admission, 0, "whose desk"),
    F("until", FIELD_TIME, 19, until, 0, "until when"),
    F("cost", FIELD_UINT, 20, spent.cost, 0, "spent, in millionths"),
    F("tokens", FIELD_UINT, 21, spent.tokens, 0, "used"),
    F("to", FIELD_U32, 22, to, 0, "which ask; settle: 1: it is over"),
    F("reason", FIELD_TEXT, 23, reason, LIMIT_REASON, "why"),
};

static const struct field HOST[] = {
    F("lost", FIELD_U32, 16, to, 0, "which host"),
    F("desk", FIELD_U32, 17, admission, 0, "whose desk"),
    F("back", FIELD_FLAG, 18, returned, 0, "it has returned"),
};

static const struct field BRAKED[] = {
    F("charge", FIELD_U32, 16, about.assignment, 0, "the assignment, from 1"),
    F("run", FIELD_U32, 17, effect, 0, "the effect that started its run, from 1"),
    F("reason", FIELD_TEXT, 18, reason, LIMIT_REASON, "why, in a line"),
    F("text", FIELD_TEXT, 19, text, LIMIT_REPORT, "the folder, the bytes, and what to do"),
};

static const struct field ORDER[] = {
    F("text", FIELD_TEXT, 16, text, LIMIT_REPORT, "what is new"),
    F("reason", FIELD_TEXT, 17, reason, LIMIT_REASON, "why"),
};

#define ROW(text, rows) \
    { (text), (rows), count_of(rows) }
const struct signal_row SIGNALS[SIGNAL_KINDS] = {
    [SIGNAL_NONE] = {"none", NULL, 0},
    [SIGNAL_GOAL_CREATE] = ROW("goal.create", CREATE),
    [SIGNAL_GOAL_REPORT] = ROW("goal.report", REPORT),
    [SIGNAL_GOAL_DUE] = ROW("goal.due", DUE),
    [SIGNAL_EFFECT_CLAIM] = ROW("effect.claim", CLAIM),
    [SIGNAL_EFFECT_ENDED] = ROW("effect.ended", ENDED),
    [SIGNAL_EFFECT_LOST] = ROW("effect.lost", LOST),
    [SIGNAL_GOAL_UPDATE] = ROW("goal.update", UPDATE),
    [SIGNAL_GOAL_MOVE] = ROW("goal.move", MOVE),
    [SIGNAL_PLAN_APPLY] = ROW("plan.apply", APPLY),
    [SIGNAL_PLAN_REVIEW] = ROW("plan.review", APPLY),
    [SIGNAL_PLAN_APPROVE] = ROW("plan.approve", APPLY),
    [SIGNAL_PLAN_REJECT] = ROW("plan.reject", APPLY),
    [SIGNAL_WORK_ADD] = ROW("work.add", APPLY),
    [SIGNAL_WORK_MOVE] = ROW("work.move", WORK),
    [SIGNAL_WORK_FOLLOW] = ROW("work.follow", WORK),
    [SIGNAL_GOAL_RELEASE] = ROW("goal.release", MOVE),
    [SIGNAL_PART_PUT] = ROW("part.put", PART_FIELDS),
    [SIGNAL_POLICY_CHANGE] = ROW("policy.change", ORDER),
    [SIGNAL_FLEET_STOP] = ROW("fleet.stop", ORDER),
    [SIGNAL_FLEET_RESUME] = ROW("fleet.resume", ORDER),
    [SIGNAL_AGENT_SEEN] = ROW("agent.seen", AGENT),
    [SIGNAL_AGENT_UPDATE] = ROW("agent.update", AGENT),
    [SIGNAL_AGENT_ASK] = ROW("agent.ask", AGENT),
    [SIGNAL_QUESTION_ASK] = ROW("question.ask", ASK),
    [SIGNAL_QUESTION_ANSWER] = ROW("question.answer", ASK),
    [SIGNAL_QUESTION_MOVE] = ROW("question.move", ASK),
    [SIGNAL_PERMIT_ASK] = ROW("permit.ask", ADMISSION),
    [SIGNAL_PERMIT_SETTLE] = ROW("permit.settle", ADMISSION),
    [SIGNAL_PERMIT_GRANTED] = ROW("permit.granted", ADMISSION),
    [SIGNAL_PERMIT_DENIED] = ROW("permit.denied", ADMISSION),
    [SIGNAL_ACCOUNT_LIMITED] = ROW("account.limited", ADMISSION),
    [SIGNAL_ADMISSION_RELEASE] = ROW("desk.release", ADMISSION),
    [SIGNAL_MAIL_SEND] = ROW("mail.send", ASK),
    [SIGNAL_MAIL_ACK] = ROW("mail.ack", ASK),
    [SIGNAL_HANDOFF] = ROW("handoff", AGENT),
    [SIGNAL_WORK_RETRY] = ROW("work.retry", WORK),
    [SIGNAL_AGENT_PROGRESS] = ROW("agent.progress", AGENT),
    [SIGNAL_LANE_ASK] = ROW("lane.ask", ADMISSION),
    [SIGNAL_LANE_GRANTED] = ROW("lane.granted", ADMISSION),
    [SIGNAL_LANE_RETURN] = ROW("lane.return", ADMISSION),
    [SIGNAL_LANE_HOLD] = ROW("lane.hold", ADMISSION),
    [SIGNAL_CLOCK_STEPPED] = ROW("clock.stepped", CLOCK),
    [SIGNAL_HOST_LOST] = ROW("host.lost", HOST),
    [SIGNAL_RUN_BRAKED] = ROW("run.braked", BRAKED),
};
const struct names SIGNAL_NAMES = NAMES_OF(SIGNALS);
const struct shape SIGNAL_COMMON = SHAPE("signal", SIGNAL_ENCODING, COMMON);

static const struct field TAG_FIELDS[] = {{"tags", FIELD_TEXTS, 1, FIELD_OF(tags, tags), LIMIT_TAG,
                                           0, NULL, "words to find it by", LIMIT_TAGS, NULL}};
const struct shape TAGS = SHAPE_OF(tags, "tags", 1, TAG_FIELDS);

struct str signal_encode(const struct signal *signal, struct arena *arena) {
    const struct signal_row *row = &SIGNALS[signal->kind];
    struct writer writer = {.arena = arena};
    write_byte(&writer, SIGNAL_ENCODING);
    write_varint(&writer, signal->kind);
    fields_write(&writer, COMMON, count_of(COMMON), signal);
    fields_write(&writer, row->fields, row->count, signal);
    return (struct str){writer.at, writer.len};
}

/* Common and specific fields share one sequence; their numbers distinguish them. */
bool signal_decode(struct str bytes, struct signal *ret_signal) {
    struct reader reader = {.rest = bytes};
    if (bytes.len > LIMIT_SIGNAL_BODY || read_byte(&reader) < 1)
        return false;
    uint64_t kind = read_varint(&reader);
    if (reader.failed || kind == SIGNAL_NONE || kind >= SIGNAL_KINDS)
        return false;
    *ret_signal = (struct signal){.kind = (enum signal_kind)kind};
    const struct signal_row *row = &SIGNALS[kind];
    struct field all[count_of(COMMON) + 12];
    must(row->count <= 12);
    memcpy(all, COMMON, sizeof COMMON);
    if (row->count > 0)
        memcpy(all + count_of(COMMON), row->fields, row->count * sizeof *row->fields);
    return fields_read(&reader, all, count_of(COMMON) + row->count, NULL, ret_signal);
}

/* ---- one block: the texts follow the signal ---- */

static const size_t TEXTS[] = {FIELD_OF(signal, sender.actor),
                               FIELD_OF(signal, sender.trace),
                               FIELD_OF(signal, describe.title),
                               FIELD_OF(signal, describe.command),
                               FIELD_OF(signal, text),
                               FIELD_OF(signal, body),
                               FIELD_OF(signal, describe.tags),
                               FIELD_OF(signal, work.node),
                               FIELD_OF(signal, reason),
                               FIELD_OF(signal, commit),
                               FIELD_OF(signal, outcome.reference),
                               FIELD_OF(signal, outcome.sandbox),
                               FIELD_OF(signal, outcome.scope),
                               FIELD_OF(signal, outcome.limits)};

size_t signal_text_size(const struct signal *signal) {
    size_t size = 0;
    for (size_t i = 0; i < count_of(TEXTS); i++)
        size += ((const struct str *)((const char *)signal + TEXTS[i]))->len;
    return size;
}

void signal_copy(struct signal *to, const struct signal *from, char *room) {
    *to = *from;
    for (size_t i = 0; i < count_of(TEXTS); i++) {
        struct str *text = (struct str *)((char *)to + TEXTS[i]);
        if (text->len > 0)
            memcpy(room, text->at, text->len);
        text->at = room;
        room += text->len;
    }
}
