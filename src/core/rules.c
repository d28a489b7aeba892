/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the rules: writes decisions down, and changes states. */
#include "core/rules.h"

/* ---- lists that grow in the arena ---- */

static void *grown(struct arena *arena, const void *from, size_t size, uint32_t count,
                   uint32_t *cap) {
    if (count < *cap)
        return (void *)(uintptr_t)from;
    *cap = *cap ? *cap * 2 : 4;
    void *to = arena_take(arena, size * *cap, alignof(max_align_t));
    if (count > 0)
        memcpy(to, from, size * count);
    return to;
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
    decision->records = grown(d->out, decision->records, sizeof *decision->records,
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

void decide_refuse_because(struct deciding *d, enum error error, struct str why) {
    d->decision->verdict = VERDICT_REFUSE;
    d->decision->error = error;
    d->decision->why = why;
}

void decide_refuse(struct deciding *d, enum error error) {
    decide_refuse_because(d, error, (struct str){0});
}

/* PLAN-23: the overseer, a person, or an agent that the operator named may change plans. */
bool decide_may_plan(struct deciding *d) {
    if (d->signal->sender.by != WHO_AGENT ||
        str_has_word(d->policy->plans.agents, d->signal->sender.actor))
        return true;
    decide_refuse(d, ERROR_UNAUTHORIZED);
    return false;
}

struct hash decide_text(struct deciding *d, struct str body) {
    struct decision *decision = d->decision;
    struct text_row row = {sha256(body), body};
    for (uint32_t i = 0; i < decision->text_count; i++)
        if (memcmp(&decision->texts[i].hash, &row.hash, sizeof row.hash) == 0)
            return row.hash;
    decision->texts = grown(d->out, decision->texts, sizeof *decision->texts, decision->text_count,
                            &decision->text_cap);
    decision->texts[decision->text_count++] = row;
    return row.hash;
}

void decide_part(struct deciding *d, struct part_change change) {
    struct decision *decision = d->decision;
    decision->parts = grown(d->out, decision->parts, sizeof *decision->parts, decision->part_count,
                            &decision->part_cap);
    decision->parts[decision->part_count++] = change;
}

/* ---- live rows ---- */

void live_edit(struct deciding *d, enum part_kind kind, uint32_t more) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    size_t size = PART[kind].shape->size;
    if (d->touched[kind] && d->room[kind] >= rows->count + more)
        return;
    uint32_t room = rows->count + (more > 0 ? more + 8 : 0);
    void *at = arena_take(d->out, size * (room ? room : 1), alignof(max_align_t));
    bool *touched = arena_new(d->out, bool, room ? room : 1);
    if (rows->count > 0)
        memcpy(at, rows->at, size * rows->count);
    if (d->touched[kind] && rows->count > 0)
        memcpy(touched, d->touched[kind], rows->count * sizeof *touched);
    rows->at = at;
    d->touched[kind] = touched;
    d->room[kind] = room;
}

static uint32_t row_place(struct deciding *d, enum part_kind kind, const void *row) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    size_t place = (size_t)((const char *)row - (const char *)rows->at) / PART[kind].shape->size;
    must(place < rows->count);
    return (uint32_t)place;
}

void live_touch(struct deciding *d, enum part_kind kind, const void *row) {
    must(d->touched[kind] != NULL);
    d->touched[kind][row_place(d, kind, row)] = true;
}

void *live_add(struct deciding *d, enum part_kind kind, uint32_t n) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    live_edit(d, kind, 1);
    must(rows->count < PART[kind].most);
    char *row = (char *)rows->at + PART[kind].shape->size * rows->count;
    memset(row, 0, PART[kind].shape->size);
    d->touched[kind][rows->count++] = true;
    *(uint32_t *)(void *)row = n;
    return row;
}

