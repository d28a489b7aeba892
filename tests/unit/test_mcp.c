/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that every message of the agents' interface is understood and answered as the protocol says, without any
 * transport (API-10). */
#include "unit.h"

#include "http/mcp_message.h"
#include "http/mcp_session.h"
#include "ops/json.h"
#include "ops/schema.h"
#include "ops/tool.h"

static const struct caller PERSON = {.role = ROLE_HUMAN, .actor = "human:1000"};
static const struct caller RUN_ONE = {
    .role = ROLE_RUN, .actor = "actor:agent:coder-1", .run = "R_1"};
static const struct caller RUN_TWO = {
    .role = ROLE_RUN, .actor = "actor:agent:coder-1", .run = "R_2"};

/* One message, and the result of handling it. */
struct heard {
    json_t *message;
    struct mcp_turn turn;
    enum mcp_next next;
};

static struct heard hear(const char *text, const struct caller *caller, bool in_session,
                         const char *header) {
    struct heard heard = {.message = json_loads(text, JSON_DECODE_ANY, NULL)};
    check(heard.message, "%s", text);
    heard.turn = (struct mcp_turn){
        .message = heard.message, .caller = caller, .in_session = in_session, .header = header};
    heard.next = mcp_turn(&heard.turn);
    return heard;
}

static void forget(struct heard *heard) {
    json_decref(heard->turn.reply);
    json_decref(heard->message);
}

static int code_of(const json_t *reply) {
    return (int)json_integer_value(json_object_get(json_object_get(reply, "error"), "code"));
}

/* ---- valid and invalid messages ---- */

static const struct {
    const char *text;
    enum mcp_next next;
    int status, code; /* 0: no error */
    bool in_session;
    const char *header;
} MESSAGES[] = {
    {"[]", MCP_REPLY, 400, MCP_INVALID_REQUEST, true, NULL},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", MCP_REPLY, 400, MCP_INVALID_REQUEST,
     true, NULL},
    {"7", MCP_REPLY, 400, MCP_INVALID_REQUEST, true, NULL},
    {"null", MCP_REPLY, 400, MCP_INVALID_REQUEST, true, NULL},
    {"{}", MCP_REPLY, 400, MCP_INVALID_REQUEST, true, NULL},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", MCP_REPLY, 400, MCP_INVALID_REQUEST,
     true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}", MCP_REPLY, 400, MCP_INVALID_REQUEST, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", MCP_REPLY, 400, MCP_INVALID_REQUEST,
     true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", MCP_REPLY, 400, MCP_INVALID_REQUEST,
     true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", MCP_REPLY, 400, MCP_INVALID_REQUEST, true,
     NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MCP_REPLY, 200, 0, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}", MCP_REPLY, 200, 0, false, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MCP_REPLY, 200, 0, true, "2025-06-18"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MCP_REPLY, 200, 0, true, "2025-03-26"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MCP_REPLY, 400, MCP_INVALID_REQUEST,
     true, "1999-01-01"},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", MCP_NOTHING, 0, 0, true,
     NULL},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"nobody/knows\"}", MCP_NOTHING, 0, 0, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", MCP_NOTHING, 0, 0, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":1,\"message\":\"\"}}", MCP_NOTHING, 0, 0,
     true, NULL},
    /* newer clients send this first, with their own revision in the header */
    {"{\"jsonrpc\":\"2.0\",\"id\":\"server-discover-probe-1\",\"method\":\"server/discover\",\"params\":{\"_meta\":{}}}",
     MCP_REPLY, 200, MCP_NO_METHOD, false, "2026-07-28"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", MCP_REPLY, 200, MCP_NO_METHOD,
     true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", MCP_REPLY, 400,
     MCP_INVALID_REQUEST, false, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":[]}", MCP_REPLY, 200,
     MCP_INVALID_PARAMS, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}",
     MCP_REPLY, 200, MCP_INVALID_PARAMS, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}", MCP_REPLY, 200, 0,
     true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", MCP_REPLY, 200, MCP_INVALID_PARAMS,
     true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"goal.report\"}}",
     MCP_REPLY, 200, MCP_INVALID_PARAMS, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"goal_report\"}}",
     MCP_CALL, 0, 0, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"report_progress\",\"arguments\":7}}",
     MCP_CALL, 0, 0, true, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"goal_show\"}}",
     MCP_REPLY, 400, MCP_INVALID_REQUEST, false, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}", MCP_REPLY, 200,
     MCP_INVALID_PARAMS, false, NULL},
};

