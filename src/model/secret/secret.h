/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parts of a text that must never be stored: tokens, keys, cookies, passwords and phone numbers, recognised
 * by their shapes (STORE-14). The rows are in secret_shapes.c, their language in secret_pattern.h.
 *
 * A name without a value is no secret: "needs OPENAI_API_KEY" stays unchanged (STORE-15). */
#pragma once

#include "base/arena.h"

/* A replaced secret reads [redacted:NAME]. Such a mark is never searched again. */
#define SECRET_MARK "[redacted:"

struct secret_rules;

/* Compiles the rows of secret_shapes.c and the operator's own patterns. The rules live as long as the arena. Each
 * custom pattern must be valid: call secret_pattern_broken() first. */
const struct secret_rules *secret_rules_new(const struct str *custom, uint32_t custom_count,
                                            struct arena *arena);

/* NULL, or what is wrong with a pattern; then *ret_column is the position, counted from 1. */
const char *secret_pattern_broken(struct str pattern, uint32_t *ret_column);

bool secret_find(const struct secret_rules *rules, struct str text);

/* Returns the text itself if nothing is found; otherwise a copy in the arena with a mark in place of each secret. A
 * match makes the text longer by 32 bytes at most. Redacting again changes nothing. */
struct str secret_redact(const struct secret_rules *rules, struct str text, struct arena *arena);