void live_remove(struct deciding *d, enum part_kind kind, const void *row) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    uint32_t place = row_place(d, kind, row), after = rows->count - place - 1;
    size_t size = PART[kind].shape->size;
    char *at = (char *)rows->at + size * place;
    decide_part(d, (struct part_change){.kind = kind, .gone = true, .n = *(const uint32_t *)row});
    memmove(at, at + size, size * after);
    memmove(d->touched[kind] + place, d->touched[kind] + place + 1, after);
    rows->count--;
}

/* ---- goals ---- */

void aggregate_begin(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    goal->id = d->signal->goal;
    goal->admission = d->signal->admission;
    goal->owner = d->signal->host ? d->signal->host : d->signal->admission;
    goal->fence = 1;
    goal->status = GOAL_ACTIVE;
    goal->priority = PRIORITY_NORMAL;
    goal->times.created_at = d->signal->at;
    goal->era = d->world->era;
    goal->effects.made = (uint32_t)(d->world->era % LIMIT_ERAS) * LIMIT_ERA_GAP; /* see era.c */
}

void goal_move(struct deciding *d, enum goal_status to) {
    struct goal *goal = &d->decision->goal;
    must(goal_status_may_become(goal->status, to));
    if (goal->status == GOAL_COMPLETED && to == GOAL_ACTIVE) {
        goal->progress.succeeded = 0;
        goal->plan.reopened = 1;
    }
    if (to != GOAL_ARCHIVED)
        goal->times.ended_at = to == GOAL_COMPLETED || to == GOAL_CANCELLED ? d->signal->at : 0;
    goal->status = to;
}

/* ---- effects ---- */

static struct effect_change *change_add(struct deciding *d) {
    must(d->decision->effect_count < count_of(d->decision->effects));
    return &d->decision->effects[d->decision->effect_count++];
}

struct str effect_text(const struct effect_slot *slot) {
    return slot->kind == EFFECT_COMMAND ? (struct str){0} : str_of(EFFECTS[slot->kind].name);
}

static struct str row_id(struct deciding *d, enum part_kind kind, uint32_t n) {
    return n ? arena_format(d->out, "%s%u", PART[kind].prefix, n - 1) : (struct str){0};
}

struct effect_slot *effect_make(struct deciding *d, struct effect effect) {
    struct effect_about about = {.assignment = effect.agent.len > 0 ? effect.assignment + 1 : 0};
    return effect_make_about(d, effect, about);
}

struct effect_slot *effect_make_about(struct deciding *d, struct effect effect,
                                      struct effect_about about) {
    struct goal *goal = &d->decision->goal;
    must(goal->effects.open_count < LIMIT_OPEN_EFFECTS);
    struct effect_slot *slot = &goal->effects.open[goal->effects.open_count++];
    *slot = (struct effect_slot){.n = goal->effects.made++, .kind = effect.kind};
    if (effect.kind == EFFECT_LOOK || effect.kind == EFFECT_SAY || effect.kind == EFFECT_CHECK ||
        effect.kind == EFFECT_LAND)
        slot->until = time_after(d->signal->at, effect.within);
    *change_add(d) = (struct effect_change){
        .op = EFFECT_OP_MAKE, .slot = *slot, .body = effect_encode(&effect, d->out)};
    decide_record(d, RECORD_EFFECT_DECIDED,
                  (struct evidence){.rule = effect.kind == EFFECT_COMMAND
                                                ? STR("command.run")
                                                : str_of(EFFECTS[effect.kind].name),
                                    .effect = slot->n + 1,
                                    .to = effect_text(slot),
                                    .text = effect.command,
                                    .assignment = row_id(d, PART_ASSIGNMENT, about.assignment),
                                    .question = row_id(d, PART_QUESTION, about.question)});
    return slot;
}

/* PROTOCOL P8: ready -> running -> ended, or unconfirmed when the outcome is unknown. */
void effect_move(struct deciding *d, struct effect_slot *slot, enum effect_state to) {
    must(effect_state_may_become(slot->state, to));
    slot->state = to;
    *change_add(d) = (struct effect_change){
        .op = to == EFFECT_ENDED ? EFFECT_OP_END : EFFECT_OP_MOVE, .slot = *slot};
    if (to != EFFECT_ENDED)
        return;
    struct goal *goal = &d->decision->goal;
    size_t after = (size_t)(&goal->effects.open[goal->effects.open_count] - (slot + 1));
    memmove(slot, slot + 1, after * sizeof *slot);
    goal->effects.open_count--;
}