static void every_message_has_its_answer(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(MESSAGES); i++) {
        struct heard heard =
            hear(MESSAGES[i].text, &PERSON, MESSAGES[i].in_session, MESSAGES[i].header);
        check(heard.next == MESSAGES[i].next, "%s: %d", MESSAGES[i].text, heard.next);
        check(heard.turn.status == MESSAGES[i].status, "%s: %d", MESSAGES[i].text,
              heard.turn.status);
        check(code_of(heard.turn.reply) == MESSAGES[i].code, "%s: %d", MESSAGES[i].text,
              code_of(heard.turn.reply));
        check(!heard.turn.opens, "%s", MESSAGES[i].text);
        check((heard.next == MCP_REPLY) == (heard.turn.reply != NULL), "%s", MESSAGES[i].text);
        if (heard.next == MCP_REPLY && heard.turn.status == 200)
            check(json_equal(json_object_get(heard.turn.reply, "id"),
                             json_object_get(heard.message, "id")),
                  "%s", MESSAGES[i].text);
        forget(&heard);
    }
    proof_passed("unit", "every_message_has_its_answer", "API-10");
}

/* ---- initialize ---- */

static void revision_is(const char *asked, const char *answered) {
    char text[256];
    snprintf(
        text, sizeof text,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"%s\","
        "\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
        asked);
    struct heard heard = hear(text, &RUN_ONE, false, NULL);
    const json_t *result = json_object_get(heard.turn.reply, "result");
    assert_true(heard.turn.opens);
    assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")), answered);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(result, "serverInfo"), "name")),
        "overseer");
    assert_non_null(json_object_get(json_object_get(result, "capabilities"), "tools"));
    assert_non_null(
        strstr(json_string_value(json_object_get(result, "instructions")), "goal_report"));
    forget(&heard);
}

static void revisions_are_agreed_on(void **state) {
    (void)state;
    revision_is("2025-06-18", "2025-06-18");
    revision_is("2025-11-25", "2025-11-25");
    revision_is("2024-11-05", "2025-11-25");
    revision_is("2026-07-28", "2025-11-25");
    revision_is("", "2025-11-25");
}

/* ---- tools ---- */

static void no_choice_of_schemas(const json_t *schema) {
    const char *name;
    json_t *value;
    size_t i;
    if (json_is_array(schema)) {
        json_array_foreach(schema, i, value) no_choice_of_schemas(value);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)schema, name, value) {
        check(strcmp(name, "anyOf") && strcmp(name, "oneOf") && strcmp(name, "allOf"), "%s", name);
        no_choice_of_schemas(value);
    }
}

static size_t tools_are_declared(const struct caller *caller) {
    struct heard heard =
        hear("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", caller, true, NULL);
    const json_t *tools = json_object_get(json_object_get(heard.turn.reply, "result"), "tools");
    size_t i, count = json_array_size(tools);
    json_t *tool;
    json_array_foreach(tools, i, tool) {
        const json_t *name = json_object_get(tool, "name");
        const struct op *op =
            tool_find((struct str){json_string_value(name), json_string_length(name)});
        const json_t *takes = json_object_get(tool, "inputSchema");
        check(op && op->may & 1u << caller->role, "%s", json_string_value(name));
        check(caller->role != ROLE_RUN || op->for_agents, "%s", op->name);
        check(strspn(json_string_value(name), "abcdefghijklmnopqrstuvwxyz_") ==
                  json_string_length(name),
              "%s", json_string_value(name));
        check(!strstr(json_string_value(json_object_get(tool, "description")), "Example:"), "%s",
              op->name);
        check(json_is_false(json_object_get(takes, "additionalProperties")), "%s", op->name);
        check(json_object_size(
                  json_object_get(json_object_get(tool, "outputSchema"), "properties")) > 0,
              "%s says nothing about its result", op->name);
        check(json_is_true(json_object_get(json_object_get(tool, "annotations"), "readOnlyHint")) ||
                  op->kind != OP_READS,
              "%s", op->name);
        no_choice_of_schemas(tool);
    }
    forget(&heard);
    return count;
}

static void tools_follow_from_the_table(void **state) {
    (void)state;
    size_t people = tools_are_declared(&PERSON), agents = tools_are_declared(&RUN_ONE);
    assert_true(agents > 0 && agents < people);
    for (size_t i = 0; i < OP_COUNT; i++) {
        char name[TOOL_NAME];
        tool_name(OPS[i], name);
        check(tool_find(str_of(name)) == OPS[i], "%s", name);
    }
    assert_ptr_equal(tool_find(str_of("report_progress")), op_find(str_of("agent.progress")));
    assert_ptr_equal(op_find(str_of("admission.show")), op_find(str_of("desk.show")));
    assert_ptr_equal(op_find(str_of("admission.release")), op_find(str_of("desk.release")));
    assert_non_null(op_find(str_of("desk.show")));
    assert_null(tool_find(str_of("goal")));
    proof_passed("unit", "tools_follow_from_the_table", "REPORT-03 API-10 TEST-11");
}

