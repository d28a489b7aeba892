/* SPDX-License-Identifier: Apache-2.0 */
/* How does a request look as JSON-RPC 2.0, and how its answer? POST /rpc, one request a body. */
#pragma once

#include "daemon/visit.h"

enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_UNKNOWN_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_OURS = -32000, /* minus the error's number */
};

struct rpc_request {
    json_t *id; /* a text or a number; NULL: none that could be answered */
    struct str method;
    json_t *params; /* NULL: none */
    int code;       /* why it cannot be carried out; 0: it can */
    char why[256];
};

/* What does this JSON ask for? Texts and members belong to it. False: code and why say what is wrong. */
bool rpc_read(const json_t *json, struct rpc_request *ret);

int rpc_code(enum error error);
/* Borrows the id. NULL: no memory. */
json_t *rpc_error(json_t *id, int code, enum error error, const char *why);
json_t *rpc_result(json_t *id, json_t *result); /* owns the result */

enum MHD_Result rpc_begin(struct visit *visit);
enum MHD_Result rpc_answered(struct visit *visit);
