/* SPDX-License-Identifier: Apache-2.0 */
/* What does a store hold, in words? */
#pragma once

#include "model/decision.h"

#include <stdio.h>

/* A struct as its fields that are not zero: status=active title="…" */
void words_print(FILE *out, const struct shape *shape, const void *from);

/* A value of a column, by the names of its table and its own. */
void words_int(FILE *out, const char *table, const char *column, int64_t value);
void words_text(FILE *out, struct str text);
void words_bytes(FILE *out, const char *table, const char *column, struct id goal, uint32_t n,
                 struct str bytes);

/* The text of a golden file; with OVERSEER_GOLDEN=write in the environment it is written first. */
void golden_check(const char *name, struct str text);
