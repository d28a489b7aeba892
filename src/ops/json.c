/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/json.h"

#include "base/time.h"
#include "model/limits.h"

#include <stdio.h>
#include <stdlib.h>

static json_malloc_t plain_take;
static _Thread_local bool ran_short;

static void *watched_take(size_t size) {
    void *memory = plain_take(size);
    ran_short = ran_short || !memory;
    return memory;
}

void json_count_memory(void) {
    json_malloc_t take;
    json_free_t give;
    json_get_alloc_funcs(&take, &give);
    if (take == watched_take)
        return;
    plain_take = take;
    json_set_alloc_funcs(watched_take, give);
}

bool json_ran_short(void) {
    bool did = ran_short;
    ran_short = false;
    return did;
}

static json_t *json_hex(const uint8_t *bytes, size_t count) {
    char text[2 * 32 + 1];
    hex_write(text, bytes, count);
    return json_stringn(text, 2 * count);
}

static json_t *json_texts(const struct texts *texts) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < texts->count; i++)
        json_array_append_new(
            list, json_stringn(texts->at[i].at ? texts->at[i].at : "", texts->at[i].len));
    return list;
}

static json_t *json_rows(const struct shape *of, const struct rows *rows) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < rows->count; i++) {
        json_t *row = json_object();
        json_put_fields(row, of->fields, of->count, (const char *)rows->at + i * of->size);
        json_array_append_new(list, row);
    }
    return list;
}

json_t *json_of(const struct field *field, const void *at) {
    char text[TIME_TEXT + 1];
    switch (field->type) {
    case FIELD_INT: return json_integer(*(const int64_t *)at);
    case FIELD_UINT: return json_integer((json_int_t) * (const uint64_t *)at);
    case FIELD_U32: return json_integer(*(const uint32_t *)at);
    case FIELD_FLAG: return json_boolean(*(const uint32_t *)at);
    case FIELD_ENUM: return json_string(name_of(field->names, *(const uint32_t *)at));
    case FIELD_TIME:
        if (*(const int64_t *)at == 0)
            return json_null(); /* never */
        time_format(*(const int64_t *)at, text);
        return json_string(text);
    case FIELD_ID: id_format(*(const struct id *)at, text); return json_string(text);
    case FIELD_HASH: return json_hex(((const struct hash *)at)->bytes, sizeof(struct hash));
    case FIELD_NAME: return json_string(at);
    case FIELD_TEXTS: return json_texts(at);
    case FIELD_ROWS: return json_rows(field->of, at);
    case FIELD_TEXT: {
        struct str run = *(const struct str *)at;
        return json_stringn(run.at ? run.at : "", run.len);
    }
    case FIELD_U32S:
    case FIELD_BYTES:
    case FIELD_BOOL:
    case FIELD_CHARS:
    case FIELD_FILLED:
    case FIELD_PLACES: break;
    }
    return json_null();
}

void json_put_text(json_t *object, const char *name, struct str text) {
    if (text.len > 0)
        json_object_set_new(object, name, json_stringn(text.at, text.len));
}

json_t *json_of_time(int64_t at) {
    char text[TIME_TEXT + 1];
    if (at == 0 || at == TIME_NEVER)
        return json_null();
    time_format(at, text);
    return json_string(text);
}

bool json_put_fields(json_t *object, const struct field *fields, size_t count, const void *from) {
    for (size_t i = 0; i < count; i++)
        if (!(fields[i].flags & FIELD_HIDDEN) &&
            json_object_set_new(object, fields[i].name,
                                json_of(&fields[i], (const char *)from + fields[i].offset)))
            return false;
    return true;
}

const struct field *json_field_named(const struct field *fields, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

/* ---- reading ---- */

struct taking {
    const struct field *field;
    struct arena *arena;
    char *why;
    size_t why_size;
};

static bool refuse(const struct taking *t, const char *what) {
    snprintf(t->why, t->why_size, "\"%s\" %s.", t->field->name, what);
    return false;
}

static bool text_get(const struct taking *t, const json_t *value, struct str *ret) {
    struct str text = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value))
        return refuse(t, "must be a string");
    if (text.len > t->field->cap && !(t->field->flags & FIELD_CUT)) { /* cut later: see redact.h */
        snprintf(t->why, t->why_size, "\"%s\" has %zu bytes; at most %u are allowed.",
                 t->field->name, text.len, t->field->cap);
        return false;
    }
    if (!str_is_text(text))
        return refuse(t, "contains a NUL character, which cannot be stored");
    if (text.len == 0 && (t->field->flags & FIELD_REQUIRED))
        return refuse(t, "must not be empty");
    *ret = text;
    return true;
}

