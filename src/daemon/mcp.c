/* SPDX-License-Identifier: Apache-2.0 */
/* How do agents get in? What a message means is said in mcp_message.c; here it arrives and leaves. */
#include "daemon/mcp.h"

#include "daemon/clock.h"
#include "daemon/mcp_message.h"
#include "daemon/mcp_session.h"

#include <stdio.h>
#include <stdlib.h>

static enum MHD_Result say(struct visit *visit, int status, int code, const char *what,
                           const char *header) {
    return visit_reply_json(visit, status, mcp_error(NULL, code, "%s", what), ERROR_NO_MEMORY,
                            header);
}

/* ---- what HTTP asks of a message ---- */

static bool names_one_of(const char *list, const char *const *types, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcasestr(list, types[i]))
            return true;
    return false;
}

/* 0, or the status of the refusal. */
static int headers_check(const struct visit *visit) {
    static const char *const JSON[] = {"application/json", "application/*", "*/*"};
    const char *accept = visit_header(visit, "Accept"), *type = visit_header(visit, "Content-Type");
    if (accept && !names_one_of(accept, JSON, count_of(JSON)))
        return 406;
    if (!type || strncasecmp(type, JSON[0], strlen(JSON[0])) != 0)
        return 415;
    return 0;
}

static bool session_known(struct visit *visit, const char *name) {
    return name &&
           session_is_known(visit->house->sessions, &visit->caller, str_of(name), clock_boot());
}

/* ---- one message ---- */

static enum MHD_Result reply(struct visit *visit, struct mcp_turn *turn) {
    json_t *json = turn->reply;
    turn->reply = NULL;
    if (!turn->opens)
        return visit_reply_json(visit, turn->status, json, ERROR_NO_MEMORY, NULL);
    char header[64], name[ID_TEXT + 1];
    uint8_t random[16];
    random_bytes(random, sizeof random);
    id_format(session_open(visit->house->sessions, &visit->caller, random, clock_boot()), name);
    snprintf(header, sizeof header, "Mcp-Session-Id: %s", name);
    return visit_reply_json(visit, turn->status, json, ERROR_NO_MEMORY, header);
}

static bool opens_session(const json_t *message) {
    const char *method = json_string_value(json_object_get(message, "method"));
    return method && strcmp(method, "initialize") == 0;
}

static enum MHD_Result message_take(struct visit *visit) {
    const char *name = visit_header(visit, "Mcp-Session-Id");
    struct mcp_turn *turn = calloc(1, sizeof *turn);
    if (!turn)
        return visit_reply_error(visit, ERROR_NO_MEMORY, "");
    visit->own = turn;
    *turn = (struct mcp_turn){.message = visit->json,
                              .caller = &visit->caller,
                              .in_session = session_known(visit, name),
                              .header = visit_header(visit, "MCP-Protocol-Version")};
    if (name && !turn->in_session && !opens_session(visit->json))
        return say(visit, 404, MCP_SESSION_GONE, "This session is over. Send initialize again.",
                   NULL);
    switch (mcp_turn(turn)) {
    case MCP_NOTHING: return visit_reply(visit, 202, "application/json", (struct str){"", 0}, NULL);
    case MCP_CALL: return visit_ask(visit, str_of(turn->op->name), turn->arguments);
    case MCP_REPLY: break;
    }
    return reply(visit, turn);
}

static enum MHD_Result post(struct visit *visit) {
    char why[256];
    int status = headers_check(visit);
    if (status)
        return say(visit, status, MCP_INVALID_REQUEST,
                   status == 406 ? "Accept has to name application/json."
                                 : "Content-Type has to be application/json.",
                   NULL);
    enum error error = visit_json(visit, why, sizeof why);
    if (error == ERROR_NOT_JSON)
        return say(visit, 400, MCP_PARSE_ERROR, why, NULL);
    return error ? visit_reply_error(visit, error, why) : message_take(visit);
}

static enum MHD_Result end(struct visit *visit) {
    const char *name = visit_header(visit, "Mcp-Session-Id");
    if (!name)
        return say(visit, 400, MCP_INVALID_REQUEST, "Which session? Send Mcp-Session-Id.", NULL);
    if (!session_end(visit->house->sessions, &visit->caller, str_of(name)))
        return say(visit, 404, MCP_SESSION_GONE, "There is no such session.", NULL);
    return visit_reply(visit, 204, "application/json", (struct str){"", 0}, NULL);
}

enum MHD_Result mcp_begin(struct visit *visit) {
    const char *method = visit->route->method;
    if (!visit->house->sessions)
        return visit_reply_error(visit, ERROR_NO_MEMORY, "");
    if (strcmp(method, "POST") == 0)
        return post(visit);
    if (strcmp(method, "DELETE") == 0)
        return end(visit);
    return say(visit, 405, MCP_INVALID_REQUEST, "There is no stream here: POST messages.",
               "Allow: POST, DELETE");
}

enum MHD_Result mcp_answered(struct visit *visit) {
    struct mcp_turn *turn = visit->own;
    enum error error = call_error(visit->call);
    json_t *result = error ? NULL : call_result(visit->call);
    if (!error &&
        !result) /* a write that is stored, and no memory to say so, is as if nobody had answered */
        error = turn->op->kind == OP_READS ? ERROR_NO_MEMORY : ERROR_STORE_AWAY;
    json_t *said = mcp_called(turn, error, call_why(visit->call), result);
    json_decref(result);
    return visit_reply_json(visit, 200, said, error ? error : ERROR_STORE_AWAY, NULL);
}

void mcp_forget(struct visit *visit) {
    struct mcp_turn *turn = visit->own;
    if (turn)
        json_decref(turn->reply);
    free(turn);
    visit->own = NULL;
}
