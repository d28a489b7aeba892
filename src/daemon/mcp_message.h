/* SPDX-License-Identifier: Apache-2.0 */
/* What does an MCP message ask for, and what is said to it? Nothing here knows HTTP, sockets or time (API-10). */
#pragma once

#include "ops/op.h"

/* One message and what comes of it. */
struct mcp_turn {
    const json_t *message; /* as it came: any JSON */
    const struct caller *caller;
    bool in_session;    /* it named a session that is known */
    const char *header; /* MCP-Protocol-Version, or NULL */

    const json_t *id; /* NULL: nobody waits for an answer */
    bool opens;       /* initialize: a session begins with the answer */
    const struct op *op;
    const json_t *arguments; /* of op; NULL: none */
    int status;              /* of HTTP */
    json_t *reply;           /* NULL: none, or no memory. Whoever sends it takes it over */
};

enum mcp_next {
    MCP_REPLY,   /* `status` and `reply` are the answer */
    MCP_NOTHING, /* accepted, and nothing is said: a notification, or an answer to something */
    MCP_CALL,    /* `op` is to be called with `arguments`; then mcp_called() */
};

enum mcp_next mcp_turn(struct mcp_turn *turn);

/* What the client is told about the call. An error is told to the model, with the code and the sentence of the other
 * doors, for it can do something about it. */
json_t *mcp_called(const struct mcp_turn *turn, enum error error, const char *why,
                   const json_t *result);

/* An answer by itself: JSON-RPC's code, and a sentence. */
json_t *mcp_error(const json_t *id, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_SESSION_GONE = -32001
};
