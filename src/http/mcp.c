/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the Model Context Protocol over HTTP: receives and answers messages; mcp_message.c interprets them. */
#include "http/mcp.h"

#include "http/mcp_message.h"
#include "http/mcp_session.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

static enum MHD_Result say(struct http_request *request, int status, int code, const char *what,
                           const char *header) {
    return http_reply_json(request, status, mcp_error(NULL, code, "%s", what), ERROR_NO_MEMORY,
                           header);
}

/* ---- HTTP requirements for a message ---- */

static bool names_one_of(const char *list, const char *const *types, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcasestr(list, types[i]))
            return true;
    return false;
}

/* Returns 0, or the HTTP status of the refusal. */
static int headers_check(const struct http_request *request) {
    static const char *const JSON[] = {"application/json", "application/*", "*/*"};
    const char *accept = http_request_header(request, "Accept"),
               *type = http_request_header(request, "Content-Type");
    if (accept && !names_one_of(accept, JSON, count_of(JSON)))
        return 406;
    if (!type || strncasecmp(type, JSON[0], strlen(JSON[0])) != 0)
        return 415;
    return 0;
}

static bool session_known(struct http_request *request, const char *name) {
    return name && session_is_known(request->context->sessions, &request->caller, str_of(name),
                                    clock_boot());
}

/* ---- one message ---- */

static enum MHD_Result reply(struct http_request *request, struct mcp_turn *turn) {
    json_t *json = turn->reply;
    turn->reply = NULL;
    if (!turn->opens)
        return http_reply_json(request, turn->status, json, ERROR_NO_MEMORY, NULL);
    char header[64], name[ID_TEXT + 1];
    uint8_t random[16];
    random_bytes(random, sizeof random);
    id_format(session_open(request->context->sessions, &request->caller, random, clock_boot()),
              name);
    snprintf(header, sizeof header, "Mcp-Session-Id: %s", name);
    return http_reply_json(request, turn->status, json, ERROR_NO_MEMORY, header);
}

static bool opens_session(const json_t *message) {
    const char *method = json_string_value(json_object_get(message, "method"));
    return method && strcmp(method, "initialize") == 0;
}

static enum MHD_Result message_take(struct http_request *request) {
    const char *name = http_request_header(request, "Mcp-Session-Id");
    struct mcp_turn *turn = calloc(1, sizeof *turn);
    if (!turn)
        return http_reply_error(request, ERROR_NO_MEMORY, "");
    request->own = turn;
    *turn = (struct mcp_turn){.message = request->json,
                              .caller = &request->caller,
                              .in_session = session_known(request, name),
                              .header = http_request_header(request, "MCP-Protocol-Version")};
    if (name && !turn->in_session && !opens_session(request->json))
        return say(request, 404, MCP_SESSION_GONE, "This session is over. Send initialize again.",
                   NULL);
    switch (mcp_turn(turn)) {
    case MCP_NOTHING:
        return http_reply(request, 202, "application/json", (struct str){"", 0}, NULL);
    case MCP_CALL: return http_request_ask(request, str_of(turn->op->name), turn->arguments);
    case MCP_REPLY: break;
    }
    return reply(request, turn);
}

static enum MHD_Result post(struct http_request *request) {
    char why[256];
    int status = headers_check(request);
    if (status)
        return say(request, status, MCP_INVALID_REQUEST,
                   status == 406 ? "Accept must include application/json."
                                 : "Content-Type must be application/json.",
                   NULL);
    enum error error = http_request_json(request, why, sizeof why);
    if (error == ERROR_NOT_JSON)
        return say(request, 400, MCP_PARSE_ERROR, why, NULL);
    return error ? http_reply_error(request, error, why) : message_take(request);
}

static enum MHD_Result end(struct http_request *request) {
    const char *name = http_request_header(request, "Mcp-Session-Id");
    if (!name)
        return say(request, 400, MCP_INVALID_REQUEST, "The header Mcp-Session-Id is missing.",
                   NULL);
    if (!session_end(request->context->sessions, &request->caller, str_of(name)))
        return say(request, 404, MCP_SESSION_GONE, "Unknown session. Send initialize again.", NULL);
    return http_reply(request, 204, "application/json", (struct str){"", 0}, NULL);
}

enum MHD_Result mcp_begin(struct http_request *request) {
    const char *method = request->route->method;
    if (!request->context->sessions)
        return http_reply_error(request, ERROR_NO_MEMORY, "");
    if (strcmp(method, "POST") == 0)
        return post(request);
    if (strcmp(method, "DELETE") == 0)
        return end(request);
    return say(request, 405, MCP_INVALID_REQUEST, "This server offers no stream: POST messages.",
               "Allow: POST, DELETE");
}

enum MHD_Result mcp_answered(struct http_request *request) {
    struct mcp_turn *turn = request->own;
    enum error error = call_error(request->call);
    json_t *result = error ? NULL : call_result(request->call);
    if (!error &&
        !result) /* if a write was stored but there is no memory to say so, report it like a store that did not answer */
        error = turn->op->kind == OP_READS ? ERROR_NO_MEMORY : ERROR_STORE_AWAY;
    json_t *reply = mcp_called(turn, error, call_why(request->call), result);
    json_decref(result);
    return http_reply_json(request, 200, reply, error ? error : ERROR_STORE_AWAY, NULL);
}

void mcp_forget(struct http_request *request) {
    struct mcp_turn *turn = request->own;
    if (turn)
        json_decref(turn->reply);
    free(turn);
    request->own = NULL;
}
