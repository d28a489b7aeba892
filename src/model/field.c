/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes structs according to their tables of fields. */
#include "model/field.h"

static bool field_is_run(enum field_type type) {
    return type == FIELD_ID || type == FIELD_HASH || type == FIELD_TEXT || type == FIELD_BYTES ||
           type == FIELD_NAME || type == FIELD_U32S || type == FIELD_TEXTS || type == FIELD_ROWS ||
           type == FIELD_CHARS || type == FIELD_FILLED || type == FIELD_PLACES;
}

static uint64_t number_of(const struct field *field, const void *at) {
    switch (field->type) {
    case FIELD_INT:
    case FIELD_TIME: return zigzag(*(const int64_t *)at);
    case FIELD_UINT: return *(const uint64_t *)at;
    case FIELD_BOOL: return *(const bool *)at;
    default: return *(const uint32_t *)at;
    }
}

static bool number_set(const struct field *field, void *at, uint64_t value) {
    switch (field->type) {
    case FIELD_INT:
    case FIELD_TIME: *(int64_t *)at = unzigzag(value); return true;
    case FIELD_UINT: *(uint64_t *)at = value; return true;
    case FIELD_ENUM: *(uint32_t *)at = (uint32_t)value; return value < field->names->count;
    case FIELD_FLAG: *(uint32_t *)at = (uint32_t)value; return value <= 1;
    case FIELD_BOOL: *(bool *)at = value != 0; return value <= 1;
    case FIELD_U32:
        *(uint32_t *)at = (uint32_t)value;
        return value < (field->most ? field->most : (uint64_t)UINT32_MAX + 1);
    default: *(uint32_t *)at = (uint32_t)value; return value <= UINT32_MAX;
    }
}

/* ---- lists: the entries, each as a run ---- */

static struct str texts_run(const struct texts *texts, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (uint32_t i = 0; i < texts->count; i++)
        write_run(&writer, texts->at[i]);
    return (struct str){writer.at, writer.len};
}

static struct str rows_run(const struct shape *of, const struct rows *rows, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (uint32_t i = 0; i < rows->count; i++) {
        struct writer row = {.arena = arena};
        fields_write(&row, of->fields, of->count, (const char *)rows->at + i * of->size);
        write_run(&writer, (struct str){row.at, row.len});
    }
    return (struct str){writer.at, writer.len};
}

static uint32_t runs_count(struct str list, bool *ret_whole) {
    struct reader reader = {.rest = list};
    uint32_t count = 0;
    for (; reader.rest.len > 0 && !reader.failed; count++)
        read_run(&reader);
    *ret_whole = !reader.failed;
    return count;
}

static bool texts_set(const struct field *field, struct texts *ret, struct str list, uint32_t count,
                      struct arena *arena) {
    struct str *at = arena_new(arena, struct str, count);
    struct reader reader = {.rest = list};
    for (uint32_t i = 0; i < count; i++) {
        at[i] = read_run(&reader);
        if (at[i].len > field->cap || !str_is_text(at[i]))
            return false;
    }
    *ret = (struct texts){at, count};
    return true;
}

static bool rows_set(const struct field *field, struct rows *ret, struct str list, uint32_t count,
                     struct arena *arena) {
    char *at = arena_take(arena, field->of->size * count, alignof(max_align_t));
    struct reader reader = {.rest = list};
    for (uint32_t i = 0; i < count; i++) {
        struct reader row = {.rest = read_run(&reader)};
        if (!fields_read(&row, field->of->fields, field->of->count, arena,
                         at + i * field->of->size))
            return false;
    }
    *ret = (struct rows){at, count};
    return true;
}

static bool list_set(const struct field *field, void *at, struct str list, struct arena *arena) {
    bool whole;
    uint32_t count = runs_count(list, &whole);
    must(arena != NULL); /* shapes with lists need shape_decode_in() */
    if (!whole || count > field->most)
        return false;
    return field->type == FIELD_TEXTS ? texts_set(field, at, list, count, arena)
                                      : rows_set(field, at, list, count, arena);
}

/* ---- numbers inside the struct, their count beside them ---- */

static uint32_t *u32s_count(const struct field *field, const void *at) {
    return (uint32_t *)((const char *)at - field->offset + field->cap);
}

static struct str u32s_run(const struct field *field, const uint32_t *at, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (uint32_t i = 0; i < *u32s_count(field, at); i++)
        write_varint(&writer, at[i]);
    return (struct str){writer.at, writer.len};
}

static bool u32s_set(const struct field *field, uint32_t *at, struct str run) {
    struct reader reader = {.rest = run};
    uint32_t count = 0;
    for (; reader.rest.len > 0 && count < field->most; count++) {
        uint64_t value = read_varint(&reader);
        at[count] = (uint32_t)value;
        reader.failed = reader.failed || value > UINT32_MAX;
    }
    *u32s_count(field, at) = count;
    return !reader.failed && reader.rest.len == 0;
}

/* ---- plain data inside the struct ---- */

struct filled {
    uint32_t len;
    char at[];
};

