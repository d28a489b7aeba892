/* SPDX-License-Identifier: Apache-2.0 */
/* Drives Claude Code without a terminal, with lines of JSON in both directions (stream-json).
 *
 * A prompt carries its dispatch as its uuid. Claude Code returns the uuid at once as command_lifecycle, and in the echo
 * of the prompt: that is the receipt. It does not work again on a uuid that the session has seen. */
#include "drivers/drive.h"
#include "drivers/quota_read.h"

#define HELLO_WITHIN SECONDS(120)
#define STOP_WITHIN SECONDS(10)
#define RETRY_WAITED SECONDS(30) /* the turn does not wait for a longer limit */

enum claude_stage { CLAUDE_NOTHING, CLAUDE_HELLO, CLAUDE_READY, CLAUDE_BROKEN };

struct claude {
    struct drive_lines lines;
    enum claude_stage stage;
    int64_t by;
    uint32_t next_id;
    char session[DRIVE_SESSION];
    char asks[DRIVE_ASKS][DRIVE_ASK_ID]; /* ids of requests; empty: free */
    bool queued;                         /* the prompt is being worked on, not just known */
    bool limited;                        /* the turn was given up because of a limit */
    uint64_t window;                     /* size of its context */
    uint64_t used;
    int64_t limited_until; /* as it reported in this turn */
    struct drive_turn turn;
};

/* ---- saved state ---- */

static const struct field ASK_ROWS[] = {
    {.name = "id", .type = FIELD_CHARS, .number = 1, .cap = DRIVE_ASK_ID}};
static const struct shape ASK = {"ask", 1, ASK_ROWS, 1, DRIVE_ASK_ID};

static const struct field CLAUDE_ROWS[] = {
    STATE_PART(claude, lines, 1, DRIVE_LINES_SHAPE),
    STATE_ENUM(claude, stage, 2, CLAUDE_BROKEN + 1),
    STATE_ROW(FIELD_INT, claude, by, 3),
    STATE_ROW(FIELD_U32, claude, next_id, 4),
    STATE_CHARS(claude, session, 5),
    STATE_LIST(claude, asks, 6, ASK),
    STATE_ROW(FIELD_BOOL, claude, queued, 7),
    STATE_ROW(FIELD_BOOL, claude, limited, 8),
    STATE_ROW(FIELD_UINT, claude, window, 9),
    STATE_ROW(FIELD_UINT, claude, used, 10),
    STATE_ROW(FIELD_INT, claude, limited_until, 11),
    STATE_PART(claude, turn, 12, DRIVE_TURN_SHAPE),
};
static const struct shape CLAUDE_STATE = SHAPE_OF(claude, "claude", 1, CLAUDE_ROWS);
_Static_assert(sizeof(struct claude) == 20000,
               "files of version 2 have these bytes: keep the old struct for them, as it was");

static void claude_break(struct claude *claude, struct drive_out *out, const char *why) {
    claude->stage = CLAUDE_BROKEN;
    drive_break(out, claude->lines.begin, "%s", why);
}

/* ---- launch ---- */

#define MCP_FILE "overseer-mcp.json"

static struct str mcp_json(const struct drive_mcp *mcp, struct arena *arena) {
    json_t *server = NULL, *args = json_array(), *env = json_object();
    for (uint32_t i = 1; i < mcp->argc; i++)
        json_array_append_new(args, drive_json_str(mcp->argv[i]));
    if (mcp->token.len > 0)
        json_object_set_new(env, "OVERSEER_TOKEN", drive_json_str(mcp->token));
    if (mcp->url.len > 0)
        server =
            json_pack("{s:s,s:o,s:{s:o}}", "type", "http", "url", drive_json_str(mcp->url),
                      "headers", "Authorization", json_sprintf("Bearer %.*s", STR_ARG(mcp->token)));
    else if (mcp->argc > 0)
        server = json_pack("{s:s,s:o,s:O,s:O}", "type", "stdio", "command",
                           drive_json_str(mcp->argv[0]), "args", args, "env", env);
    json_t *all = json_pack("{s:{}}", "mcpServers");
    if (server)
        json_object_set_new(json_object_get(all, "mcpServers"), "overseer", server);
    struct str text = drive_json_dump(all, arena, SIZE_MAX);
    json_decref(all);
    json_decref(args);
    json_decref(env);
    return text;
}

