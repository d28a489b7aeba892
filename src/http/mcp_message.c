/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp_message.h"

#include "ops/json.h"
#include "ops/schema.h"
#include "ops/tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Newest first. The last one is accepted in the header, but not offered by initialize. */
static const char *const REVISIONS[] = {"2025-11-25", "2025-06-18", "2025-03-26"};
enum { OFFERED = 2 };

static const char FOR_AGENTS[] =
    "Overseer keeps the goal that you work on. Report often with goal_report, in a "
    "sentence or two: what was done, what comes next, what blocks you; "
    "report_progress reports how far you are, report_completion the end of your "
    "work. You need not name the goal: it is always your own. plan_show has the work "
    "and its dependencies. Overseer checks whether work is done; your word does not "
    "decide it. When the plan is wrong, ask for a review with plan_review.";
static const char FOR_OTHERS[] =
    "Overseer keeps goals, their plans and the records of all decisions. A write is "
    "durable when the tool returns; repeat a write with the same `key` to apply it "
    "once. A goal is named by T and its number, its id, or a unique prefix of that.";

/* ---- answers ---- */

json_t *mcp_error(const json_t *id, int code, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    struct str cut = str_of(message);
    while (cut.len > 0 && !str_is_text(cut))
        cut.len--; /* it was cut inside a character */
    return json_pack("{s:s, s:O?, s:{s:i, s:s%}}", "jsonrpc", "2.0", "id", id, "error", "code",
                     code, "message", cut.at, cut.len);
}

static enum mcp_next refuse(struct mcp_turn *turn, int status, json_t *reply) {
    turn->status = status;
    turn->reply = reply;
    return MCP_REPLY;
}

static enum mcp_next answer(struct mcp_turn *turn, json_t *result) {
    return refuse(turn, 200,
                  json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", turn->id, "result", result));
}

/* ---- tools ---- */

/* The summary, followed by the help without its lines for the command line. */
static json_t *description(const struct op *op) {
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", op->summary);
    for (const char *line = op->help, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (strncmp(line, "Example:", 8) != 0 && used < sizeof text)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, " %.*s", (int)(end - line), line);
    }
    return json_string(text);
}

static json_t *annotations(const struct op *op) {
    bool reads = op->kind == OP_READS || (op->kind == OP_LOCAL && op->may & MAY_READER);
    return json_pack("{s:b, s:b, s:b, s:b}", "readOnlyHint", reads, "destructiveHint",
                     !reads && op->asks_first, "idempotentHint", reads || op->merges,
                     "openWorldHint", 0);
}

static json_t *tool(const char *name, const struct op *op, enum role role) {
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", name, "description", description(op),
                     "inputSchema", schema_params(op, role), "outputSchema", schema_result(op),
                     "annotations", annotations(op));
}

static json_t *tools(const struct caller *caller) {
    enum role role = caller->role;
    json_t *list = json_array();
    for (size_t i = 0; i < OP_COUNT; i++) {
        char name[TOOL_NAME];
        const char *also = tool_also(OPS[i]);
        if (!tool_is_seen(OPS[i], role) || tool_is_denied(OPS[i], caller))
            continue;
        tool_name(OPS[i], name);
        json_array_append_new(list, tool(name, OPS[i], role));
        if (also)
            json_array_append_new(list, tool(also, OPS[i], role));
    }
    return json_pack("{s:o}", "tools", list);
}

/* ---- methods ---- */

static enum mcp_next initialize(struct mcp_turn *turn, const json_t *params) {
    const char *asked = json_string_value(json_object_get(params, "protocolVersion"));
    if (!asked)
        return refuse(
            turn, 200,
            mcp_error(turn->id, MCP_INVALID_PARAMS, "initialize needs \"protocolVersion\"."));
    const char *revision = REVISIONS[0];
    for (size_t i = 0; i < OFFERED; i++)
        if (strcmp(asked, REVISIONS[i]) == 0)
            revision = REVISIONS[i];
    turn->opens = true;
    return answer(turn, json_pack("{s:s, s:{s:{s:b}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion",
                                  revision, "capabilities", "tools", "listChanged", 0, "serverInfo",
                                  "name", "overseer", "title", "Overseer", "version",
                                  OVERSEER_VERSION, "instructions",
                                  turn->caller->role == ROLE_RUN ? FOR_AGENTS : FOR_OTHERS));
}

static enum mcp_next ping(struct mcp_turn *turn, const json_t *params) {
    (void)params;
    return answer(turn, json_object());
}

static enum mcp_next tools_list(struct mcp_turn *turn, const json_t *params) {
    if (op_given(params, "cursor")) /* the first page has all tools */
        return refuse(turn, 200, mcp_error(turn->id, MCP_INVALID_PARAMS, "Unknown cursor."));
    return answer(turn, tools(turn->caller));
}

