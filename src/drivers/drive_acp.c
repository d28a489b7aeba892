/* SPDX-License-Identifier: Apache-2.0 */
/* Drives an agent that speaks the Agent Client Protocol, version 1.
 *
 *   begin ▸ initialize ▸ session/new or session/load ▸ session/set_mode ▸ idle ⇄ turn (session/prompt … its answer)
 *
 * JSON-RPC in lines. An error as the answer to an unknown method proves that the agent read everything before it: so a
 * ping follows each prompt, and its answer is the receipt. */
#include "drivers/drive_acp.h"

enum {
    ACP_OPENING = 8192, /* parameters of session/new, stored until they are sent */
    ACP_OPTION = 128,   /* id of an option of a permission request */
    ACP_REPLAYED = 8,   /* newest dispatches found in a replayed history */
    ACP_MODE = 64
};

#define HELLO_WITHIN SECONDS(120)
#define OPEN_WITHIN SECONDS(300)
#define PING_EVERY SECONDS(30)
#define STOP_WITHIN SECONDS(5) /* rule 5 */
#define REPLAY_QUIET SECONDS(1)

enum acp_stage { ACP_NOTHING, ACP_HELLO, ACP_OPENS, ACP_MODES, ACP_READY, ACP_BROKEN };
enum acp_call { CALL_HELLO, CALL_OPEN, CALL_MODE, CALL_PROMPT, CALL_PING, CALLS };

struct acp_ask {
    char id[DRIVE_ASK_ID]; /* as JSON; empty: free */
    char allow[ACP_OPTION], reject[ACP_OPTION];
};

struct acp {
    struct drive_lines lines;
    enum acp_stage stage;
    uint32_t quirk;
    uint32_t next_id, pending[CALLS];
    bool load, can_load, can_resume, replayed, ask, moded;
    int64_t by, ping_at, open_at, quiet_at;
    char session[DRIVE_SESSION], mode[ACP_MODE];
    char opening[ACP_OPENING];
    struct acp_ask asks[DRIVE_ASKS];
    struct id replayed_ids[ACP_REPLAYED];
    uint32_t replayed_count;
    bool failing;    /* its newest update reports a failure */
    bool worked;     /* this turn had a chunk or a tool */
    uint64_t before; /* tokens when the turn began */
    uint64_t used;   /* of the newest usage_update */
    struct drive_turn turn;
};

/* ---- saved state ---- */

static const struct field ASK_ROWS[] = {
    STATE_CHARS(acp_ask, id, 1),
    STATE_CHARS(acp_ask, allow, 2),
    STATE_CHARS(acp_ask, reject, 3),
};
static const struct shape ASK = SHAPE_OF(acp_ask, "ask", 1, ASK_ROWS);

static const struct field ACP_ROWS[] = {
    STATE_PART(acp, lines, 1, DRIVE_LINES_SHAPE),
    STATE_ENUM(acp, stage, 2, ACP_BROKEN + 1),
    STATE_ROW(FIELD_U32, acp, next_id, 3),
    STATE_LIST(acp, pending, 4, DRIVE_NUMBER_SHAPE),
    STATE_ROW(FIELD_BOOL, acp, load, 5),
    STATE_ROW(FIELD_BOOL, acp, can_load, 6),
    STATE_ROW(FIELD_BOOL, acp, can_resume, 7),
    STATE_ROW(FIELD_BOOL, acp, replayed, 8),
    STATE_ROW(FIELD_BOOL, acp, ask, 9),
    STATE_ROW(FIELD_BOOL, acp, moded, 10),
    STATE_ROW(FIELD_INT, acp, by, 11),
    STATE_ROW(FIELD_INT, acp, ping_at, 12),
    STATE_ROW(FIELD_INT, acp, open_at, 13),
    STATE_ROW(FIELD_INT, acp, quiet_at, 14),
    STATE_CHARS(acp, session, 15),
    STATE_CHARS(acp, mode, 16),
    STATE_CHARS(acp, opening, 17),
    STATE_LIST(acp, asks, 18, ASK),
    STATE_LIST(acp, replayed_ids, 19, DRIVE_ID_SHAPE),
    STATE_ENUM(acp, replayed_count, 20, ACP_REPLAYED + 1),
    STATE_ROW(FIELD_BOOL, acp, failing, 21),
    STATE_ROW(FIELD_BOOL, acp, worked, 22),
    STATE_ROW(FIELD_UINT, acp, before, 23),
    STATE_ROW(FIELD_UINT, acp, used, 24),
    STATE_PART(acp, turn, 25, DRIVE_TURN_SHAPE),
};
static const struct shape ACP_STATE = SHAPE_OF(acp, "acp", 1, ACP_ROWS);
_Static_assert(sizeof(struct acp) == 30480,
               "files of version 2 have these bytes: keep the old struct for them, as it was");

static const struct acp_quirk *quirk_of(const struct acp *acp) {
    return acp_quirk_at(acp->quirk);
}

static void acp_break(struct acp *acp, struct drive_out *out, const char *why) {
    acp->stage = ACP_BROKEN;
    drive_break(out, acp->lines.begin, "%s", why);
}

/* ---- output ---- */