void effect_until(struct deciding *d, struct effect_slot *slot, int64_t until) {
    slot->until = until;
    *change_add(d) = (struct effect_change){.op = EFFECT_OP_MOVE, .slot = *slot};
}

void effect_doubt(struct deciding *d, struct effect_slot *slot, struct str rule, struct str why) {
    struct evidence evidence = {.rule = rule,
                                .effect = slot->n + 1,
                                .host = slot->run_host,
                                .fence = d->decision->goal.fence,
                                .threshold = d->policy->act_within,
                                .text = why};
    if (slot->state != EFFECT_UNCONFIRMED)
        effect_move(d, slot, EFFECT_UNCONFIRMED);
    d->decision->goal.need = NEED_UNCONFIRMED;
    decide_record(d, RECORD_EFFECT_UNCONFIRMED, evidence);
}

/* ---- nodes ---- */

void plan_edit(struct deciding *d, uint32_t more) {
    live_edit(d, PART_NODE, more);
}

void node_touch(struct deciding *d, const struct node *node) {
    live_touch(d, PART_NODE, node);
}

static bool node_may_move(const struct node *node, enum node_status to, enum node_cause cause) {
    if (node->status == NODE_CANCELLED) /* PLAN-09 */
        return false;
    return cause == BY_OVERRIDE || (cause == BY_WORK ? node_status_may_become(node->status, to)
                                                     : node_status_may_roll_to(node->status, to));
}

/* PLAN-06, PLAN-08, PLAN-14: the only function that changes a node's status; started_at is the first start, ended_at
 * the last end. */
void node_move(struct deciding *d, struct node *node, enum node_status to, enum node_cause cause,
               struct evidence evidence) {
    must(node_may_move(node, to, cause));
    evidence.node = arena_copy(d->out, node_id(node));
    evidence.from = str_of(NODE_STATUS[node->status].name);
    evidence.to = str_of(NODE_STATUS[to].name);
    evidence.override = cause == BY_OVERRIDE;
    evidence.plan.version = d->decision->goal.plan.version;
    node->status = to;
    d->decision->goal.plan.reopened = 0;
    node->times.updated_at = d->signal->at;
    if (to == NODE_QUEUED)
        node->times.queued_at = d->signal->at;
    if (to == NODE_IN_PROGRESS && node->times.started_at == 0)
        node->times.started_at = d->signal->at;
    node->times.ended_at = node_is_over(node) ? d->signal->at : 0;
    if (to != NODE_DONE) {
        node->result.proof = PROOF_NONE;
        node->result.landed = (struct hash){0};
    } else if (node->result.proof == PROOF_NONE)
        node->result.proof = d->signal->sender.by == WHO_HUMAN ? PROOF_PERSON : PROOF_CLAIMED;
    if (to != NODE_BLOCKED) {
        question_settle(d, arena_format(d->out, "failed.%s", node->id), STR("work.goes-on"));
        node->blocked = BLOCKED_BY_NOTHING;
        node->why = (struct hash){0};
    }
    node_touch(d, node);
    decide_record(d, RECORD_WORK_TODO + to, evidence);
}

/* PLAN-17, PLAN-19, PLAN-22: each version of a plan has one record, which says who made it and why. */
void plan_version_raise(struct deciding *d, enum plan_reason why, struct evidence evidence) {
    struct goal *goal = &d->decision->goal;
    goal->plan.version++;
    goal->plan.reopened = 0;
    evidence.plan.version = goal->plan.version;
    evidence.plan.why = why;
    decide_record(d, goal->plan.version == 1 ? RECORD_PLAN_CREATED : RECORD_PLAN_UPDATED, evidence);
}
