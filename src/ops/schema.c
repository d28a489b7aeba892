/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/schema.h"

static const char DIALECT[] = "https://json-schema.org/draft/2020-12/schema";

static const char *const MEMBER[] = {
    [MEMBER_TEXT] = "text", [MEMBER_NUMBER] = "number", [MEMBER_FLAG] = "flag",
    [MEMBER_TIME] = "time", [MEMBER_OBJECT] = "object", [MEMBER_LIST] = "list",
    [MEMBER_ANY] = "any",
};
const struct names MEMBER_NAMES = NAMES_OF(MEMBER);

/* ---- parameters ---- */

static json_t *typed(const char *type) {
    return json_pack("{s:s}", "type", type);
}

static void set_number(json_t *schema, const char *name, json_int_t value) {
    json_object_set_new(schema, name, json_integer(value));
}

static json_t *text_schema(const struct field *field, bool filled) {
    json_t *schema = typed("string");
    if (filled)
        set_number(schema, "minLength", 1);
    if (!(field->flags &
          FIELD_CUT)) /* the limit is in bytes: a valid text never has more characters than that */
        set_number(schema, "maxLength", field->cap);
    return schema;
}

static json_t *enum_schema(const struct names *names) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < names->count; i++)
        json_array_append_new(list, json_string(name_of(names, i)));
    return json_pack("{s:s, s:o}", "type", "string", "enum", list);
}

static json_t *list_schema(const struct field *field, json_t *items) {
    return json_pack("{s:s, s:o, s:I}", "type", "array", "items", items, "maxItems",
                     (json_int_t)field->most);
}

static json_t *pairs_schema(const struct field *field) {
    return json_pack("{s:s, s:{s:[s, s]}, s:I}", "type", "object", "additionalProperties", "type",
                     "string", "number", "maxProperties", (json_int_t)field->most);
}

static json_t *object_schema(void) {
    return json_pack("{s:s, s:{}, s:[], s:b}", "type", "object", "properties", "required",
                     "additionalProperties", 0);
}

static void fields_add(json_t *schema, const struct field *fields, size_t count,
                       const char *optional);

static json_t *row_schema(const struct shape *of) {
    json_t *schema = object_schema();
    fields_add(schema, of->fields, of->count, NULL);
    return schema;
}

/* NULL: the field cannot be set. */
static json_t *field_schema(const struct field *field) {
    bool required = field->flags & FIELD_REQUIRED;
    switch (field->type) {
    case FIELD_TEXT: return text_schema(field, required);
    case FIELD_TEXTS:
        return field->flags & FIELD_PAIRS ? pairs_schema(field)
                                          : list_schema(field, text_schema(field, true));
    case FIELD_ROWS: return list_schema(field, row_schema(field->of));
    case FIELD_ENUM: return enum_schema(field->names);
    case FIELD_FLAG: return typed("boolean");
    case FIELD_TIME: return json_pack("{s:s, s:s}", "type", "string", "format", "date-time");
    case FIELD_INT: return typed("integer");
    case FIELD_UINT: return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
    case FIELD_U32:
        return json_pack("{s:s, s:i, s:I}", "type", "integer", "minimum", 0, "maximum",
                         (json_int_t)UINT32_MAX);
    default: return NULL;
    }
}

static void fields_add(json_t *schema, const struct field *fields, size_t count,
                       const char *optional) {
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        json_t *one = field->flags & FIELD_HIDDEN ? NULL : field_schema(field);
        if (!one)
            continue;
        json_object_set_new(one, "description", json_string(field->text));
        json_object_set_new(json_object_get(schema, "properties"), field->name, one);
        if ((field->flags & FIELD_REQUIRED) && !(optional && strcmp(optional, field->name) == 0))
            json_array_append_new(json_object_get(schema, "required"), json_string(field->name));
    }
}

json_t *schema_params(const struct op *op, enum role role) {
    json_t *schema = object_schema();
    json_object_set_new(schema, "$schema", json_string(DIALECT));
    fields_add(schema, op->params, op->param_count, role == ROLE_RUN ? "goal" : NULL);
    if (op->words)
        fields_add(schema, op->words->fields, op->words->count, NULL);
    return schema;
}

/* ---- results ---- */

static enum member_type member_of(enum field_type type) {
    switch (type) {
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_U32: return MEMBER_NUMBER;
    case FIELD_FLAG: return MEMBER_FLAG;
    case FIELD_TIME: return MEMBER_TIME;
    case FIELD_TEXTS:
    case FIELD_ROWS: return MEMBER_LIST;
    case FIELD_U32S:
    case FIELD_BYTES: return MEMBER_ANY;
    default: return MEMBER_TEXT;
    }
}

void members_each(const struct op *op,
                  void (*one)(void *with, const char *name, enum member_type type, bool always,
                              const char *text),
                  void *with) {
    const struct op_member *members = op->members;
    size_t count = op->member_count;
    if (!members && op->kind == OP_WRITES) {
        members = OP_WRITTEN;
        count = OP_WRITTEN_COUNT;
    }
    for (size_t i = 0; i < count; i++)
        one(with, members[i].name, members[i].type, members[i].always, members[i].text);
    for (size_t i = 0; i < op->shown_count; i++)
        for (size_t k = 0; k < op->shown[i].shape->count; k++) {
            const struct field *field = &op->shown[i].shape->fields[k];
            if (!(field->flags & FIELD_HIDDEN))
                one(with, field->name, member_of(field->type), op->shown[i].always, field->text);
        }
}

static json_t *member_schema(enum member_type type) {
    switch (type) {
    case MEMBER_TEXT: return typed("string");
    case MEMBER_NUMBER: return typed("number");
    case MEMBER_FLAG: return typed("boolean");
    case MEMBER_OBJECT: return typed("object");
    case MEMBER_LIST: return typed("array");
    case MEMBER_TIME: return json_pack("{s:[s, s]}", "type", "string", "null");
    case MEMBER_ANY: break;
    }
    return json_object();
}

static void member_add(void *with, const char *name, enum member_type type, bool always,
                       const char *text) {
    json_t *schema = with, *member = member_schema(type);
    json_object_set_new(member, "description", json_string(text));
    json_object_set_new(json_object_get(schema, "properties"), name, member);
    if (always)
        json_array_append_new(json_object_get(schema, "required"), json_string(name));
}

json_t *schema_result(const struct op *op) {
    json_t *schema = json_pack("{s:s, s:s, s:{}, s:[]}", "$schema", DIALECT, "type", "object",
                               "properties", "required");
    members_each(op, member_add, schema);
    return schema;
}
