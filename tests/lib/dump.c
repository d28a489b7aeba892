/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps the whole content of a store. */
#include "lib/dump.h"

#include <stdlib.h>

/* ---- the tables ---- */

#define INT(type, name, member) \
    { name, COLUMN_INT, offsetof(struct type, member), false }
#define U32(type, name, member) \
    { name, COLUMN_U32, offsetof(struct type, member), false }
#define BOOL(type, name, member) \
    { name, COLUMN_BOOL, offsetof(struct type, member), false }
#define ID(type, name, member) \
    { name, COLUMN_ID, offsetof(struct type, member), false }
#define HASH(type, name, member) \
    { name, COLUMN_HASH, offsetof(struct type, member), false }
#define BYTES(type, name, member) \
    { name, COLUMN_BYTES, offsetof(struct type, member), false }

static const struct dump_column MARK[] = {
    U32(store_mark, "version", version),
    U32(store_mark, "oldest", oldest),
    U32(store_mark, "level", level),
    INT(store_mark, "era", era),
    {"instance", COLUMN_ID, offsetof(struct store_mark, instance), true},
    BOOL(store_mark, "safe IS NOT NULL", safe),
    BOOL(store_mark, "stopped IS NOT NULL", stopped),
};
static const struct dump_column HOST[] = {
    U32(dump_host, "host_id", row.host),
    INT(dump_host, "epoch", row.epoch),
    INT(dump_host, "beat", row.beat),
    INT(dump_host, "batch", row.batch),
    U32(dump_host, "state", row.state),
    INT(dump_host, "instance", instance),
    U32(dump_host, "speaks", speaks),
    HASH(dump_host, "policy", policy),
    INT(dump_host, "number_next", numbers.next),
    INT(dump_host, "number_end", numbers.end),
    INT(dump_host, "number_era", numbers.era),
};
static const struct dump_column NUMBERED[] = {
    INT(dump_numbered, "numbered", to),
    INT(dump_numbered, "numbered_era", era),
};
static const struct dump_column GOAL[] = {
    ID(dump_goal, "goal_id", id),     U32(dump_goal, "owner", owner),
    INT(dump_goal, "fence", fence),   INT(dump_goal, "version", version),
    INT(dump_goal, "seq", seq),       HASH(dump_goal, "head", head),
    INT(dump_goal, "due_at", due_at), BOOL(dump_goal, "open", open),
    BOOL(dump_goal, "aside", aside),  BYTES(dump_goal, "hot", hot),
};
static const struct dump_column VIEW[] = {
    ID(goal_view, "goal_id", id),
    U32(goal_view, "status", status),
    U32(goal_view, "face", display_state),
    U32(goal_view, "priority", priority),
    U32(goal_view, "percent", percent),
    INT(goal_view, "created_at", created_at),
    INT(goal_view, "updated_at", updated_at),
    BYTES(goal_view, "title", title),
    INT(goal_view, "ended_at", ended_at),
    INT(goal_view, "repository", repository),
    INT(goal_view, "number", number),
};
static const struct dump_column TAG[] = {
    ID(dump_tag, "goal_id", goal),
    BYTES(dump_tag, "tag", tag),
    U32(dump_tag, "face", display_state),
    INT(dump_tag, "created_at", created_at),
};
static const struct dump_column PARTS_OF[] = {
    ID(dump_part, "goal_id", goal), U32(dump_part, "kind", kind),   U32(dump_part, "n", n),
    BYTES(dump_part, "name", name), BYTES(dump_part, "body", body),
};
static const struct dump_column TEXT[] = {
    ID(dump_text, "goal_id", goal),
    HASH(dump_text, "hash", hash),
    BYTES(dump_text, "body", body),
};
static const struct dump_column EFFECT[] = {
    ID(dump_effect, "goal_id", goal),
    U32(dump_effect, "n", slot.n),
    U32(dump_effect, "kind", slot.kind),
    U32(dump_effect, "state", slot.state),
    U32(dump_effect, "run_host", slot.run_host),
    INT(dump_effect, "until", slot.until),
    BYTES(dump_effect, "body", body),
};
static const struct dump_column RECORD[] = {
    ID(dump_record, "goal_id", goal),           INT(dump_record, "seq", record.seq),
    HASH(dump_record, "hash", record.hash),     INT(dump_record, "at", record.at),
    U32(dump_record, "type", record.type),      U32(dump_record, "core", record.core),
    HASH(dump_record, "policy", record.policy), HASH(dump_record, "body_hash", record.body_hash),
    BYTES(dump_record, "body", record.body),
};
static const struct dump_column MILESTONE[] = {
    ID(dump_milestone, "goal_id", goal),   INT(dump_milestone, "from_seq", from_seq),
    INT(dump_milestone, "to_seq", to_seq), INT(dump_milestone, "n", n),
    INT(dump_milestone, "at", at),         HASH(dump_milestone, "last_hash", last_hash),
    BYTES(dump_milestone, "body", body),
};
static const struct dump_column SEEN[] = {
    ID(source_key, "goal_id", goal),
    ID(source_key, "source", source),
};
static const struct dump_column ASIDE[] = {
    ID(dump_aside, "goal_id", goal), ID(dump_aside, "source", source), INT(dump_aside, "at", at),
    BYTES(dump_aside, "why", why),   BYTES(dump_aside, "body", body),
};
static const struct dump_column INBOX[] = {
    ID(dump_inbox, "source", source),
    ID(dump_inbox, "goal_id", goal),
    U32(dump_inbox, "to_host", to_host),
    BYTES(dump_inbox, "body", body),
};
static const struct dump_column TALLY[] = {
    U32(dump_tally, "host_id", host),
    U32(dump_tally, "face", display_state),
    INT(dump_tally, "n", n),
};

