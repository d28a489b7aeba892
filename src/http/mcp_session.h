/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the sessions of MCP clients. A session grants no permission: each request is authenticated anew, and only the
 * caller that opened a session may continue it. */
#pragma once

#include "base/id.h"
#include "ops/caller.h"

struct sessions;

struct sessions *sessions_new(void);
void sessions_free(struct sessions *sessions);

/* When the table is full, the session that was unused for longest ends: its client has to send initialize again. */
struct id session_open(struct sessions *sessions, const struct caller *caller,
                       const uint8_t random[16], int64_t now);
bool session_is_known(struct sessions *sessions, const struct caller *caller, struct str name,
                      int64_t now);
bool session_end(struct sessions *sessions, const struct caller *caller, struct str name);
