/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows.h"

#include <stdlib.h>

/* ---- checks ---- */

static void row_check(uint32_t table, struct id goal, uint32_t n, struct str body,
                      uint8_t check[ROW_CHECK]) {
    uint8_t place[8];
    for (int i = 0; i < 4; i++) {
        place[i] = (uint8_t)(table >> (8 * i));
        place[4 + i] = (uint8_t)(n >> (8 * i));
    }
    struct sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, goal.bytes, sizeof goal.bytes);
    sha256_add(&sha, place, sizeof place);
    sha256_add(&sha, body.at, body.len);
    struct hash hash = sha256_end(&sha);
    memcpy(check, hash.bytes, ROW_CHECK);
}

struct str row_seal(uint32_t table, struct id goal, uint32_t n, struct str body,
                    struct arena *arena) {
    char *sealed = arena_take(arena, body.len + ROW_CHECK, 1);
    if (body.len > 0)
        memcpy(sealed, body.at, body.len);
    row_check(table, goal, n, body, (uint8_t *)sealed + body.len);
    return (struct str){sealed, body.len + ROW_CHECK};
}

bool row_unseal(uint32_t table, struct id goal, uint32_t n, struct str *body) {
    uint8_t check[ROW_CHECK];
    if (body->len < ROW_CHECK)
        return false;
    struct str plain = {body->at, body->len - ROW_CHECK};
    row_check(table, goal, n, plain, check);
    if (memcmp(check, body->at + plain.len, ROW_CHECK) != 0)
        return false;
    *body = plain;
    return true;
}

/* ---- goals ---- */

void loaded_hot(struct goal_loaded *loaded, struct str sealed) {
    loaded->exists = true;
    loaded->whole = row_unseal(ROW_GOAL, loaded->goal.id, 0, &sealed) &&
                    shape_decode(&GOAL_HOT, sealed, &loaded->goal);
}

void loaded_effect(struct goal_loaded *loaded, struct effect_slot slot) {
    struct goal *goal = &loaded->goal;
    if (goal->effects.open_count == LIMIT_OPEN_EFFECTS || slot.state >= EFFECT_STATES ||
        slot.kind >= EFFECT_KINDS)
        loaded->whole = false;
    else
        goal->effects.open[goal->effects.open_count++] = slot;
}

bool loaded_has(const struct goal_loaded *loaded, enum part_kind kind) {
    return loaded->exists && PART[kind].live && (loaded->goal.kind.admission || kind < PART_PERMIT);
}

/* Rows come in order of n. The array doubles whenever it is full. */
static void loaded_row(struct goal_loaded *loaded, enum part_kind kind, uint32_t n, struct str body,
                       struct arena *arena) {
    struct live_rows *rows = live_rows(&loaded->live, kind);
    size_t size = PART[kind].shape->size;
    if (rows->count >= PART[kind].most) {
        loaded->whole = false;
        return;
    }
    if ((rows->count & (rows->count - 1)) == 0) {
        void *grown =
            arena_take(arena, size * (rows->count ? rows->count * 2 : 1), alignof(max_align_t));
        if (rows->count > 0)
            memcpy(grown, rows->at, size * rows->count);
        rows->at = grown;
    }
    void *row = (char *)rows->at + size * rows->count++;
    *(uint32_t *)row = n; /* every such struct begins with its n */
    loaded->whole = loaded->whole && shape_decode(PART[kind].shape, body, row);
}

void loaded_part(struct goal_loaded *loaded, enum part_kind kind, uint32_t n, struct str sealed,
                 struct arena *arena) {
    if (!row_unseal(ROW_PART + kind, loaded->goal.id, n, &sealed))
        loaded->whole = false;
    else if (PART[kind].live)
        loaded_row(loaded, kind, n, sealed, arena);
}

/* ---- texts that rows name ---- */

static void name(struct text_names *named, const struct hash *hash) {
    static const struct hash NONE;
    if (!hash_equal(hash, &NONE))
        named->at[named->count++] = *hash;
}

