/* SPDX-License-Identifier: Apache-2.0 */
/* Converts structs to JSON and back by their tables of fields. */
#pragma once

#include "base/arena.h"
#include "model/error.h"
#include "model/field.h"

#include <jansson.h>

/* Adds every field that is not hidden to the object. False: no memory. */
bool json_put_fields(json_t *object, const struct field *fields, size_t count, const void *from);

void json_put_text(json_t *object, const char *name, struct str text); /* unless it is empty */
json_t *json_of_time(int64_t at);                                      /* null: 0, or never */

/* One field's value; NULL: no memory. */
json_t *json_of(const struct field *field, const void *at);

/* Reads those members of an object that are present into a struct. Texts point into the object, lists come from the
 * arena. A wrong type, a text that is too long and an unknown name of an enum are refused, with the field's name and
 * the reason. Members that are not fields are ignored: find them with json_field_named(). */
bool json_get_fields(const json_t *object, const struct field *fields, size_t count,
                     struct arena *arena, void *ret, char *why, size_t why_size);

/* The field with this name, or NULL. */
const struct field *json_field_named(const struct field *fields, size_t count, const char *name);

/* jansson does not always report that it had no memory: a text that it reads may then lack a character. So its
 * allocations are monitored from the first call on. */
void json_count_memory(void);
/* Did an allocation fail in this thread since the last call? */
bool json_ran_short(void);

/* Parses external text: bounded depth, no duplicate keys. ERROR_NOT_JSON with the position and the reason, or
 * ERROR_NO_MEMORY. */
enum error json_read(struct str text, json_t **ret, char *why, size_t why_size);

/* Checked before parsing: deeper texts are refused. */
bool json_depth_is_at_most(struct str text, int depth);
