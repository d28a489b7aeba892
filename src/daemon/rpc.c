/* SPDX-License-Identifier: Apache-2.0 */
/* How does a request look as JSON-RPC 2.0, and how its answer? */
#include "daemon/rpc.h"

#include "daemon/answer_cache.h"
#include "ops/json.h"

#include <stdio.h>

int rpc_code(enum error error) {
    switch (error) {
    case ERROR_NOT_JSON: return RPC_PARSE_ERROR;
    case ERROR_UNKNOWN_METHOD: return RPC_UNKNOWN_METHOD;
    case ERROR_INVALID: return RPC_INVALID_PARAMS;
    default: return RPC_OURS - (int)error;
    }
}

json_t *rpc_error(json_t *id, int code, enum error error, const char *why) {
    const struct error_row *row = &ERRORS[error];
    char message[1280];
    struct str said = str_cut_utf8(str_of(why), 512);
    while (said.len > 0 && !str_is_text(said))
        said.len--; /* it was cut inside a character */
    snprintf(message, sizeof message, "%.*s%s%s", STR_ARG(said), said.len ? " " : "",
             row->sentence);
    return json_pack("{s:s, s:o, s:{s:i, s:s, s:{s:s, s:i, s:s}}}", "jsonrpc", "2.0", "id",
                     id ? json_incref(id) : json_null(), "error", "code", code, "message", message,
                     "data", "code", row->code, "exit", row->exit_status, "class",
                     ERROR_CLASS[row->class]);
}

json_t *rpc_result(json_t *id, json_t *result) {
    return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

/* ---- the envelope ---- */

static bool refused(struct rpc_request *request, const char *why) {
    request->code = RPC_INVALID_REQUEST;
    snprintf(request->why, sizeof request->why, "%s", why);
    return false;
}

/* G-45: whoever writes has to hear what came of it, so there are no notifications. */
static bool id_is_read(const json_t *json, struct rpc_request *ret) {
    json_t *id = json_object_get(json, "id");
    if (!id)
        return refused(ret, "A request without \"id\" would be a notification: nobody would hear "
                            "what came of it, so it was not carried out.");
    if (!json_is_string(id) && !json_is_number(id))
        return refused(ret, "\"id\" has to be a text or a number.");
    ret->id = id;
    return true;
}

bool rpc_read(const json_t *json, struct rpc_request *ret) {
    *ret = (struct rpc_request){0};
    if (json_is_array(json))
        return refused(ret, "Batches are not taken. Send one request at a time.");
    if (!json_is_object(json))
        return refused(ret, "A JSON-RPC request is an object.");
    if (!id_is_read(json, ret))
        return false;
    const json_t *version = json_object_get(json, "jsonrpc");
    if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
        return refused(ret, "\"jsonrpc\" has to be \"2.0\".");
    const json_t *method = json_object_get(json, "method");
    if (!json_is_string(method))
        return refused(ret, "\"method\" has to be the name of an operation.");
    ret->method = (struct str){json_string_value(method), json_string_length(method)};
    ret->params = json_object_get(json, "params");
    return true;
}

/* ---- answers that are kept ---- */

static const char BEFORE_ID[] = "{\"jsonrpc\":\"2.0\",\"id\":", AFTER_ID[] = ",\"result\":";

/* The envelope up to the result, as rpc_result() prints it. False: the id is longer than what is worth keeping. */
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

/* False: nothing true is kept. */
static bool cache_send(struct visit *visit, const struct op *op, json_t *id, enum MHD_Result *ret) {
    char text[128], header[64];
    struct str before;
    struct answer_cache_found found;
    if (!envelope_print(id, text, sizeof text, &before) ||
        !answer_cache_find(op, visit->cache_goal, before, STR("}"),
                           visit_header(visit, "If-None-Match"), &found))
        return false;
    snprintf(header, sizeof header, "ETag: %s", found.tag);
    *ret = found.is_same ? visit_reply(visit, 304, NULL, STR(""), header)
                         : visit_reply_bytes(visit, 200, found.at, found.len, header);
    return true;
}

/* True: it was answered by what is kept. Otherwise the visit knows whether its own answer is to be kept. */
static bool cache_answered(struct visit *visit, const struct rpc_request *request,
                           enum MHD_Result *ret) {
    const struct op *op = op_find(request->method);
    visit->keeps = op && !safe_is_on(&visit->house->keeper->safe) &&
                   answer_cache_may_answer(op, &visit->caller, request->params, &visit->cache_goal);
    if (!visit->keeps)
        return false;
    visit->cache_mark = answer_cache_mark(visit->cache_goal);
    if (!cache_send(visit, op, request->id, ret))
        return false;
    call_was_cached(op);
    return true;
}

/* Printed once, kept, and sent from there. */
static bool cache_reply(struct visit *visit, json_t *id, enum MHD_Result *ret) {
    json_t *result = call_result(visit->call);
    char *printed = result ? json_dumps(result, JSON_COMPACT) : NULL;
    json_decref(result);
    if (printed && !json_ran_short())
        answer_cache_put(call_op(visit->call), visit->cache_goal, visit->cache_mark,
                         str_of(printed));
    free(printed);
    return cache_send(visit, call_op(visit->call), id, ret);
}

/* ---- the route ---- */

static enum MHD_Result error_reply(struct visit *visit, json_t *id, int code, enum error error,
                                   const char *why) {
    return visit_reply_json(visit, ERRORS[error].http_status, rpc_error(id, code, error, why),
                            error, NULL);
}

enum MHD_Result rpc_begin(struct visit *visit) {
    struct rpc_request request;
    char why[256] = "";
    enum error error = visit_json(visit, why, sizeof why);
    if (error)
        return error_reply(visit, NULL, rpc_code(error), error, why);
    if (!rpc_read(visit->json, &request))
        return error_reply(visit, request.id, request.code, ERROR_INVALID, request.why);
    enum MHD_Result result;
    if (cache_answered(visit, &request, &result))
        return result;
    return visit_ask(visit, request.method, request.params);
}

/* Without memory to say that a write was stored, it is as if the database had not answered. */
enum MHD_Result rpc_answered(struct visit *visit) {
    struct call *call = visit->call;
    json_t *id = json_object_get(visit->json, "id");
    enum error error = call_error(call);
    if (error)
        return error_reply(visit, id, rpc_code(error), error, call_why(call));
    enum MHD_Result result;
    if (visit->keeps && cache_reply(visit, id, &result))
        return result;
    const struct op *op = call_op(call);
    return visit_reply_json(visit, call_is_pending(call) ? 202 : 200,
                            rpc_result(id, call_result(call)),
                            op->kind == OP_WRITES ? ERROR_STORE_AWAY : ERROR_NO_MEMORY, NULL);
}
