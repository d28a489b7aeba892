/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers shared by the tests of the core: one guarded step, decisions as text, and checks that hold for every
 * decision. */
#pragma once

#include "chain.h"

#include "core/step.h"

#define T0 1794701782000000 /* times in the tables are microseconds after it */

/* ---- one step, which may break an invariant ---- */

struct stepping {
    struct world world;
    const struct signal *signal;
    struct policy policy;
    struct arena *arena;
    struct decision decision;
    struct crash_guard_report report;
};

static inline void step_call(void *with) {
    struct stepping *s = with;
    s->decision = step(&s->world, s->signal, &s->policy, s->arena);
}

static inline enum crash_guard_result step_guarded(struct stepping *s) {
    return crash_guard_run(step_call, s, &s->report);
}

/* ---- decisions as text ---- */

static inline void text_is(const char *name, const char *text, const char *expected) {
    check(strcmp(text, expected) == 0, "%s:\n  %s\n  %s was expected", name, text, expected);
}

static inline struct evidence evidence_of(const struct record *record) {
    struct evidence evidence = {0};
    check(shape_decode(&EVIDENCE, record->body, &evidence), "%s", hex_of(record->body));
    return evidence;
}

/* Each record's type and rule, and the node where there is one. */
static inline const char *records_text(const struct decision *decision, struct arena *arena) {
    const char *text = "";
    for (uint32_t i = 0; i < decision->record_count; i++) {
        struct evidence evidence = evidence_of(&decision->records[i]);
        text =
            arena_format(arena, "%s%s%s:%.*s%s%.*s", text, i ? " " : "",
                         name_of(&RECORD_NAMES, decision->records[i].type), STR_ARG(evidence.rule),
                         evidence.node.len ? ":" : "", STR_ARG(evidence.node))
                .at;
    }
    return text;
}

/* ---- checks for every decision ---- */

static inline void records_follow(const char *name, const struct goal *before,
                                  const struct signal *signal, const struct policy *policy,
                                  const struct decision *decision) {
    uint64_t seq = before ? before->records.seq : 0;
    struct hash head = before ? before->records.head : (struct hash){{0}};
    for (uint32_t i = 0; i < decision->record_count; i++) {
        const struct record *record = &decision->records[i];
        struct evidence evidence = evidence_of(record);
        check(record_follows(record, decision->goal.id, seq, head), "%s: record %u", name, i);
        check(record->at == signal->at && record->core == CORE_VERSION, "%s: record %u", name, i);
        check(hash_equal(&record->policy, &policy->hash), "%s: record %u", name, i);
        check(record->body.len <= LIMIT_RECORD_BODY, "%s: record %u", name, i);
        check(evidence.rule.len > 0, "%s: record %u names no rule", name, i);
        check(evidence.signal == signal->kind && id_equal(evidence.source, signal->source), "%s",
              name);
        check(str_equal(evidence.actor, str_cut_utf8(signal->sender.actor, LIMIT_ACTOR)) &&
                  evidence.by == signal->sender.by,
              "%s: by whom", name);
        seq = record->seq;
        head = record->hash;
    }
    check(decision->goal.records.seq == seq && hash_equal(&decision->goal.records.head, &head),
          "%s: its head", name);
}

static inline void change_is_whole(const char *name, const struct goal *before,
                                   const struct signal *signal, const struct policy *policy,
                                   const struct decision *decision) {
    const struct goal *goal = &decision->goal;
    check(decision->error == ERROR_NONE && decision->record_count > 0, "%s", name);
    check(goal->version == (before ? before->version : 0) + 1, "%s: version", name);
    check(goal->times.updated_at == signal->at, "%s: updated at", name);
    check(!goal_broken(goal), "%s: %s", name, goal_broken(goal));
    check(goal->due_at == goal_due(goal), "%s: due", name);
    check(id_equal(goal->id, before ? before->id : signal->goal), "%s: its id", name);
    check(goal->times.created_at == (before ? before->times.created_at : signal->at),
          "%s: created at", name);
    records_follow(name, before, signal, policy, decision);
}

static inline bool slot_same(const struct effect_slot *a, const struct effect_slot *b) {
    return a->n == b->n && a->kind == b->kind && a->state == b->state &&
           a->run_host == b->run_host && a->until == b->until;
}

