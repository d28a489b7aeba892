/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the parameters and results of operations as JSON Schema, from their rows, for every interface that needs
 * it. */
#pragma once

#include "ops/op.h"

/* JSON Schema 2020-12 without anyOf and oneOf (REPORT-03). A run need not name its goal: it has only one. NULL: no
 * memory. */
json_t *schema_params(const struct op *op, enum role role);

/* A result may gain members: readers have to ignore unknown ones. */
json_t *schema_result(const struct op *op);

/* Calls `one` for every member of the result, including those of shapes. */
void members_each(const struct op *op,
                  void (*one)(void *with, const char *name, enum member_type type, bool always,
                              const char *text),
                  void *with);

extern const struct names MEMBER_NAMES; /* text, number … */
