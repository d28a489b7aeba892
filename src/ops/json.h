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

/* Deeper than this is refused before it is parsed. */
bool json_depth_is_at_most(struct str text, int depth);