static struct str chars_run(const struct field *field, const char *at) {
    size_t len = 0;
    while (len < field->cap - 1 && at[len])
        len++;
    return (struct str){at, len};
}

static bool chars_set(const struct field *field, char *at, struct str run) {
    if (run.len >= field->cap)
        return false;
    memset(at, 0, field->cap);
    memcpy(at, run.at, run.len);
    return true;
}

static struct str filled_run(const struct field *field, const struct filled *at) {
    return (struct str){at->at, at->len <= field->cap ? at->len : 0};
}

static bool filled_set(const struct field *field, struct filled *at, struct str run) {
    if (run.len > field->cap)
        return false;
    memset(at->at, 0, field->cap);
    memcpy(at->at, run.at, run.len);
    at->len = (uint32_t)run.len;
    return true;
}

static struct str places_run(const struct field *field, const char *at, struct arena *arena) {
    struct writer writer = {.arena = arena};
    size_t whole = 0; /* bytes up to the last nonzero one */
    for (uint32_t i = 0; i < field->most; i++) {
        struct writer row = {.arena = arena};
        fields_write(&row, field->of->fields, field->of->count, at + i * field->of->size);
        write_run(&writer, (struct str){row.at, row.len});
        whole = row.len > 0 ? writer.len : whole;
    }
    return (struct str){writer.at, whole};
}

static bool places_set(const struct field *field, char *at, struct str list, struct arena *arena) {
    struct reader reader = {.rest = list};
    memset(at, 0, field->most * field->of->size);
    for (uint32_t i = 0; i < field->most && reader.rest.len > 0; i++) {
        struct reader row = {.rest = read_run(&reader)};
        if (!fields_read(&row, field->of->fields, field->of->count, arena,
                         at + i * field->of->size))
            return false;
    }
    return !reader.failed && reader.rest.len == 0;
}

/* ---- runs of bytes ---- */

static size_t fixed_size(enum field_type type) {
    return type == FIELD_ID ? sizeof(struct id) : sizeof(struct hash);
}

static struct str run_of(const struct field *field, const void *at, struct arena *arena) {
    static const uint8_t ZERO[32];
    size_t fixed = fixed_size(field->type);
    switch (field->type) {
    case FIELD_ID:
    case FIELD_HASH: return (struct str){at, memcmp(at, ZERO, fixed) == 0 ? 0 : fixed};
    case FIELD_NAME: return str_of(at);
    case FIELD_U32S: return u32s_run(field, at, arena);
    case FIELD_TEXTS: return texts_run(at, arena);
    case FIELD_ROWS: return rows_run(field->of, at, arena);
    case FIELD_CHARS: return chars_run(field, at);
    case FIELD_FILLED: return filled_run(field, at);
    case FIELD_PLACES: return places_run(field, at, arena);
    default: return *(const struct str *)at;
    }
}

static bool run_set(const struct field *field, void *at, struct str run, struct arena *arena) {
    switch (field->type) {
    case FIELD_ID:
    case FIELD_HASH:
        if (run.len != fixed_size(field->type))
            return false;
        memcpy(at, run.at, run.len);
        return true;
    case FIELD_NAME:
        if (run.len > field->cap || !str_is_text(run))
            return false;
        memset(at, 0, field->cap + 1);
        memcpy(at, run.at, run.len);
        return true;
    case FIELD_U32S: return u32s_set(field, at, run);
    case FIELD_TEXTS:
    case FIELD_ROWS: return list_set(field, at, run, arena);
    case FIELD_CHARS: return chars_set(field, at, run);
    case FIELD_FILLED: return filled_set(field, at, run);
    case FIELD_PLACES: return places_set(field, at, run, arena);
    case FIELD_TEXT:
        *(struct str *)at = run;
        return (run.len <= field->cap || (field->flags & (FIELD_CUT | FIELD_TAIL))) &&
               str_is_text(run);
    default: *(struct str *)at = run; return run.len <= field->cap;
    }
}

static void field_write(struct writer *writer, const struct field *field, const void *at) {
    if (field_is_run(field->type)) {
        struct str run = run_of(field, at, writer->arena);
        if (run.len == 0)
            return;
        write_varint(writer, (uint64_t)field->number * 2 + 1);
        write_run(writer, run);
    } else {
        uint64_t value = number_of(field, at);
        if (value == 0)
            return;
        write_varint(writer, (uint64_t)field->number * 2);
        write_varint(writer, value);
    }
}

void fields_write(struct writer *writer, const struct field *fields, size_t count,
                  const void *from) {
    for (size_t i = 0; i < count; i++)
        if (fields[i].number)
            field_write(writer, &fields[i], (const char *)from + fields[i].offset);
}

static const struct field *field_numbered(const struct field *fields, size_t count,
                                          uint64_t number) {
    for (size_t i = 0; i < count; i++)
        if (fields[i].number == number)
            return &fields[i];
    return NULL;
}