static void call_say(struct acp *acp, enum acp_call call, const char *method, json_t *params,
                     struct drive_out *out) {
    acp->pending[call] = ++acp->next_id;
    drive_say_json(out, json_pack("{s:s,s:i,s:s,s:o}", "jsonrpc", "2.0", "id",
                                  (int)acp->pending[call], "method", method, "params", params));
}

static void ping_say(struct acp *acp, int64_t now, struct drive_out *out) {
    call_say(acp, CALL_PING, "_overseer/ping", json_object(), out);
    acp->ping_at = time_after(now, PING_EVERY);
}

static void result_say(json_t *id, json_t *result, struct drive_out *out) {
    drive_say_json(out, json_pack("{s:s,s:o,s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

/* Answers a request for a method that we do not have. */
static void unknown_say(json_t *id, struct drive_out *out) {
    drive_say_json(out, json_pack("{s:s,s:O,s:{s:i,s:s}}", "jsonrpc", "2.0", "id", id, "error",
                                  "code", -32601, "message", "method not found"));
}

/* ---- opening a session ---- */

static json_t *mcp_json(const struct drive_mcp *mcp) {
    if (mcp->url.len > 0)
        return json_pack("{s:s,s:s,s:o,s:[{s:s,s:o}]}", "type", "http", "name", "overseer", "url",
                         drive_json_str(mcp->url), "headers", "name", "Authorization", "value",
                         json_sprintf("Bearer %.*s", STR_ARG(mcp->token)));
    json_t *args = json_array(), *env = json_array();
    for (uint32_t i = 1; i < mcp->argc; i++)
        json_array_append_new(args, drive_json_str(mcp->argv[i]));
    if (mcp->token.len > 0)
        json_array_append_new(env, json_pack("{s:s,s:o}", "name", "OVERSEER_TOKEN", "value",
                                             drive_json_str(mcp->token)));
    return json_pack("{s:s,s:o,s:o,s:o}", "name", "overseer", "command",
                     drive_json_str(mcp->argv[0]), "args", args, "env", env);
}

static json_t *names_json(const struct str *names, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, drive_json_str(names[i]));
    return list;
}

/* SCOPE-02 for Claude: tools allowed by name need no permission; tools not in the list do not exist for it. */
static json_t *claude_meta(const struct drive_spec *spec) {
    json_t *options = json_object();
    json_t *allowed = names_json(spec->allow, spec->allow_count);
    json_array_append_new(allowed, json_string("mcp__overseer"));
    json_object_set_new(options, "allowedTools", allowed);
    json_object_set_new(options, "disallowedTools", names_json(spec->deny, spec->deny_count));
    if (spec->allow_given)
        json_object_set_new(options, "tools", names_json(spec->allow, spec->allow_count));
    return json_pack("{s:{s:o}}", "claudeCode", "options", options);
}

static json_t *opening_json(const struct drive_spec *spec, const struct acp_quirk *quirk) {
    json_t *servers = json_array();
    if (spec->mcp.url.len > 0 || spec->mcp.argc > 0)
        json_array_append_new(servers, mcp_json(&spec->mcp));
    json_t *opening =
        json_pack("{s:o,s:o}", "cwd", drive_json_str(spec->cwd), "mcpServers", servers);
    if (spec->session.len > 0)
        json_object_set_new(opening, "sessionId", drive_json_str(spec->session));
    if (quirk->scope == ACP_SCOPE_CLAUDE)
        json_object_set_new(opening, "_meta", claude_meta(spec));
    return opening;
}

/* The parameters that open the session; false: too long to be stored until then. */
static bool opening_make(const struct drive_spec *spec, const struct acp_quirk *quirk,
                         struct arena *arena, struct str *ret_text) {
    json_t *opening = opening_json(spec, quirk);
    struct str text = drive_json_dump(opening, arena, SIZE_MAX);
    json_decref(opening);
    if (text.len >= ACP_OPENING)
        return false;
    *ret_text = text;
    return true;
}

static void acp_begin(void *state, const struct drive_spec *spec, int64_t now,
                      struct drive_out *out) {
    struct acp *acp = state;
    const struct acp_quirk *quirk = acp_quirk_named(spec->quirk);
    must(acp->stage == ACP_NOTHING);
    if (!quirk) {
        acp_break(acp, out, "the settings now name another kind of agent");
        return;
    }
    acp->quirk = acp_quirk_row(quirk);
    acp->load = spec->session.len > 0;
    acp->ask = spec->ask;
    struct str text;
    if (!opening_make(spec, quirk, out->arena, &text) ||
        !drive_keep(acp->session, sizeof acp->session, spec->session)) {
        acp_break(acp, out, "the parameters of the session are too long");
        return;
    }
    must(drive_keep(acp->opening, sizeof acp->opening, text));
    acp->stage = ACP_HELLO;
    acp->by = time_after(now, HELLO_WITHIN);
    call_say(acp, CALL_HELLO, "initialize",
             json_pack("{s:i,s:{s:{s:b,s:b},s:b},s:{s:s,s:s,s:s}}", "protocolVersion", 1,
                       "clientCapabilities", "fs", "readTextFile", 0, "writeTextFile", 0,
                       "terminal", 0, "clientInfo", "name", "overseer", "title", "Overseer",
                       "version", OVERSEER_VERSION),
             out);
}

/* Prefers load to resume, because the replayed history shows what arrived. */
static void open_say(struct acp *acp, int64_t now, struct drive_out *out) {
    json_t *opening = drive_json(str_of(acp->opening));
    must(opening != NULL);
    memset(acp->opening, 0, sizeof acp->opening); /* it contains a token */
    acp->open_at = 0;
    acp->by = time_after(now, OPEN_WITHIN);
    call_say(acp, CALL_OPEN,
             !acp->load      ? "session/new"
             : acp->can_load ? "session/load"
                             : "session/resume",
             opening, out);
}

static const char *mode_wanted(const struct acp *acp) {
    return acp->ask ? quirk_of(acp)->mode_ask : quirk_of(acp)->mode_free;
}

static void acp_started(struct acp *acp, struct drive_out *out) {
    acp->stage = ACP_READY;
    acp->by = 0;
    drive_event_add(out, DRIVE_STARTED, acp->lines.begin)->session =
        arena_copy(out->arena, str_of(acp->session));
}

/* Rule 1: an agent with a version that was not requested uses other frames. */
static void hello_answered(struct acp *acp, const json_t *result, int64_t now,
                           struct drive_out *out) {
    if (json_integer_value(json_object_get(result, "protocolVersion")) != 1) {
        acp_break(acp, out, "it does not support version 1 of the protocol");
        return;
    }
    acp->can_load = json_is_true(drive_json_at(result, "agentCapabilities.loadSession"));
    acp->can_resume = drive_json_at(result, "agentCapabilities.sessionCapabilities.resume") != NULL;
    if (acp->load && !acp->can_load && !acp->can_resume) {
        acp_break(acp, out, "it cannot resume a session");
        return;
    }
    acp->stage = ACP_OPENS;
    acp->by = time_after(now, OPEN_WITHIN);
    int64_t in_minute = (out->wall ? out->wall : now) % MINUTES(1);
    if (acp->load && quirk_of(acp)->load_next_minute)
        acp->open_at = now - in_minute + MINUTES(1) + SECONDS(1);
    else
        open_say(acp, now, out);
}

/* Rule 4: sets the mode; then the agent is ready for prompts. */
static void mode_say(struct acp *acp, int64_t now, struct drive_out *out) {
    acp->quiet_at = 0;
    acp->turn.words.len = 0;
    if (acp->moded) {
        acp_started(acp, out);
        return;
    }
    acp->stage = ACP_MODES;
    acp->by = time_after(now, HELLO_WITHIN);
    call_say(acp, CALL_MODE, "session/set_mode",
             json_pack("{s:s,s:s}", "sessionId", acp->session, "modeId", mode_wanted(acp)), out);
}

static void open_answered(struct acp *acp, const json_t *result, int64_t now,
                          struct drive_out *out) {
    struct str session = drive_json_text(json_object_get(result, "sessionId"));
    acp->replayed = acp->load && acp->can_load;
    if (session.len > 0 && !drive_keep(acp->session, sizeof acp->session, session)) {
        acp_break(acp, out, "the name of its session is too long");
        return;
    }
    if (acp->session[0] == 0) {
        acp_break(acp, out, "it returned no session");
        return;
    }
    const char *mode = mode_wanted(acp);
    struct str is = drive_json_text(drive_json_at(result, "modes.currentModeId"));
    acp->moded = !mode || str_equal(is, str_of(mode));
    if (acp->load && quirk_of(acp)->replays_late)
        acp->quiet_at = time_after(now, REPLAY_QUIET);
    else
        mode_say(acp, now, out);
}

static void mode_answered(struct acp *acp, const json_t *result, int64_t now,
                          struct drive_out *out) {
    (void)result, (void)now;
    acp_started(acp, out);
}

/* ---- tokens ---- */

static uint64_t usage_sum(const json_t *usage) {
    static const char *const PARTS[] = {"inputTokens",       "outputTokens", "cachedReadTokens",
                                        "cachedWriteTokens", "input_tokens", "output_tokens"};
    uint64_t sum = 0, total = drive_json_count(json_object_get(usage, "totalTokens"));
    for (size_t i = 0; i < count_of(PARTS); i++)
        sum += drive_json_count(json_object_get(usage, PARTS[i]));
    return total > 0 ? total : sum;
}

static void usage_add(struct acp *acp, const json_t *usage, struct drive_out *out) {
    uint64_t sum = usage_sum(usage);
    if (sum == 0)
        return;
    acp->turn.tokens += sum;
    turn_usage(&acp->turn, acp->lines.begin, out);
}

static void usage_updated(struct acp *acp, const json_t *update, int64_t now,
                          struct drive_out *out) {
    uint64_t used = drive_json_count(json_object_get(update, "used"));
    uint64_t size = drive_json_count(json_object_get(update, "size"));
    double cost = json_number_value(drive_json_at(update, "cost.amount"));
    uint32_t context = acp->turn.context;
    uint64_t spent = acp->turn.cost;
    (void)now;
    if (size > 0)
        acp->turn.context = (uint32_t)(used >= size ? 10000 : used * 10000 / size);
    if (cost > 0 && cost < 1e9)
        acp->turn.cost = (uint64_t)(cost * 1e6);
    bool step = quirk_of(acp)->usage == ACP_USAGE_STEPS && acp->turn.open && used != acp->used;
    acp->turn.tokens += step ? used : 0;
    acp->used = used;
    if (acp->turn.context != context || acp->turn.cost != spent || step)
        turn_usage(&acp->turn, acp->lines.begin, out);
}

/* ---- a turn ---- */

/* Rule 6: detects an end of a turn that is really a failure. The text of the turn is the reason. */
static bool end_is_failure(const struct acp *acp, const json_t *result) {
    const struct acp_quirk *quirk = quirk_of(acp);
    struct str text = turn_text(&acp->turn);
    bool usage = json_is_object(json_object_get(result, "usage")) ||
                 json_is_object(drive_json_at(result, "_meta.quota.token_count"));
    if (acp->failing || (quirk->failed_without_usage && !usage))
        return true;
    for (size_t i = 0; i < count_of(quirk->failed_words) && quirk->failed_words[i]; i++)
        if (str_begins(text, str_of(quirk->failed_words[i])))
            return true;
    return !acp->worked && !usage && acp->turn.tokens == acp->before;
}

static enum drive_reason reason_read(const json_t *result) {
    struct str reason = drive_json_text(json_object_get(result, "stopReason"));
    return str_equal(reason, STR("end_turn"))    ? DRIVE_TURN_DONE
           : str_equal(reason, STR("cancelled")) ? DRIVE_TURN_CANCELLED
                                                 : DRIVE_TURN_CUT;
}

static void prompt_answered(struct acp *acp, const json_t *result, int64_t now,
                            struct drive_out *out) {
    enum drive_reason reason = acp->turn.interrupted ? DRIVE_TURN_CANCELLED : reason_read(result);
    if (quirk_of(acp)->usage == ACP_USAGE_RESULT)
        usage_add(acp, json_object_get(result, "usage"), out);
    if (quirk_of(acp)->usage == ACP_USAGE_QUOTA)
        usage_add(acp, drive_json_at(result, "_meta.quota.token_count"), out);
    memset(acp->asks, 0, sizeof acp->asks);
    if (reason != DRIVE_TURN_DONE || !end_is_failure(acp, result)) {
        turn_end(&acp->turn, reason, acp->lines.begin, out);
        return;
    }
    struct str text = turn_text(&acp->turn);
    turn_fail(&acp->turn,
              text.len > 0 ? arena_copy(out->arena, text)
                           : STR("it ended without an error message"),
              now, acp->lines.begin, out);
}

static void ping_answered(struct acp *acp, const json_t *result, int64_t now,
                          struct drive_out *out) {
    (void)result;
    turn_accept(&acp->turn, acp->lines.begin, out);
    turn_chatter(&acp->turn, now, acp->lines.begin, out);
}

/* ---- answers ---- */

typedef void acp_answered(struct acp *acp, const json_t *result, int64_t now,
                          struct drive_out *out);
static acp_answered *const ANSWERED[CALLS] = {hello_answered, open_answered, mode_answered,
                                              prompt_answered, ping_answered};

static void error_answered(struct acp *acp, enum acp_call call, const json_t *error, int64_t now,
                           struct drive_out *out) {
    static const char *const REFUSED[CALLS] = {"it refuses to initialize", "it refuses the session",
                                               "it refuses the mode"};
    struct str why = drive_json_dump(error, out->arena, DRIVE_TEXT);
    if (call == CALL_PING)
        ping_answered(acp, NULL, now, out);
    else if (call != CALL_PROMPT) {
        acp->stage = ACP_BROKEN;
        drive_break(out, acp->lines.begin, "%s: %.*s", REFUSED[call],
                    STR_ARG(str_cut_utf8(why, 400)));
    } else if (acp->turn.interrupted)
        turn_end(&acp->turn, DRIVE_TURN_CANCELLED, acp->lines.begin, out);
    else
        turn_fail(&acp->turn, why, now, acp->lines.begin, out);
    if (call == CALL_PROMPT)
        memset(acp->asks, 0, sizeof acp->asks);
}

static void answer_read(struct acp *acp, const json_t *frame, int64_t now, struct drive_out *out) {
    uint64_t id = drive_json_count(json_object_get(frame, "id"));
    const json_t *error = json_object_get(frame, "error");
    for (uint32_t call = 0; call < CALLS; call++)
        if (id > 0 && acp->pending[call] == id) {
            acp->pending[call] = 0;
            if (error)
                error_answered(acp, call, error, now, out);
            else
                ANSWERED[call](acp, json_object_get(frame, "result"), now, out);
            return;
        }
}

/* ---- updates ---- */

static struct str chunk_text(const json_t *update) {
    return drive_json_text(drive_json_at(update, "content.text"));
}

static void message_updated(struct acp *acp, const json_t *update, int64_t now,
                            struct drive_out *out) {
    struct str text = chunk_text(update);
    if (quirk_of(acp)->usage == ACP_USAGE_CHUNK)
        usage_add(acp, drive_json_at(update, "_meta.usage"), out);
    if (quirk_of(acp)->noise && str_begins(text, str_of(quirk_of(acp)->noise))) {
        turn_chatter(&acp->turn, now, acp->lines.begin, out);
        return;
    }
    if (text.len > 0) {
        turn_accept(&acp->turn, acp->lines.begin, out);
        acp->worked = true;
    }
    turn_words(&acp->turn, text, now, acp->lines.begin, out);
}

/* A thought or a plan is progress, but not part of the agent's text. */
static void thought_updated(struct acp *acp, const json_t *update, int64_t now,
                            struct drive_out *out) {
    turn_accept(&acp->turn, acp->lines.begin, out);
    acp->turn.active_at = now;
    acp->worked = true;
    drive_event_add(out, DRIVE_PROGRESS, acp->lines.begin)->text =
        arena_copy(out->arena, str_cut_utf8(chunk_text(update), DRIVE_TEXT));
}

/* The tool's name: the start of its call id if that contains it, else the name that the agent gives. tool_name() falls
 * back to the title, then to the id. */
static struct str tool_named(const struct acp *acp, const json_t *tool) {
    static const char *const PATHS[] = {"_meta.claudeCode.toolName", "_meta.toolName",
                                        "_meta.goose.toolCall.toolName", "name"};
    struct str name = {"", 0}, id = drive_json_text(json_object_get(tool, "toolCallId"));
    const char *behind = quirk_of(acp)->name_before;
    const char *end = behind ? memmem(id.at, id.len, behind, strlen(behind)) : NULL;
    if (end)
        return (struct str){id.at, (size_t)(end - id.at)};
    for (size_t i = 0; i < count_of(PATHS) && name.len == 0; i++)
        name = drive_json_text(drive_json_at(tool, PATHS[i]));
    return name;
}

static struct str tool_name(const struct acp *acp, const json_t *tool) {
    struct str name = tool_named(acp, tool);
    if (name.len == 0)
        name = drive_json_text(json_object_get(tool, "title"));
    return name.len > 0 ? name : drive_json_text(json_object_get(tool, "toolCallId"));
}

static void tool_begun(struct acp *acp, const json_t *tool, struct str id, int64_t now,
                       struct drive_out *out) {
    bool known = turn_tool_name(&acp->turn, id).len > 0;
    turn_tool_begin(&acp->turn, id, tool_name(acp, tool), now, acp->lines.begin, out);
    if (!known && tool_named(acp, tool).len > 0)
        turn_tool_is_named(&acp->turn, id);
}

static void tool_updated(struct acp *acp, const json_t *update, int64_t now,
                         struct drive_out *out) {
    struct str id = drive_json_text(json_object_get(update, "toolCallId"));
    struct str status = drive_json_text(json_object_get(update, "status"));
    struct str kind = drive_json_text(json_object_get(update, "sessionUpdate"));
    turn_accept(&acp->turn, acp->lines.begin, out);
    acp->worked = true;
    if (str_equal(status, STR("completed")) || str_equal(status, STR("failed")))
        turn_tool_end(&acp->turn, id, now, acp->lines.begin, out);
    else if (status.len > 0 || !str_equal(kind, STR("tool_call_update")))
        tool_begun(acp, update, id, now, out);
    else
        acp->turn.active_at = now;
}

static void info_updated(struct acp *acp, const json_t *update, int64_t now,
                         struct drive_out *out) {
    turn_chatter(&acp->turn, now, acp->lines.begin, out);
    (void)update;
}

static const struct {
    const char *name;
    void (*updated)(struct acp *acp, const json_t *update, int64_t now, struct drive_out *out);
} UPDATES[] = {{"agent_message_chunk", message_updated},
               {"agent_thought_chunk", thought_updated},
               {"plan", thought_updated},
               {"tool_call", tool_updated},
               {"tool_call_update", tool_updated},
               {"usage_update", usage_updated}};

/* Updates that arrive while a session is loaded are replayed history. Only the dispatch ids in it are kept. */
static void replay_read(struct acp *acp, const json_t *update) {
    struct str kind = drive_json_text(json_object_get(update, "sessionUpdate"));
    struct str text = chunk_text(update);
    if (!str_equal(kind, STR("user_message_chunk")) || text.len == 0)
        return;
    drive_words_add(&acp->turn.words, text);
    struct str rest = turn_text(&acp->turn);
    struct id dispatch;
    while (drive_tag_next(&rest, &dispatch)) {
        bool known = false;
        for (uint32_t i = 0; i < acp->replayed_count; i++)
            known = known || id_equal(acp->replayed_ids[i % ACP_REPLAYED], dispatch);
        if (!known)
            acp->replayed_ids[acp->replayed_count++ % ACP_REPLAYED] = dispatch;
    }
}

static void update_read(struct acp *acp, const json_t *params, int64_t now, struct drive_out *out) {
    const json_t *update = json_object_get(params, "update");
    const struct acp_quirk *quirk = quirk_of(acp);
    struct str session = drive_json_text(json_object_get(params, "sessionId"));
    if (acp->stage != ACP_READY) {
        replay_read(acp, update);
        if (acp->quiet_at > 0)
            acp->quiet_at = time_after(now, REPLAY_QUIET);
        return;
    }
    if (!str_equal(session, str_of(acp->session))) {
        turn_chatter(&acp->turn, now, acp->lines.begin, out);
        return;
    }
    if (quirk->failed_path && drive_json_at(update, quirk->failed_path))
        acp->failing = str_equal(drive_json_text(drive_json_at(update, quirk->failed_path)),
                                 str_of(quirk->failed_value));
    if (quirk->begun && drive_json_at(update, quirk->begun))
        turn_accept(&acp->turn, acp->lines.begin, out);
    struct str kind = drive_json_text(json_object_get(update, "sessionUpdate"));
    for (size_t i = 0; i < count_of(UPDATES); i++)
        if (str_equal(kind, str_of(UPDATES[i].name))) {
            UPDATES[i].updated(acp, update, now, out);
            return;
        }
    info_updated(acp, update, now, out);
}

/* ---- permission ---- */

static json_t *outcome_json(const char *option) {
    if (!option || !*option)
        return json_pack("{s:{s:s}}", "outcome", "outcome", "cancelled");
    return json_pack("{s:{s:s,s:s}}", "outcome", "outcome", "selected", "optionId", option);
}

/* Rule 3: takes the first option of the kind, and never an "always" option. */
static void option_find(const json_t *options, const char *kind, const char *veto,
                        char ret[ACP_OPTION]) {
    size_t i;
    json_t *option;
    json_array_foreach(options, i, option) {
        struct str id = drive_json_text(json_object_get(option, "optionId"));
        if (!str_equal(drive_json_text(json_object_get(option, "kind")), str_of(kind)) ||
            (veto && drive_has(id, veto)))
            continue;
        if (drive_keep(ret, ACP_OPTION, id))
            return;
    }
}

static struct acp_ask *ask_find(struct acp *acp, struct str id) {
    for (uint32_t i = 0; i < DRIVE_ASKS; i++)
        if (str_equal(str_of(acp->asks[i].id), id))
            return &acp->asks[i];
    return NULL;
}

static void permission_read(struct acp *acp, json_t *id, const json_t *params, int64_t now,
                            struct drive_out *out) {
    struct acp_ask ask = {.id = ""};
    struct str known;
    const json_t *options = json_object_get(params, "options");
    const json_t *tool = json_object_get(params, "toolCall");
    struct str name = drive_json_dump(id, out->arena, DRIVE_ASK_ID);
    option_find(options, "allow_once", quirk_of(acp)->veto, ask.allow);
    option_find(options, "reject_once", quirk_of(acp)->veto, ask.reject);
    struct str tool_id = drive_json_text(json_object_get(tool, "toolCallId"));
    turn_accept(&acp->turn, acp->lines.begin, out);
    acp->turn.active_at = now;
    acp->worked = true;
    struct acp_ask *slot = ask_find(acp, (struct str){"", 0});
    if (!acp->turn.open || acp->turn.interrupted || !slot ||
        !drive_keep(ask.id, sizeof ask.id, name)) {
        result_say(json_incref(id),
                   outcome_json(acp->turn.interrupted || !acp->turn.open ? NULL : ask.reject), out);
        return;
    }
    *slot = ask;
    tool_begun(acp, tool, tool_id, now, out);
    struct drive_event *event = drive_event_add(out, DRIVE_ASKS_FOR, acp->lines.begin);
    event->ask = arena_copy(out->arena, name);
    known = turn_tool_name(&acp->turn, tool_id);
    event->tool = true;
    event->named = turn_tool_named(&acp->turn, tool_id);
    event->text = arena_copy(
        out->arena, known.len > 0 ? known : str_cut_utf8(tool_name(acp, tool), DRIVE_TEXT));
    event->detail = drive_json_dump(tool, out->arena, DRIVE_TEXT);
    event->dispatch = acp->turn.dispatch;
}

static void ask_answer(struct acp_ask *ask, const char *option, struct drive_out *out) {
    json_t *id = json_loads(ask->id, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (id)
        result_say(id, outcome_json(option), out);
    *ask = (struct acp_ask){.id = ""};
}

static void acp_answer(void *state, struct str id, enum drive_answer answer, int64_t now,
                       struct drive_out *out) {
    struct acp *acp = state;
    struct acp_ask *ask = id.len > 0 ? ask_find(acp, id) : NULL;
    (void)now;
    if (!ask)
        return;
    ask_answer(ask,
               answer == DRIVE_ALLOW    ? ask->allow
               : answer == DRIVE_REJECT ? ask->reject
                                        : NULL,
               out);
}

/* ---- frames ---- */

static void request_read(struct acp *acp, struct str method, json_t *id, const json_t *params,
                         int64_t now, struct drive_out *out) {
    if (str_equal(method, STR("session/update")))
        update_read(acp, params, now, out);
    else if (id && str_equal(method, STR("session/request_permission")))
        permission_read(acp, id, params, now, out);
    else if (id)
        unknown_say(id, out);
}

static void frame_read(struct acp *acp, const json_t *frame, int64_t now, struct drive_out *out) {
    if (!frame) {
        acp->turn.chatter_at = now;
        return;
    }
    struct str method = drive_json_text(json_object_get(frame, "method"));
    if (method.len > 0)
        request_read(acp, method, json_object_get(frame, "id"), json_object_get(frame, "params"),
                     now, out);
    else
        answer_read(acp, frame, now, out);
}

static void acp_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                     struct drive_out *out) {
    struct acp *acp = state;
    struct drive_alike alike = {0};
    struct str line;
    while (drive_line(&acp->lines, bytes, offset, &line))
        if (acp->stage != ACP_BROKEN)
            frame_read(acp, drive_json_alike(&alike, line, "params.update.content.text"), now, out);
    drive_alike_free(&alike);
    if (acp->stage != ACP_BROKEN && drive_line_is_too_long(&acp->lines))
        acp_break(acp, out, "it wrote a line that is too long");
    if (acp->stage == ACP_BROKEN)
        acp->lines.begin = acp->lines.seen = offset + bytes.len;
}

static void acp_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct acp *acp = state;
    acp->stage = ACP_BROKEN;
    turn_fail(&acp->turn,
              arena_format(out->arena, "its process ended with %lld", (long long)status), now,
              acp->lines.begin, out);
}

/* ---- driver calls ---- */

static bool acp_ready(const void *state) {
    const struct acp *acp = state;
    return acp->stage == ACP_READY && !acp->turn.open;
}

static void acp_send(void *state, struct id dispatch, struct str text, int64_t now,
                     struct drive_out *out) {
    struct acp *acp = state;
    must(acp_ready(acp));
    turn_begin(&acp->turn, dispatch, now);
    acp->failing = acp->worked = false;
    acp->before = acp->turn.tokens;
    struct str tagged = drive_tagged(dispatch, text, out->arena);
    call_say(acp, CALL_PROMPT, "session/prompt",
             json_pack("{s:s,s:[{s:s,s:o}]}", "sessionId", acp->session, "prompt", "type", "text",
                       "text", drive_json_str(tagged)),
             out);
    ping_say(acp, now, out);
}

static void acp_interrupt(void *state, int64_t now, struct drive_out *out) {
    struct acp *acp = state;
    if (!acp->turn.open || acp->stage != ACP_READY || acp->turn.interrupted)
        return;
    if (quirk_of(acp)->forgets && !acp->worked) {
        acp_break(acp, out, "its turn hangs, and a cancelled turn would lose the message");
        return;
    }
    acp->turn.interrupted = true;
    acp->turn.stop_by = time_after(now, STOP_WITHIN);
    drive_say_json(out, json_pack("{s:s,s:s,s:{s:s}}", "jsonrpc", "2.0", "method", "session/cancel",
                                  "params", "sessionId", acp->session));
    for (uint32_t i = 0; i < DRIVE_ASKS; i++)
        if (acp->asks[i].id[0])
            ask_answer(&acp->asks[i], NULL, out);
}

static void acp_look(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct acp *acp = state;
    enum tristate arrived = turn_delivered(&acp->turn, dispatch);
    (void)now;
    for (uint32_t i = 0; i < acp->replayed_count && i < ACP_REPLAYED; i++)
        if (id_equal(acp->replayed_ids[i], dispatch))
            arrived = TRISTATE_YES;
    if (arrived == TRISTATE_UNKNOWN && acp->replayed && !id_equal(acp->turn.dispatch, dispatch) &&
        acp->replayed_count <= ACP_REPLAYED)
        arrived = TRISTATE_NO;
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, acp->lines.begin);
    event->dispatch = dispatch;
    event->arrived = arrived;
}