#define TABLE(sql, list, count, columns, keys) \
    { \
        sql, offsetof(struct dump, list), offsetof(struct dump, count), \
            sizeof *((struct dump *)0)->list, columns, count_of(columns), keys \
    }
const struct dump_table DUMP_TABLES[DUMP_TABLE_COUNT] = {
    [DUMP_MARKS] = TABLE("store", marks, mark_count, MARK, 1),
    [DUMP_NUMBERED] = TABLE("store", numbered, numbered_count, NUMBERED, 1),
    [DUMP_HOSTS] = TABLE("host", hosts, host_count, HOST, 1),
    [DUMP_GOALS] = TABLE("goal", goals, goal_count, GOAL, 1),
    [DUMP_VIEWS] = TABLE("goal_view", views, view_count, VIEW, 1),
    [DUMP_TAGS] = TABLE("goal_tag", tags, tag_count, TAG, 2),
    [DUMP_PARTS] = TABLE(NULL, parts, part_count, PARTS_OF, 3),
    [DUMP_TEXTS] = TABLE("text", texts, text_count, TEXT, 2),
    [DUMP_EFFECTS] = TABLE("effect", effects, effect_count, EFFECT, 2),
    [DUMP_RECORDS] = TABLE("record", records, record_count, RECORD, 3),
    [DUMP_MILESTONES] = TABLE("milestone", milestones, milestone_count, MILESTONE, 2),
    [DUMP_SEEN] = TABLE("seen", seen, seen_count, SEEN, 2),
    [DUMP_ASIDES] = TABLE("aside", asides, aside_count, ASIDE, 2),
    [DUMP_INBOX] = TABLE("inbox", inbox, inbox_count, INBOX, 1),
    [DUMP_TALLIES] = TABLE("tally", tallies, tally_count, TALLY, 2),
};

void **dump_rows(const struct dump_table *table, const struct dump *dump) {
    return (void **)(void *)((char *)(uintptr_t)dump + table->rows);
}

uint32_t *dump_count(const struct dump_table *table, const struct dump *dump) {
    return (uint32_t *)(void *)((char *)(uintptr_t)dump + table->count);
}

/* ---- order and comparison, column by column ---- */

static int bytes_compare(struct str a, struct str b) {
    size_t less = a.len < b.len ? a.len : b.len;
    int order = less ? memcmp(a.at, b.at, less) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int column_compare(const struct dump_column *column, const void *x, const void *y) {
    const void *a = (const char *)x + column->offset, *b = (const char *)y + column->offset;
    switch (column->type) {
    case COLUMN_INT: {
        int64_t m = *(const int64_t *)a, n = *(const int64_t *)b;
        return (m > n) - (m < n);
    }
    case COLUMN_U32: {
        uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
        return (m > n) - (m < n);
    }
    case COLUMN_BOOL: return *(const bool *)a - *(const bool *)b;
    case COLUMN_ID: return memcmp(a, b, sizeof(struct id));
    case COLUMN_HASH: return memcmp(a, b, sizeof(struct hash));
    case COLUMN_BYTES: return bytes_compare(*(const struct str *)a, *(const struct str *)b);
    }
    return 0;
}

const struct dump_column *rows_differ(const struct dump_table *table, const void *a,
                                      const void *b) {
    for (uint32_t i = 0; i < table->column_count; i++)
        if (!table->columns[i].own && column_compare(&table->columns[i], a, b) != 0)
            return &table->columns[i];
    return NULL;
}

static int by_key(const void *a, const void *b, void *with) {
    const struct dump_table *table = with;
    for (uint32_t i = 0; i < table->keys; i++) {
        int order = column_compare(&table->columns[i], a, b);
        if (order)
            return order;
    }
    return 0;
}

void dump_sort(struct dump *dump) {
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT; i++) {
        const struct dump_table *table = &DUMP_TABLES[i];
        if (*dump_count(table, dump) > 1)
            qsort_r(*dump_rows(table, dump), *dump_count(table, dump), table->size, by_key,
                    (void *)(uintptr_t)table);
    }
}

