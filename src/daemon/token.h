/* SPDX-License-Identifier: Apache-2.0 */
/* Who is it that sends this token? G-03.
 *
 * Tokens belong to one host. The file `tokens` in its state folder has a line of JSON for each, with the SHA-256 of the
 * token and never the token: that is shown once, when it is made. The file is written whole, synced, before a change
 * counts; what is revoked or has expired is refused from the next request on, also on connections that are open. */
#pragma once

#include "daemon/house.h"
#include "ops/op.h"

enum { TOKEN_TEXT = 47 }; /* ovs_ and 43 characters of base64url: 256 random bits */

struct tokens;

/* A file that cannot be understood is set aside and said so: nobody is let in by it. NULL with an error. */
struct tokens *tokens_open(const char *folder, char *error, size_t error_size);
void tokens_close(struct tokens *tokens);

/* False: nobody's, or no longer. */
bool tokens_find(struct tokens *tokens, struct str text, int64_t now, struct caller *ret);
bool tokens_know(struct tokens *tokens, const struct hash *hash, int64_t now, struct caller *ret);
uint32_t tokens_count(struct tokens *tokens);

/* A run's own: it stands in the run's folder, not in our file, and ends with the run. An empty text is filled in; one that is
 * not is lent once more after a restart. False: there is no memory. */
bool tokens_lend(struct tokens *tokens, const struct caller *caller, char text[TOKEN_TEXT + 1]);
void tokens_take_back(struct tokens *tokens, struct str text);

/* The operations: see tell.h. */
void token_create_tell(struct house *house, struct op_call *call);
void token_list_tell(struct house *house, struct op_call *call);
void token_revoke_tell(struct house *house, struct op_call *call);
void token_rotate_tell(struct house *house, struct op_call *call);
