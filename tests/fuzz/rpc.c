/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of JSON-RPC bodies: the envelope, and the form of the answer to it. */
#include "http/rpc.h"
#include "engine/safe_mode.h"
#include "ops/json.h"

#include <stdlib.h>

/* http.c covers the route's own part. */
enum MHD_Result http_request_ask(struct http_request *request, struct str method,
                                 const json_t *params) {
    (void)request, (void)method, (void)params;
    abort();
}
enum error http_request_json(struct http_request *request, char *why, size_t size) {
    (void)request, (void)why, (void)size;
    abort();
}
enum MHD_Result http_reply_json(struct http_request *request, int status, json_t *json,
                                enum error otherwise, const char *header) {
    (void)request, (void)status, (void)json, (void)otherwise, (void)header;
    abort();
}
enum MHD_Result http_reply(struct http_request *request, int status, const char *type,
                           struct str text, const char *header) {
    (void)request, (void)status, (void)type, (void)text, (void)header;
    abort();
}
enum MHD_Result http_reply_bytes(struct http_request *request, int status, char *text, size_t len,
                                 const char *header) {
    (void)request, (void)status, (void)text, (void)len, (void)header;
    abort();
}
const char *http_request_header(const struct http_request *request, const char *name) {
    (void)request, (void)name;
    abort();
}
bool safe_is_on(const struct safe *safe) {
    (void)safe;
    abort();
}
void call_was_cached(const struct op *op) {
    (void)op;
    abort();
}
enum error call_error(const struct call *call) {
    (void)call;
    abort();
}
const char *call_why(const struct call *call) {
    (void)call;
    abort();
}
json_t *call_result(struct call *call) {
    (void)call;
    abort();
}
bool call_is_pending(const struct call *call) {
    (void)call;
    abort();
}
const struct op *call_op(const struct call *call) {
    (void)call;
    abort();
}

static void answer_try(json_t *answer, const json_t *id) {
    must(answer != NULL);
    must(json_is_object(answer) && json_object_size(answer) == 3);
    must(id ? json_equal(json_object_get(answer, "id"), id)
            : json_is_null(json_object_get(answer, "id")));
    char *text = json_dumps(answer, JSON_COMPACT);
    must(text != NULL);
    free(text);
    json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rpc_request request;
    char why[256] = "";
    json_t *json = NULL;
    enum error error = json_read((struct str){(const char *)data, size}, &json, why, sizeof why);
    if (error) {
        must(error == ERROR_NOT_JSON && why[0] && !json);
        answer_try(rpc_error(NULL, rpc_code(error), error, why), NULL);
    } else if (rpc_read(json, &request)) {
        must(request.method.at && request.id);
        answer_try(rpc_result(request.id, json_object()), request.id);
        answer_try(rpc_error(request.id, RPC_OURS, ERROR_BUSY, request.method.at), request.id);
    } else
        answer_try(rpc_error(request.id, request.code, ERROR_INVALID, request.why), request.id);
    json_decref(json);
    return 0;
}
