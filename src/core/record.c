/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records of a decision, and keeps which rows they name: step_check.c. */
#include "core/deciding.h"

enum { ADMISSION_ROWS = 1 << PART_PERMIT | 1 << PART_ACCOUNT | 1 << PART_BUDGET };

/* A record of this type concerns every row of these kinds. */
static const uint32_t COVERS[RECORD_TYPES] = {
    [RECORD_GOAL_RESUMED] = 1 << PART_ASSIGNMENT, /* their silence counts from then on */
    [RECORD_PLAN_CREATED] = 1 << PART_NODE,
    [RECORD_PLAN_UPDATED] = 1 << PART_NODE,
    [RECORD_MAIL_SENT] = 1 << PART_AGENT_MESSAGE, /* MAIL-07: the oldest makes room */
    [RECORD_PERMIT_GRANTED] = ADMISSION_ROWS,
    [RECORD_PERMIT_DENIED] = ADMISSION_ROWS,
    [RECORD_PERMIT_SETTLED] = ADMISSION_ROWS,
    [RECORD_PERMIT_WAITS] = ADMISSION_ROWS,
    [RECORD_ACCOUNT_LIMITED] = ADMISSION_ROWS,
    [RECORD_ACCOUNT_OPEN] = ADMISSION_ROWS,
    [RECORD_ACCOUNT_SEEN] = ADMISSION_ROWS,
    [RECORD_ACCOUNT_OVERAGE] = ADMISSION_ROWS,
    [RECORD_BUDGET_USED_UP] = ADMISSION_ROWS,
    [RECORD_ADMISSION_SUSPENDED] = ADMISSION_ROWS,
    [RECORD_ADMISSION_RELEASED] = ADMISSION_ROWS,
    [RECORD_LANE_WAITS] = 1 << PART_PERMIT,
    [RECORD_LANE_GRANTED] = 1 << PART_PERMIT,
    [RECORD_LANE_RETURNED] = 1 << PART_PERMIT,
    [RECORD_LANE_REVOKED] = 1 << PART_PERMIT,
    [RECORD_HOST_DENIED] = 1 << PART_HOST_ACCESS,
    [RECORD_HOST_DECIDED] = 1 << PART_HOST_ACCESS,
    [RECORD_BATCH_SET] = 1 << PART_TASK_BATCH,
    [RECORD_BATCH_ENDED] = 1 << PART_TASK_BATCH,
    [RECORD_CLOCK_STEPPED] = UINT32_MAX, /* says by how much every stored time was corrected */
};

static void names_keep(struct deciding *d, enum record_type type, const struct evidence *evidence) {
    must(d->named_count < LIMIT_STEP_RECORDS);
    if (d->named_count == d->named_cap) {
        struct record_names *more = arena_new(d->out, struct record_names, d->named_cap * 2 + 4);
        if (d->named_count > 0)
            memcpy(more, d->named, d->named_count * sizeof *more);
        d->named = more;
        d->named_cap = d->named_cap * 2 + 4;
    }
    d->named[d->named_count++] = (struct record_names){.node = evidence->node,
                                                       .assignment = evidence->assignment,
                                                       .question = evidence->question,
                                                       .effect = evidence->effect};
    d->covered |= COVERS[type];
}

/* PLAN-19: what the record of a plan must contain. Its goal and plan id are those of the row, `by` is always there. */
static bool plan_record_is_whole(enum record_type type, const struct evidence *evidence) {
    bool of_version = type == RECORD_PLAN_CREATED || type == RECORD_PLAN_UPDATED;
    bool of_plan = of_version || type == RECORD_PLAN_REVIEW_NEEDED ||
                   type == RECORD_PLAN_APPROVED || type == RECORD_PLAN_REJECTED;
    return (!of_plan || evidence->plan.why != REASON_NONE) &&
           (!of_version || evidence->plan.version > 0);
}

/* The first record of a decision holds its input in full, so that it can be replayed. An input that is too long is
 * stored separately. */
static void input_keep(struct deciding *d, struct evidence *evidence) {
    struct str input = signal_encode(d->signal, d->out);
    evidence->replay.owner = d->decision->goal.owner;
    evidence->fence = d->decision->goal.fence;
    evidence->replay.era = d->world->era;
    evidence->replay.level = d->world->level;
    if (d->poisoned)
        return;
    samples_keep(d, evidence);
    if (input.len <= LIMIT_RECORD_INPUT &&
        input.len + evidence->text.len + evidence->reason.len <= LIMIT_RECORD_BODY / 2)
        evidence->replay.input = input;
    else
        evidence->replay.input_apart = decide_text(d, input);
}

/* EVENT-04, EVENT-05, EVENT-08: every transition leaves a record that says by which rule, from what and by whom. */
void decide_record(struct deciding *d, enum record_type type, struct evidence evidence) {
    struct decision *decision = d->decision;
    must(decision->record_count < LIMIT_STEP_RECORDS && plan_record_is_whole(type, &evidence));
    evidence.signal = d->signal->kind;
    evidence.source = d->signal->source;
    evidence.actor = str_cut_utf8(d->signal->sender.actor, LIMIT_ACTOR);
    evidence.by = d->signal->sender.by;
    evidence.trace = str_cut_utf8(d->signal->sender.trace, LIMIT_KEY);
    evidence.reason = str_cut_utf8(evidence.reason, LIMIT_REASON);
    evidence.node = str_cut_utf8(evidence.node, LIMIT_NODE_ID);
    evidence.text = str_cut_utf8(evidence.text, LIMIT_RECORD_BODY - 1024);
    names_keep(d, type, &evidence);
    if (decision->record_count == 0)
        input_keep(d, &evidence);
    decision->records = list_grown(d->out, decision->records, sizeof *decision->records,
                                   decision->record_count, &decision->record_cap);
    struct record *record = &decision->records[decision->record_count++];
    *record = (struct record){.type = type,
                              .at = d->signal->at,
                              .core = CORE_VERSION,
                              .policy = d->policy->hash,
                              .body = shape_encode(&EVIDENCE, &evidence, d->out)};
    must(record->body.len <= LIMIT_RECORD_BODY);
    struct goal *goal = &decision->goal;
    record_seal(record, goal->id, goal->records.seq, &goal->records.head);
    goal->records.seq = record->seq;
    goal->records.head = record->hash;
    decision->verdict = VERDICT_CHANGE;
}
