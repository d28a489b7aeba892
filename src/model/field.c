/* SPDX-License-Identifier: Apache-2.0 */
/* How does a table of fields become bytes and back? */
#include "model/field.h"

static bool field_is_run(enum field_type type) {
    return type == FIELD_ID || type == FIELD_HASH || type == FIELD_TEXT || type == FIELD_BYTES;
}

static uint64_t number_of(const struct field *field, const void *at) {
    switch (field->type) {
    case FIELD_INT:
    case FIELD_TIME: return zigzag(*(const int64_t *)at);
    case FIELD_UINT: return *(const uint64_t *)at;
    default: return *(const uint32_t *)at;
    }
}

static bool number_set(const struct field *field, void *at, uint64_t value) {
    switch (field->type) {
    case FIELD_INT:
    case FIELD_TIME: *(int64_t *)at = unzigzag(value); return true;
    case FIELD_UINT: *(uint64_t *)at = value; return true;
    case FIELD_ENUM: *(uint32_t *)at = (uint32_t)value; return value < field->names->count;
    default: *(uint32_t *)at = (uint32_t)value; return value <= UINT32_MAX;
    }
}

static struct str run_of(const struct field *field, const void *at) {
    static const uint8_t ZERO[32];
    size_t fixed = field->type == FIELD_ID ? sizeof(struct id) : sizeof(struct hash);
    switch (field->type) {
    case FIELD_ID:
    case FIELD_HASH: return (struct str){at, memcmp(at, ZERO, fixed) == 0 ? 0 : fixed};
    default: return *(const struct str *)at;
    }
}

static bool run_set(const struct field *field, void *at, struct str run) {
    switch (field->type) {
    case FIELD_ID:
    case FIELD_HASH: {
        size_t fixed = field->type == FIELD_ID ? sizeof(struct id) : sizeof(struct hash);
        if (run.len != fixed)
            return false;
        memcpy(at, run.at, fixed);
        return true;
    }
    case FIELD_TEXT: *(struct str *)at = run; return run.len <= field->cap && str_is_text(run);
    default: *(struct str *)at = run; return run.len <= field->cap;
    }
}

static void field_write(struct writer *writer, const struct field *field, const void *at) {
    if (field_is_run(field->type)) {
        struct str run = run_of(field, at);
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

static bool field_read(struct reader *reader, const struct field *fields, size_t count, void *ret) {
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
    return is_run ? run_set(field, at, run) : number_set(field, at, value);
}

bool fields_read(struct reader *reader, const struct field *fields, size_t count, void *ret) {
    while (reader->rest.len > 0)
        if (!field_read(reader, fields, count, ret))
            return false;
    return !reader->failed;
}

struct str shape_encode(const struct shape *shape, const void *from, struct arena *arena) {
    struct writer writer = {.arena = arena};
    write_byte(&writer, shape->version);
    fields_write(&writer, shape->fields, shape->count, from);
    return (struct str){writer.at, writer.len};
}

bool shape_decode(const struct shape *shape, struct str bytes, void *ret) {
    struct reader reader = {.rest = bytes};
    return read_byte(&reader) >= 1 && fields_read(&reader, shape->fields, shape->count, ret);
}

bool names_find(const struct names *names, struct str name, uint32_t *ret_value) {
    for (uint32_t i = 0; i < names->count; i++)
        if (names->name[i] && str_equal(str_of(names->name[i]), name)) {
            *ret_value = i;
            return true;
        }
    return false;
}
