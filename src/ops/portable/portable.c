/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/portable/portable.h"

#include "base/time.h"
#include "ops/op.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- position and errors ---- */

size_t reading_enter(struct reading *reading, const char *name) {
    size_t before = strlen(reading->path);
    snprintf(reading->path + before, sizeof reading->path - before, "%s%.64s", before ? "." : "",
             name);
    return before;
}

size_t reading_entry(struct reading *reading, size_t index) {
    size_t before = strlen(reading->path);
    snprintf(reading->path + before, sizeof reading->path - before, "[%zu]", index);
    return before;
}

void reading_leave(struct reading *reading, size_t before) {
    reading->path[before] = 0;
}

bool reading_refuse(struct reading *reading, const char *format, ...) {
    if (reading->why[0])
        return false;
    size_t used = (size_t)snprintf(reading->why, sizeof reading->why,
                                   "%s: ", reading->path[0] ? reading->path : "the document");
    va_list args;
    va_start(args, format);
    vsnprintf(reading->why + used, sizeof reading->why - used, format, args);
    va_end(args);
    return false;
}

/* ---- bytes ---- */

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

json_t *json_base64(struct str bytes) {
    struct arena arena = {0};
    struct writer writer = {.arena = &arena};
    const uint8_t *at = (const uint8_t *)bytes.at;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t three = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
                         (left > 2 ? at[i + 2] : 0);
        for (int k = 0; k < 4; k++)
            write_byte(&writer,
                       (size_t)k <= left ? (uint8_t)DIGITS[three >> (18 - 6 * k) & 63] : '=');
    }
    json_t *json = json_stringn(writer.at ? writer.at : "", writer.len);
    arena_free(&arena);
    return json;
}

static int digit_of(char c) {
    const char *at = c ? strchr(DIGITS, c) : NULL;
    return at ? (int)(at - DIGITS) : -1;
}

/* Accepts only the canonical form: padded, no spaces, no leftover bits. */
bool base64_read(struct str text, struct arena *arena, struct str *ret) {
    struct writer writer = {.arena = arena};
    if (text.len % 4)
        return false;
    for (size_t i = 0; i < text.len; i += 4) {
        uint32_t four = 0, pads = 0;
        for (size_t k = 0; k < 4; k++) {
            int digit = digit_of(text.at[i + k]);
            bool pad = text.at[i + k] == '=' && i + 4 == text.len && k >= 2;
            if ((digit < 0 && !pad) || (digit >= 0 && pads))
                return false;
            pads += pad;
            four = four << 6 | (uint32_t)(pad ? 0 : digit);
        }
        if (pads && (four & (pads == 1 ? 0xFF : 0xFFFF)))
            return false;
        for (uint32_t k = 0; k < 3 - pads; k++)
            write_byte(&writer, (uint8_t)(four >> (16 - 8 * k)));
    }
    *ret = (struct str){writer.at ? writer.at : "", writer.len};
    return true;
}

json_t *json_goal_id(struct id id) {
    char text[GOAL_ID_TEXT + 1];
    goal_id_format(id, text);
    return json_string(text);
}

bool goal_id_read(struct reading *reading, const json_t *value, struct id *ret) {
    struct str text = {json_string_value(value), json_string_length(value)};
    return (json_is_string(value) && goal_id_parse(text, ret)) ||
           reading_refuse(reading,
                          "it must be a goal's id, such as goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN");
}

static const int64_t TIME_LAST = INT64_C(253402300799999999); /* 9999-12-31T23:59:59.999999Z */

json_t *json_time(int64_t at) {
    char text[TIME_TEXT + 1];
    if (at == 0)
        return json_null();
    if (at < 0 || at > TIME_LAST)
        return json_integer(at);
    time_format(at, text);
    return json_string(text);
}

/* ---- writing fields ---- */

static bool bytes_are_zero(const void *at, size_t size) {
    const uint8_t *bytes = at;
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static const uint32_t *u32s_count(const struct field *field, const void *at) {
    return (const uint32_t *)((const char *)at - field->offset + field->cap);
}

static bool field_is_zero(const struct field *field, const void *at) {
    switch (field->type) {
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_UINT: return *(const uint64_t *)at == 0;
    case FIELD_ID: return bytes_are_zero(at, sizeof(struct id));
    case FIELD_HASH: return bytes_are_zero(at, sizeof(struct hash));
    case FIELD_TEXT:
    case FIELD_BYTES: return ((const struct str *)at)->len == 0;
    case FIELD_NAME: return *(const char *)at == 0;
    case FIELD_TEXTS: return ((const struct texts *)at)->count == 0;
    case FIELD_ROWS: return ((const struct rows *)at)->count == 0;
    case FIELD_U32S: return *u32s_count(field, at) == 0;
    default: return *(const uint32_t *)at == 0;
    }
}

static json_t *u32s_json(const struct field *field, const uint32_t *at) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < *u32s_count(field, at); i++)
        json_array_append_new(list, json_integer(at[i]));
    return list;
}