static bool field_read(struct reader *reader, const struct field *fields, size_t count,
                       struct arena *arena, void *ret) {
    uint64_t tag = read_varint(reader);
    bool is_run = tag & 1;
    const struct field *field = tag / 2 ? field_numbered(fields, count, tag / 2) : NULL;
    struct str run = {0};
    uint64_t value = 0;
    if (is_run)
        run = read_run(reader);
    else
        value = read_varint(reader);
    if (reader->failed || tag / 2 == 0)
        return false;
    if (!field)
        return true; /* written by a newer build */
    if (is_run != field_is_run(field->type))
        return false;
    void *at = (char *)ret + field->offset;
    return is_run ? run_set(field, at, run, arena) : number_set(field, at, value);
}

bool fields_read(struct reader *reader, const struct field *fields, size_t count,
                 struct arena *arena, void *ret) {
    while (reader->rest.len > 0)
        if (!field_read(reader, fields, count, arena, ret))
            return false;
    return !reader->failed;
}

struct str shape_encode(const struct shape *shape, const void *from, struct arena *arena) {
    struct writer writer = {.arena = arena};
    write_byte(&writer, shape->version);
    fields_write(&writer, shape->fields, shape->count, from);
    return (struct str){writer.at, writer.len};
}

bool shape_decode_in(const struct shape *shape, struct str bytes, struct arena *arena, void *ret) {
    struct reader reader = {.rest = bytes};
    return read_byte(&reader) >= 1 && fields_read(&reader, shape->fields, shape->count, arena, ret);
}

bool shape_decode(const struct shape *shape, struct str bytes, void *ret) {
    return shape_decode_in(shape, bytes, NULL, ret);
}

bool shape_without(const struct shape *shape, struct str bytes, const char *field,
                   struct arena *arena, struct str *ret) {
    struct reader reader = {.rest = bytes};
    struct writer writer = {.arena = arena};
    write_byte(&writer, read_byte(&reader));
    while (reader.rest.len > 0 && !reader.failed) {
        const char *from = reader.rest.at;
        uint64_t tag = read_varint(&reader);
        if (tag & 1)
            read_run(&reader);
        else
            read_varint(&reader);
        const struct field *row = field_numbered(shape->fields, shape->count, tag / 2);
        if (!row || !str_equal(str_of(row->name), str_of(field)))
            write_raw(&writer, (struct str){from, (size_t)(reader.rest.at - from)});
    }
    *ret = (struct str){writer.at, writer.len};
    return !reader.failed;
}

/* ---- validating values ---- */

static bool text_broken(const struct field *field, struct str text) {
    return text.len > field->cap || !str_is_text(text);
}

static bool texts_broken(const struct field *field, const struct texts *texts, uint32_t *ret_row) {
    for (uint32_t i = 0; i < texts->count; i++)
        if (texts->at[i].len == 0 || text_broken(field, texts->at[i])) {
            *ret_row = i + 1;
            return true;
        }
    return texts->count > field->most;
}

static bool field_is_missing(const struct field *field, const void *at) {
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_BYTES: return ((const struct str *)at)->len == 0;
    case FIELD_NAME: return *(const char *)at == 0;
    case FIELD_TEXTS: return ((const struct texts *)at)->count == 0;
    case FIELD_ROWS: return ((const struct rows *)at)->count == 0;
    default: return false;
    }
}

static bool field_is_broken(const struct field *field, const void *at, uint32_t *ret_row) {
    switch (field->type) {
    case FIELD_TEXT: return text_broken(field, *(const struct str *)at);
    case FIELD_BYTES: return ((const struct str *)at)->len > field->cap;
    case FIELD_ENUM: return *(const uint32_t *)at >= field->names->count;
    case FIELD_TEXTS: return texts_broken(field, at, ret_row);
    default: return false;
    }
}

/* GOAL-09: a row in a list is validated against its own shape. */
static const struct field *rows_broken(const struct field *field, const struct rows *rows,
                                       uint32_t *ret_row) {
    if (rows->count > field->most)
        return field;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t inner;
        const struct field *broken =
            fields_broken(field->of->fields, field->of->count,
                          (const char *)rows->at + i * field->of->size, &inner);
        *ret_row = i + 1;
        if (broken)
            return broken;
    }
    *ret_row = 0;
    return NULL;
}

const struct field *fields_broken(const struct field *fields, size_t count, const void *from,
                                  uint32_t *ret_row) {
    *ret_row = 0;
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i], *inner = NULL;
        const void *at = (const char *)from + field->offset;
        if ((field->flags & FIELD_REQUIRED) && field_is_missing(field, at))
            return field;
        if (field_is_broken(field, at, ret_row))
            return field;
        if (field->type == FIELD_ROWS && (inner = rows_broken(field, at, ret_row)))
            return inner;
    }
    return NULL;
}

bool names_find(const struct names *names, struct str name, uint32_t *ret_value) {
    for (uint32_t i = 0; i < names->count; i++)
        if (name_of(names, i) && str_equal(str_of(name_of(names, i)), name)) {
            *ret_value = i;
            return true;
        }
    return false;
}

struct texts texts_copy(const struct texts *texts, struct arena *arena) {
    struct str *copy = arena_new(arena, struct str, texts->count + 1);
    for (uint32_t i = 0; i < texts->count; i++)
        copy[i] = arena_copy(arena, texts->at[i]);
    return (struct texts){copy, texts->count};
}
