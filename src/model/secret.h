/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a text must never be kept? Tokens, keys, cookies, passwords and phone numbers, known
 * by their shapes (STORE-14). The rows stand in secret_shapes.c, their language in secret_pattern.h.
 *
 * A name without a value is no secret: "needs OPENAI_API_KEY" stays as it is (STORE-15). */
#pragma once

#include "base/arena.h"

/* What is replaced reads [redacted:NAME] afterwards. Such a mark is never looked into again. */
#define SECRET_MARK "[redacted:"

struct secret_rules;

/* The rows of secret_shapes.c and the operator's own, ready to use. They live as long as the arena.
 * Each of custom must be whole: secret_pattern_broken() says so first. */
const struct secret_rules *secret_rules_new(const struct str *custom, uint32_t custom_count,
                                            struct arena *arena);

/* NULL, or what is wrong with a pattern; then *ret_column is where, counted from 1. */
const char *secret_pattern_broken(struct str pattern, uint32_t *ret_column);

bool secret_find(const struct secret_rules *rules, struct str text);

/* The text itself when nothing is found; else a copy in the arena with a mark in place of each secret.
 * A find makes the text longer by 32 bytes at most. Redacting again changes nothing. */
struct str secret_redact(const struct secret_rules *rules, struct str text, struct arena *arena);