static json_t *rows_json(const struct field *field, const struct rows *rows) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < rows->count; i++) {
        json_t *row = json_object();
        if (!fields_put(row, field->of, FIELDS_SHOWN,
                        (const char *)rows->at + i * field->of->size) ||
            json_array_append_new(list, row)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *field_json(const struct field *field, const void *at) {
    switch (field->type) {
    case FIELD_TIME: return json_time(*(const int64_t *)at);
    case FIELD_BYTES: return json_base64(*(const struct str *)at);
    case FIELD_U32S: return u32s_json(field, at);
    case FIELD_ROWS: return rows_json(field, at);
    case FIELD_ID: return field_is_zero(field, at) ? json_null() : json_of(field, at);
    case FIELD_HASH: return field_is_zero(field, at) ? json_null() : json_of(field, at);
    default: return json_of(field, at);
    }
}

bool fields_put(json_t *object, const struct shape *shape, enum fields_wanted wanted,
                const void *from) {
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        const void *at = (const char *)from + field->offset;
        bool hidden = field->flags & FIELD_HIDDEN;
        if (field->number == 0 || (wanted != FIELDS_SHOWN && field_is_zero(field, at)) ||
            (wanted != FIELDS_SPARSE && hidden != (wanted == FIELDS_HIDDEN)))
            continue;
        if (json_object_set_new(object, field->name, field_json(field, at)))
            return false;
    }
    return true;
}

/* ---- reading fields ---- */

static bool text_take(struct reading *reading, const struct field *field, const json_t *value,
                      struct str *ret) {
    struct str text = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value))
        return reading_refuse(reading, "it must be a string");
    if (text.len > field->cap)
        return reading_refuse(reading, "it has %zu bytes; at most %u are allowed", text.len,
                              field->cap);
    if (!str_is_text(text))
        return reading_refuse(reading, "it contains a NUL character, which cannot be stored");
    *ret = text;
    return true;
}

static bool name_take(struct reading *reading, const struct field *field, const json_t *value,
                      char *at) {
    struct str text;
    if (!text_take(reading, field, value, &text))
        return false;
    memset(at, 0, field->cap + 1);
    memcpy(at, text.at, text.len);
    return true;
}

static bool number_take(struct reading *reading, const struct field *field, const json_t *value,
                        void *at) {
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value))
        return reading_refuse(reading, "it must be a number");
    if (field->type == FIELD_U32) {
        if (number < 0 || number > UINT32_MAX)
            return reading_refuse(reading, "the number is out of range");
        *(uint32_t *)at = (uint32_t)number;
        return true;
    }
    if (field->type == FIELD_UINT && number < 0)
        return reading_refuse(reading, "the number is out of range");
    *(int64_t *)at = number;
    return true;
}

/* C-58: the source formats use milliseconds. */
static bool time_take(struct reading *reading, const json_t *value, int64_t *ret) {
    struct str text = {json_string_value(value), json_string_length(value)};
    json_int_t number = json_integer_value(value);
    if (json_is_string(value) && time_parse(text, ret))
        return true;
    if (!json_is_integer(value))
        return reading_refuse(reading, "it must be a time such as 2026-01-31T12:00:00Z");
    if (reading->plain && (number < 0 || number > TIME_LAST / 1000))
        return reading_refuse(reading, "the time is out of range");
    *ret = reading->plain ? number * 1000 : number;
    return true;
}

static bool enum_take(struct reading *reading, const struct field *field, const json_t *value,
                      uint32_t *ret) {
    struct str name = {json_string_value(value), json_string_length(value)};
    if (json_is_string(value) && names_find(field->names, name, ret))
        return true;
    return reading_refuse(reading, "\"%.*s\" is not one of its values",
                          (int)(name.len > 40 ? 40 : name.len), name.at ? name.at : "");
}