static int64_t acp_due(const void *state) {
    const struct acp *acp = state;
    int64_t due = TIME_NEVER;
    if (acp->stage == ACP_BROKEN || acp->stage == ACP_NOTHING)
        return due;
    if (acp->by > 0)
        due = acp->by;
    if (acp->open_at > 0 && acp->open_at < due)
        due = acp->open_at;
    if (acp->quiet_at > 0 && acp->quiet_at < due)
        due = acp->quiet_at;
    if (acp->turn.open && acp->ping_at < due)
        due = acp->ping_at;
    if (acp->turn.stop_by > 0 && acp->turn.stop_by < due)
        due = acp->turn.stop_by;
    return due;
}

static void acp_tick(void *state, int64_t now, struct drive_out *out) {
    struct acp *acp = state;
    if (acp->stage == ACP_BROKEN || acp->stage == ACP_NOTHING)
        return;
    if (acp->open_at > 0 && now >= acp->open_at)
        open_say(acp, now, out);
    if (acp->quiet_at > 0 && now >= acp->quiet_at)
        mode_say(acp, now, out);
    if (acp->by > 0 && now >= acp->by)
        acp_break(acp, out, "it does not answer");
    else if (acp->turn.stop_by > 0 && now >= acp->turn.stop_by)
        acp_break(acp, out, "it did not stop when it was told to");
    else if (acp->turn.open && now >= acp->ping_at)
        ping_say(acp, now, out);
}

