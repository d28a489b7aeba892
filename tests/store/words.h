/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the content of a store as text. */
#pragma once

#include "model/decision.h"

#include <stdio.h>

/* Prints the non-zero fields of a struct: status=active title="…" */
void words_print(FILE *out, const struct shape *shape, const void *from);

/* Prints a column's value, with the names that belong to its table and column. */
void words_int(FILE *out, const char *table, const char *column, int64_t value);
void words_text(FILE *out, struct str text);
void words_bytes(FILE *out, const char *table, const char *column, struct id goal, uint32_t n,
                 struct str bytes);

/* Compares the text with a golden file; with OVERSEER_GOLDEN=write in the environment the file is written first. */
void golden_check(const char *name, struct str text);

/* Compares the columns of a live schema with STORED, as one engine has them. `live` has a line for each column, each
 * beginning after a line break: "table.column type", with " null" at the end if it may be NULL. */
void schema_check(const char *live, bool postgres);
