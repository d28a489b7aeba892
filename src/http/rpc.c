/* SPDX-License-Identifier: Apache-2.0 */
#include "http/rpc.h"

#include "engine/answer_cache.h"
#include "ops/json.h"

#include <stdio.h>

json_t *rpc_result(json_t *id, json_t *result) {
    return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

/* ---- the envelope ---- */

static bool refused(struct rpc_request *rpc, const char *why) {
    rpc->code = RPC_INVALID_REQUEST;
    snprintf(rpc->why, sizeof rpc->why, "%s", why);
    return false;
}

/* G-45: a client that writes has to learn the outcome, so notifications are refused. */
static bool id_is_read(const json_t *json, struct rpc_request *ret) {
    json_t *id = json_object_get(json, "id");
    if (!id)
        return refused(
            ret, "A request without \"id\" is a notification, which has no response, so it was "
                 "not carried out.");
    if (!json_is_string(id) && !json_is_number(id))
        return refused(ret, "\"id\" must be a string or a number.");
    ret->id = id;
    return true;
}

bool rpc_read(const json_t *json, struct rpc_request *ret) {
    *ret = (struct rpc_request){0};
    if (json_is_array(json))
        return refused(ret, "Batches are not supported. Send one request at a time.");
    if (!json_is_object(json))
        return refused(ret, "A JSON-RPC request must be an object.");
    if (!id_is_read(json, ret))
        return false;
    const json_t *version = json_object_get(json, "jsonrpc");
    if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
        return refused(ret, "\"jsonrpc\" must be \"2.0\".");
    const json_t *method = json_object_get(json, "method");
    if (!json_is_string(method))
        return refused(ret, "\"method\" must be the name of an operation.");
    ret->method = (struct str){json_string_value(method), json_string_length(method)};
    ret->params = json_object_get(json, "params");
    return true;
}

/* ---- cached answers ---- */

static const char BEFORE_ID[] = "{\"jsonrpc\":\"2.0\",\"id\":", AFTER_ID[] = ",\"result\":";

/* Prints the envelope up to the result, as rpc_result() does. False: the id is too long to be worth caching. */
static bool envelope_print(json_t *id, char *text, size_t size, struct str *ret) {
    size_t len = sizeof BEFORE_ID - 1, rest = sizeof AFTER_ID - 1;
    memcpy(text, BEFORE_ID, len);
    size_t of_id = json_dumpb(id, text + len, size - len, JSON_COMPACT | JSON_ENCODE_ANY);
    if (of_id == 0 || of_id + len + rest > size)
        return false;
    memcpy(text + len + of_id, AFTER_ID, rest);
    *ret = (struct str){text, len + of_id + rest};
    return true;
}

/* False: the cache has no valid answer. */
static bool cache_send(struct http_request *request, const struct op *op, json_t *id,
                       enum MHD_Result *ret) {
    char text[128], header[64];
    struct str before;
    struct answer_cache_found found;
    if (!envelope_print(id, text, sizeof text, &before) ||
        !answer_cache_find(op, request->cache_goal, before, STR("}"),
                           http_request_header(request, "If-None-Match"), &found))
        return false;
    snprintf(header, sizeof header, "ETag: %s", found.tag);
    *ret = found.is_same ? http_reply(request, 304, NULL, STR(""), header)
                         : http_reply_bytes(request, 200, found.at, found.len, header);
    return true;
}

/* True: answered from the cache. Otherwise request->keeps says whether to cache the answer. */
static bool cache_answered(struct http_request *request, const struct rpc_request *rpc,
                           enum MHD_Result *ret) {
    const struct op *op = op_find(rpc->method);
    request->keeps =
        op && !safe_is_on(&request->context->ledger_thread->safe) &&
        answer_cache_may_answer(op, &request->caller, rpc->params, &request->cache_goal);
    if (!request->keeps)
        return false;
    request->cache_mark = answer_cache_mark(request->cache_goal);
    if (!cache_send(request, op, rpc->id, ret))
        return false;
    call_was_cached(op);
    return true;
}

/* Prints the result once, caches it, and sends it from the cache. */
static bool cache_reply(struct http_request *request, json_t *id, enum MHD_Result *ret) {
    json_t *result = call_result(request->call);
    char *printed = result ? json_dumps(result, JSON_COMPACT) : NULL;
    json_decref(result);
    if (printed && !json_ran_short())
        answer_cache_put(call_op(request->call), request->cache_goal, request->cache_mark,
                         str_of(printed));
    free(printed);
    return cache_send(request, call_op(request->call), id, ret);
}

/* ---- the route ---- */

static enum MHD_Result error_reply(struct http_request *request, json_t *id, int code,
                                   enum error error, const char *why) {
    return http_reply_json(request, ERRORS[error].http_status, rpc_error(id, code, error, why),
                           error, NULL);
}

enum MHD_Result rpc_begin(struct http_request *request) {
    struct rpc_request rpc;
    char why[256] = "";
    enum error error = http_request_json(request, why, sizeof why);
    if (error)
        return error_reply(request, NULL, rpc_code(error), error, why);
    if (!rpc_read(request->json, &rpc))
        return error_reply(request, rpc.id, rpc.code, ERROR_INVALID, rpc.why);
    enum MHD_Result result;
    if (cache_answered(request, &rpc, &result))
        return result;
    return http_request_ask(request, rpc.method, rpc.params);
}

/* If there is no memory to say that a write was stored, report it like a database that did not answer. */
enum MHD_Result rpc_answered(struct http_request *request) {
    struct call *call = request->call;
    json_t *id = json_object_get(request->json, "id");
    enum error error = call_error(call);
    if (error)
        return error_reply(request, id, rpc_code(error), error, call_why(call));
    enum MHD_Result result;
    if (request->keeps && cache_reply(request, id, &result))
        return result;
    const struct op *op = call_op(call);
    return http_reply_json(request, call_is_pending(call) ? 202 : 200,
                           rpc_result(id, call_result(call)),
                           op->kind == OP_WRITES ? ERROR_STORE_AWAY : ERROR_NO_MEMORY, NULL);
}