static void acp_see(const void *state, struct observation *ret) {
    turn_see(&((const struct acp *)state)->turn, ret);
}

static uint64_t acp_resume_at(const void *state) {
    return ((const struct acp *)state)->lines.begin;
}

/* ---- launch ---- */

static bool tool_is_known(const struct acp_quirk *quirk, struct str tool) {
    if (!quirk->tools)
        return true;
    for (size_t i = 0; quirk->tools[i]; i++) {
        struct str name = str_of(quirk->tools[i]);
        bool family = name.at[name.len - 1] == '_';
        if (family ? str_begins(tool, name) : str_equal(tool, name))
            return true;
    }
    return false;
}

/* SCOPE-02: if a list was given, tools that it does not name are denied. */
static struct str opencode_permission(const struct drive_spec *spec, struct arena *arena) {
    json_t *all = json_object();
    const char *otherwise = spec->ask ? "ask" : "allow";
    json_object_set_new(all, "*", json_string(spec->allow_given ? "deny" : otherwise));
    json_object_set_new(all, "overseer_*", json_string("allow"));
    for (uint32_t i = 0; i < spec->allow_count; i++)
        json_object_setn_new(all, spec->allow[i].at, spec->allow[i].len, json_string("allow"));
    for (uint32_t i = 0; i < spec->deny_count; i++) {
        bool edits =
            str_equal(spec->deny[i], STR("write")) || str_equal(spec->deny[i], STR("patch"));
        struct str name =
            edits ? STR("edit") : spec->deny[i]; /* one permission for edit, write and patch */
        json_object_setn_new(all, name.at, name.len, json_string("deny"));
    }
    struct str text = drive_json_dump(all, arena, SIZE_MAX);
    json_decref(all);
    return text;
}