/* The hot part is compared in its stored form, so that no field can be forgotten here. */
static inline bool goal_same(const struct goal *a, const struct goal *b) {
    struct arena arena = {0};
    bool same = id_equal(a->id, b->id) && a->owner == b->owner && a->fence == b->fence &&
                a->version == b->version && a->records.seq == b->records.seq &&
                hash_equal(&a->records.head, &b->records.head) && a->due_at == b->due_at &&
                a->quarantined == b->quarantined &&
                a->effects.open_count == b->effects.open_count &&
                str_equal(shape_encode(&GOAL_HOT, a, &arena), shape_encode(&GOAL_HOT, b, &arena));
    for (uint32_t i = 0; same && i < a->effects.open_count; i++)
        same = slot_same(&a->effects.open[i], &b->effects.open[i]);
    arena_free(&arena);
    return same;
}

/* A refusal is empty; a decision that changes nothing contains the unchanged goal. */
static inline void nothing_is_changed(const char *name, const struct goal *before,
                                      const struct decision *decision) {
    static const struct goal EMPTY;
    bool as_it_was = decision->verdict == VERDICT_NOTHING && before;
    check(decision->record_count == 0 && decision->effect_count == 0, "%s", name);
    check(decision->part_count == 0 && decision->text_count == 0, "%s", name);
    check(decision->title.len == 0 && decision->tags == NULL, "%s", name);
    check(goal_same(&decision->goal, as_it_was ? before : &EMPTY), "%s: the goal was changed",
          name);
}

/* ---- a whole decision as bytes: with everything that its pointers refer to, and without padding ---- */

static inline void slot_write(struct writer *writer, const struct effect_slot *slot) {
    write_varint(writer, slot->n);
    write_varint(writer, slot->kind);
    write_varint(writer, slot->state);
    write_varint(writer, slot->run_host);
    write_varint(writer, (uint64_t)slot->until);
}

static inline void goal_write(struct writer *writer, const struct goal *goal) {
    const uint64_t numbers[] = {goal->owner,
                                goal->fence,
                                goal->version,
                                goal->records.seq,
                                goal->quarantined,
                                (uint64_t)goal->due_at,
                                goal->effects.open_count};
    write_raw(writer, (struct str){(const char *)goal->id.bytes, 16});
    write_raw(writer, hash_str(&goal->records.head));
    write_run(writer, shape_encode(&GOAL_HOT, goal, writer->arena));
    for (size_t i = 0; i < count_of(numbers); i++)
        write_varint(writer, numbers[i]);
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        slot_write(writer, &goal->effects.open[i]);
}

static inline void records_write(struct writer *writer, const struct decision *decision) {
    for (uint32_t i = 0; i < decision->record_count; i++) {
        const struct record *record = &decision->records[i];
        write_varint(writer, record->type);
        write_varint(writer, record->seq);
        write_varint(writer, (uint64_t)record->at);
        write_varint(writer, record->core);
        write_raw(writer, hash_str(&record->policy));
        write_raw(writer, hash_str(&record->body_hash));
        write_raw(writer, hash_str(&record->hash));
        write_run(writer, record->body);
    }
}

static inline void changes_write(struct writer *writer, const struct decision *decision) {
    for (uint32_t i = 0; i < decision->effect_count; i++) {
        write_varint(writer, decision->effects[i].op);
        slot_write(writer, &decision->effects[i].slot);
        write_run(writer, decision->effects[i].body);
    }
    for (uint32_t i = 0; i < decision->part_count; i++) {
        const struct part_change *part = &decision->parts[i];
        write_varint(writer, part->kind);
        write_varint(writer, part->n);
        write_varint(writer, part->gone);
        write_run(writer, part->name);
        write_run(writer, part->body);
    }
    for (uint32_t i = 0; i < decision->text_count; i++) {
        write_raw(writer, hash_str(&decision->texts[i].hash));
        write_run(writer, decision->texts[i].body);
    }
}

static inline struct str decision_bytes(const struct decision *decision, struct arena *arena) {
    struct writer writer = {.arena = arena};
    write_varint(&writer, decision->verdict);
    write_varint(&writer, decision->error);
    write_run(&writer, decision->why);
    write_run(&writer, decision->title);
    if (decision->tags)
        write_run(&writer, shape_encode(&TAGS, decision->tags, arena));
    goal_write(&writer, &decision->goal);
    records_write(&writer, decision);
    changes_write(&writer, decision);
    for (uint32_t i = 0; i < decision->plan.count; i++)
        write_run(&writer, shape_encode(&NODE, &decision->plan.nodes[i], arena));
    return (struct str){writer.at, writer.len};
}