static bool number_get(const struct taking *t, const json_t *value, void *at) {
    json_int_t number = json_integer_value(value);
    bool narrow = t->field->type == FIELD_U32;
    if (json_is_string(value)) { /* the command line passes only texts */
        char *end;
        number = strtoll(json_string_value(value), &end, 10);
        if (*end || end == json_string_value(value))
            return refuse(t, "must be a number");
    } else if (!json_is_integer(value))
        return refuse(t, "must be a number");
    if (t->field->type != FIELD_INT && (number < 0 || (narrow && number > UINT32_MAX)))
        return refuse(t, "is out of range");
    if (narrow)
        *(uint32_t *)at = (uint32_t)number;
    else
        *(int64_t *)at = number;
    return true;
}

static bool enum_get(const struct taking *t, const json_t *value, uint32_t *ret) {
    struct str name = {json_string_value(value), json_string_length(value)};
    if (json_is_string(value) && names_find(t->field->names, name, ret))
        return true;
    size_t used = (size_t)snprintf(t->why, t->why_size, "\"%s\" must be one of", t->field->name);
    for (uint32_t i = 0; i < t->field->names->count && used < t->why_size; i++)
        used += (size_t)snprintf(t->why + used, t->why_size - used, "%s %s", i ? "," : "",
                                 name_of(t->field->names, i));
    return false;
}

static bool flag_get(const struct taking *t, const json_t *value, uint32_t *ret) {
    const char *text = json_string_value(value);
    bool yes = json_is_true(value) || (text && strcmp(text, "true") == 0);
    bool no = json_is_false(value) || (text && strcmp(text, "false") == 0);
    *ret = yes;
    return yes || no || refuse(t, "must be true or false");
}

static bool time_get(const struct taking *t, const json_t *value, int64_t *ret) {
    struct str text = {json_string_value(value), json_string_length(value)};
    return (json_is_string(value) && time_parse(text, ret)) ||
           refuse(t, "must be a time such as 2026-01-31T12:00:00Z");
}

/* A single text counts as a list of one, so that the command line needs no brackets. */
/* Has the form NAME=VALUE. */
static bool is_pair(struct str text) {
    const char *sign = memchr(text.at, '=', text.len);
    return sign && sign > text.at;
}

static bool texts_get(const struct taking *t, const json_t *value, struct texts *ret) {
    uint32_t count = json_is_string(value) ? 1 : (uint32_t)json_array_size(value);
    if (!json_is_string(value) && !json_is_array(value))
        return refuse(t, "must be a list of strings");
    if (count > t->field->most)
        return refuse(t, "has too many entries");
    struct str *at = arena_new(t->arena, struct str, count);
    for (uint32_t i = 0; i < count; i++) {
        const json_t *entry = json_is_string(value) ? value : json_array_get(value, i);
        if (!text_get(t, entry, &at[i]))
            return false;
        if (at[i].len == 0)
            return refuse(t, "has an empty entry");
        if ((t->field->flags & FIELD_PAIRS) && !is_pair(at[i]))
            return refuse(t, "has an entry that is not NAME=VALUE");
    }
    *ret = (struct texts){at, count};
    return true;
}