static enum mcp_next tools_call(struct mcp_turn *turn, const json_t *params) {
    const json_t *name = json_object_get(params, "name");
    struct str cut = {json_string_value(name), json_string_length(name)};
    turn->op = cut.at ? tool_find(cut) : NULL;
    turn->arguments = json_object_get(params, "arguments");
    if (!turn->op)
        return refuse(turn, 200,
                      mcp_error(turn->id, MCP_INVALID_PARAMS, "Unknown tool \"%.64s\".",
                                cut.at ? cut.at : ""));
    return MCP_CALL;
}

static const struct method {
    const char *name;
    bool in_session; /* only after initialize */
    enum mcp_next (*turn)(struct mcp_turn *turn, const json_t *params);
} METHODS[] = {
    {"initialize", false, initialize},
    {"ping", false, ping},
    {"tools/list", true, tools_list},
    {"tools/call", true, tools_call},
};

static const struct method *method_find(const char *name) {
    for (size_t i = 0; i < count_of(METHODS); i++)
        if (strcmp(METHODS[i].name, name) == 0)
            return &METHODS[i];
    return NULL;
}

/* ---- messages ---- */

static bool revision_is_known(const char *revision) {
    for (size_t i = 0; i < count_of(REVISIONS); i++)
        if (strcmp(REVISIONS[i], revision) == 0)
            return true;
    return false;
}

/* An unknown method is reported before anything else: newer clients probe with a method that older revisions lack
 * whether we speak theirs, and continue with initialize after this answer. */
static enum mcp_next request_turn(struct mcp_turn *turn, const char *name, const json_t *params) {
    const struct method *method = method_find(name);
    if (!method)
        return refuse(turn, 200,
                      mcp_error(turn->id, MCP_NO_METHOD, "Unknown method \"%.64s\".", name));
    if (params && !json_is_object(params))
        return refuse(turn, 200,
                      mcp_error(turn->id, MCP_INVALID_PARAMS, "\"params\" must be an object."));
    if (method->turn != initialize && turn->header && !revision_is_known(turn->header))
        return refuse(turn, 400,
                      mcp_error(turn->id, MCP_INVALID_REQUEST,
                                "MCP-Protocol-Version %.32s is not supported; %s and %s are.",
                                turn->header, REVISIONS[0], REVISIONS[1]));
    if (method->in_session && !turn->in_session)
        return refuse(turn, 400,
                      mcp_error(turn->id, MCP_INVALID_REQUEST,
                                "Send initialize first, and Mcp-Session-Id from then on."));
    return method->turn(turn, params);
}

static bool is_id(const json_t *id) {
    return json_is_string(id) || json_is_number(id);
}

static enum mcp_next nonsense(struct mcp_turn *turn, const char *what) {
    turn->id = NULL;
    return refuse(turn, 400, mcp_error(NULL, MCP_INVALID_REQUEST, "%s", what));
}

enum mcp_next mcp_turn(struct mcp_turn *turn) {
    const json_t *message = turn->message;
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    const json_t *method = json_object_get(message, "method");
    if (json_is_array(message))
        return nonsense(turn, "One message at a time: batches are not part of this protocol.");
    if (!version || strcmp(version, "2.0") != 0)
        return nonsense(turn, "A message must be an object with \"jsonrpc\": \"2.0\".");
    turn->id = json_object_get(message, "id");
    if (turn->id && !is_id(turn->id))
        return nonsense(turn, "\"id\" must be a string or a number.");
    if (!method && (json_object_get(message, "result") || json_object_get(message, "error")))
        return MCP_NOTHING; /* an answer, but we sent no request */
    if (!json_is_string(method))
        return nonsense(turn, "A request needs a \"method\".");
    if (!turn->id)
        return MCP_NOTHING;
    return request_turn(turn, json_string_value(method), json_object_get(message, "params"));
}

/* ---- results of calls ---- */

static json_t *called_badly(enum error error, const char *why) {
    const struct error_row *row = &ERRORS[error];
    char text[1024];
    struct str cut = str_of(why);
    while (cut.len > 0 && !str_is_text(cut))
        cut.len--;
    snprintf(text, sizeof text, "%s: %.*s%s%s", row->code, STR_ARG(cut), cut.len ? " " : "",
             row->sentence);
    return json_pack("{s:[{s:s, s:s}], s:b, s:{s:{s:s, s:i}}}", "content", "type", "text", "text",
                     text, "isError", 1, "_meta", "overseer/error", "code", row->code, "exit",
                     row->exit_status);
}

/* Clients that do not read structured content get the same result as text. */
static json_t *called_well(const json_t *result) {
    char *text = json_dumps(result, JSON_COMPACT);
    json_t *json = json_pack("{s:[{s:s, s:s}], s:O, s:b}", "content", "type", "text", "text",
                             text ? text : "", "structuredContent", result, "isError", 0);
    free(text);
    return json;
}

json_t *mcp_called(const struct mcp_turn *turn, enum error error, const char *why,
                   const json_t *result) {
    json_t *cut = error ? called_badly(error, why) : called_well(result);
    return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", turn->id, "result", cut);
}
