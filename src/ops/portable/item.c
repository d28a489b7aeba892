/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/portable/item.h"

#include "base/time.h"
#include "store/rows.h"

#include <pthread.h>
#include <stdio.h>

/* ---- plain rows ---- */

static json_t *plain_write(const struct table_row *row, struct arena *arena) {
    (void)arena;
    return row_json(row, "");
}

static bool plain_read(struct reading *reading, const json_t *item, struct table_row *row) {
    return row_take(reading, item, row);
}

/* The goal that an item belongs to. */
static bool goal_take(struct reading *reading, const json_t *item, struct table_row *row,
                      struct id *ret) {
    size_t before = reading_enter(reading, "goalId");
    if (!goal_id_read(reading, json_object_get(item, "goalId"), ret))
        return false;
    reading_leave(reading, before);
    row_set(row, "goal_id", cell_of_id(*ret, reading->arena));
    return true;
}

/* ---- records: events in the seed's format ---- */

enum { EVENT_MS = 1000 };

static json_t *type_json(int64_t type) {
    bool known = type > RECORD_NONE && type < RECORD_TYPES;
    return known ? json_string(RECORDS[type].name) : json_integer(type);
}

/* EVENT-02: the ids of assignment and node are also members of the event itself. */
static bool event_data(json_t *item, struct str body, struct arena *arena) {
    struct evidence *evidence = arena_new(arena, struct evidence, 1);
    json_t *data = json_object();
    if (!shape_is_whole(&EVIDENCE, body, arena, evidence) ||
        !fields_put(data, &EVIDENCE, FIELDS_SPARSE, evidence)) {
        json_decref(data);
        return false;
    }
    if (evidence->assignment.len > 0)
        json_object_set(item, "assignmentId", json_object_get(data, "assignmentId"));
    if (evidence->node.len > 0)
        json_object_set(item, "workNodeId", json_object_get(data, "node"));
    return json_object_set_new(item, "data", data) == 0;
}

static json_t *event_write(const struct table_row *row, struct arena *arena) {
    json_t *item = json_object();
    struct cell body = row_cell(row, "body");
    json_object_set_new(item, "ts", json_integer(cell_int(row, "at") / EVENT_MS));
    json_object_set_new(item, "type", type_json(cell_int(row, "type")));
    json_object_set_new(item, "goalId", json_goal_id(cell_id(row, "goal_id")));
    bool shown = body.type == CELL_BYTES && event_data(item, body.bytes, arena);
    json_t *rest = row_json(row, shown ? "day tx n goal_id type body" : "day tx n goal_id type");
    json_object_set_new(item, "overseer", rest);
    return item;
}

static bool type_take(struct reading *reading, const json_t *value, struct table_row *row) {
    struct str name = {json_string_value(value), json_string_length(value)};
    size_t before = reading_enter(reading, "type");
    uint32_t type = 0;
    if (json_is_string(value) && !names_find(&RECORD_NAMES, name, &type))
        return reading_refuse(reading, "there is no such type of event");
    if (!json_is_string(value) && !json_is_integer(value))
        return reading_refuse(reading, "it must be the name of an event");
    row_set(row, "type", cell_of_int(json_is_string(value) ? type : json_integer_value(value)));
    reading_leave(reading, before);
    return true;
}

static bool event_read(struct reading *reading, const json_t *item, struct table_row *row) {
    const json_t *data = json_object_get(item, "data"), *ours = json_object_get(item, "overseer");
    struct evidence *evidence = arena_new(reading->arena, struct evidence, 1);
    struct id goal;
    if (!goal_take(reading, item, row, &goal) ||
        !type_take(reading, json_object_get(item, "type"), row))
        return false;
    size_t before = reading_enter(reading, "overseer");
    if (!row_take(reading, ours, row))
        return false;
    reading_leave(reading, before);
    before = reading_enter(reading, "data");
    if (data) {
        if (!fields_take(reading, data, &EVIDENCE, evidence))
            return false;
        row_set(row, "body", cell_of_bytes(shape_encode(&EVIDENCE, evidence, reading->arena)));
    } else if (row_cell(row, "body").type == CELL_NULL)
        row_set(row, "body", (struct cell){.type = CELL_NULL});
    reading_leave(reading, before);
    row_set(row, "day", cell_of_int(time_day(cell_int(row, "at"))));
    return true;
}

/* ---- parts: assignments, dispatches, handoffs, runs ---- */

