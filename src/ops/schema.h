/* SPDX-License-Identifier: Apache-2.0 */
/* What does an operation take and give, said as JSON Schema? From its rows, for every door that wants to tell. */
#pragma once

#include "ops/op.h"

/* JSON Schema 2020-12 without anyOf and oneOf (REPORT-03). A run need not name its goal: it has but one. NULL: no memory. */
json_t *schema_params(const struct op *op, enum role role);

/* A result may gain members: readers skip what they do not know. */
json_t *schema_result(const struct op *op);

/* Calls `one` for every member of the result, those of shapes too. */
void members_each(const struct op *op,
                  void (*one)(void *with, const char *name, enum member_type type, bool always,
                              const char *text),
                  void *with);

extern const struct names MEMBER_NAMES; /* text, number … */