void dump_copy(struct dump *to, const struct dump *from, struct arena *arena) {
    to->evidence = NULL;
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT; i++) {
        const struct dump_table *table = &DUMP_TABLES[i];
        uint32_t count = *dump_count(table, to) = *dump_count(table, from);
        void *rows = arena_take(arena, count * table->size, alignof(max_align_t));
        if (count > 0)
            memcpy(rows, *dump_rows(table, from), count * table->size);
        *dump_rows(table, to) = rows;
    }
}

void dump_copy_bytes(struct dump *dump, struct arena *arena) {
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT; i++) {
        const struct dump_table *table = &DUMP_TABLES[i];
        char *rows = *dump_rows(table, dump);
        for (uint32_t c = 0; c < table->column_count; c++)
            for (uint32_t k = 0;
                 table->columns[c].type == COLUMN_BYTES && k < *dump_count(table, dump); k++) {
                struct str *at =
                    (struct str *)(void *)(rows + k * table->size + table->columns[c].offset);
                *at = arena_copy(arena, *at);
            }
    }
}

/* ---- looking things up ---- */

static uint32_t first_from(const void *rows, uint32_t count, size_t size, struct id goal) {
    uint32_t from = 0, to = count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (memcmp((const char *)rows + middle * size, goal.bytes, sizeof goal.bytes) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

uint32_t dump_range(const void *rows, uint32_t count, size_t size, struct id goal,
                    uint32_t *ret_from) {
    uint32_t to = *ret_from = first_from(rows, count, size, goal);
    while (to < count && memcmp((const char *)rows + to * size, goal.bytes, sizeof goal) == 0)
        to++;
    return to;
}

const struct dump_goal *dump_goal(const struct dump *dump, struct id id) {
    uint32_t at = first_from(dump->goals, dump->goal_count, sizeof *dump->goals, id);
    return at < dump->goal_count && id_equal(dump->goals[at].id, id) ? &dump->goals[at] : NULL;
}

const struct goal_view *dump_view(const struct dump *dump, struct id id) {
    uint32_t at = first_from(dump->views, dump->view_count, sizeof *dump->views, id);
    return at < dump->view_count && id_equal(dump->views[at].id, id) ? &dump->views[at] : NULL;
}

const struct dump_text *dump_text(const struct dump *dump, struct id goal,
                                  const struct hash *hash) {
    uint32_t from, to = DUMP_RANGE(dump->texts, dump->text_count, goal, &from);
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = memcmp(hash, &dump->texts[middle].hash, sizeof *hash);
        if (order == 0)
            return &dump->texts[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

struct evidence evidence_of(const struct record *record) {
    struct evidence evidence = {0};
    if (!shape_decode(&EVIDENCE, record->body, &evidence))
        evidence.rule = STR("(cannot be decoded)");
    return evidence;
}

void dump_read(struct dump *dump, struct arena *arena) {
    struct evidence *all = arena_new(arena, struct evidence, dump->record_count);
    for (uint32_t i = 0; i < dump->record_count; i++)
        all[i] = evidence_of(&dump->records[i].record);
    dump->evidence = all;
}

static struct evidence evidence_at(const struct dump *dump, uint32_t record) {
    return dump->evidence ? dump->evidence[record] : evidence_of(&dump->records[record].record);
}

/* The same kind of signal creates or updates a plan. */
static enum record_type kind_of(enum record_type type) {
    return type == RECORD_PLAN_UPDATED ? RECORD_PLAN_CREATED : type;
}

/* A step can write many records; the first one that is not about an effect identifies the operation. Counts how often
 * that one occurs. */
uint32_t dump_applied(const struct dump *dump, struct id goal, struct id source) {
    uint32_t count = 0, from, to = DUMP_RANGE(dump->records, dump->record_count, goal, &from);
    enum record_type first = RECORD_NONE;
    struct str node = {0};
    for (uint32_t i = from; i < to; i++) {
        enum record_type type = kind_of(dump->records[i].record.type);
        struct evidence evidence = evidence_at(dump, i);
        if (evidence.signal == SIGNAL_NONE || !id_equal(evidence.source, source) ||
            type == RECORD_GOAL_QUARANTINED || type == RECORD_GOAL_RESTORED ||
            type == RECORD_SIGNAL_REFUSED || evidence.effect > 0)
            continue;
        if (first == RECORD_NONE) {
            first = type;
            node = evidence.node;
        }
        count += type == first && str_equal(evidence.node, node);
    }
    return count;
}

bool dump_refused(const struct dump *dump, struct id goal, struct id source) {
    uint32_t from, to = DUMP_RANGE(dump->records, dump->record_count, goal, &from);
    for (uint32_t i = from; i < to; i++)
        if (dump->records[i].record.type == RECORD_SIGNAL_REFUSED &&
            id_equal(evidence_at(dump, i).source, source))
            return true;
    return false;
}

uint32_t effect_kind_of(struct str rule) {
    for (uint32_t kind = 0; kind < EFFECT_KINDS; kind++)
        if (EFFECTS[kind].name && str_equal(rule, str_of(EFFECTS[kind].name)))
            return kind;
    return EFFECT_COMMAND;
}

struct dump_life dump_life(const struct dump *dump, struct id goal, uint32_t n) {
    struct dump_life life = {.n = n};
    uint32_t from, to = DUMP_RANGE(dump->records, dump->record_count, goal, &from);
    for (uint32_t i = from; i < to; i++) {
        const struct record *record = &dump->records[i].record;
        struct evidence evidence = evidence_at(dump, i);
        if (evidence.effect != n + 1)
            continue;
        if (record->type == RECORD_EFFECT_DECIDED)
            life.kind = effect_kind_of(evidence.rule);
        life.decided += record->type == RECORD_EFFECT_DECIDED;
        life.claimed += record->type == RECORD_EFFECT_CLAIMED;
        life.ended += record->type == RECORD_EFFECT_ENDED;
        life.unconfirmed += record->type == RECORD_EFFECT_UNCONFIRMED;
        life.withdrawn += record->type == RECORD_EFFECT_WITHDRAWN;
        life.returned += record->type == RECORD_EFFECT_RETURNED;
        life.restored += str_equal(evidence.rule, STR("store.restored"));
    }
    return life;
}

/* The parts of one goal are ordered by kind and n. */
static bool rows_take(const struct dump *dump, struct id goal, enum part_kind kind,
                      struct arena *arena, struct live_rows *rows) {
    uint32_t from, to = DUMP_RANGE(dump->parts, dump->part_count, goal, &from);
    const struct shape *shape = PART[kind].shape;
    rows->at = arena_take(arena, shape->size * (to - from + 1), alignof(max_align_t));
    for (uint32_t i = from; i < to; i++) {
        const struct dump_part *part = &dump->parts[i];
        struct str body = part->body;
        void *row = (char *)rows->at + shape->size * rows->count;
        if (part->kind != kind)
            continue;
        if (!row_unseal(ROW_PART + kind, goal, part->n, &body) ||
            !shape_decode_in(shape, body, arena, row))
            return false;
        *(uint32_t *)row = part->n;
        rows->count++;
        if (kind == PART_NODE && !str_equal(node_id(row), part->name))
            return false;
    }
    return true;
}

bool dump_live(const struct dump *dump, const struct dump_goal *row, struct arena *arena,
               struct goal *ret_goal, struct live *ret_live) {
    struct goal goal = {.id = row->id,
                        .owner = row->owner,
                        .fence = row->fence,
                        .version = row->version,
                        .records.seq = row->seq,
                        .records.head = row->head,
                        .due_at = row->due_at,
                        .quarantined = row->aside};
    struct live live = {0};
    struct str hot = row->hot;
    if (!row_unseal(ROW_GOAL, row->id, 0, &hot) || !shape_decode(&GOAL_HOT, hot, &goal))
        return false;
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        if (PART[kind].live && !rows_take(dump, row->id, kind, arena, live_rows(&live, kind)))
            return false;
    uint32_t from, to = DUMP_RANGE(dump->effects, dump->effect_count, row->id, &from);
    for (uint32_t i = from; i < to; i++) {
        struct str body = dump->effects[i].body;
        if (goal.effects.open_count == LIMIT_OPEN_EFFECTS ||
            !row_unseal(ROW_EFFECT, row->id, dump->effects[i].slot.n, &body))
            return false;
        goal.effects.open[goal.effects.open_count++] = dump->effects[i].slot;
    }
    *ret_goal = goal;
    *ret_live = live;
    return true;
}

bool dump_whole(const struct dump *dump, const struct dump_goal *row, struct arena *arena,
                struct goal *ret_goal, struct plan *ret_plan) {
    struct live live;
    if (!dump_live(dump, row, arena, ret_goal, &live))
        return false;
    *ret_plan = live.plan;
    return true;
}
