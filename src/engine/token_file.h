/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the file of tokens, and renders a token as JSON. */
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
    char by[LIMIT_ACTOR + 1]; /* actor that made it */
};

void token_id(const struct token *token, char text[TOKEN_ID + 1]);
json_t *token_json(const struct token *token); /* for people: without its hash */

/* Written as a whole or not at all; on the disk when it returns. */
bool token_file_write(const char *folder, const struct token *const *tokens, uint32_t count);

/* Calls `taken` for each token. No file: no tokens. A file that cannot be parsed is set aside. False with an error. */
bool token_file_read(const char *folder, bool (*taken)(void *with, const struct token *token),
                     void *with, char *error, size_t error_size);
