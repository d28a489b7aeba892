/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided, and how is the chain of records made? */
#include "model/record.h"

static const char *const NAME[] = {
    [RECORD_NONE] = "none",
    [RECORD_GOAL_CREATED] = "goal.created",
    [RECORD_GOAL_REPORTED] = "goal.reported",
    [RECORD_GOAL_COMPLETED] = "goal.completed",
    [RECORD_GOAL_NEEDS_PERSON] = "goal.needs_person",
    [RECORD_GOAL_QUARANTINED] = "goal.quarantined",
    [RECORD_EFFECT_DECIDED] = "effect.decided",
    [RECORD_EFFECT_CLAIMED] = "effect.claimed",
    [RECORD_EFFECT_ENDED] = "effect.ended",
    [RECORD_EFFECT_UNCONFIRMED] = "effect.unconfirmed",
};
const struct names RECORD_NAMES = {NAME, count_of(NAME)};

static const struct field FIELDS[] = {
    {"rule", FIELD_TEXT, 1, FIELD_OF(evidence, rule), 64, 0, NULL, "the rule that decided"},
    {"signal", FIELD_ENUM, 2, FIELD_OF(evidence, signal), 0, 0, &SIGNAL_NAMES, "what had happened"},
    {"source", FIELD_ID, 3, FIELD_OF(evidence, source), 0, 0, NULL, "which happening"},
    {"actor", FIELD_TEXT, 4, FIELD_OF(evidence, actor), LIMIT_ACTOR, 0, NULL, "who"},
    {"effect", FIELD_U32, 5, FIELD_OF(evidence, effect), 0, 0, NULL,
     "ordinal of the effect, from 1"},
    {"host", FIELD_U32, 6, FIELD_OF(evidence, host), 0, 0, NULL, "which host"},
    {"fence", FIELD_UINT, 7, FIELD_OF(evidence, fence), 0, 0, NULL, "under which fence"},
    {"exit", FIELD_INT, 8, FIELD_OF(evidence, exit), 0, 0, NULL, "exit status"},
    {"threshold", FIELD_INT, 9, FIELD_OF(evidence, threshold), 0, 0, NULL, "the limit compared"},
    {"text", FIELD_TEXT, 10, FIELD_OF(evidence, text), LIMIT_RECORD_BODY, 0, NULL,
     "said, run or seen"},
};
const struct shape EVIDENCE = SHAPE("evidence", 1, FIELDS);

static void add_number(struct sha256 *sha, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    sha256_add(sha, bytes, sizeof bytes);
}

void record_seal(struct record *record, struct id goal, uint64_t last_seq,
                 const struct hash *head) {
    record->seq = last_seq + 1;
    record->body_hash = sha256(record->body);
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
    record->hash = sha256_end(&sha);
}