/* The settings text in a table row is a JSON object that is not closed: the tools are added last. */
static struct str settings_close(const struct drive_spec *spec, const struct acp_quirk *quirk,
                                 struct str text, struct arena *arena) {
    json_t *tools =
        json_pack("{s:{s:b}}", "toolSearch", "enabled", 0); /* our tools are always visible */
    if (spec->allow_given) {
        json_t *core = names_json(spec->allow, spec->allow_count);
        for (size_t i = 0; quirk->own_tools && quirk->own_tools[i]; i++)
            json_array_append_new(core, json_string(quirk->own_tools[i]));
        json_object_set_new(tools, "core", core);
    }
    if (spec->deny_count > 0)
        json_object_set_new(tools, "exclude", names_json(spec->deny, spec->deny_count));
    struct str dump = drive_json_dump(tools, arena, SIZE_MAX);
    json_decref(tools);
    return arena_format(arena, "%.*s,\"tools\":%.*s}", STR_ARG(text), STR_ARG(dump));
}

static const struct str OPENCODE_SCOPE = STR("OPENCODE_PERMISSION");

static void quirk_launch(const struct drive_spec *spec, const struct acp_quirk *quirk,
                         struct arena *arena, struct drive_launch *launch) {
    struct str text, path;
    for (size_t i = 0; i < count_of(quirk->args) && quirk->args[i]; i++)
        if (launch_fill(spec, quirk->args[i], arena, &text))
            launch_arg(launch, text);
    for (size_t i = 0; i < count_of(quirk->env) && quirk->env[i].name; i++)
        if (launch_fill(spec, quirk->env[i].value, arena, &text))
            launch_env(launch, str_of(quirk->env[i].name), text);
    const struct acp_pair *mode = spec->ask ? &quirk->env_ask : &quirk->env_free;
    if (mode->name)
        launch_env(launch, str_of(mode->name), str_of(mode->value));
    for (size_t i = 0; i < count_of(quirk->files) && quirk->files[i].name; i++)
        if (launch_fill(spec, quirk->files[i].value, arena, &text)) {
            path = str_of(quirk->files[i].name);
            launch_file(launch, path,
                        quirk->scope == ACP_SCOPE_SETTINGS
                            ? settings_close(spec, quirk, text, arena)
                            : text);
        }
    bool ours = quirk->scope != ACP_SCOPE_OPENCODE || !launch_names(launch, OPENCODE_SCOPE);
    if (quirk->scope == ACP_SCOPE_OPENCODE)
        launch_env(launch, OPENCODE_SCOPE, opencode_permission(spec, arena));
    launch->history = str_of(quirk->history);
    launch->scope_enforced = ours && quirk->scope != ACP_SCOPE_NONE && !quirk->scope_leaks;
}

