/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the MCP interface for agents with any message. The first byte selects the sender and what came before; the
 * rest is a body as HTTP delivers it. */
#include "http/mcp_message.h"
#include "http/mcp_session.h"
#include "ops/json.h"

#include <stdlib.h>

static const char *const HEADERS[] = {NULL, "2025-11-25", "2025-03-26", "2026-07-28"};

/* The reply is a message that fits on one line. */
static void reply_check(json_t *reply, const json_t *id) {
    char *text = json_dumps(reply, JSON_COMPACT);
    must(text && !strchr(text, '\n'));
    must(json_object_get(reply, "result") || json_object_get(reply, "error"));
    must(!id || json_equal(json_object_get(reply, "id"), id));
    free(text);
    json_decref(reply);
}

/* As in call.c: the arguments are read, and then there is an answer of either kind. */
static void call_try(const struct mcp_turn *turn) {
    struct op_call call = {.op = turn->op, .caller = turn->caller};
    bool read = op_args_read(&call, turn->arguments) && op_allows(&call);
    must(read || call.error != ERROR_NONE);
    json_t *result = json_pack("{s:s}", "goalId", "goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN");
    reply_check(mcp_called(turn, call.error, call.why, result), turn->id);
    json_decref(result);
    op_call_free(&call);
}

static void session_try(struct str body, const struct caller *caller) {
    static struct sessions *sessions;
    static const uint8_t RANDOM[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    if (!sessions)
        sessions = sessions_new();
    char name[ID_TEXT + 1];
    id_format(session_open(sessions, caller, RANDOM, 1), name);
    must(session_is_known(sessions, caller, str_of(name), 1));
    session_is_known(sessions, caller, body, 2);
    session_end(sessions, caller, body);
    session_end(sessions, caller, str_of(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    struct str body = {(const char *)data + 1, size - 1};
    struct caller caller = {.role = (enum role)(1 + data[0] % (ROLES - 1)),
                            .actor = "actor:agent:a"};
    if (!json_depth_is_at_most(body, LIMIT_JSON_DEPTH))
        return 0;
    session_try(body, &caller);
    json_t *message = json_loadb(body.at, body.len, JSON_REJECT_DUPLICATES, NULL);
    struct mcp_turn turn = {.message = message,
                            .caller = &caller,
                            .in_session = data[0] & 64,
                            .header = HEADERS[data[0] >> 4 & 3]};
    enum mcp_next next = message ? mcp_turn(&turn) : MCP_NOTHING;
    must((next == MCP_REPLY) == (turn.reply != NULL));
    must((next == MCP_CALL) == (turn.op != NULL));
    if (next == MCP_REPLY)
        reply_check(turn.reply, turn.id);
    if (next == MCP_CALL)
        call_try(&turn);
    json_decref(message);
    return 0;
}