static void a_run_need_not_name_its_goal(void **state) {
    (void)state;
    const struct op *op = op_find(str_of("goal.report"));
    json_t *mine = schema_params(op, ROLE_RUN), *others = schema_params(op, ROLE_HUMAN);
    assert_int_equal(json_array_size(json_object_get(mine, "required")), 1);
    assert_int_equal(json_array_size(json_object_get(others, "required")), 2);
    json_t *text = json_object_get(json_object_get(mine, "properties"), "text");
    assert_int_equal(json_integer_value(json_object_get(text, "maxLength")), LIMIT_REPORT);
    json_decref(mine);
    json_decref(others);
}

/* PROGRESS-01, REPORT-01: the parameters of the two tools with which agents report. */
static void reports_are_declared(void **state) {
    (void)state;
    json_t *progress = schema_params(op_find(str_of("agent.progress")), ROLE_RUN),
           *complete = schema_params(op_find(str_of("agent.complete")), ROLE_RUN);
    json_t *metrics = json_object_get(json_object_get(progress, "properties"), "metrics"),
           *artifacts = json_object_get(json_object_get(complete, "properties"), "artifacts");
    char *text = json_dumps(json_object_get(metrics, "additionalProperties"), JSON_COMPACT);
    assert_string_equal(text, "{\"type\":[\"string\",\"number\"]}");
    free(text);
    text = json_dumps(json_object_get(progress, "required"), JSON_COMPACT);
    assert_string_equal(text, "[\"phase\"]");
    free(text);
    text = json_dumps(json_object_get(complete, "required"), JSON_COMPACT);
    assert_string_equal(text, "[\"summary\"]");
    free(text);
    assert_string_equal(json_string_value(json_object_get(artifacts, "type")), "array");
    json_decref(progress);
    json_decref(complete);
}

/* ---- results of a call ---- */

