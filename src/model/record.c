/* SPDX-License-Identifier: Apache-2.0 */
/* Records of decisions, and their hash chain. */
#include "model/record.h"

const struct record_row RECORDS[RECORD_TYPES] = {
    [RECORD_NONE] = {"none", false},
    [RECORD_GOAL_CREATED] = {"goal.created", true},
    [RECORD_GOAL_REPORTED] = {"goal.reported", false},
    [RECORD_GOAL_COMPLETED] = {"goal.completed", true},
    [RECORD_GOAL_NEEDS_PERSON] = {"goal.needs_person", true},
    [RECORD_GOAL_QUARANTINED] = {"goal.quarantined", true},
    [RECORD_EFFECT_DECIDED] = {"effect.decided", false},
    [RECORD_EFFECT_CLAIMED] = {"effect.claimed", false},
    [RECORD_EFFECT_ENDED] = {"effect.ended", false},
    [RECORD_EFFECT_UNCONFIRMED] = {"effect.unconfirmed", true},
    [RECORD_GOAL_UPDATED] = {"goal.updated", false},
    [RECORD_GOAL_PAUSED] = {"goal.paused", false},
    [RECORD_GOAL_RESUMED] = {"goal.resumed", false},
    [RECORD_GOAL_CANCELLED] = {"goal.cancelled", true},
    [RECORD_GOAL_ARCHIVED] = {"goal.archived", true},
    [RECORD_GOAL_REOPENED] = {"goal.reopened", true},
    [RECORD_GOAL_RELEASED] = {"goal.released", true},
    [RECORD_GOAL_RESTORED] = {"goal.restored", true},
    [RECORD_PLAN_CREATED] = {"plan.created", true},
    [RECORD_PLAN_UPDATED] = {"plan.updated", true},
    [RECORD_PLAN_REVIEW_NEEDED] = {"plan.review_needed", true},
    [RECORD_PLAN_APPROVED] = {"plan.approved", true},
    [RECORD_PLAN_REJECTED] = {"plan.rejected", true},
    [RECORD_WORK_TODO] = {"work.todo", false},
    [RECORD_WORK_QUEUED] = {"work.queued", false},
    [RECORD_WORK_STARTED] = {"work.started", false},
    [RECORD_WORK_BLOCKED] = {"work.blocked", false},
    [RECORD_WORK_DONE] = {"work.done", true},
    [RECORD_WORK_CANCELLED] = {"work.cancelled", false},
    [RECORD_WORK_FOLLOWS] = {"work.follows", false},
    [RECORD_EFFECT_WITHDRAWN] = {"effect.withdrawn", false},
    [RECORD_PART_PUT] = {"part.put", false},
    [RECORD_STORE_CORRUPT] = {"overseer.store.corrupt", true},
    [RECORD_STORE_RESTORED] = {"overseer.store.restored", true},
    [RECORD_STORE_REBUILT] = {"overseer.store.rebuilt", true},
    [RECORD_STORE_IMPORTED] = {"overseer.store.imported", true},
    [RECORD_SIGNAL_REFUSED] = {"signal.refused", false},
    [RECORD_WORK_HELD] = {"work.held", false},
    [RECORD_POLICY_CHANGED] = {"overseer.policy.changed", true},
    [RECORD_FLEET_STOPPED] = {"overseer.stopped", true},
    [RECORD_FLEET_RESUMED] = {"overseer.resumed", true},
    [RECORD_ASSIGNMENT_QUEUED] = {"assignment.queued", false},
    [RECORD_ASSIGNMENT_DISPATCHED] = {"assignment.dispatched", false},
    [RECORD_ASSIGNMENT_ACTIVE] = {"assignment.active", false},
    [RECORD_ASSIGNMENT_STALLED] = {"assignment.stalled", true},
    [RECORD_ASSIGNMENT_BLOCKED] = {"assignment.blocked", true},
    [RECORD_ASSIGNMENT_DONE] = {"assignment.done", true},
    [RECORD_ASSIGNMENT_CANCELLED] = {"assignment.cancelled", true},
    [RECORD_ASSIGNMENT_ACCEPTED] = {"dispatch.accepted", false},
    [RECORD_ASSIGNMENT_DOUBTED] = {"dispatch.doubted", true},
    [RECORD_ASSIGNMENT_WAITS] = {"assignment.waits", false},
    [RECORD_ASSIGNMENT_DENIED] = {"assignment.denied", true},
    [RECORD_LADDER_CLIMBED] = {"ladder.climbed", true},
    [RECORD_LADDER_SKIPPED] = {"ladder.skipped", false},
    [RECORD_LADDER_SUPPRESSED] = {"ladder.suppressed", false},
    [RECORD_AGENT_SEEN] = {"agent.seen", false},
    [RECORD_UPDATE_TAKEN] = {"update.taken", false},
    [RECORD_UPDATE_REFUSED] = {"update.refused", false},
    [RECORD_UPDATE_HELD] = {"update.held", false},
    [RECORD_HANDOFF] = {"handoff.made", true},
    [RECORD_QUESTION_ASKED] = {"question.asked", true},
    [RECORD_QUESTION_SENT] = {"question.said", true},
    [RECORD_QUESTION_UNSENT] = {"question.unsaid", false},
    [RECORD_QUESTION_SEEN] = {"question.seen", true},
    [RECORD_QUESTION_SNOOZED] = {"question.snoozed", false},
    [RECORD_QUESTION_ANSWERED] = {"question.answered", true},
    [RECORD_QUESTION_UNDONE] = {"question.undone", true},
    [RECORD_QUESTION_APPLIED] = {"question.applied", true},
    [RECORD_QUESTION_EXPIRED] = {"question.expired", true},
    [RECORD_QUESTION_WITHDRAWN] = {"question.withdrawn", true},
    [RECORD_QUESTION_RAISED] = {"question.raised", true},
    [RECORD_PERMIT_GRANTED] = {"permit.granted", false},
    [RECORD_PERMIT_DENIED] = {"permit.denied", true},
    [RECORD_PERMIT_SETTLED] = {"permit.settled", false},
    [RECORD_ACCOUNT_LIMITED] = {"account.limited", true},
    [RECORD_ACCOUNT_OPEN] = {"account.open", false},
    [RECORD_BUDGET_USED_UP] = {"budget.used_up", true},
    [RECORD_ADMISSION_SUSPENDED] = {"desk.suspended", true},
    [RECORD_ADMISSION_RELEASED] = {"desk.released", true},
    [RECORD_MAIL_SENT] = {"mail.sent", false},
    [RECORD_MAIL_READ] = {"mail.read", false},
    [RECORD_WORK_RETRIED] = {"work.retried", true},
    [RECORD_PERMIT_WAITS] = {"permit.waits", false},
    [RECORD_ADMISSION_OPENED] = {"desk.opened", true},
    [RECORD_WORK_CHECKED] = {"work.checked", true},
    [RECORD_WORK_LANDED] = {"work.landed", true},
    [RECORD_WORK_NOT_LANDED] = {"work.not_landed", true},
    [RECORD_AGENT_PROGRESS] = {"agent.progress", false},
    [RECORD_LANE_OPENED] = {"lane.opened", true},
    [RECORD_LANE_WAITS] = {"lane.waits", false},
    [RECORD_LANE_GRANTED] = {"lane.granted", false},
    [RECORD_LANE_RETURNED] = {"lane.returned", false},
    [RECORD_LANE_REVOKED] = {"lane.revoked", true},
    [RECORD_LANE_HELD] = {"lane.held", true},
    [RECORD_LANE_RELEASED] = {"lane.released", true},
    [RECORD_CLOCK_STEPPED] = {"clock.stepped", true},
    [RECORD_RUN_BRAKED] = {"run.braked", true},
    [RECORD_EFFECT_RENEWED] = {"effect.renewed", false},
    [RECORD_EFFECT_RETURNED] = {"effect.returned", false},
    [RECORD_HOST_DENIED] = {"host.denied", false},
    [RECORD_HOST_DECIDED] = {"host.decided", true},
    [RECORD_BATCH_SET] = {"batch.set", true},
    [RECORD_BATCH_ENDED] = {"batch.ended", true},
    [RECORD_ACCOUNT_SEEN] = {"account.seen", false},
    [RECORD_ACCOUNT_OVERAGE] = {"account.overage", true},
};
const struct names RECORD_NAMES = NAMES_OF(RECORDS);