static struct str names_join(const struct str *names, uint32_t count, const char *also,
                             struct arena *arena) {
    struct drive_out joined = {.arena = arena};
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            drive_say(&joined, STR(","));
        drive_say(&joined, names[i]);
    }
    if (count > 0 && *also)
        drive_say(&joined, STR(","));
    drive_say(&joined, str_of(also));
    return joined.bytes;
}

/* SCOPE-02: `--tools` lists the available tools, `--allowedTools` those that need no permission, `--disallowedTools`
 * those that are removed. */
static void scope_launch(const struct drive_spec *spec, struct arena *arena,
                         struct drive_launch *launch) {
    if (spec->allow_given) {
        launch_arg(launch, STR("--tools"));
        launch_arg(launch, names_join(spec->allow, spec->allow_count, "", arena));
    }
    launch_arg(launch, STR("--allowedTools"));
    launch_arg(launch, names_join(spec->allow, spec->allow_count, "mcp__overseer", arena));
    if (spec->deny_count > 0) {
        launch_arg(launch, STR("--disallowedTools"));
        launch_arg(launch, names_join(spec->deny, spec->deny_count, "", arena));
    }
    launch_arg(launch, STR("--permission-mode"));
    launch_arg(launch, spec->ask ? STR("default") : STR("bypassPermissions"));
    launch->scope_enforced = true;
}

static const char *const TOOLS[] = {"Agent",
                                    "AskUserQuestion",
                                    "Bash",
                                    "BashOutput",
                                    "CronCreate",
                                    "CronDelete",
                                    "CronList",
                                    "Edit",
                                    "EnterPlanMode",
                                    "EnterWorktree",
                                    "ExitPlanMode",
                                    "ExitWorktree",
                                    "Glob",
                                    "Grep",
                                    "KillShell",
                                    "ListAgents",
                                    "LSP",
                                    "Monitor",
                                    "MultiEdit",
                                    "NotebookEdit",
                                    "Read",
                                    "ReportFindings",
                                    "ScheduleWakeup",
                                    "SendMessage",
                                    "Skill",
                                    "Task",
                                    "TaskOutput",
                                    "TaskStop",
                                    "TodoWrite",
                                    "ToolSearch",
                                    "WebFetch",
                                    "WebSearch",
                                    "Workflow",
                                    "Write"};

/* Ignores a pattern after the name, as in Bash(git *). */
static bool tool_is_known(struct str tool) {
    const char *pattern = memchr(tool.at, '(', tool.len);
    struct str name = {tool.at, pattern ? (size_t)(pattern - tool.at) : tool.len};
    for (size_t i = 0; i < count_of(TOOLS); i++)
        if (str_equal(name, str_of(TOOLS[i])))
            return true;
    return str_begins(tool, STR("mcp__"));
}

