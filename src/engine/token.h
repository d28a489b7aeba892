/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies callers by their tokens. G-03.
 *
 * Tokens belong to one host. The file `tokens` in its state folder has a line of JSON for each, with the SHA-256 of the
 * token and never the token: that is shown once, when it is made. The file is rewritten as a whole and synced before a
 * change counts; revoked and expired tokens are refused from the next request on, also on open connections. */
#pragma once

#include "engine/context.h"
#include "ops/op.h"
#include "sys/log.h"

enum { TOKEN_TEXT = 47 }; /* ovs_ and 43 characters of base64url: 256 random bits */

struct tokens;

/* A file that cannot be parsed is set aside and logged: what cannot be parsed authenticates no caller. NULL with an
 * error. */
struct tokens *tokens_open(const char *folder, char *error, size_t error_size);
void tokens_close(struct tokens *tokens);

/* False: the token is unknown or no longer valid. */
bool tokens_find(struct tokens *tokens, struct str text, int64_t now, struct caller *ret);
bool tokens_know(struct tokens *tokens, const struct hash *hash, int64_t now, struct caller *ret);
uint32_t tokens_count(struct tokens *tokens);

/* A token of a run: it is stored in the run's folder, not in our file, and ends with the run. An empty text is filled
 * in; one that is not empty is registered again after a restart. */
void tokens_lend(struct tokens *tokens, const struct caller *caller, char text[TOKEN_TEXT + 1]);
void tokens_take_back(struct tokens *tokens, struct str text);
/* The caller with the token that this run was lent. False: the run has none. */
bool tokens_of_run(struct tokens *tokens, const char *run, struct caller *ret);

/* Log lines about a run that calls: goal, task and run, as runs/run_log.h has them. */
static inline struct log_about caller_about(const struct caller *caller) {
    struct log_about about = {.goal = caller->goal, .task = str_of(caller->task)};
    if (!id_parse(str_of(caller->run), &about.run))
        about.run = (struct id){0};
    return about;
}

/* The operations: see answer_locally.h. */
void token_create_answer(struct daemon_context *context, struct op_call *call);
void token_list_answer(struct daemon_context *context, struct op_call *call);
void token_revoke_answer(struct daemon_context *context, struct op_call *call);
void token_rotate_answer(struct daemon_context *context, struct op_call *call);
