/* SPDX-License-Identifier: Apache-2.0 */
/* What does a store hold, and does it contradict itself? */
#include "lib/dump.h"

const struct dump_goal *dump_goal(const struct dump *dump, struct id id) {
    for (uint32_t i = 0; i < dump->goal_count; i++)
        if (id_equal(dump->goals[i].id, id))
            return &dump->goals[i];
    return NULL;
}

static struct evidence evidence_of(const struct record *record) {
    struct evidence evidence = {0};
    if (!shape_decode(&EVIDENCE, record->body, &evidence))
        evidence.rule = STR("(cannot be decoded)");
    return evidence;
}

uint32_t dump_applied(const struct dump *dump, struct id goal, struct id source) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < dump->record_count; i++) {
        const struct record *record = &dump->records[i].record;
        if (id_equal(dump->records[i].goal, goal) &&
            (record->type == RECORD_GOAL_CREATED || record->type == RECORD_GOAL_REPORTED))
            count += id_equal(evidence_of(record).source, source);
    }
    return count;
}

struct dump_life dump_life(const struct dump *dump, struct id goal, uint32_t n) {
    struct dump_life life = {0};
    for (uint32_t i = 0; i < dump->record_count; i++) {
        const struct record *record = &dump->records[i].record;
        if (!id_equal(dump->records[i].goal, goal) || evidence_of(record).effect != n + 1)
            continue;
        life.decided += record->type == RECORD_EFFECT_DECIDED;
        life.claimed += record->type == RECORD_EFFECT_CLAIMED;
        life.ended += record->type == RECORD_EFFECT_ENDED;
        life.unconfirmed += record->type == RECORD_EFFECT_UNCONFIRMED;
    }
    return life;
}

/* Records of one goal: 1, 2, 3 … each sealed behind the one before, up to the goal's own head. */
static const char *chain_broken(const struct dump *dump, const struct dump_goal *goal,
                                struct arena *arena) {
    uint64_t seq = 0;
    struct hash head = {0};
    for (uint32_t i = 0; i < dump->record_count; i++) {
        if (!id_equal(dump->records[i].goal, goal->id))
            continue;
        struct record record = dump->records[i].record, sealed = record;
        if (record.seq != seq + 1)
            return arena_format(arena, "record %llu of a goal follows record %llu",
                                (unsigned long long)record.seq, (unsigned long long)seq)
                .at;
        record_seal(&sealed, goal->id, seq, &head);
        if (!hash_equal(&sealed.hash, &record.hash))
            return arena_format(arena, "record %llu does not continue its chain",
                                (unsigned long long)record.seq)
                .at;
        seq = record.seq;
        head = record.hash;
    }
    if (seq != goal->seq || !hash_equal(&head, &goal->head))
        return arena_format(arena, "a goal says seq %llu, its newest record is %llu",
                            (unsigned long long)goal->seq, (unsigned long long)seq)
            .at;
    return NULL;
}

static const char *effect_broken(const struct dump *dump, const struct dump_effect *effect,
                                 struct arena *arena) {
    struct dump_life life = dump_life(dump, effect->goal, effect->slot.n);
    bool claimed = effect->slot.state != EFFECT_READY;
    if (life.decided != 1 || life.ended != 0 || (life.claimed == 1) != claimed || life.claimed > 1)
        return arena_format(
                   arena, "an open effect in state %s was decided %u, claimed %u, ended %u times",
                   EFFECT_STATE[effect->slot.state].name, life.decided, life.claimed, life.ended)
            .at;
    return NULL;
}

static const char *goal_dump_broken(const struct dump *dump, const struct dump_goal *goal,
                                    struct arena *arena) {
    struct goal whole = {.id = goal->id,
                         .owner = goal->owner,
                         .fence = goal->fence,
                         .version = goal->version,
                         .seq = goal->seq,
                         .due_at = goal->due_at};
    if (goal->aside)
        return NULL;
    if (!shape_decode(&GOAL_HOT, goal->hot, &whole))
        return "a goal cannot be decoded";
    uint32_t ended = 0;
    for (uint32_t i = 0; i < dump->effect_count; i++)
        if (id_equal(dump->effects[i].goal, goal->id) && whole.open_count < LIMIT_OPEN_EFFECTS)
            whole.open[whole.open_count++] = dump->effects[i].slot;
    for (uint32_t n = 0; n < whole.effects_made; n++) {
        struct dump_life life = dump_life(dump, goal->id, n);
        if (life.decided != 1 || life.ended > 1 || life.claimed > 1)
            return arena_format(arena, "effect %u was decided %u, claimed %u, ended %u times", n,
                                life.decided, life.claimed, life.ended)
                .at;
        ended += life.ended;
    }
    if (ended + whole.open_count != whole.effects_made)
        return "an effect is neither open nor ended";
    if (goal->open != goal_is_open(&whole))
        return "a goal's open column is wrong";
    return goal_broken(&whole);
}

const char *dump_broken(const struct dump *dump, struct arena *arena) {
    const char *broken = NULL;
    for (uint32_t i = 0; i < dump->goal_count && !broken; i++) {
        broken = chain_broken(dump, &dump->goals[i], arena);
        if (!broken)
            broken = goal_dump_broken(dump, &dump->goals[i], arena);
    }
    for (uint32_t i = 0; i < dump->effect_count && !broken; i++)
        broken = effect_broken(dump, &dump->effects[i], arena);
    return broken;
}
