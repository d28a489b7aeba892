/* SPDX-License-Identifier: Apache-2.0 */
/* How does a token stand in its file, and how is it shown? */
#pragma once

#include "base/sha256.h"
#include "ops/caller.h"

#include <jansson.h>

enum { TOKEN_ID = 4 + 16 }; /* tok_ and the beginning of its hash */

struct token {
    struct hash hash;
    struct caller caller;
    int64_t created_at, expires_at;
    char note[LIMIT_NAME + 1];
    char by[LIMIT_ACTOR + 1]; /* who made it */
};

void token_id(const struct token *token, char text[TOKEN_ID + 1]);
json_t *token_json(const struct token *token); /* for people: without its hash */

/* Whole, or not at all; on the disk when it returns. */
bool token_file_write(const char *folder, const struct token *const *tokens, uint32_t count);

/* Calls `taken` for each. No file: none. One that cannot be understood is set aside. False with an error. */
bool token_file_read(const char *folder, bool (*taken)(void *with, const struct token *token),
                     void *with, char *error, size_t error_size);