static json_t *part_write(const struct table_row *row, struct arena *arena) {
    enum part_kind kind = (enum part_kind)(row->table - TABLE_PART);
    const struct shape *shape = PART[kind].shape;
    struct id goal = cell_id(row, "goal_id");
    struct str body = cell_str(row, "body");
    void *part = arena_take(arena, shape->size, alignof(max_align_t));
    json_t *item = json_object();
    json_object_set_new(item, "goalId", json_goal_id(goal));
    if (row_unseal((uint32_t)ROW_PART + kind, goal, (uint32_t)cell_int(row, "n"), &body) &&
        shape_decode_in(shape, body, arena, part))
        fields_put(item, shape, FIELDS_SHOWN, part);
    json_object_set_new(item, "overseer", json_pack("{s:I}", "n", (json_int_t)cell_int(row, "n")));
    return item;
}

/* Every such shape begins with its id. */
struct part_head {
    struct str id;
};

static bool n_take(struct reading *reading, const json_t *of, struct table_row *row,
                   uint32_t *ret) {
    static const struct field N = {.type = FIELD_U32};
    size_t before = reading_enter(reading, "n");
    const json_t *n = json_object_get(of, "n");
    if (!json_is_integer(n))
        return reading_refuse(reading, "it must be a number");
    if (!field_take(reading, &N, n, ret))
        return false;
    reading_leave(reading, before);
    row_set(row, "n", cell_of_int(*ret));
    return true;
}

static bool part_read(struct reading *reading, const json_t *item, struct table_row *row) {
    enum part_kind kind = (enum part_kind)(row->table - TABLE_PART);
    const struct shape *shape = PART[kind].shape;
    struct part_head *part = arena_take(reading->arena, shape->size, alignof(max_align_t));
    struct id goal;
    uint32_t n = 0;
    if (!goal_take(reading, item, row, &goal) ||
        !n_take(reading, json_object_get(item, "overseer"), row, &n) ||
        !fields_take(reading, item, shape, part))
        return false;
    if (part->id.len == 0)
        return reading_refuse(reading, "\"%s\" is missing", shape->fields[0].name);
    struct str body = shape_encode(shape, part, reading->arena);
    row_set(row, "name", cell_of_text(part->id));
    row_set(row, "body",
            cell_of_bytes(row_seal((uint32_t)ROW_PART + kind, goal, n, body, reading->arena)));
    return true;
}

/* ---- live rows: open assignments, questions, messages; permits, accounts, budgets ---- */

static json_t *live_write(const struct table_row *row, struct arena *arena) {
    enum part_kind kind = (enum part_kind)(row->table - TABLE_PART);
    const struct shape *shape = PART[kind].shape;
    struct id goal = cell_id(row, "goal_id");
    struct str body = cell_str(row, "body"), name = cell_str(row, "name");
    void *part = arena_take(arena, shape->size, alignof(max_align_t));
    json_t *item = json_object(), *rest = json_object();
    json_object_set_new(item, "goalId", json_goal_id(goal));
    if (row_unseal((uint32_t)ROW_PART + kind, goal, (uint32_t)cell_int(row, "n"), &body) &&
        shape_decode_in(shape, body, arena, part)) {
        fields_put(item, shape, FIELDS_SHOWN, part);
        fields_put(rest, shape, FIELDS_HIDDEN, part);
    }
    json_object_set_new(item, "overseer",
                        json_pack("{s:I, s:s%, s:o}", "n", (json_int_t)cell_int(row, "n"), "name",
                                  name.at ? name.at : "", name.len, "rest", rest));
    return item;
}

static bool live_read(struct reading *reading, const json_t *item, struct table_row *row) {
    enum part_kind kind = (enum part_kind)(row->table - TABLE_PART);
    const struct shape *shape = PART[kind].shape;
    void *part = arena_take(reading->arena, shape->size, alignof(max_align_t));
    const json_t *ours = json_object_get(item, "overseer"), *name = json_object_get(ours, "name");
    struct id goal;
    uint32_t n = 0;
    if (!goal_take(reading, item, row, &goal) || !n_take(reading, ours, row, &n) ||
        !fields_take(reading, item, shape, part))
        return false;
    size_t before = reading_enter(reading, "overseer.rest");
    if (!fields_take(reading, json_object_get(ours, "rest"), shape, part))
        return false;
    reading_leave(reading, before);
    if (!json_is_string(name))
        return reading_refuse(reading, "\"overseer.name\" is missing");
    struct str text = {json_string_value(name), json_string_length(name)};
    struct str body = shape_encode(shape, part, reading->arena);
    row_set(row, "name", cell_of_text(text));
    row_set(row, "body",
            cell_of_bytes(row_seal((uint32_t)ROW_PART + kind, goal, n, body, reading->arena)));
    return true;
}

/* ---- admissions ---- */