static void errors_are_the_same_on_every_interface(void **state) {
    (void)state;
    struct heard heard =
        hear("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":"
             "{\"name\":\"goal_show\",\"arguments\":{}}}",
             &PERSON, true, NULL);
    assert_int_equal(heard.next, MCP_CALL);
    for (enum error error = ERROR_NONE + 1; error < ERROR_COUNT; error++) {
        json_t *reply = mcp_called(&heard.turn, error, "This is wrong.", NULL);
        const json_t *result = json_object_get(reply, "result");
        const char *text = json_string_value(
            json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
        assert_true(json_is_true(json_object_get(result, "isError")));
        assert_null(json_object_get(result, "structuredContent"));
        assert_int_equal(strncmp(text, ERRORS[error].code, strlen(ERRORS[error].code)), 0);
        assert_non_null(strstr(text, "This is wrong."));
        assert_non_null(strstr(text, ERRORS[error].sentence));
        json_decref(reply);
    }
    json_t *good = json_pack("{s:s}", "goalId", "g");
    json_t *reply = mcp_called(&heard.turn, ERROR_NONE, "", good);
    const json_t *result = json_object_get(reply, "result");
    assert_true(json_equal(json_object_get(result, "structuredContent"), good));
    assert_true(json_is_false(json_object_get(result, "isError")));
    assert_string_equal(json_string_value(json_object_get(reply, "id")), "x");
    json_decref(reply);
    json_decref(good);
    forget(&heard);
}

/* ---- lack of memory ---- */

static long left; /* allocations until one fails; below 0: none does */

static void *scarce(size_t size) {
    return left-- == 0 ? NULL : malloc(size);
}

/* An incomplete answer is noticed: the interface then reports a lack of memory instead of half an answer. */
static void answers_are_whole_or_missing(const char *text) {
    json_t *message = json_loads(text, 0, NULL);
    struct mcp_turn turn = {.message = message, .caller = &PERSON, .in_session = true};
    json_t *result = json_pack("{s:s, s:[i, i]}", "goalId", "g", "list", 1, 2), *whole = NULL;
    for (long n = -1; n < 100000; n += n < 16 ? 1 : n / 8) {
        json_ran_short();
        left = n;
        bool calls = mcp_turn(&turn) == MCP_CALL;
        json_t *reply = calls ? mcp_called(&turn, ERROR_NONE, "", result) : turn.reply;
        left = -1;
        bool short_of = json_ran_short();
        if (n < 0)
            whole = json_incref(reply);
        check(short_of || json_equal(reply, whole), "%s: allocation %ld failed unnoticed", text, n);
        json_decref(reply);
        turn.reply = NULL;
    }
    json_decref(whole);
    json_decref(result);
    json_decref(message);
}

static void want_of_memory_is_noticed(void **state) {
    (void)state;
    json_set_alloc_funcs(scarce, free);
    left = -1;
    json_count_memory();
    answers_are_whole_or_missing("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    answers_are_whole_or_missing("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nobody/knows\"}");
    answers_are_whole_or_missing(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
        "{\"protocolVersion\":\"2025-11-25\"}}");
    answers_are_whole_or_missing(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
        "{\"name\":\"goal_show\",\"arguments\":{}}}");
}

/* ---- sessions ---- */

static struct str opened(struct sessions *sessions, const struct caller *caller,
                         struct chance *chance, int64_t now, char text[ID_TEXT + 1]) {
    uint8_t random[16];
    chance_fill(chance, random, sizeof random);
    id_format(session_open(sessions, caller, random, now), text);
    return str_of(text);
}

static void a_session_belongs_to_who_opened_it(void **state) {
    (void)state;
    struct chance chance = {7};
    char one[ID_TEXT + 1], two[ID_TEXT + 1];
    struct sessions *sessions = sessions_new();
    struct str mine = opened(sessions, &RUN_ONE, &chance, 1, one);
    struct str other = opened(sessions, &RUN_TWO, &chance, 2, two);
    assert_true(session_is_known(sessions, &RUN_ONE, mine, 3));
    assert_true(session_is_known(sessions, &RUN_TWO, other, 3));
    assert_false(session_is_known(sessions, &RUN_TWO, mine, 3));
    assert_false(session_is_known(sessions, &PERSON, mine, 3));
    assert_false(session_is_known(sessions, &RUN_ONE, str_of(""), 3));
    assert_false(session_is_known(sessions, &RUN_ONE, str_of("00000000000000000000000000"), 3));
    assert_false(session_is_known(sessions, &RUN_ONE, str_of("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), 3));
    assert_false(session_end(sessions, &RUN_TWO, mine));
    assert_true(session_end(sessions, &RUN_ONE, mine));
    assert_false(session_is_known(sessions, &RUN_ONE, mine, 4));
    assert_false(session_end(sessions, &RUN_ONE, mine));
    assert_true(session_is_known(sessions, &RUN_TWO, other, 4));
    sessions_free(sessions);
}

/* At the limit no session is closed; past it, the session that was silent for longest is. */
static void the_most_silent_session_makes_room(void **state) {
    (void)state;
    struct chance chance = {11};
    char first[ID_TEXT + 1], second[ID_TEXT + 1], last[ID_TEXT + 1];
    struct sessions *sessions = sessions_new();
    opened(sessions, &PERSON, &chance, 1, first);
    opened(sessions, &PERSON, &chance, 2, second);
    for (int64_t i = 2; i < LIMIT_MCP_SESSIONS; i++)
        opened(sessions, &PERSON, &chance, i + 1, last);
    assert_true(session_is_known(sessions, &PERSON, str_of(first), LIMIT_MCP_SESSIONS + 1));
    opened(sessions, &PERSON, &chance, LIMIT_MCP_SESSIONS + 2, last);
    assert_true(session_is_known(sessions, &PERSON, str_of(last), LIMIT_MCP_SESSIONS + 3));
    assert_true(session_is_known(sessions, &PERSON, str_of(first), LIMIT_MCP_SESSIONS + 3));
    assert_false(session_is_known(sessions, &PERSON, str_of(second), LIMIT_MCP_SESSIONS + 3));
    sessions_free(sessions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_has_its_answer),
        cmocka_unit_test(revisions_are_agreed_on),
        cmocka_unit_test(tools_follow_from_the_table),
        cmocka_unit_test(a_run_need_not_name_its_goal),
        cmocka_unit_test(reports_are_declared),
        cmocka_unit_test(errors_are_the_same_on_every_interface),
        cmocka_unit_test(want_of_memory_is_noticed),
        cmocka_unit_test(a_session_belongs_to_who_opened_it),
        cmocka_unit_test(the_most_silent_session_makes_room),
    };
    return cmocka_run_group_tests_name("mcp", tests, NULL, NULL);
}