static const struct drive_var ENV[] = {
    {{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", 40}, {"1", 1}},
    {{"CLAUDE_CODE_MAX_RETRIES", 23}, {"4", 1}}, /* waiting is the supervisor's job */
    {{"DISABLE_AUTOUPDATER", 19}, {"1", 1}},
    {{"DISABLE_TELEMETRY", 17}, {"1", 1}},
    {{"DISABLE_ERROR_REPORTING", 23}, {"1", 1}},
    {{"IS_SANDBOX", 10}, {"1", 1}}, /* it runs in our sandbox, and may be root there */
};

static void session_launch(const struct drive_spec *spec, struct arena *arena,
                           struct drive_launch *launch) {
    char uuid[UUID_TEXT + 1];
    id_format_uuid(spec->run, uuid);
    launch_arg(launch, spec->session.len > 0 ? STR("--resume") : STR("--session-id"));
    launch_arg(launch, spec->session.len > 0 ? spec->session : arena_copy(arena, str_of(uuid)));
    if (spec->model.len > 0) {
        launch_arg(launch, STR("--model"));
        launch_arg(launch, spec->model);
    }
    if (spec->thinking.len > 0) {
        launch_arg(launch, STR("--effort"));
        launch_arg(launch, spec->thinking);
    }
}

static bool claude_launch(const struct drive_spec *spec, struct arena *arena,
                          struct drive_launch *ret, struct str *ret_why) {
    static const char *const ARGS[] = {"-p",
                                       "--input-format",
                                       "stream-json",
                                       "--output-format",
                                       "stream-json",
                                       "--verbose",
                                       "--replay-user-messages",
                                       "--permission-prompt-tool",
                                       "stdio",
                                       "--strict-mcp-config",
                                       "--setting-sources",
                                       "",
                                       "--mcp-config"};
    if (!launch_is_text(spec)) {
        *ret_why = STR("a path, a name or a tool is not text");
        return false;
    }
    for (uint32_t i = 0; i < spec->allow_count; i++)
        if (!tool_is_known(spec->allow[i])) {
            *ret_why =
                arena_format(arena, "claude has no tool called %.*s", STR_ARG(spec->allow[i]));
            return false;
        }
    *ret = (struct drive_launch){.argc = 0};
    launch_begin(spec, ret);
    for (size_t i = 0; i < count_of(ARGS); i++)
        launch_arg(ret, str_of(ARGS[i]));
    launch_arg(ret, arena_format(arena, "%.*s/" MCP_FILE, STR_ARG(spec->home)));
    launch_file(ret, STR(MCP_FILE), mcp_json(&spec->mcp, arena));
    session_launch(spec, arena, ret);
    scope_launch(spec, arena, ret);
    for (size_t i = 0; i < count_of(ENV); i++)
        launch_env(ret, ENV[i].name, ENV[i].value);
    if (spec->base_url.len > 0)
        launch_env(ret, STR("ANTHROPIC_BASE_URL"), spec->base_url);
    ret->history = STR(".claude/projects");
    return launch_is_whole(ret, ret_why);
}

/* ---- output ---- */

static void control_say(struct claude *claude, const char *subtype, struct drive_out *out) {
    drive_say_json(out, json_pack("{s:s,s:o,s:{s:s}}", "type", "control_request", "request_id",
                                  json_sprintf("overseer-%u", ++claude->next_id), "request",
                                  "subtype", subtype));
}

static void claude_begin(void *state, const struct drive_spec *spec, int64_t now,
                         struct drive_out *out) {
    struct claude *claude = state;
    char uuid[UUID_TEXT + 1];
    must(claude->stage == CLAUDE_NOTHING);
    id_format_uuid(spec->run, uuid);
    claude->stage = CLAUDE_HELLO;
    claude->by = time_after(now, HELLO_WITHIN);
    if (!drive_keep(claude->session, sizeof claude->session,
                    spec->session.len > 0 ? spec->session : str_of(uuid)))
        claude_break(claude, out, "the name of its session is too long");
    else
        control_say(claude, "initialize", out);
}

static bool claude_ready(const void *state) {
    const struct claude *claude = state;
    return claude->stage == CLAUDE_READY && !claude->turn.open;
}

static void claude_send(void *state, struct id dispatch, struct str text, int64_t now,
                        struct drive_out *out) {
    struct claude *claude = state;
    char uuid[UUID_TEXT + 1];
    must(claude_ready(claude));
    id_format_uuid(dispatch, uuid);
    turn_begin(&claude->turn, dispatch, now);
    claude->queued = claude->limited = false;
    claude->limited_until = 0;
    struct str tagged = drive_tagged(dispatch, text, out->arena);
    drive_say_json(out, json_pack("{s:s,s:s,s:{s:s,s:o}}", "type", "user", "uuid", uuid, "message",
                                  "role", "user", "content", drive_json_str(tagged)));
}

/* ---- permission ---- */

static char *ask_find(struct claude *claude, struct str id) {
    for (uint32_t i = 0; i < DRIVE_ASKS; i++)
        if (str_equal(str_of(claude->asks[i]), id))
            return claude->asks[i];
    return NULL;
}

/* A permission covers exactly what was asked for, once. */
static void answer_say(struct str id, enum drive_answer answer, struct drive_out *out) {
    json_t *response =
        answer == DRIVE_ALLOW
            ? json_pack("{s:s}", "behavior", "allow")
            : json_pack("{s:s,s:s,s:b}", "behavior", "deny", "message",
                        answer == DRIVE_REJECT ? "Overseer: this is not allowed in this run."
                                               : "Overseer: the turn is cancelled.",
                        "interrupt", answer == DRIVE_CANCEL);
    drive_say_json(out, json_pack("{s:s,s:{s:s,s:o,s:o}}", "type", "control_response", "response",
                                  "subtype", "success", "request_id", drive_json_str(id),
                                  "response", response));
}

static void ask_read(struct claude *claude, struct str id, const json_t *request, int64_t now,
                     struct drive_out *out) {
    char *slot = ask_find(claude, (struct str){"", 0});
    claude->turn.active_at = now;
    if (!claude->turn.open || claude->turn.interrupted || !slot || id.len == 0 ||
        !drive_keep(slot, DRIVE_ASK_ID, id)) {
        answer_say(id, claude->turn.interrupted ? DRIVE_CANCEL : DRIVE_REJECT, out);
        return;
    }
    struct drive_event *event = drive_event_add(out, DRIVE_ASKS_FOR, claude->lines.begin);
    event->ask = arena_copy(out->arena, id);
    event->text =
        arena_copy(out->arena, str_cut_utf8(drive_json_text(json_object_get(request, "tool_name")),
                                            DRIVE_TEXT));
    event->named = event->tool = true;
    event->detail = drive_json_dump(json_object_get(request, "input"), out->arena, DRIVE_TEXT);
    event->dispatch = claude->turn.dispatch;
}

static void claude_answer(void *state, struct str id, enum drive_answer answer, int64_t now,
                          struct drive_out *out) {
    char *ask = id.len > 0 ? ask_find(state, id) : NULL;
    (void)now;
    if (!ask)
        return;
    answer_say(id, answer, out);
    memset(ask, 0, DRIVE_ASK_ID);
}

static void request_read(struct claude *claude, const json_t *frame, int64_t now,
                         struct drive_out *out) {
    struct str id = drive_json_text(json_object_get(frame, "request_id"));
    const json_t *request = json_object_get(frame, "request");
    struct str subtype = drive_json_text(json_object_get(request, "subtype"));
    if (str_equal(subtype, STR("can_use_tool")))
        ask_read(claude, id, request, now, out);
    else
        drive_say_json(out, json_pack("{s:s,s:{s:s,s:o,s:s}}", "type", "control_response",
                                      "response", "subtype", "error", "request_id",
                                      drive_json_str(id), "error", "not supported"));
}

static void cancel_read(struct claude *claude, const json_t *frame, int64_t now,
                        struct drive_out *out) {
    struct str id = drive_json_text(json_object_get(frame, "request_id"));
    char *ask = id.len > 0 ? ask_find(claude, id) : NULL;
    (void)now, (void)out;
    if (ask)
        memset(ask, 0, DRIVE_ASK_ID);
}

/* ---- input ---- */

static void claude_interrupt(void *state, int64_t now, struct drive_out *out);

static void response_read(struct claude *claude, const json_t *frame, int64_t now,
                          struct drive_out *out) {
    struct str subtype = drive_json_text(drive_json_at(frame, "response.subtype"));
    struct str id = drive_json_text(drive_json_at(frame, "response.request_id"));
    (void)now;
    if (claude->stage != CLAUDE_HELLO || !str_begins(id, STR("overseer-")))
        return;
    if (!str_equal(subtype, STR("success"))) {
        claude_break(claude, out, "it refuses to initialize");
        return;
    }
    claude->stage = CLAUDE_READY;
    claude->by = 0;
    drive_event_add(out, DRIVE_STARTED, claude->lines.begin)->session =
        arena_copy(out->arena, str_of(claude->session));
}

static bool uuid_is_ours(const struct claude *claude, const json_t *uuid) {
    char ours[UUID_TEXT + 1];
    id_format_uuid(claude->turn.dispatch, ours);
    return claude->turn.open && str_equal(drive_json_text(uuid), str_of(ours));
}

static void lifecycle_read(struct claude *claude, const json_t *frame, int64_t now,
                           struct drive_out *out) {
    struct str is = drive_json_text(json_object_get(frame, "state"));
    if (!uuid_is_ours(claude, json_object_get(frame, "command_uuid")) ||
        (!str_equal(is, STR("queued")) && !str_equal(is, STR("started"))))
        return;
    claude->queued = true;
    turn_accept(&claude->turn, claude->lines.begin, out);
    turn_chatter(&claude->turn, now, claude->lines.begin, out);
}

/* An echo of a prompt that was not queued: the session has seen this dispatch before, and nothing more will follow. */
static void echo_read(struct claude *claude, const json_t *frame, struct drive_out *out) {
    if (!uuid_is_ours(claude, json_object_get(frame, "uuid")))
        return;
    turn_accept(&claude->turn, claude->lines.begin, out);
    if (!claude->queued && !json_object_get(frame, "timestamp"))
        turn_end(&claude->turn, DRIVE_TURN_CUT, claude->lines.begin, out);
}

static void user_read(struct claude *claude, const json_t *frame, int64_t now,
                      struct drive_out *out) {
    size_t i;
    json_t *block;
    if (json_is_true(json_object_get(frame, "isReplay"))) {
        echo_read(claude, frame, out);
        return;
    }
    json_array_foreach(drive_json_at(frame, "message.content"), i, block) {
        if (str_equal(drive_json_text(json_object_get(block, "type")), STR("tool_result")))
            turn_tool_end(&claude->turn, drive_json_text(json_object_get(block, "tool_use_id")),
                          now, claude->lines.begin, out);
    }
}

static void block_read(struct claude *claude, const json_t *block, bool own, int64_t now,
                       struct drive_out *out) {
    struct str type = drive_json_text(json_object_get(block, "type"));
    if (own && str_equal(type, STR("text")))
        turn_words(&claude->turn, drive_json_text(json_object_get(block, "text")), now,
                   claude->lines.begin, out);
    else if (str_equal(type, STR("tool_use")))
        turn_tool_begin(&claude->turn, drive_json_text(json_object_get(block, "id")),
                        drive_json_text(json_object_get(block, "name")), now, claude->lines.begin,
                        out);
    else {
        claude->turn.active_at = now;
        drive_event_add(out, DRIVE_PROGRESS, claude->lines.begin)->text = STR("");
    }
}

static uint64_t usage_sum(const json_t *usage) {
    static const char *const PARTS[] = {"input_tokens",
                                        "cache_creation_input_tokens",
                                        "cache_read_input_tokens",
                                        "output_tokens",
                                        "inputTokens",
                                        "outputTokens",
                                        "cacheReadInputTokens",
                                        "cacheCreationInputTokens"};
    uint64_t sum = 0;
    for (size_t i = 0; i < count_of(PARTS); i++)
        sum += drive_json_count(json_object_get(usage, PARTS[i]));
    return sum;
}

/* Output of a subagent counts as activity, but its text is not this agent's text. */
static void assistant_read(struct claude *claude, const json_t *frame, int64_t now,
                           struct drive_out *out) {
    size_t i;
    json_t *block;
    bool own = !json_is_string(json_object_get(frame, "parent_tool_use_id"));
    uint64_t used = usage_sum(drive_json_at(frame, "message.usage"));
    if (own && used > 0)
        claude->used = used;
    turn_accept(&claude->turn, claude->lines.begin, out);
    json_array_foreach(drive_json_at(frame, "message.content"), i, block)
        block_read(claude, block, own, now, out);
}

/* Claude Code counts over the whole session, per model. */
static void usage_read(struct claude *claude, const json_t *frame, struct drive_out *out) {
    uint64_t sum = 0;
    const char *name;
    json_t *model;
    double cost = json_number_value(json_object_get(frame, "total_cost_usd"));
    json_object_foreach(json_object_get(frame, "modelUsage"), name, model) {
        uint64_t window = drive_json_count(json_object_get(model, "contextWindow"));
        sum += usage_sum(model);
        claude->window = window > claude->window ? window : claude->window;
    }
    claude->turn.tokens = sum > claude->turn.tokens ? sum : claude->turn.tokens;
    if (cost > 0 && cost < 1e9)
        claude->turn.cost = (uint64_t)(cost * 1e6);
    if (claude->window > 0)
        claude->turn.context =
            (uint32_t)(claude->used >= claude->window ? 10000
                                                      : claude->used * 10000 / claude->window);
    turn_usage(&claude->turn, claude->lines.begin, out);
}

/* The subtype "success" proves nothing: a failure of the model's service has it too. */
static void result_read(struct claude *claude, const json_t *frame, int64_t now,
                        struct drive_out *out) {
    struct str subtype = drive_json_text(json_object_get(frame, "subtype"));
    struct str result = drive_json_text(json_object_get(frame, "result"));
    uint64_t status = drive_json_count(json_object_get(frame, "api_error_status"));
    usage_read(claude, frame, out);
    memset(claude->asks, 0, sizeof claude->asks);
    if (!claude->turn.open)
        return;
    if (claude->limited)
        turn_limit(&claude->turn, STR("its account is at a limit"), claude->limited_until,
                   claude->lines.begin, out);
    else if (claude->turn.interrupted)
        turn_end(&claude->turn, DRIVE_TURN_CANCELLED, claude->lines.begin, out);
    else if (str_begins(subtype, STR("error_max_")))
        turn_end(&claude->turn, DRIVE_TURN_CUT, claude->lines.begin, out);
    else if (status == 429 ||
             (claude->limited_until > 0 && json_is_true(json_object_get(frame, "is_error")))) {
        int64_t until = 0;
        drive_limit_read(result, out->wall ? out->wall : now, &until);
        turn_limit(&claude->turn, result, until > 0 ? until : claude->limited_until,
                   claude->lines.begin, out);
    } else if (json_is_true(json_object_get(frame, "is_error")))
        turn_fail(&claude->turn, result.len > 0 ? result : subtype, now, claude->lines.begin, out);
    else
        turn_end(&claude->turn, DRIVE_TURN_DONE, claude->lines.begin, out);
}

/* {"status":"rejected","resetsAt":SECONDS}: the account is at its limit. If its paid extra usage is in use, that goes
 * on all the same. */
static void limit_read(struct claude *claude, const json_t *frame, int64_t now,
                       struct drive_out *out) {
    const json_t *info = json_object_get(frame, "rate_limit_info");
    uint64_t resets = drive_json_count(json_object_get(info, "resetsAt"));
    struct quota *quota = arena_new(out->arena, struct quota, 1);
    quota_read_claude(info, quota);
    if (!quota_is_empty(quota))
        drive_event_add(out, DRIVE_QUOTA, claude->lines.begin)->quota = quota;
    if (quota->overage != OVERAGE_YES &&
        str_equal(drive_json_text(json_object_get(info, "status")), STR("rejected")) &&
        resets < 100000000000)
        claude->limited_until = (int64_t)resets * 1000000;
    turn_chatter(&claude->turn, now, claude->lines.begin, out);
}

/* Claude Code retries by itself. At a limit that would keep the turn open for long, the driver gives the turn up:
 * FAIL-19. */
static void system_read(struct claude *claude, const json_t *frame, int64_t now,
                        struct drive_out *out) {
    uint64_t wait_ms = drive_json_count(json_object_get(frame, "retry_delay_ms"));
    int64_t wait = wait_ms < 1000000000 ? MILLISECONDS(wait_ms) : 0;
    turn_chatter(&claude->turn, now, claude->lines.begin, out);
    if (drive_json_count(json_object_get(frame, "error_status")) != 429 || wait < RETRY_WAITED ||
        !claude->turn.open || claude->turn.interrupted)
        return;
    claude->limited_until = time_after(out->wall ? out->wall : now, wait);
    claude->limited = true;
    claude_interrupt(claude, now, out);
}

static void other_read(struct claude *claude, const json_t *frame, int64_t now,
                       struct drive_out *out) {
    (void)frame;
    turn_chatter(&claude->turn, now, claude->lines.begin, out);
}

static const struct {
    const char *type;
    void (*read)(struct claude *claude, const json_t *frame, int64_t now, struct drive_out *out);
} FRAMES[] = {{"assistant", assistant_read},
              {"user", user_read},
              {"result", result_read},
              {"control_request", request_read},
              {"control_response", response_read},
              {"control_cancel_request", cancel_read},
              {"command_lifecycle", lifecycle_read},
              {"rate_limit_event", limit_read},
              {"system", system_read},
              {"", other_read}};

static void frame_read(struct claude *claude, struct str line, int64_t now, struct drive_out *out) {
    json_t *frame = drive_json(line);
    size_t i = 0;
    if (!frame) {
        claude->turn.chatter_at = now;
        return;
    }
    struct str type = drive_json_text(json_object_get(frame, "type"));
    while (i + 1 < count_of(FRAMES) && !str_equal(type, str_of(FRAMES[i].type)))
        i++;
    FRAMES[i].read(claude, frame, now, out);
    json_decref(frame);
}

static void claude_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                        struct drive_out *out) {
    struct claude *claude = state;
    struct str line;
    while (drive_line(&claude->lines, bytes, offset, &line))
        if (claude->stage != CLAUDE_BROKEN)
            frame_read(claude, line, now, out);
    if (claude->stage != CLAUDE_BROKEN && drive_line_is_too_long(&claude->lines))
        claude_break(claude, out, "it wrote a line that is too long");
    if (claude->stage == CLAUDE_BROKEN)
        claude->lines.begin = claude->lines.seen = offset + bytes.len;
}

static void claude_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct claude *claude = state;
    claude->stage = CLAUDE_BROKEN;
    turn_fail(&claude->turn,
              arena_format(out->arena, "its process ended with %lld", (long long)status), now,
              claude->lines.begin, out);
}

