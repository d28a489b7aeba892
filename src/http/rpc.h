/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON-RPC 2.0 requests and writes the answers. POST /rpc, one request per body. */
#pragma once

#include "http/http_request.h"

enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_UNKNOWN_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_OURS = -32000, /* minus the number of the error */
};

struct rpc_request {
    json_t *id; /* a text or a number; NULL: no usable id */
    struct str method;
    json_t *params; /* NULL: none */
    int code;       /* why it cannot be executed; 0: it can */
    char why[256];
};

/* Reads a request from JSON. Texts and members belong to `json`. False: code and why say what is wrong. */
bool rpc_read(const json_t *json, struct rpc_request *ret);

int rpc_code(enum error error);
/* Borrows the id. NULL: no memory. */
json_t *rpc_error(json_t *id, int code, enum error error, const char *why);
json_t *rpc_result(json_t *id, json_t *result); /* takes ownership of the result */

enum MHD_Result rpc_begin(struct http_request *request);
enum MHD_Result rpc_answered(struct http_request *request);
