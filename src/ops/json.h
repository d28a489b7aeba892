/* SPDX-License-Identifier: Apache-2.0 */
/* How does a table of fields become JSON and back? */
#pragma once

#include "base/arena.h"
#include "model/error.h"
#include "model/field.h"

#include <jansson.h>

/* Adds every field that is not hidden to the object. False: no memory. */
bool json_put_fields(json_t *object, const struct field *fields, size_t count, const void *from);

/* One field's value; NULL: no memory. */
json_t *json_of(const struct field *field, const void *at);

/* Reads members of an object into a struct: those that are there. Texts point into the object, lists come
 * from the arena. A wrong type, a text that is too long and a name that the enum has not are refused, with
 * the field's name and the reason. Members that are no fields are left alone: see json_only_fields(). */
bool json_get_fields(const json_t *object, const struct field *fields, size_t count,
                     struct arena *arena, void *ret, char *why, size_t why_size);

/* The first member that is none of these fields, or NULL. */
const struct field *json_field_named(const struct field *fields, size_t count, const char *name);

/* jansson does not always say that it had no memory: a text that it reads may then lack a character. So its
 * allocations are watched, from the first call on. */
void json_watch(void);
/* Was it short of memory, in this thread, since this was last asked? */
bool json_ran_short(void);

/* Parse a text that came from outside: bounded depth, no duplicate keys. ERROR_NOT_JSON with what is wrong where, or
 * ERROR_NO_MEMORY. */
enum error json_read(struct str text, json_t **ret, char *why, size_t why_size);

/* Deeper than this is refused before it is parsed. */
bool json_depth_is_at_most(struct str text, int depth);
