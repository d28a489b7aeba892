/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of signals and their encoding. */
#include "model/signal.h"

enum { SIGNAL_ENCODING = 1 };

#define F(name, type, number, member, cap, text) \
    { name, type, number, FIELD_OF(signal, member), cap, 0, NULL, text, 0, NULL }
#define E(name, number, member, names, text) \
    { name, FIELD_ENUM, number, FIELD_OF(signal, member), 0, 0, names, text, 0, NULL }

static const struct field COMMON[] = {
    F("source", FIELD_ID, 1, source, 0,
      "id of the event: the same event always has the same source"),
    F("goal", FIELD_ID, 2, goal, 0, "id of the goal"),
    F("at", FIELD_TIME, 3, at, 0, "time of the signal: the current time of the decision"),
    F("keyed", FIELD_U32, 4, once.keyed, 0,
      "1: the sender may repeat it, so its source is remembered"),
    F("actor", FIELD_TEXT, 5, sender.actor, LIMIT_ACTOR, "name of the sender"),
    E("by", 6, sender.by, &WHO_NAMES, "kind of the sender"),
    F("traceId", FIELD_TEXT, 7, sender.trace, LIMIT_KEY,
      "trace id of a causal chain, passed through"),
    F("key", FIELD_ID, 8, once.key, 0, "the caller's key, which names one source"),
    F("before", FIELD_ID, 9, once.before, 0,
      "its source as named by builds that do not know the key"),
    F("number", FIELD_UINT, 10, number, 0, "number for the name of its goal, if that has none yet"),
};