/* {"files": 3} becomes files=3, which is also the form on the command line. */
static bool pair_get(const struct taking *t, const char *name, const json_t *value,
                     struct str *ret) {
    char *number = json_is_number(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    const char *text = number ? number : json_string_value(value);
    if (!text)
        return refuse(t, "must be an object of strings and numbers");
    *ret = arena_format(t->arena, "%s=%s", name, text);
    free(number);
    if (ret->len > t->field->cap)
        return refuse(t, "has an entry that is too long");
    return name[0] || refuse(t, "has an entry without a name");
}

static bool pairs_get(const struct taking *t, const json_t *value, struct texts *ret) {
    const char *name;
    json_t *one;
    uint32_t count = 0;
    if (json_object_size(value) > t->field->most)
        return refuse(t, "has too many entries");
    struct str *at = arena_new(t->arena, struct str, json_object_size(value));
    json_object_foreach((json_t *)(uintptr_t)value, name, one) {
        if (!pair_get(t, name, one, &at[count++]))
            return false;
    }
    *ret = (struct texts){at, count};
    return true;
}

static bool row_get(const struct taking *t, const json_t *value, void *ret) {
    const struct shape *of = t->field->of;
    const char *name;
    json_t *member;
    if (!json_is_object(value))
        return refuse(t, "must be a list of objects");
    json_object_foreach((json_t *)(uintptr_t)value, name, member) {
        if (json_field_named(of->fields, of->count, name))
            continue;
        snprintf(t->why, t->why_size, "\"%.64s\" is not a field of \"%s\".", name, t->field->name);
        return false;
    }
    return json_get_fields(value, of->fields, of->count, t->arena, ret, t->why, t->why_size);
}

static bool rows_get(const struct taking *t, const json_t *value, struct rows *ret) {
    const struct shape *of = t->field->of;
    uint32_t count = (uint32_t)json_array_size(value);
    if (!json_is_array(value))
        return refuse(t, "must be a list of objects");
    if (count > t->field->most)
        return refuse(t, "has too many entries");
    char *at = arena_take(t->arena, of->size * count, alignof(max_align_t));
    for (uint32_t i = 0; i < count; i++)
        if (!row_get(t, json_array_get(value, i), at + i * of->size))
            return false;
    *ret = (struct rows){at, count};
    return true;
}

static bool field_get(const struct taking *t, const json_t *value, void *at) {
    switch (t->field->type) {
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_U32: return number_get(t, value, at);
    case FIELD_ENUM: return enum_get(t, value, at);
    case FIELD_FLAG: return flag_get(t, value, at);
    case FIELD_TIME: return time_get(t, value, at);
    case FIELD_TEXT: return text_get(t, value, at);
    case FIELD_TEXTS:
        return (t->field->flags & FIELD_PAIRS) && json_is_object(value) ? pairs_get(t, value, at)
                                                                        : texts_get(t, value, at);
    case FIELD_ROWS: return rows_get(t, value, at);
    default: return refuse(t, "cannot be set");
    }
}

bool json_get_fields(const json_t *object, const struct field *fields, size_t count,
                     struct arena *arena, void *ret, char *why, size_t why_size) {
    for (size_t i = 0; i < count; i++) {
        struct taking t = {&fields[i], arena, why, why_size};
        const json_t *value = json_object_get(object, fields[i].name);
        if (value && !json_is_null(value)) {
            if (!field_get(&t, value, (char *)ret + fields[i].offset))
                return false;
        } else if (fields[i].flags & FIELD_REQUIRED) {
            snprintf(why, why_size, "\"%s\" is missing: %s.", fields[i].name, fields[i].text);
            return false;
        }
    }
    return true;
}

bool json_depth_is_at_most(struct str text, int depth) {
    int open = 0;
    bool in_text = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (in_text && c == '\\')
            i++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text && (c == '{' || c == '['))
            open++;
        else if (!in_text && (c == '}' || c == ']'))
            open--;
        if (open > depth)
            return false;
    }
    return true;
}

enum error json_read(struct str text, json_t **ret, char *why, size_t why_size) {
    json_error_t error;
    if (!json_depth_is_at_most(text, LIMIT_JSON_DEPTH)) {
        snprintf(why, why_size, "The JSON is nested more than %d deep.", LIMIT_JSON_DEPTH);
        return ERROR_NOT_JSON;
    }
    json_ran_short();
    json_t *json = json_loadb(text.at ? text.at : "", text.len,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (json_ran_short()) {
        json_decref(json);
        return ERROR_NO_MEMORY;
    }
    if (json) {
        *ret = json;
        return ERROR_NONE;
    }
    snprintf(why, why_size, "Line %d, column %d: %s.", error.line, error.column, error.text);
    return ERROR_NOT_JSON;
}
