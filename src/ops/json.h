/* SPDX-License-Identifier: Apache-2.0 */
/* How does a table of fields become JSON and back? */
#pragma once

#include "model/field.h"

#include <jansson.h>

/* Adds every field that is not hidden to the object. False: no memory. */
bool json_put_fields(json_t *object, const struct field *fields, size_t count, const void *from);

/* Reads an object into a struct; texts point into the object. Unknown names, wrong types, texts that are
 * too long and missing required fields are refused, with the name and the reason. */
bool json_get_fields(json_t *object, const struct field *fields, size_t count, void *ret, char *why,
                     size_t why_size);

/* jansson does not always say that it had no memory: a text that it reads may then lack a character. So its
 * allocations are watched, from the first call on. */
void json_watch(void);
/* Was it short of memory, in this thread, since this was last asked? */
bool json_ran_short(void);

/* Deeper than this is refused before it is parsed. */
bool json_depth_is_at_most(struct str text, int depth);
