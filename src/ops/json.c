/* SPDX-License-Identifier: Apache-2.0 */
/* How does a table of fields become JSON and back? */
#include "ops/json.h"

#include "base/time.h"

#include <stdio.h>

static json_malloc_t plain_take;
static _Thread_local bool ran_short;

static void *watched_take(size_t size) {
    void *memory = plain_take(size);
    ran_short = ran_short || !memory;
    return memory;
}

void json_watch(void) {
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
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return json_stringn(text, 2 * count);
}

static json_t *json_of(const struct field *field, const void *at) {
    char text[TIME_TEXT + 1];
    switch (field->type) {
    case FIELD_INT: return json_integer(*(const int64_t *)at);
    case FIELD_UINT: return json_integer((json_int_t) * (const uint64_t *)at);
    case FIELD_U32: return json_integer(*(const uint32_t *)at);
    case FIELD_ENUM: return json_string(field->names->name[*(const uint32_t *)at]);
    case FIELD_TIME: time_format(*(const int64_t *)at, text); return json_string(text);
    case FIELD_ID: id_format(*(const struct id *)at, text); return json_string(text);
    case FIELD_HASH: return json_hex(((const struct hash *)at)->bytes, sizeof(struct hash));
    case FIELD_TEXT: {
        struct str run = *(const struct str *)at;
        return json_stringn(run.at ? run.at : "", run.len);
    }
    case FIELD_BYTES: break;
    }
    return json_null();
}

bool json_put_fields(json_t *object, const struct field *fields, size_t count, const void *from) {
    for (size_t i = 0; i < count; i++)
        if (!(fields[i].flags & FIELD_HIDDEN) &&
            json_object_set_new(object, fields[i].name,
                                json_of(&fields[i], (const char *)from + fields[i].offset)))
            return false;
    return true;
}

static const struct field *field_named(const struct field *fields, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

/* So far every parameter is a text; the next type comes with the first operation that needs it. */
static bool text_get(const struct field *field, const json_t *value, void *at, char *why,
                     size_t why_size) {
    struct str text = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value))
        snprintf(why, why_size, "\"%s\" has to be a text.", field->name);
    else if (text.len > field->cap)
        snprintf(why, why_size, "\"%s\" has %zu bytes; at most %u are allowed.", field->name,
                 text.len, field->cap);
    else if (!str_is_text(text))
        snprintf(why, why_size, "\"%s\" contains a NUL character, which cannot be stored.",
                 field->name);
    else if (text.len == 0 && (field->flags & FIELD_REQUIRED))
        snprintf(why, why_size, "\"%s\" must not be empty.", field->name);
    else {
        *(struct str *)at = text;
        return true;
    }
    return false;
}

bool json_get_fields(json_t *object, const struct field *fields, size_t count, void *ret, char *why,
                     size_t why_size) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        const struct field *field = field_named(fields, count, name);
        if (!field) {
            snprintf(why, why_size, "\"%.64s\" is not a parameter of this operation.", name);
            return false;
        }
        if (!text_get(field, value, (char *)ret + field->offset, why, why_size))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if ((fields[i].flags & FIELD_REQUIRED) && !json_object_get(object, fields[i].name)) {
            snprintf(why, why_size, "\"%s\" is missing: %s.", fields[i].name, fields[i].text);
            return false;
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
