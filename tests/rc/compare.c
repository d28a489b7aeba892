/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the answers and the tables of the model and PostgreSQL. Rows are compared column by column: tables according
 * to DUMP_TABLES, answers according to the tables below. */
#include "rc/rc.h"

#include <stdlib.h>

#define COLUMN(type, kind, member) \
    { #member, COLUMN_##kind, offsetof(struct type, member), false }
#define ROWS(type, columns, keys) \
    { NULL, 0, 0, sizeof(struct type), columns, count_of(columns), keys }

static const struct dump_column HEAD[] = {
    COLUMN(store_answer, U32, outcome),     COLUMN(store_answer, BOOL, held),
    COLUMN(store_answer, INT, epoch),       COLUMN(store_answer, INT, batch),
    COLUMN(store_answer, BOOL, more),       COLUMN(store_answer, U32, mark.version),
    COLUMN(store_answer, U32, mark.oldest), COLUMN(store_answer, U32, mark.level),
    COLUMN(store_answer, INT, mark.era),    COLUMN(store_answer, BOOL, mark.safe),
};
static const struct dump_column HOST[] = {
    COLUMN(host_row, U32, host),  COLUMN(host_row, INT, epoch), COLUMN(host_row, INT, beat),
    COLUMN(host_row, INT, batch), COLUMN(host_row, U32, state),
};
static const struct dump_column MAIL[] = {
    COLUMN(inbox_row, ID, source),
    COLUMN(inbox_row, ID, goal),
    COLUMN(inbox_row, BYTES, body),
};
static const struct dump_column DUE[] = {
    COLUMN(due_row, ID, goal),
    COLUMN(due_row, INT, due_at),
};
static const struct dump_column EFFECT[] = {
    COLUMN(effect_entry, ID, goal),           COLUMN(effect_entry, U32, slot.n),
    COLUMN(effect_entry, U32, slot.kind),     COLUMN(effect_entry, U32, slot.state),
    COLUMN(effect_entry, U32, slot.run_host), COLUMN(effect_entry, INT, slot.until),
    COLUMN(effect_entry, BYTES, body),        COLUMN(effect_entry, BOOL, damaged),
};
static const struct dump_column LOADED[] = {
    COLUMN(goal_loaded, BOOL, exists),
    COLUMN(goal_loaded, BOOL, whole),
    COLUMN(goal_loaded, BOOL, owner_lives),
    COLUMN(goal_loaded, INT, owner_epoch),
};
static const struct dump_column WHOLE[] = {
    COLUMN(goal_loaded, ID, goal.id),
    COLUMN(goal_loaded, U32, goal.owner),
    COLUMN(goal_loaded, INT, goal.fence),
    COLUMN(goal_loaded, INT, goal.version),
    COLUMN(goal_loaded, INT, goal.records.seq),
    COLUMN(goal_loaded, HASH, goal.records.head),
    COLUMN(goal_loaded, INT, goal.due_at),
    COLUMN(goal_loaded, BOOL, goal.quarantined),
    COLUMN(goal_loaded, U32, goal.effects.open_count),
    COLUMN(goal_loaded, U32, plan.count),
};
static const struct dump_column SLOT[] = {
    COLUMN(effect_slot, U32, n),     COLUMN(effect_slot, U32, kind),
    COLUMN(effect_slot, U32, state), COLUMN(effect_slot, U32, run_host),
    COLUMN(effect_slot, INT, until),
};
static const struct dump_column OK[] = {COLUMN(goal_commit, BOOL, ok)};
static const struct dump_column FLAG[] = {{"flag", COLUMN_BOOL, 0, false}};

static const struct dump_table HEADS = ROWS(store_answer, HEAD, 0), HOSTS = ROWS(host_row, HOST, 1),
                               MAILS = ROWS(inbox_row, MAIL, 1), DUES = ROWS(due_row, DUE, 1),
                               EFFECTS_IN = ROWS(effect_entry, EFFECT, 2),
                               LOADS = ROWS(goal_loaded, LOADED, 0),
                               WHOLES = ROWS(goal_loaded, WHOLE, 0),
                               SLOTS = ROWS(effect_slot, SLOT, 1), OKS = ROWS(goal_commit, OK, 0),
                               FLAGS = {NULL, 0, 0, sizeof(bool), FLAG, 1, 0};

static const char *lists_differ(const char *name, const struct dump_table *table, const void *a,
                                uint32_t a_count, const void *b, uint32_t b_count,
                                struct arena *arena) {
    if (a_count != b_count)
        return arena_format(arena, "%s: model %u, PostgreSQL %u", name, a_count, b_count).at;
    for (uint32_t i = 0; i < a_count; i++) {
        const struct dump_column *column = rows_differ(table, (const char *)a + i * table->size,
                                                       (const char *)b + i * table->size);
        if (column)
            return arena_format(arena, "%s[%u].%s", name, i, column->name).at;
    }
    return NULL;
}

/* Encodable rows are compared by their encoding. */
static bool shapes_differ(const struct shape *shape, const void *a, const void *b,
                          struct arena *arena) {
    return !str_equal(shape_encode(shape, a, arena), shape_encode(shape, b, arena));
}

static const char *rows_of_kind_differ(enum part_kind kind, const struct live_rows *a,
                                       const struct live_rows *b, struct arena *arena) {
    const struct shape *shape = PART[kind].shape;
    if (a->count != b->count)
        return arena_format(arena, "%s: model %u, PostgreSQL %u", PART[kind].table, a->count,
                            b->count)
            .at;
    for (uint32_t i = 0; i < a->count; i++) {
        const void *x = (const char *)a->at + i * shape->size,
                   *y = (const char *)b->at + i * shape->size;
        if (*(const uint32_t *)x != *(const uint32_t *)y || shapes_differ(shape, x, y, arena))
            return PART[kind].table;
    }
    return NULL;
}

static const char *loads_differ(const struct goal_loaded *a, const struct goal_loaded *b,
                                struct arena *arena) {
    const char *what = lists_differ("loaded", &LOADS, a, 1, b, 1, arena);
    if (what || !a->whole)
        return what;
    what = lists_differ("loaded", &WHOLES, a, 1, b, 1, arena);
    if (what)
        return what;
    if (shapes_differ(&GOAL_HOT, &a->goal, &b->goal, arena))
        return "loaded.hot";
    what = lists_differ("open", &SLOTS, a->goal.effects.open, a->goal.effects.open_count,
                        b->goal.effects.open, b->goal.effects.open_count, arena);
    for (enum part_kind kind = 0; kind < PARTS && !what; kind++)
        if (PART[kind].live)
            what = rows_of_kind_differ(kind, live_rows_of(&a->live, kind),
                                       live_rows_of(&b->live, kind), arena);
    return what;
}

static int entry_order(const void *a, const void *b) {
    const struct effect_entry *x = a, *y = b;
    int order = id_compare(x->goal, y->goal);
    return order ? order : (x->slot.n > y->slot.n) - (x->slot.n < y->slot.n);
}

/* The order of effects in an answer is not significant. */
static void effects_sort(const struct store_answer *answer) {
    if (answer->effect_count > 1)
        qsort(answer->effects, answer->effect_count, sizeof *answer->effects, entry_order);
}

#define LIST(name, table, of, count_a, count_b) \
    (what ? what : lists_differ(name, table, a->of, count_a, b->of, count_b, arena))

const char *answers_differ(const struct store_request *mine, const struct store_answer *model,
                           const struct store_request *theirs, const struct store_answer *real,
                           struct arena *arena) {
    const struct store_answer *a = model, *b = real;
    const char *what = lists_differ("answer", &HEADS, a, 1, b, 1, arena);
    effects_sort(a);
    effects_sort(b);
    what = LIST("hosts", &HOSTS, hosts, a->host_count, b->host_count);
    what = LIST("inbox", &MAILS, inbox, a->inbox_count, b->inbox_count);
    what = LIST("owned", &DUES, owned, a->owned_count, b->owned_count);
    what = LIST("effects", &EFFECTS_IN, effects, a->effect_count, b->effect_count);
    for (uint32_t i = 0; mine->verb == STORE_LOAD && i < mine->id_count && !what; i++)
        what = loads_differ(&a->loaded[i], &b->loaded[i], arena);
    what = LIST("seen", &FLAGS, seen, mine->key_count, mine->key_count);
    what = LIST("stands", &FLAGS, stands, mine->mark_count, mine->mark_count);
    return what ? what
                : lists_differ("commits", &OKS, mine->commits, mine->commit_count, theirs->commits,
                               theirs->commit_count, arena);
}

const char *dumps_differ(const struct dump *model, const struct dump *real, struct arena *arena) {
    const char *what = NULL;
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT && !what; i++) {
        const struct dump_table *table = &DUMP_TABLES[i];
        what = lists_differ(table->name ? table->name : "part", table, *dump_rows(table, model),
                            *dump_count(table, model), *dump_rows(table, real),
                            *dump_count(table, real), arena);
    }
    return what;
}
