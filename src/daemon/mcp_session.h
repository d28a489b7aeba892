/* SPDX-License-Identifier: Apache-2.0 */
/* Which MCP clients have introduced themselves? A session is no permission: who asks is found out anew for each request,
 * and only whoever opened a session may go on with it. */
#pragma once

#include "base/id.h"
#include "ops/caller.h"

struct sessions;

struct sessions *sessions_new(void); /* NULL: no memory */
void sessions_free(struct sessions *sessions);

/* When there are too many, the one that was silent for longest ends: its client introduces itself again. */
struct id session_open(struct sessions *sessions, const struct caller *caller,
                       const uint8_t random[16], int64_t now);
bool session_is_known(struct sessions *sessions, const struct caller *caller, struct str name,
                      int64_t now);
bool session_end(struct sessions *sessions, const struct caller *caller, struct str name);
