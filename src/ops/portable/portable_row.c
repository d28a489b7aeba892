/* SPDX-License-Identifier: Apache-2.0 */
/* Writes rows as JSON cell by cell, and reads them back. */
#include "ops/portable/portable.h"

#include "ops/op.h"

#include <stdio.h>

/* ---- columns ---- */

enum cell_form { FORM_PLAIN, FORM_GOAL, FORM_ID, FORM_HASH, FORM_TIME };

struct form_line {
    const char *column;
    enum cell_form form;
};

/* All other columns are numbers and texts, and bytes in base 64. */
static const struct form_line FORMS[] = {
    {"goal_id", FORM_GOAL},    {"source", FORM_ID},      {"instance", FORM_ID},
    {"hash", FORM_HASH},       {"head", FORM_HASH},      {"policy", FORM_HASH},
    {"body_hash", FORM_HASH},  {"last_hash", FORM_HASH}, {"at", FORM_TIME},
    {"until", FORM_TIME},      {"due_at", FORM_TIME},    {"created_at", FORM_TIME},
    {"updated_at", FORM_TIME},
};

static enum cell_form form_of(const char *column) {
    for (size_t i = 0; i < count_of(FORMS); i++)
        if (strcmp(FORMS[i].column, column) == 0)
            return FORMS[i].form;
    return FORM_PLAIN;
}

enum {
    COLUMN_NAME = 32,
    COLUMNS_MADE =
        8, /* reserve for columns that are added to those of an item: more than any item needs */
};

/* The column goal_id is written as goalId. */
static void name_outside(const char *column, char to[COLUMN_NAME]) {
    size_t used = 0;
    for (; *column && used < COLUMN_NAME - 1; column++) {
        bool hump = *column == '_' && column[1];
        to[used++] = hump ? (char)(*++column - 'a' + 'A') : *column;
    }
    to[used] = 0;
}

static char *name_inside(const char *name, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (; *name; name++) {
        bool hump = *name >= 'A' && *name <= 'Z';
        if (hump)
            write_byte(&writer, '_');
        write_byte(&writer, (uint8_t)(hump ? *name - 'A' + 'a' : *name));
    }
    write_byte(&writer, 0);
    return writer.at;
}

static bool is_in(const char *list, const char *name) {
    size_t len = strlen(name);
    for (const char *at = list; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, len) == 0 && (at[len] == ' ' || at[len] == 0))
            return true;
    return false;
}

/* ---- writing cells ---- */

static json_t *bytes_json(enum cell_form form, struct str bytes) {
    struct field field = {.type = form == FORM_HASH ? FIELD_HASH : FIELD_ID};
    struct id id;
    if (form == FORM_GOAL && bytes.len == sizeof id.bytes) {
        memcpy(id.bytes, bytes.at, sizeof id.bytes);
        return json_goal_id(id);
    }
    if ((form == FORM_ID && bytes.len == sizeof id.bytes) ||
        (form == FORM_HASH && bytes.len == sizeof(struct hash)))
        return json_of(&field, bytes.at);
    return json_pack("{s:o}", "base64", json_base64(bytes));
}

static json_t *cell_json(const char *column, const struct cell *cell) {
    enum cell_form form = form_of(column);
    switch (cell->type) {
    case CELL_INT:
        return form == FORM_TIME && cell->number ? json_time(cell->number)
                                                 : json_integer(cell->number);
    case CELL_TEXT:
        if (!str_is_text(cell->bytes)) /* a damaged row */
            return json_pack("{s:o, s:b}", "base64", json_base64(cell->bytes), "text", 1);
        return json_stringn(cell->bytes.at ? cell->bytes.at : "", cell->bytes.len);
    case CELL_BYTES: return bytes_json(form, cell->bytes);
    default: return json_null();
    }
}

/* The position of a column in the key, from 1; columns outside the key come later, by name. */
static size_t key_place(const char *key, const char *column) {
    size_t len = strlen(column), place = 1;
    for (const char *at = key; *at; place++) {
        size_t here = strcspn(at, ",");
        if (here == len && strncmp(at, column, len) == 0)
            return place;
        at += here;
        at += strspn(at, ", ");
    }
    return SIZE_MAX;
}

static bool comes_before(const char *key, const char *a, const char *b) {
    size_t x = key_place(key, a), y = key_place(key, b);
    return x != y ? x < y : strcmp(a, b) < 0;
}