const struct id SYSTEM_GOAL = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

#define F(name, type, number, member, cap, text) \
    { name, type, number, FIELD_OF(evidence, member), cap, 0, NULL, text, 0, NULL }
#define E(name, number, member, names, text) \
    { name, FIELD_ENUM, number, FIELD_OF(evidence, member), 0, 0, names, text, 0, NULL }
static const struct field FIELDS[] = {
    F("rule", FIELD_TEXT, 1, rule, 64, "the rule that decided"),
    E("signal", 2, signal, &SIGNAL_NAMES, "kind of the signal that was decided"),
    F("source", FIELD_ID, 3, source, 0, "source of that signal: the id of the event"),
    F("actor", FIELD_TEXT, 4, actor, LIMIT_ACTOR, "name of the actor"),
    F("effect", FIELD_U32, 5, effect, 0, "ordinal of the effect, from 1"),
    F("host", FIELD_U32, 6, host, 0, "number of the host"),
    F("fence", FIELD_UINT, 7, fence, 0, "fence of the goal"),
    F("exit", FIELD_INT, 8, exit, 0, "exit status"),
    F("threshold", FIELD_INT, 9, threshold, 0, "the limit that was compared, in its own unit"),
    F("text", FIELD_TEXT, 10, text, LIMIT_RECORD_BODY,
      "the text that was reported, run or observed"),
    F("node", FIELD_TEXT, 11, node, LIMIT_NODE_ID, "id of the node"),
    F("from", FIELD_TEXT, 12, from, LIMIT_TAG, "the status before"),
    F("to", FIELD_TEXT, 13, to, LIMIT_TAG, "the status after"),
    F("reason", FIELD_TEXT, 14, reason, LIMIT_REASON, "the reason, in words"),
    E("by", 15, by, &WHO_NAMES, "kind of the actor"),
    F("override", FIELD_FLAG, 16, override, 0, "whether the status table was bypassed"),
    F("planVersion", FIELD_UINT, 17, plan.version, 0, "version of the plan after the change"),
    E("why", 18, plan.why, &REASON_NAMES, "why the plan changed"),
    F("more", FIELD_HASH, 19, more, 0, "hash of a text that did not fit into the record"),
    F("traceId", FIELD_TEXT, 20, trace, LIMIT_KEY, "trace id of a causal chain, passed through"),
    E("blockedBy", 21, blocked, &BLOCKED_NAMES, "what blocks the node"),
    F("assignmentId", FIELD_TEXT, 22, assignment, LIMIT_NAME, "id of the assignment"),
    F("owner", FIELD_U32, 23, replay.owner, 0, "the host that owned the goal at the decision"),
    {"input", FIELD_BYTES, 24, FIELD_OF(evidence, replay.input), LIMIT_RECORD_INPUT, FIELD_HIDDEN,
     NULL, "the encoded signal", 0, NULL},
    {"inputApart", FIELD_HASH, 25, FIELD_OF(evidence, replay.input_apart), 0, FIELD_HIDDEN, NULL,
     "hash of the encoded signal, if it is stored separately", 0, NULL},
    F("question", FIELD_TEXT, 26, question, LIMIT_TAG, "id of the question"),
    F("until", FIELD_TIME, 27, until, 0,
      "the time that the rule refers to, such as the end of a wait"),
    F("count", FIELD_UINT, 28, count, 0, "how often, or how many"),
    {"era", FIELD_UINT, 29, FIELD_OF(evidence, replay.era), 0, FIELD_HIDDEN, NULL,
     "era of the store", 0, NULL},
    {"level", FIELD_U32, 30, FIELD_OF(evidence, replay.level), 0, FIELD_HIDDEN, NULL,
     "level that the fleet had agreed to write", 0, NULL},
    {"samples", FIELD_BYTES, 31, FIELD_OF(evidence, replay.samples), LIMIT_RECORD_INPUT,
     FIELD_HIDDEN, NULL, "SAMPLES stored without a record since the previous decision", 0, NULL},
    {"samplesApart", FIELD_HASH, 32, FIELD_OF(evidence, replay.samples_apart), 0, FIELD_HIDDEN,
     NULL, "hash of the encoded samples, if they are stored separately", 0, NULL},
};
const struct shape EVIDENCE = SHAPE("evidence", 1, FIELDS);

static void add_number(struct sha256 *sha, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    sha256_add(sha, bytes, sizeof bytes);
}

struct hash record_hash(const struct record *record, struct id goal, const struct hash *head) {
    struct sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, head->bytes, sizeof head->bytes);
    sha256_add(&sha, goal.bytes, sizeof goal.bytes);
    add_number(&sha, record->seq);
    add_number(&sha, (uint64_t)record->at);
    add_number(&sha, record->type);
    add_number(&sha, record->core);
    sha256_add(&sha, record->policy.bytes, sizeof record->policy.bytes);
    sha256_add(&sha, record->body_hash.bytes, sizeof record->body_hash.bytes);
    return sha256_end(&sha);
}

void record_seal(struct record *record, struct id goal, uint64_t last_seq,
                 const struct hash *head) {
    record->seq = last_seq + 1;
    record->body_hash = sha256(record->body);
    record->hash = record_hash(record, goal, head);
}