static const struct field CREATE[] = {
    F("title", FIELD_TEXT, 16, describe.title, LIMIT_TITLE, "one line that says what is wanted"),
    F("command", FIELD_TEXT, 17, describe.command, LIMIT_COMMAND, "command to run"),
    F("body", FIELD_BYTES, 18, body, LIMIT_BODY, "its definition"),
    F("tags", FIELD_BYTES, 19, describe.tags, LIMIT_TAGS *(LIMIT_TAG + 8), "its tags"),
    E("priority", 20, describe.priority, &PRIORITY_NAMES, "its priority"),
    F("host", FIELD_U32, 21, host, 0, "the host that is to own it"),
    F("repository", FIELD_UINT, 23, describe.repository, 0, "key of the repository for its work"),
    F("task", FIELD_BYTES, 24, describe.task, LIMIT_BODY, "its plan: one task"),
    F("batch", FIELD_UINT, 25, describe.batch.key, 0, "key of the task batch that it belongs to"),
    F("batchUntil", FIELD_TIME, 26, describe.batch.until, 0, "end of that batch"),
    F("quotaMark", FIELD_U32, 27, describe.quota_mark, 0,
      "percent of a quota window from which its work does not begin; 0: none"),
};
static const struct field BATCH_SET[] = {
    F("body", FIELD_BYTES, 16, body, LIMIT_BODY, "the batch: a TASK_BATCH"),
    F("host", FIELD_U32, 17, admission, 0, "the host whose admission it is"),
    F("changes", FIELD_U32, 18, to, 0, "which fields are set: enum batch_change"),
    F("reason", FIELD_TEXT, 19, reason, LIMIT_REASON, "the reason"),
};
static const struct field CLOCK[] = {
    F("stepped", FIELD_INT, 16, stepped, 0, "microseconds by which to move the stored times"),
};
static const struct field REPORT[] = {
    F("text", FIELD_TEXT, 16, text, LIMIT_REPORT, "text of the report"),
};
static const struct field CLAIM[] = {
    F("effect", FIELD_U32, 16, effect, 0, "ordinal of the effect in the goal"),
    F("host", FIELD_U32, 17, host, 0, "the host that wants to carry it out"),
};
static const struct field ENDED[] = {
    F("effect", FIELD_U32, 16, effect, 0, "ordinal of the effect in the goal"),
    F("exit", FIELD_INT, 17, exit, 0, "exit status; -1: it could not be started"),
    {"text", FIELD_TEXT, 18, FIELD_OF(signal, text), LIMIT_OUTPUT, FIELD_TAIL, NULL,
     "the tail of its output", 0, NULL},
    F("result", FIELD_U32, 19, to, 0,
      "spawn, send: enum delivery; check: enum checked; land: enum landed; say: enum hearing"),
    F("body", FIELD_BYTES, 20, body, LIMIT_BODY,
      "look: an OBSERVATION; spawn: a BEGINNING; check: a VERIFICATION"),
    F("until", FIELD_TIME, 21, until, 0, "time before which it is not tried again"),
    F("session", FIELD_TEXT, 22, outcome.reference, LIMIT_SESSION,
      "spawn, send: the session; check: the candidate or the conflict; land: where it landed; "
      "say: the service's reference"),
    F("sandbox", FIELD_TEXT, 23, outcome.sandbox, LIMIT_SANDBOX, "spawn: what confines the run"),
    F("scope", FIELD_TEXT, 24, outcome.scope, LIMIT_SANDBOX,
      "spawn: whether its tool scope is enforced"),
    F("limits", FIELD_TEXT, 25, outcome.limits, LIMIT_LIMITS, "spawn: resource limits of the run"),
};
static const struct field LOST[] = {
    F("effect", FIELD_U32, 16, effect, 0, "ordinal of the effect in the goal"),
    F("host", FIELD_U32, 17, host, 0, "the host that claimed it and knows that it never began"),
};
static const struct field UPDATE[] = {
    F("title", FIELD_TEXT, 16, describe.title, LIMIT_TITLE, "new title; empty: unchanged"),
    F("body", FIELD_BYTES, 18, body, LIMIT_BODY, "new definition; empty: unchanged"),
    F("tags", FIELD_BYTES, 19, describe.tags, LIMIT_TAGS *(LIMIT_TAG + 8),
      "new tags; empty: unchanged"),
    E("priority", 20, describe.priority, &PRIORITY_NAMES, "its priority"),
    F("base", FIELD_HASH, 22, describe.base, 0,
      "hash of the definition that the update is based on"),
    F("keepsPriority", FIELD_FLAG, 24, to, 0, "whether the priority stays unchanged"),
    F("reason", FIELD_TEXT, 23, reason, LIMIT_REASON, "the reason"),
};
static const struct field MOVE[] = {
    F("to", FIELD_U32, 16, to, 0, "the new status"),
    F("reason", FIELD_TEXT, 17, reason, LIMIT_REASON, "the reason"),
};
static const struct field APPLY[] = {
    F("body", FIELD_BYTES, 16, body, LIMIT_BODY, "the encoded plan"),
    F("expected", FIELD_UINT, 17, plan.expected, 0,
      "plan version that the sender saw; 0: none, or any"),
    E("why", 18, plan.why, &REASON_NAMES, "why the plan changes"),
    F("reason", FIELD_TEXT, 19, reason, LIMIT_REASON, "the reason in words"),
    F("node", FIELD_TEXT, 20, work.node, LIMIT_NODE_ID, "add: id of the parent node"),
};
static const struct field WORK[] = {
    F("node", FIELD_TEXT, 16, work.node, LIMIT_NODE_ID, "id of the node"),
    F("to", FIELD_U32, 17, to, 0, "the new status"),
    F("reason", FIELD_TEXT, 18, reason, LIMIT_REASON, "the reason"),
    F("text", FIELD_TEXT, 19, text, LIMIT_REPORT, "evidence"),
    F("override", FIELD_FLAG, 20, work.override, 0,
      "whether it bypasses the status table; this is recorded"),
    E("blocked", 21, work.blocked, &BLOCKED_NAMES, "what blocks the node"),
    F("expected", FIELD_UINT, 22, plan.expected, 0,
      "plan version that the sender saw; 0: none, or any"),
};
static const struct field PART_FIELDS[] = {
    F("kind", FIELD_U32, 16, to, 0, "kind of the part: enum part_kind"),
    F("body", FIELD_BYTES, 17, body, LIMIT_BODY, "its encoded fields"),
    F("n", FIELD_U32, 18, effect, 0, "ordinal + 1 of the part; 0: a new part"),
    F("expected", FIELD_UINT, 19, plan.expected, 0, "goal version that the sender saw; 0: any"),
};