static uint32_t hashes_of(const struct shape *shape) {
    uint32_t count = 0;
    for (size_t i = 0; i < shape->count; i++)
        count += shape->fields[i].type == FIELD_HASH;
    return count;
}

/* Any hash may name a text; a hash that names none is simply not found. */
static void name_fields(struct text_names *named, const struct shape *shape, const void *row) {
    for (size_t i = 0; i < shape->count; i++)
        if (shape->fields[i].type == FIELD_HASH)
            name(named, (const struct hash *)((const char *)row + shape->fields[i].offset));
}

static int by_hash(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct hash));
}

static void names_settle(struct text_names *named) {
    uint32_t kept = 0;
    if (named->count > 1)
        qsort(named->at, named->count, sizeof *named->at, by_hash);
    for (uint32_t i = 0; i < named->count; i++)
        if (kept == 0 || !hash_equal(&named->at[kept - 1], &named->at[i]))
            named->at[kept++] = named->at[i];
    named->count = kept;
}

struct text_names loaded_names(const struct goal_loaded *loaded, const struct hash *more,
                               uint32_t count, struct arena *arena) {
    uint32_t room = hashes_of(&GOAL_HOT) + count;
    for (uint32_t kind = 0; kind < PARTS; kind++)
        if (PART[kind].live)
            room += hashes_of(PART[kind].shape) *
                    live_rows_of(&loaded->live, (enum part_kind)kind)->count;
    struct text_names named = {arena_new(arena, struct hash, room), 0};
    name_fields(&named, &GOAL_HOT, &loaded->goal);
    for (uint32_t kind = 0; kind < PARTS; kind++) {
        if (!PART[kind].live)
            continue;
        const struct live_rows *rows = live_rows_of(&loaded->live, (enum part_kind)kind);
        for (uint32_t i = 0; i < rows->count; i++)
            name_fields(&named, PART[kind].shape,
                        (const char *)rows->at + i * PART[kind].shape->size);
    }
    for (uint32_t i = 0; i < count; i++)
        name(&named, &more[i]);
    names_settle(&named);
    return named;
}

struct text_names records_name(const struct record *records, uint32_t count, struct arena *arena) {
    struct text_names named = {arena_new(arena, struct hash, count), 0};
    for (uint32_t i = 0; i < count; i++) {
        struct evidence evidence = {0};
        if (records[i].body.len > 0 && shape_decode(&EVIDENCE, records[i].body, &evidence))
            name(&named, &evidence.replay.input_apart);
    }
    names_settle(&named);
    return named;
}

/* ---- list views ---- */

struct goal_view view_of(const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    return (struct goal_view){.id = goal->id,
                              .status = goal->status,
                              .display_state = goal_display_state(goal),
                              .priority = goal->priority,
                              .percent = goal->progress.percent,
                              .created_at = goal->times.created_at,
                              .updated_at = goal->times.updated_at,
                              .title = commit->title,
                              .ended_at = goal->times.ended_at,
                              .repository = (int64_t)goal->repository,
                              .number = (int64_t)goal->kind.number};
}

struct goal_view view_shown(struct goal_view view) {
    bool wrong = false;
    for (size_t i = 0; i < GOAL_VIEW.count; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        uint32_t *value = (uint32_t *)(void *)((char *)&view + field->offset);
        if (field->type != FIELD_ENUM || *value < field->names->count)
            continue;
        *value = 0;
        wrong = true;
    }
    if (wrong)
        view.display_state = DISPLAY_NEEDS_YOU;
    return view;
}

static int by_id(const void *a, const void *b) {
    return id_compare(*(const struct id *)a, *(const struct id *)b);
}

void ids_sort(struct id *ids, uint32_t count) {
    if (count > 1)
        qsort(ids, count, sizeof *ids, by_id);
}

int64_t id_place(const struct id *ids, uint32_t count, struct id id) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = id_compare(ids[middle], id);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

bool order_is_in_force(const struct store_order *order, const struct hash *policy, bool stopped) {
    if (order->order == ORDER_POLICY)
        return hash_equal(policy, &order->record.policy);
    return stopped == (order->order == ORDER_STOP);
}