bool row_is_admission(const struct table_row *row) {
    struct goal goal = {.id = cell_id(row, "goal_id")};
    struct str hot = cell_str(row, "hot");
    return row->table == TABLE_GOAL && row_unseal(ROW_GOAL, goal.id, 0, &hot) &&
           shape_decode(&GOAL_HOT, hot, &goal) && goal.kind.admission != 0;
}

static bool admission_read(struct reading *reading, const json_t *item, struct table_row *row) {
    return row_take(reading, item, row) &&
           (row_is_admission(row) ||
            reading_refuse(reading, "it is not the admission row of a host"));
}

/* ---- effects ---- */

static const struct names EFFECT_NAMES = NAMES_OF(EFFECTS);

static json_t *effect_write(const struct table_row *row, struct arena *arena) {
    struct effect *effect = arena_new(arena, struct effect, 1);
    struct id goal = cell_id(row, "goal_id");
    int64_t kind = cell_int(row, "kind"), state = cell_int(row, "state");
    struct str body = cell_str(row, "body");
    bool known = kind > EFFECT_NONE && kind < EFFECT_KINDS && state >= 0 && state < EFFECT_STATES;
    json_t *item = row_json(row, known ? "kind state body" : "body");
    json_t *data = json_object();
    if (known) {
        json_object_set_new(item, "kind", json_string(name_of(&EFFECT_NAMES, (uint32_t)kind)));
        json_object_set_new(item, "state",
                            json_string(name_of(&EFFECT_STATE_NAMES, (uint32_t)state)));
    }
    if (known && row_unseal(ROW_EFFECT, goal, (uint32_t)cell_int(row, "n"), &body) &&
        shape_decode_in(&EFFECTS[kind].shape, body, arena, effect))
        fields_put(data, &EFFECTS[kind].shape, FIELDS_SHOWN, effect);
    json_object_set_new(item, "data", data);
    return item;
}

static bool named_take(struct reading *reading, const json_t *item, const char *name,
                       const struct names *names, struct table_row *row, uint32_t *ret) {
    struct field field = {.type = FIELD_ENUM, .names = names};
    size_t before = reading_enter(reading, name);
    const json_t *value = json_object_get(item, name);
    if (!value || !field_take(reading, &field, value, ret))
        return reading_refuse(reading, "it is missing");
    reading_leave(reading, before);
    row_set(row, name, cell_of_int(*ret));
    return true;
}

static bool effect_read(struct reading *reading, const json_t *item, struct table_row *row) {
    struct effect *effect = arena_new(reading->arena, struct effect, 1);
    json_t *cells = json_copy((json_t *)(uintptr_t)item);
    const struct shape *shape;
    struct id goal = {0};
    uint32_t kind = 0, state = 0, n = 0;
    json_object_del(cells, "kind");
    json_object_del(cells, "state");
    json_object_del(cells, "data");
    bool good = row_take(reading, cells, row) && goal_take(reading, item, row, &goal) &&
                n_take(reading, item, row, &n) &&
                named_take(reading, item, "kind", &EFFECT_NAMES, row, &kind) &&
                named_take(reading, item, "state", &EFFECT_STATE_NAMES, row, &state);
    json_decref(cells);
    shape = &EFFECTS[kind].shape;
    if (!good || !fields_take(reading, json_object_get(item, "data"), shape, effect))
        return reading_refuse(reading, "it has no data");
    struct str body = shape_encode(shape, effect, reading->arena);
    row_set(row, "body", cell_of_bytes(row_seal(ROW_EFFECT, goal, n, body, reading->arena)));
    return true;
}

/* ---- table of item kinds ---- */

#define OF_PART(kind) (enum store_table)(TABLE_PART + PART_##kind)

/* A table of plain rows: its collection stands in its row of STORED. */
#define PLAIN(of) \
    { .ours = true, .table = of, .made = "", .write = plain_write, .read = plain_read }

