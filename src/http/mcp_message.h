/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets MCP messages and builds the answers to them. Independent of HTTP, sockets and time (API-10). */
#pragma once

#include "ops/op.h"

/* One message and its outcome. */
struct mcp_turn {
    const json_t *message; /* as received: any JSON */
    const struct caller *caller;
    bool in_session;    /* the message named a known session */
    const char *header; /* MCP-Protocol-Version, or NULL */

    const json_t *id; /* NULL: the client expects no answer */
    bool opens;       /* initialize: the answer opens a session */
    const struct op *op;
    const json_t *arguments; /* of op; NULL: none */
    int status;              /* HTTP status */
    json_t *reply;           /* NULL: none, or no memory. The sender takes ownership */
};

enum mcp_next {
    MCP_REPLY,   /* `status` and `reply` are the answer */
    MCP_NOTHING, /* accepted without a reply: a notification, or an answer */
    MCP_CALL,    /* call `op` with `arguments`, then mcp_called() */
};

enum mcp_next mcp_turn(struct mcp_turn *turn);

/* The reply to a tool call. Errors go to the model, with the same code and sentence as in the other interfaces, because
 * the model can act on them. */
json_t *mcp_called(const struct mcp_turn *turn, enum error error, const char *why,
                   const json_t *result);

/* An error reply: a JSON-RPC code and a sentence. */
json_t *mcp_error(const json_t *id, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_SESSION_GONE = -32001
};