static void columns_order(const struct table_row *row, uint32_t order[TABLE_COLUMNS]) {
    const char *key = table_order(row->table, WALK_BY_KEY);
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t at = i;
        for (; at > 0 && comes_before(key, row->names[i], row->names[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

json_t *row_json(const struct table_row *row, const char *without) {
    uint32_t order[TABLE_COLUMNS];
    char name[COLUMN_NAME];
    json_t *object = json_object();
    columns_order(row, order);
    for (uint32_t i = 0; i < row->count; i++) {
        const char *column = row->names[order[i]];
        if (is_in(without, column) || row->cells[order[i]].type == CELL_NULL)
            continue;
        name_outside(column, name);
        if (json_object_set_new(object, name, cell_json(column, &row->cells[order[i]]))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* ---- reading cells ---- */

static bool id_cell(struct reading *reading, enum cell_form form, const json_t *value,
                    struct cell *ret) {
    struct field field = {.type = form == FORM_HASH ? FIELD_HASH : FIELD_ID};
    struct hash *room = arena_new(reading->arena, struct hash, 1);
    bool good = form == FORM_GOAL ? goal_id_read(reading, value, (struct id *)room)
                                  : field_take(reading, &field, value, room);
    *ret = cell_of_bytes((struct str){(const char *)room, form == FORM_HASH ? 32 : 16});
    return good;
}

static bool string_cell(struct reading *reading, enum cell_form form, const json_t *value,
                        struct cell *ret) {
    struct field field = {.type = FIELD_TIME};
    struct str text = {json_string_value(value), json_string_length(value)};
    if (form == FORM_TIME) {
        ret->type = CELL_INT;
        return field_take(reading, &field, value, &ret->number);
    }
    if (form != FORM_PLAIN)
        return id_cell(reading, form, value, ret);
    *ret = cell_of_text(text);
    return str_is_text(text) ||
           reading_refuse(reading, "it contains a NUL character, which cannot be stored");
}

static bool cell_take(struct reading *reading, const char *column, const json_t *value,
                      struct cell *ret) {
    const json_t *bytes = json_object_get(value, "base64");
    struct str text = {json_string_value(bytes), json_string_length(bytes)};
    *ret = (struct cell){.type = CELL_NULL};
    switch (json_typeof(value)) {
    case JSON_NULL: return true;
    case JSON_INTEGER: *ret = cell_of_int(json_integer_value(value)); return true;
    case JSON_STRING: return string_cell(reading, form_of(column), value, ret);
    case JSON_OBJECT:
        ret->type = json_is_true(json_object_get(value, "text")) ? CELL_TEXT : CELL_BYTES;
        if (json_is_string(bytes) && base64_read(text, reading->arena, &ret->bytes))
            return true;
        return reading_refuse(reading, "it is not base 64");
    default: return reading_refuse(reading, "it must be a string or a number");
    }
}

bool row_take(struct reading *reading, const json_t *object, struct table_row *row) {
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return reading_refuse(reading, "it must be an object");
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        struct cell cell;
        size_t before = reading_enter(reading, name);
        const char *column = name_inside(name, reading->arena);
        if (row->count >= TABLE_COLUMNS - COLUMNS_MADE)
            return reading_refuse(reading, "there are too many members");
        if (!cell_take(reading, column, value, &cell))
            return false;
        row_set(row, column, cell);
        reading_leave(reading, before);
    }
    return true;
}

/* ---- rows ---- */

struct table_row row_new(enum store_table table, struct arena *arena) {
    return (struct table_row){.table = table,
                              .names = arena_new(arena, const char *, TABLE_COLUMNS)};
}

void row_set(struct table_row *row, const char *name, struct cell cell) {
    const char **names = (const char **)(uintptr_t)row->names;
    uint32_t at = 0;
    while (at < row->count && strcmp(names[at], name) != 0)
        at++;
    must(at < TABLE_COLUMNS);
    names[at] = name;
    row->cells[at] = cell;
    row->count += at == row->count;
}

struct cell cell_of_int(int64_t value) {
    return (struct cell){CELL_INT, value, {NULL, 0}};
}

struct cell cell_of_text(struct str text) {
    return (struct cell){CELL_TEXT, 0, text};
}

struct cell cell_of_bytes(struct str bytes) {
    return (struct cell){CELL_BYTES, 0, bytes};
}

struct cell cell_of_id(struct id id, struct arena *arena) {
    return cell_of_bytes(arena_copy(arena, (struct str){(const char *)id.bytes, sizeof id.bytes}));
}

struct cell cell_of_hash(struct hash hash, struct arena *arena) {
    return cell_of_bytes(
        arena_copy(arena, (struct str){(const char *)hash.bytes, sizeof hash.bytes}));
}

static bool row_covers(const struct table_row *a, const struct table_row *b, const char *without) {
    for (uint32_t i = 0; i < a->count; i++) {
        struct cell cell = row_cell(b, a->names[i]);
        if (!is_in(without, a->names[i]) && !cells_equal(&a->cells[i], &cell))
            return false;
    }
    return true;
}

bool rows_equal(const struct table_row *a, const struct table_row *b, const char *without) {
    return a->table == b->table && row_covers(a, b, without) && row_covers(b, a, without);
}

bool rows_same_key(const struct table_row *a, const struct table_row *b) {
    if (a->table != b->table)
        return false;
    const char *key = table_order(a->table, WALK_BY_KEY);
    for (uint32_t i = 0; i < a->count; i++) {
        struct cell cell = row_cell(b, a->names[i]);
        if (key_place(key, a->names[i]) != SIZE_MAX && !cells_equal(&a->cells[i], &cell))
            return false;
    }
    return true;
}

struct table_row *row_copy(const struct table_row *row, struct arena *arena) {
    struct table_row *copy = arena_new(arena, struct table_row, 1);
    const char **names = arena_new(arena, const char *, TABLE_COLUMNS);
    *copy = *row;
    copy->names = names;
    for (uint32_t i = 0; i < copy->count; i++) {
        names[i] = arena_cstr(arena, str_of(row->names[i]));
        copy->cells[i].bytes = arena_copy(arena, row->cells[i].bytes);
    }
    return copy;
}