static bool acp_launch(const struct drive_spec *spec, struct arena *arena, struct drive_launch *ret,
                       struct str *ret_why) {
    const struct acp_quirk *quirk = acp_quirk_named(spec->quirk);
    if (!quirk) {
        *ret_why = arena_format(arena, "unknown agent kind %.*s", STR_ARG(spec->quirk));
        return false;
    }
    if (!launch_is_text(spec)) {
        *ret_why = STR("a path, a name or a tool is not text");
        return false;
    }
    for (uint32_t i = 0; i < spec->allow_count; i++)
        if (!tool_is_known(quirk, spec->allow[i])) {
            *ret_why = arena_format(arena, "%s has no tool called %.*s", quirk->name,
                                    STR_ARG(spec->allow[i]));
            return false;
        }
    struct str opening;
    if (!opening_make(spec, quirk, arena, &opening)) {
        *ret_why = STR("its lists of tools or its paths are too long for a session");
        return false;
    }
    *ret = (struct drive_launch){.argc = 0};
    launch_begin(spec, ret);
    quirk_launch(spec, quirk, arena, ret);
    return launch_is_whole(ret, ret_why);
}

/* Table rows may have moved since the state was saved. */
static bool acp_quirk_set(void *state, struct str quirk) {
    const struct acp_quirk *row = acp_quirk_named(quirk);
    if (row)
        ((struct acp *)state)->quirk = acp_quirk_row(row);
    return row != NULL;
}

const struct driver DRIVER_ACP = {.name = "acp",
                                  .size = sizeof(struct acp),
                                  .shape = &ACP_STATE,
                                  .raw_size = 30480,
                                  .receipts = true,
                                  .adopts = false,
                                  .dedupes = false,
                                  .launch = acp_launch,
                                  .begin = acp_begin,
                                  .feed = acp_feed,
                                  .gone = acp_gone,
                                  .ready = acp_ready,
                                  .send = acp_send,
                                  .answer = acp_answer,
                                  .interrupt = acp_interrupt,
                                  .look = acp_look,
                                  .due = acp_due,
                                  .tick = acp_tick,
                                  .see = acp_see,
                                  .resume_at = acp_resume_at,
                                  .quirk_set = acp_quirk_set};