static const struct field DUE[] = {
    F("body", FIELD_BYTES, 16, body, LIMIT_BODY, "observations of its agents: OBSERVATIONS"),
};
static const struct field AGENT[] = {
    F("charge", FIELD_U32, 16, about.assignment, 0, "ordinal + 1 of the assignment"),
    F("body", FIELD_BYTES, 17, body, LIMIT_BODY,
      "an OBSERVATION, UPDATE, QUESTION_TEXT, HANDOFF or PROGRESS, depending on the kind"),
    F("node", FIELD_TEXT, 18, work.node, LIMIT_NODE_ID, "id of the node, if the sender gives one"),
    F("reason", FIELD_TEXT, 19, reason, LIMIT_PROSE, "the reason"),
    F("to", FIELD_U32, 20, to, 0,
      "ask: enum asked_of; update: 1: read from the agent's own message"),
    F("until", FIELD_TIME, 21, until, 0, "update: time of the next update, as the agent announced"),
    F("run", FIELD_U32, 22, about.run, 0,
      "ordinal + 1 of the effect that started the run it comes from"),
};
static const struct field ASK[] = {
    F("question", FIELD_U32, 16, about.question, 0,
      "ordinal + 1 of the question or message; ask: the fallback option, from 1; "
      "send: 1: it has to be acknowledged"),
    F("to", FIELD_U32, 17, to, 0,
      "ask: enum question_kind; answer: the option, from 1; move: enum question_move; "
      "send: enum agent_message_kind"),
    F("text", FIELD_TEXT, 18, text, LIMIT_REPORT,
      "ask: the cause; answer: its text; send: name of the recipient"),
    F("until", FIELD_TIME, 19, until, 0, "ask: time of expiry; snooze: end time"),
    F("reason", FIELD_TEXT, 20, reason, LIMIT_REASON, "the reason"),
    F("charge", FIELD_U32, 21, about.assignment, 0, "ordinal + 1 of the assignment"),
    F("body", FIELD_BYTES, 22, body, LIMIT_BODY, "the QUESTION_TEXT or AGENT_MESSAGE_TEXT"),
    F("node", FIELD_TEXT, 23, work.node, LIMIT_NODE_ID, "id of the node"),
    F("commit", FIELD_TEXT, 25, commit, LIMIT_COMMIT, "answer: the commit that was shown"),
    F("run", FIELD_U32, 24, about.run, 0,
      "ordinal + 1 of the effect that started the run it comes from"),
};
/* clang-format off */
#define ADMISSION_FIELDS \
    F("charge", FIELD_U32, 16, about.assignment, 0, "ordinal + 1 of the assignment"), \
    F("body", FIELD_BYTES, 17, body, LIMIT_BODY, "the PERMIT; account.limited: the ACCOUNT; account.seen: the QUOTA"), \
    F("desk", FIELD_U32, 18, admission, 0, "the host whose admission this is"), \
    F("until", FIELD_TIME, 19, until, 0, "end time of the limit"), \
    F("cost", FIELD_UINT, 20, spent.cost, 0, \
      "cost since the last settlement, in millionths of the currency"), \
    F("tokens", FIELD_UINT, 21, spent.tokens, 0, "tokens used since the last settlement"), \
    F("to", FIELD_U32, 22, to, 0, \
      "answer: number of the request; settle: 1: the work is over; " \
      "desk.release: 1: the agents are left alone; lane.hold: 1: hold, 0: release"), \
    F("reason", FIELD_TEXT, 23, reason, LIMIT_REASON, "the reason")