/* In the order in which they are written. Tables of plain rows that are not named here come before the last. */
static const struct item_kind KINDS[] = {
    {"assignments", false, true, OF_PART(ASSIGNMENT_ROW), WALK_BY_NAME, "", part_write, part_read,
     "assignments: bindings between a node and an agent's session"},
    {"crystallizations", false, true, OF_PART(HANDOFF), WALK_BY_NAME, "", part_write, part_read,
     "handoffs: what happened, the current state, what is next"},
    {"dispatchIndex", false, true, OF_PART(DISPATCH), WALK_BY_NAME, "", part_write, part_read,
     "instructions that were sent"},
    {"events", false, false, TABLE_RECORD, WALK_BY_KEY, "day tx n", event_write, event_read,
     "the log, in the order in which it was written"},
    {"runs", true, true, OF_PART(RUN), WALK_BY_NAME, "", part_write, part_read,
     "executions of agents"},
    PLAIN(TABLE_HOST),
    {"effects", true, false, TABLE_EFFECT, WALK_BY_KEY, "", effect_write, effect_read,
     "effects that are open"},
    PLAIN(TABLE_INBOX),
    PLAIN(TABLE_SEEN),
    PLAIN(TABLE_ASIDE),
    PLAIN(TABLE_MILESTONE),
    {"charges", true, false, OF_PART(ASSIGNMENT), WALK_BY_KEY, "", live_write, live_read,
     "open assignments with everything that decisions use"},
    {"questions", true, false, OF_PART(QUESTION), WALK_BY_KEY, "", live_write, live_read,
     "questions, until they are answered"},
    {"letters", true, false, OF_PART(AGENT_MESSAGE), WALK_BY_KEY, "", live_write, live_read,
     "messages between agents and people that work on a goal, until they are read"},
    {"desks", true, false, TABLE_GOAL, WALK_BY_KEY, "", plain_write, admission_read,
     "admission state of each host, which is not a goal"},
    {"permits", true, false, OF_PART(PERMIT), WALK_BY_KEY, "", live_write, live_read,
     "admission: permits that are granted or wait"},
    {"accounts", true, false, OF_PART(ACCOUNT), WALK_BY_KEY, "", live_write, live_read,
     "admission: quotas of provider accounts"},
    {"budgets", true, false, OF_PART(BUDGET), WALK_BY_KEY, "", live_write, live_read,
     "admission: spending and reservations"},
    PLAIN(TABLE_TEXT),
};

static struct item_kind items[count_of(KINDS) + STORE_TABLES];
static size_t item_total;

static void item_add(struct item_kind kind) {
    if (!kind.collection) {
        kind.collection = STORED[kind.table].collection;
        kind.text = STORED[kind.table].collection_text;
    }
    items[item_total++] = kind;
}

static bool is_item(enum store_table table) {
    for (size_t i = 0; i < count_of(KINDS); i++)
        if (KINDS[i].table == table)
            return true;
    return false;
}

static void items_make(void) {
    size_t last = count_of(KINDS) - 1;
    for (size_t i = 0; i < last; i++)
        item_add(KINDS[i]);
    for (enum store_table table = 0; table < STORE_TABLES; table++)
        if (STORED[table].collection && !is_item(table))
            item_add((struct item_kind)PLAIN(table));
    item_add(KINDS[last]);
}

const struct item_kind *item_kinds(size_t *ret_count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, items_make);
    *ret_count = item_total;
    return items;
}

const struct item_kind *item_find(const char *collection, bool ours) {
    size_t count;
    const struct item_kind *kinds = item_kinds(&count);
    for (size_t i = 0; i < count; i++)
        if (kinds[i].ours == ours && strcmp(kinds[i].collection, collection) == 0)
            return &kinds[i];
    return NULL;
}

json_t *item_write(const struct item_kind *kind, const struct table_row *row, struct arena *arena,
                   bool *ret_raw) {
    struct reading reading = {.arena = arena};
    struct table_row back;
    json_t *item = kind->write(row, arena);
    *ret_raw =
        !item || !item_read(kind, &reading, item, &back) || !rows_equal(row, &back, kind->made);
    if (!item)
        item = json_object();
    if (*ret_raw && json_object_set_new(item, "raw", row_json(row, kind->made))) {
        json_decref(item);
        return NULL;
    }
    return item;
}

bool item_read(const struct item_kind *kind, struct reading *reading, const json_t *item,
               struct table_row *ret_row) {
    const json_t *raw = json_object_get(item, "raw");
    *ret_row = row_new(kind->table, reading->arena);
    if (!json_is_object(item))
        return reading_refuse(reading, "it must be an object");
    if (!raw)
        return kind->read(reading, item, ret_row);
    size_t before = reading_enter(reading, "raw");
    if (!row_take(reading, raw, ret_row))
        return false;
    reading_leave(reading, before);
    return true;
}

/* ---- raw rows of goals ---- */

json_t *row_raw(const struct table_row *row) {
    return json_pack("{s:s, s:o}", "table", table_name(row->table), "row", row_json(row, ""));
}

bool raw_take(struct reading *reading, const json_t *raw, struct table_row *ret_row) {
    const char *name = json_string_value(json_object_get(raw, "table"));
    enum store_table table;
    if (name && table_named(name, &table)) {
        *ret_row = row_new(table, reading->arena);
        return row_take(reading, json_object_get(raw, "row"), ret_row);
    }
    return reading_refuse(reading, "there is no such table");
}