static bool bytes_take(struct reading *reading, const struct field *field, const json_t *value,
                       void *at) {
    struct str text = {json_string_value(value), json_string_length(value)};
    bool good = json_is_string(value);
    if (good && field->type == FIELD_ID)
        good = id_parse(text, at);
    else if (good && field->type == FIELD_HASH)
        good = text.len == 64 && hex_read(text.at, at, 32);
    else if (good)
        good = base64_read(text, reading->arena, at) && ((struct str *)at)->len <= field->cap;
    return good || reading_refuse(reading, "it is not the encoding of %s",
                                  field->type == FIELD_ID     ? "an id"
                                  : field->type == FIELD_HASH ? "a hash"
                                                              : "base 64");
}

/* ---- reading lists ---- */

static bool list_is_right(struct reading *reading, const struct field *field, const json_t *value) {
    if (!json_is_array(value))
        return reading_refuse(reading, "it must be a list");
    return json_array_size(value) <= field->most ||
           reading_refuse(reading, "it has %zu entries; at most %u are allowed",
                          json_array_size(value), field->most);
}

static bool texts_take(struct reading *reading, const struct field *field, const json_t *value,
                       struct texts *ret) {
    if (!list_is_right(reading, field, value))
        return false;
    size_t count = json_array_size(value);
    struct str *at = arena_new(reading->arena, struct str, count);
    for (size_t i = 0; i < count; i++) {
        size_t before = reading_entry(reading, i);
        if (!text_take(reading, field, json_array_get(value, i), &at[i]))
            return false;
        reading_leave(reading, before);
    }
    *ret = (struct texts){at, (uint32_t)count};
    return true;
}

static bool rows_take(struct reading *reading, const struct field *field, const json_t *value,
                      struct rows *ret) {
    if (!list_is_right(reading, field, value))
        return false;
    size_t count = json_array_size(value);
    char *at = arena_take(reading->arena, field->of->size * count, alignof(max_align_t));
    for (size_t i = 0; i < count; i++) {
        size_t before = reading_entry(reading, i);
        if (!fields_take(reading, json_array_get(value, i), field->of, at + i * field->of->size))
            return false;
        reading_leave(reading, before);
    }
    *ret = (struct rows){at, (uint32_t)count};
    return true;
}

static bool u32s_take(struct reading *reading, const struct field *field, const json_t *value,
                      uint32_t *at) {
    if (!list_is_right(reading, field, value))
        return false;
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(value, i);
        json_int_t number = json_integer_value(entry);
        if (!json_is_integer(entry) || number < 0 || number > UINT32_MAX)
            return reading_refuse(reading, "a number is out of range");
        at[i] = (uint32_t)number;
    }
    *(uint32_t *)(uintptr_t)u32s_count(field, at) = (uint32_t)count;
    return true;
}

bool field_take(struct reading *reading, const struct field *field, const json_t *value, void *at) {
    if (json_is_null(value))
        return true; /* treated as absent */
    switch (field->type) {
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_U32: return number_take(reading, field, value, at);
    case FIELD_TIME: return time_take(reading, value, at);
    case FIELD_ENUM: return enum_take(reading, field, value, at);
    case FIELD_TEXT: return text_take(reading, field, value, at);
    case FIELD_NAME: return name_take(reading, field, value, at);
    case FIELD_TEXTS: return texts_take(reading, field, value, at);
    case FIELD_ROWS: return rows_take(reading, field, value, at);
    case FIELD_U32S: return u32s_take(reading, field, value, at);
    case FIELD_FLAG:
        *(uint32_t *)at = json_is_true(value);
        return json_is_boolean(value) || reading_refuse(reading, "it must be true or false");
    default: return bytes_take(reading, field, value, at);
    }
}

bool fields_take(struct reading *reading, const json_t *object, const struct shape *shape,
                 void *ret) {
    if (!json_is_object(object))
        return reading_refuse(reading, "it must be an object");
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        const json_t *value = field->number ? json_object_get(object, field->name) : NULL;
        if (!value)
            continue;
        size_t before = reading_enter(reading, field->name);
        if (!field_take(reading, field, value, (char *)ret + field->offset))
            return false;
        reading_leave(reading, before);
    }
    return true;
}

/* ---- whole shapes ---- */

bool shape_has(const struct shape *shape, const char *name) {
    return json_field_named(shape->fields, shape->count, name) != NULL;
}

bool shape_is_whole(const struct shape *shape, struct str body, struct arena *arena, void *ret) {
    return shape_decode_in(shape, body, arena, ret) &&
           str_equal(shape_encode(shape, ret, arena), body);
}