/* clang-format on */
static const struct field ADMISSION[] = {ADMISSION_FIELDS};
static const struct field LANE_HOLD[] = {
    ADMISSION_FIELDS,
    F("repository", FIELD_UINT, 24, describe.repository, 0, "key of the repository"),
};

static const struct field TARGET_CHECKED_FIELDS[] = {
    F("desk", FIELD_U32, 16, admission, 0, "the host that checked it"),
    F("repository", FIELD_UINT, 17, describe.repository, 0, "key of the repository"),
    F("title", FIELD_TEXT, 18, describe.title, LIMIT_AGENT, "name of the repository"),
    F("to", FIELD_U32, 19, to, 0, "enum target_state"),
    F("reason", FIELD_TEXT, 20, reason, LIMIT_REASON, "what fails, and since when"),
    F("text", FIELD_TEXT, 21, text, LIMIT_OUTPUT_SEEN, "the end of its output"),
};

static const struct field HOST_DENIED_FIELDS[] = {
    F("body", FIELD_BYTES, 16, body, LIMIT_BODY, "the HOST_ACCESS"),
    F("desk", FIELD_U32, 17, admission, 0, "the host that the run is on"),
    F("repository", FIELD_UINT, 18, describe.repository, 0, "key of the repository"),
    F("title", FIELD_TEXT, 19, describe.title, LIMIT_AGENT, "name of the repository"),
    F("to", FIELD_U32, 20, to, 0, "enum host_order: what a person wants; 0: a run was denied it"),
    F("reason", FIELD_TEXT, 21, reason, LIMIT_REASON, "the reason"),
};

static const struct field HOST[] = {
    F("lost", FIELD_U32, 16, to, 0, "number of the lost host"),
    F("desk", FIELD_U32, 17, admission, 0, "the host whose admission this is"),
    F("back", FIELD_FLAG, 18, returned, 0, "whether that host has returned"),
};

static const struct field BRAKED[] = {
    F("charge", FIELD_U32, 16, about.assignment, 0, "ordinal + 1 of the assignment"),
    F("run", FIELD_U32, 17, effect, 0, "ordinal + 1 of the effect that started its run"),
    F("reason", FIELD_TEXT, 18, reason, LIMIT_REASON, "the reason, in one line"),
    F("text", FIELD_TEXT, 19, text, LIMIT_REPORT,
      "the folder, the disk space in MiB, and what to do"),
    F("to", FIELD_U32, 20, to, 0, "enum braking: why, or that it is over"),
    F("until", FIELD_TIME, 21, until, 0, "paid usage: time at which it ends"),
};

static const struct field ORDER[] = {
    F("text", FIELD_TEXT, 16, text, LIMIT_REPORT, "policy.change: what changed"),
    F("reason", FIELD_TEXT, 17, reason, LIMIT_REASON, "the reason"),
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
    [SIGNAL_LANE_HOLD] = ROW("lane.hold", LANE_HOLD),
    [SIGNAL_CLOCK_STEPPED] = ROW("clock.stepped", CLOCK),
    [SIGNAL_HOST_LOST] = ROW("host.lost", HOST),
    [SIGNAL_RUN_BRAKED] = ROW("run.braked", BRAKED),
    [SIGNAL_HOST_DENIED] = ROW("host.denied", HOST_DENIED_FIELDS),
    [SIGNAL_BATCH_SET] = ROW("batch.set", BATCH_SET),
    [SIGNAL_ACCOUNT_SEEN] = ROW("account.seen", ADMISSION),
    [SIGNAL_TARGET_CHECKED] = ROW("target.checked", TARGET_CHECKED_FIELDS),
};
const struct names SIGNAL_NAMES = NAMES_OF(SIGNALS);
const struct shape SIGNAL_COMMON = SHAPE("signal", SIGNAL_ENCODING, COMMON);

static const struct field TAG_FIELDS[] = {{"tags", FIELD_TEXTS, 1, FIELD_OF(tags, tags), LIMIT_TAG,
                                           0, NULL, "tags to search by", LIMIT_TAGS, NULL}};
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
                               FIELD_OF(signal, describe.task),
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