static void claude_interrupt(void *state, int64_t now, struct drive_out *out) {
    struct claude *claude = state;
    if (!claude->turn.open || claude->stage != CLAUDE_READY || claude->turn.interrupted)
        return;
    claude->turn.interrupted = true;
    claude->turn.stop_by = time_after(now, STOP_WITHIN);
    control_say(claude, "interrupt", out);
    for (uint32_t i = 0; i < DRIVE_ASKS; i++)
        if (claude->asks[i][0]) {
            answer_say(str_of(claude->asks[i]), DRIVE_CANCEL, out);
            memset(claude->asks[i], 0, DRIVE_ASK_ID);
        }
}

static void claude_look(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct claude *claude = state;
    (void)now;
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, claude->lines.begin);
    event->dispatch = dispatch;
    event->arrived = turn_delivered(&claude->turn, dispatch);
}

static int64_t claude_due(const void *state) {
    const struct claude *claude = state;
    if (claude->stage == CLAUDE_HELLO)
        return claude->by;
    return claude->stage == CLAUDE_READY && claude->turn.stop_by > 0 ? claude->turn.stop_by
                                                                     : TIME_NEVER;
}

static void claude_tick(void *state, int64_t now, struct drive_out *out) {
    struct claude *claude = state;
    if (now < claude_due(claude))
        return;
    claude_break(claude, out,
                 claude->stage == CLAUDE_HELLO ? "it does not answer"
                                               : "it did not stop when it was told to");
}

static void claude_see(const void *state, struct observation *ret) {
    turn_see(&((const struct claude *)state)->turn, ret);
}

static uint64_t claude_resume_at(const void *state) {
    return ((const struct claude *)state)->lines.begin;
}

const struct driver DRIVER_CLAUDE = {
    .name = "claude",
    .size = sizeof(struct claude),
    .shape = &CLAUDE_STATE,
    .raw_size = 20000,
    .receipts = true,
    .adopts = false,
    .usual = true,
    .login = "claude", /* whatever the agent is called */
    .dedupes = false,  /* it drops only dispatches that the session has finished */
    .launch = claude_launch,
    .begin = claude_begin,
    .feed = claude_feed,
    .gone = claude_gone,
    .ready = claude_ready,
    .send = claude_send,
    .answer = claude_answer,
    .interrupt = claude_interrupt,
    .look = claude_look,
    .due = claude_due,
    .tick = claude_tick,
    .see = claude_see,
    .resume_at = claude_resume_at};
