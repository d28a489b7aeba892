/* SPDX-License-Identifier: Apache-2.0 */
/* Drives an agent behind an OpenClaw gateway, with requests, answers and events as lines of JSON, which `overseer gateway`
 * carries over a WebSocket.
 *
 *   away ──open──▶ hello ──connect.challenge, connect──▶ session ──sessions.create──▶ ready
 *    ▲                                                                                  │
 *    └───────────────────────────────────── lost ──────────────────────────────────────┘
 *
 * `agent` is answered twice with one id: accepted, which is the receipt, and how it ended. Its idempotencyKey is the dispatch, and the
 * name of the run. After a lost connection the driver calls agent.wait; that answers "timeout" also for a run unknown to the gateway,
 * so it never means "still working": sessions.describe tells that, and chat.history whether the prompt arrived. Seen at 2026.9.6. */
#include "drivers/drive.h"

#include <stdio.h>
#include <stdlib.h>

#define START_WITHIN SECONDS(180) /* a gateway starts slowly */
#define AWAY_MOST SECONDS(300)
#define STOP_WITHIN SECONDS(15)
#define CLAW_OURS ":overseer-"   /* in the key of a session that we created */
#define RETRY_WAITED SECONDS(30) /* the turn does not wait for a longer limit */

enum {
    CLAW_PATH = 4096,
    CLAW_WORD = 128,
    CLAW_PROTOCOL = 4,
    WAIT_MS = 20000,  /* one wait for the end of a run */
    HISTORY_MOST = 50 /* messages that are searched for a dispatch: it is among the newest */
};

enum claw_stage { CLAW_NOTHING, CLAW_AWAY, CLAW_HELLO, CLAW_SESSION, CLAW_READY, CLAW_BROKEN };

enum claw_call {
    CALL_CONNECT,
    CALL_CREATE,
    CALL_AGENT,
    CALL_ABORT,
    CALL_WAIT,
    CALL_DESCRIBE,
    CALL_HISTORY,
    CALLS
};

struct claw_ask {
    char id[DRIVE_ASK_ID]; /* empty: free */
    bool answered; /* the answer is sent again on a new connection, until the gateway confirms it */
    enum drive_answer answer;
};

struct claw {
    struct drive_lines lines;
    enum claw_stage stage;
    int64_t ready_by; /* 0: it is ready, or was */
    uint32_t connection, next_id;
    uint32_t pending[CALLS]; /* the newest request of each kind; 0: none */
    char session[CLAW_WORD]; /* its key */
    char cwd[CLAW_PATH], model[CLAW_WORD], thinking[CLAW_WORD];
    struct id run, looked;
    bool ask, resumed, started, looking;
    bool last_wait; /* no run is active any more: its end is known now, or never */
    bool limited;   /* the turn was given up because of a limit */
    int64_t limited_until;
    uint64_t tokens_before;  /* sum of the turns before this one */
    char heir[DRIVE_ASK_ID]; /* the run that continues ours; empty: none */
    struct claw_ask asks[DRIVE_ASKS];
    struct drive_turn turn;
};

/* ---- saved state ---- */

static const struct field ASK_ROWS[] = {
    STATE_CHARS(claw_ask, id, 1),
    STATE_ROW(FIELD_BOOL, claw_ask, answered, 2),
    STATE_ENUM(claw_ask, answer, 3, DRIVE_CANCEL + 1),
};
static const struct shape ASK = SHAPE_OF(claw_ask, "ask", 1, ASK_ROWS);

static const struct field CLAW_ROWS[] = {
    STATE_PART(claw, lines, 1, DRIVE_LINES_SHAPE),
    STATE_ENUM(claw, stage, 2, CLAW_BROKEN + 1),
    STATE_ROW(FIELD_INT, claw, ready_by, 3),
    STATE_ROW(FIELD_U32, claw, connection, 4),
    STATE_ROW(FIELD_U32, claw, next_id, 5),
    STATE_LIST(claw, pending, 6, DRIVE_NUMBER_SHAPE),
    STATE_CHARS(claw, session, 7),
    STATE_CHARS(claw, cwd, 8),
    STATE_CHARS(claw, model, 9),
    STATE_CHARS(claw, thinking, 10),
    STATE_ROW(FIELD_ID, claw, run, 11),
    STATE_ROW(FIELD_ID, claw, looked, 12),
    STATE_ROW(FIELD_BOOL, claw, ask, 13),
    STATE_ROW(FIELD_BOOL, claw, resumed, 14),
    STATE_ROW(FIELD_BOOL, claw, started, 15),
    STATE_ROW(FIELD_BOOL, claw, looking, 16),
    STATE_ROW(FIELD_BOOL, claw, last_wait, 17),
    STATE_ROW(FIELD_BOOL, claw, limited, 18),
    STATE_ROW(FIELD_INT, claw, limited_until, 19),
    STATE_ROW(FIELD_UINT, claw, tokens_before, 20),
    STATE_CHARS(claw, heir, 21),
    STATE_LIST(claw, asks, 22, ASK),
    STATE_PART(claw, turn, 23, DRIVE_TURN_SHAPE),
};
static const struct shape CLAW_STATE = SHAPE_OF(claw, "openclaw", 1, CLAW_ROWS);
_Static_assert(sizeof(struct claw) == 24544,
               "files of version 2 have these bytes: keep the old struct for them, as it was");

static void claw_break(struct claw *claw, struct drive_out *out, const char *why, struct str more) {
    claw->stage = CLAW_BROKEN;
    drive_break(out, claw->lines.begin, "%s%s%.*s", why, more.len > 0 ? ": " : "",
                STR_ARG(str_cut_utf8(more, 400)));
}

/* ---- launch ---- */

static bool claw_launch(const struct drive_spec *spec, struct arena *arena,
                        struct drive_launch *ret, struct str *ret_why) {
    (void)arena;
    if (!launch_is_text(spec) || spec->cwd.len >= CLAW_PATH || spec->model.len >= CLAW_WORD ||
        spec->thinking.len >= CLAW_WORD || spec->session.len >= CLAW_WORD) {
        *ret_why = STR("a path or a name is not text, or too long");
        return false;
    }
    *ret = (struct drive_launch){.argc = 0};
    launch_arg(ret, spec->program);
    launch_arg(ret, STR("gateway"));
    launch_arg(ret, spec->base_url.len > 0 ? spec->base_url : STR("ws://127.0.0.1:18789"));
    for (uint32_t i = 0; i < spec->arg_count; i++)
        launch_arg(ret, spec->args[i]);
    for (uint32_t i = 0; i < spec->env_count; i++)
        launch_env(ret, spec->env[i].name, spec->env[i].value);
    ret->scope_enforced = false; /* SCOPE-08: the gateway's own policy decides about its tools */
    return launch_is_whole(ret, ret_why);
}

/* ---- output ---- */

static void call_say(struct claw *claw, enum claw_call call, const char *method, json_t *params,
                     struct drive_out *out) {
    claw->pending[call] = ++claw->next_id;
    drive_say_json(out, json_pack("{s:s,s:o,s:s,s:o}", "type", "req", "id",
                                  json_sprintf("%u.%u", claw->connection, claw->next_id), "method",
                                  method, "params", params));
}

/* The dispatch, unless the gateway continues it as another run. */
static const char *run_name(const struct claw *claw, char name[ID_TEXT + 1]) {
    id_format(claw->turn.dispatch, name);
    return claw->heir[0] ? claw->heir : name;
}

/* Tells the bridge which events to let through, and what to send when it is told to end: no run continues without us. */
static void bridge_tell(const struct claw *claw, struct drive_out *out) {
    drive_say_json(out, json_pack("{s:s,s:s,s:[s,s,s,s],s:{s:s,s:s,s:{s:s,s:b}}}", "type", "bridge",
                                  "session", claw->session, "events", "connect.challenge", "agent",
                                  "exec.approval.requested", "exec.approval.resolved", "last",
                                  "type", "req", "method", "sessions.abort", "params", "key",
                                  claw->session, "clearQueued", 1));
}

static void claw_begin(void *state, const struct drive_spec *spec, int64_t now,
                       struct drive_out *out) {
    struct claw *claw = state;
    must(claw->stage == CLAW_NOTHING);
    claw->stage = CLAW_AWAY;
    claw->ready_by = time_after(now, START_WITHIN);
    claw->run = spec->run;
    claw->ask = spec->ask;
    claw->resumed = spec->session.len > 0;
    if (!drive_keep(claw->session, sizeof claw->session, spec->session) ||
        !drive_keep(claw->cwd, sizeof claw->cwd, spec->cwd) ||
        !drive_keep(claw->model, sizeof claw->model, spec->model) ||
        !drive_keep(claw->thinking, sizeof claw->thinking, spec->thinking))
        claw_break(claw, out, "a path or a name is too long", STR(""));
}

static void wait_say(struct claw *claw, bool last, struct drive_out *out) {
    char name[ID_TEXT + 1];
    const char *run = run_name(claw, name);
    claw->last_wait = last;
    call_say(claw, CALL_WAIT, "agent.wait",
             json_pack("{s:s,s:i}", "runId", run, "timeoutMs", last ? 1 : WAIT_MS), out);
}

static void abort_say(struct claw *claw, int64_t now, struct drive_out *out) {
    char name[ID_TEXT + 1];
    const char *run = run_name(claw, name);
    claw->turn.stop_by = time_after(now, STOP_WITHIN);
    call_say(claw, CALL_ABORT, "sessions.abort",
             json_pack("{s:s,s:s}", "key", claw->session, "runId", run), out);
}

static void history_say(struct claw *claw, struct drive_out *out) {
    call_say(claw, CALL_HISTORY, "chat.history",
             json_pack("{s:s,s:i}", "sessionKey", claw->session, "limit", HISTORY_MOST), out);
}

static bool claw_ready(const void *state) {
    const struct claw *claw = state;
    return claw->stage == CLAW_READY && !claw->turn.open;
}

static void claw_send(void *state, struct id dispatch, struct str text, int64_t now,
                      struct drive_out *out) {
    struct claw *claw = state;
    char run[ID_TEXT + 1];
    must(claw_ready(claw));
    turn_begin(&claw->turn, dispatch, now);
    claw->limited = false;
    claw->limited_until = 0;
    claw->tokens_before = claw->turn.tokens;
    memset(claw->asks, 0, sizeof claw->asks);
    memset(claw->heir, 0, sizeof claw->heir);
    id_format(dispatch, run);
    struct str tagged = drive_tagged(dispatch, text, out->arena);
    call_say(claw, CALL_AGENT, "agent",
             json_pack("{s:o,s:s,s:s,s:b}", "message", drive_json_str(tagged), "sessionKey",
                       claw->session, "idempotencyKey", run, "deliver", 0),
             out);
}

/* ---- permission ---- */

static struct claw_ask *ask_find(struct claw *claw, struct str id) {
    for (uint32_t i = 0; i < DRIVE_ASKS; i++)
        if (str_equal(str_of(claw->asks[i].id), id))
            return &claw->asks[i];
    return NULL;
}

/* The driver does not wait for the answer: exec.approval.resolved reports the result. */
static void answer_say(struct claw *claw, struct str id, enum drive_answer answer,
                       struct drive_out *out) {
    drive_say_json(out,
                   json_pack("{s:s,s:o,s:s,s:{s:o,s:s}}", "type", "req", "id",
                             json_sprintf("%u.%u", claw->connection, ++claw->next_id), "method",
                             "exec.approval.resolve", "params", "id", drive_json_str(id),
                             "decision", answer == DRIVE_ALLOW ? "allow-once" : "deny"));
}

static void ask_read(struct claw *claw, const json_t *payload, int64_t now, struct drive_out *out) {
    const json_t *request = json_object_get(payload, "request");
    struct str id = drive_json_text(json_object_get(payload, "id"));
    struct str session = drive_json_text(json_object_get(request, "sessionKey"));
    struct claw_ask *slot = ask_find(claw, STR(""));
    if (id.len == 0 || ask_find(claw, id) || !str_equal(session, str_of(claw->session)))
        return; /* requests of another session are not ours to answer */
    claw->turn.active_at = now;
    if (!claw->turn.open || claw->turn.interrupted || !slot ||
        !drive_keep(slot->id, sizeof slot->id, id)) {
        answer_say(claw, id, DRIVE_REJECT, out);
        return;
    }
    struct drive_event *event = drive_event_add(out, DRIVE_ASKS_FOR, claw->lines.begin);
    event->ask = arena_copy(out->arena, id);
    event->text = STR("exec");
    event->named = event->tool = true;
    event->detail = drive_json_dump(json_object_get(request, "command"), out->arena, DRIVE_TEXT);
    event->dispatch = claw->turn.dispatch;
}

static void resolved_read(struct claw *claw, const json_t *payload, int64_t now,
                          struct drive_out *out) {
    struct str id = drive_json_text(json_object_get(payload, "id"));
    struct claw_ask *ask = id.len > 0 ? ask_find(claw, id) : NULL;
    turn_chatter(&claw->turn, now, claw->lines.begin, out);
    if (ask)
        *ask = (struct claw_ask){0};
}

static void claw_answer(void *state, struct str id, enum drive_answer answer, int64_t now,
                        struct drive_out *out) {
    struct claw *claw = state;
    struct claw_ask *ask = id.len > 0 ? ask_find(claw, id) : NULL;
    (void)now;
    if (!ask || ask->answered)
        return;
    ask->answered = true;
    ask->answer = answer;
    if (claw->stage == CLAW_READY)
        answer_say(claw, id, answer, out);
}

/* ---- the end of a turn ---- */

/* Tokens of this turn: the gateway starts counting anew in each turn. */
static void usage_read(struct claw *claw, const json_t *meta, struct drive_out *out) {
    const json_t *usage = json_object_get(meta, "usage");
    uint64_t total = drive_json_count(json_object_get(usage, "total"));
    uint64_t window = drive_json_count(json_object_get(meta, "contextTokens"));
    uint64_t used = drive_json_count(json_object_get(meta, "promptTokens"));
    double cost = json_number_value(drive_json_at(usage, "cost.total"));
    if (total == 0)
        return;
    claw->turn.tokens = claw->tokens_before + total;
    if (cost > 0 && cost < 1e9)
        claw->turn.cost += (uint64_t)(cost * 1e6);
    if (window > 0)
        claw->turn.context = (uint32_t)(used >= window ? 10000 : used * 10000 / window);
    turn_usage(&claw->turn, claw->lines.begin, out);
}

static void turn_is_over(struct claw *claw) {
    memset(claw->asks, 0, sizeof claw->asks);
    claw->pending[CALL_AGENT] = claw->pending[CALL_WAIT] = claw->pending[CALL_DESCRIBE] = 0;
}

static void turn_stopped(struct claw *claw, struct drive_out *out) {
    turn_is_over(claw);
    if (!claw->turn.open)
        return;
    if (claw->limited)
        turn_limit(&claw->turn, STR("its account is at a limit"), claw->limited_until,
                   claw->lines.begin, out);
    else
        turn_end(&claw->turn, DRIVE_TURN_CANCELLED, claw->lines.begin, out);
}

static void turn_failed(struct claw *claw, struct str why, int64_t now, struct drive_out *out) {
    turn_is_over(claw);
    turn_fail(&claw->turn, why.len > 0 ? why : STR("it gave no reason"), now, claw->lines.begin,
              out);
}

/* Adds the final text only if no text arrived during the turn. */
static void turn_done(struct claw *claw, struct str text, int64_t now, struct drive_out *out) {
    turn_is_over(claw);
    if (claw->turn.words.len == 0)
        turn_words(&claw->turn, text, now, claw->lines.begin, out);
    turn_end(&claw->turn, DRIVE_TURN_DONE, claw->lines.begin, out);
}

/* ok, error, or timeout, which is also the status of a run that was ended from outside. */
static void end_read(struct claw *claw, struct str status, struct str text, struct str why,
                     int64_t now, struct drive_out *out) {
    if (claw->turn.interrupted)
        turn_stopped(claw, out);
    else if (str_equal(status, STR("ok")))
        turn_done(claw, text, now, out);
    else
        turn_failed(claw, why, now, out);
}

/* ---- answers ---- */

static void session_create(struct claw *claw, struct drive_out *out) {
    json_t *params = json_pack("{s:s,s:s}", "key", claw->session, "cwd", claw->cwd);
    if (claw->model[0])
        json_object_set_new(params, "model", json_string(claw->model));
    if (claw->thinking[0])
        json_object_set_new(params, "thinkingLevel", json_string(claw->thinking));
    if (claw->ask) /* writes stay in the worktree, and commands need permission */
        json_object_set_new(params, "permissionMode", json_string("guarded"));
    claw->stage = CLAW_SESSION;
    call_say(claw, CALL_CREATE, "sessions.create", params, out);
}

static void connect_answered(struct claw *claw, const json_t *payload, int64_t now,
                             struct drive_out *out) {
    struct str agent =
        drive_json_text(drive_json_at(payload, "snapshot.sessionDefaults.defaultAgentId"));
    char uuid[UUID_TEXT + 1];
    (void)now;
    if (drive_json_count(json_object_get(payload, "protocol")) != CLAW_PROTOCOL) {
        claw_break(claw, out, "it does not support version 4 of the protocol", STR(""));
        return;
    }
    if (agent.len == 0 || agent.len > CLAW_WORD / 2 || !str_is_text(agent))
        agent = STR("main");
    id_format_uuid(claw->run, uuid);
    if (!claw->session[0])
        snprintf(claw->session, sizeof claw->session, "agent:%.*s" CLAW_OURS "%s", STR_ARG(agent),
                 uuid);
    bridge_tell(claw, out);
    session_create(claw, out);
}

/* Finds out what became of the work that was in progress when the connection was lost. */
static void session_opened(struct claw *claw, int64_t now, struct drive_out *out) {
    claw->stage = CLAW_READY;
    claw->ready_by = 0;
    if (!claw->started)
        drive_event_add(out, DRIVE_STARTED, claw->lines.begin)->session =
            arena_copy(out->arena, str_of(claw->session));
    claw->started = true;
    for (uint32_t i = 0; i < DRIVE_ASKS; i++)
        if (claw->asks[i].answered)
            answer_say(claw, str_of(claw->asks[i].id), claw->asks[i].answer, out);
    if (claw->turn.open && claw->turn.interrupted)
        abort_say(claw, now, out);
    else if (claw->turn.open)
        wait_say(claw, false, out);
    if (claw->looking)
        history_say(claw, out);
}

/* Aborts work that an earlier run left active in its session: its results would reach no one. */
static void create_answered(struct claw *claw, const json_t *payload, int64_t now,
                            struct drive_out *out) {
    struct str key = drive_json_text(json_object_get(payload, "key"));
    if (key.len > 0 && !str_equal(key, str_of(claw->session)) &&
        drive_keep(claw->session, sizeof claw->session, key))
        bridge_tell(claw, out); /* the gateway uses its own name for the session */
    if (claw->started || !claw->resumed || !strstr(claw->session, CLAW_OURS))
        session_opened(claw, now, out);
    else
        call_say(claw, CALL_ABORT, "sessions.abort",
                 json_pack("{s:s,s:b}", "key", claw->session, "clearQueued", 1), out);
}

/* The text of the answer, and whether it is the text of a failure. */
static struct str payloads_text(const json_t *result, bool *ret_failed) {
    const json_t *first = json_array_get(json_object_get(result, "payloads"), 0);
    *ret_failed = json_is_true(json_object_get(first, "isError"));
    return drive_json_text(json_object_get(first, "text"));
}

static void agent_answered(struct claw *claw, const json_t *payload, int64_t now,
                           struct drive_out *out) {
    struct str status = drive_json_text(json_object_get(payload, "status"));
    const json_t *result = json_object_get(payload, "result");
    bool begun = str_equal(status, STR("accepted")), known = str_equal(status, STR("in_flight"));
    bool failed;
    if (begun || known) {
        turn_accept(&claw->turn, claw->lines.begin, out);
        turn_chatter(&claw->turn, now, claw->lines.begin, out);
        if (known) /* sent before: this request gets no second answer */
            wait_say(claw, false, out);
        return;
    }
    struct str text = payloads_text(result, &failed);
    usage_read(claw, drive_json_at(result, "meta.agentMeta"), out);
    end_read(claw, failed ? STR("error") : status, text,
             failed && text.len > 0 ? text : drive_json_text(json_object_get(payload, "summary")),
             now, out);
}

/* A run that was aborted reports its end itself, but not to a connection other than the one that started it. */
static void abort_answered(struct claw *claw, const json_t *payload, int64_t now,
                           struct drive_out *out) {
    struct str status = drive_json_text(json_object_get(payload, "status"));
    if (claw->stage == CLAW_SESSION)
        session_opened(claw, now, out);
    else if (claw->turn.interrupted &&
             (claw->pending[CALL_AGENT] == 0 || !str_equal(status, STR("aborted"))))
        turn_stopped(claw, out);
}

/* No run is active, and it is not known how that run ended. A dispatch without a receipt may never have arrived. */
static void run_is_gone(struct claw *claw, int64_t now, struct drive_out *out) {
    if (claw->turn.accepted) {
        turn_failed(claw, STR("the gateway no longer knows this run"), now, out);
        return;
    }
    claw->looked = claw->turn.dispatch;
    claw->looking = true;
    history_say(claw, out);
}

static void wait_answered(struct claw *claw, const json_t *payload, int64_t now,
                          struct drive_out *out) {
    struct str status = drive_json_text(json_object_get(payload, "status"));
    struct str why = drive_json_text(json_object_get(payload, "error"));
    if (!claw->turn.open)
        return;
    if (!str_equal(status, STR("timeout")) || json_object_get(payload, "endedAt")) {
        turn_accept(&claw->turn, claw->lines.begin, out);
        end_read(claw, status, drive_json_text(drive_json_at(payload, "terminalReply.text")), why,
                 now, out);
    } else if (claw->last_wait)
        run_is_gone(claw, now, out);
    else
        call_say(claw, CALL_DESCRIBE, "sessions.describe", json_pack("{s:s}", "key", claw->session),
                 out);
}

static void describe_answered(struct claw *claw, const json_t *payload, int64_t now,
                              struct drive_out *out) {
    const json_t *active = drive_json_at(payload, "session.hasActiveRun");
    struct str status = drive_json_text(drive_json_at(payload, "session.status"));
    bool works = active ? json_is_true(active) : str_equal(status, STR("running"));
    (void)now;
    if (claw->turn.open)
        wait_say(claw, !works, out);
}

/* The key of a message is the key of its run, followed by the kind of message. */
static bool message_is(const json_t *message, struct id dispatch, struct arena *arena) {
    char run[ID_TEXT + 1];
    struct str rest = drive_json_dump(message, arena, SIZE_MAX), role, key;
    struct id found;
    id_format(dispatch, run);
    role = drive_json_text(json_object_get(message, "role"));
    key = drive_json_text(json_object_get(message, "idempotencyKey"));
    if (!str_equal(role, STR("user")))
        return false;
    if (str_begins(key, str_of(run)))
        return true;
    while (drive_tag_next(&rest, &found))
        if (id_equal(found, dispatch))
            return true;
    return false;
}

static void looked_say(struct claw *claw, enum tristate arrived, struct drive_out *out) {
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, claw->lines.begin);
    claw->looking = false;
    event->dispatch = claw->looked;
    event->arrived = arrived;
}

/* A dispatch that is not in the complete history did not arrive, unless it is being sent just now. */
static void history_answered(struct claw *claw, const json_t *payload, int64_t now,
                             struct drive_out *out) {
    const json_t *messages = json_object_get(payload, "messages");
    bool ours = claw->turn.open && id_equal(claw->turn.dispatch, claw->looked), found = false;
    bool on_its_way = ours && claw->pending[CALL_AGENT] != 0;
    size_t i;
    json_t *message;
    if (!claw->looking)
        return;
    json_array_foreach(messages, i, message) {
        found = found || message_is(message, claw->looked, out->arena);
    }
    bool whole = json_is_array(messages) && !json_is_true(json_object_get(payload, "hasMore"));
    if (found && ours)
        turn_accept(&claw->turn, claw->lines.begin, out);
    looked_say(claw,
               found                  ? TRISTATE_YES
               : whole && !on_its_way ? TRISTATE_NO
                                      : TRISTATE_UNKNOWN,
               out);
    if (!ours || on_its_way)
        return;
    if (found || !whole)
        turn_failed(claw, STR("the gateway no longer knows this run"), now, out);
    else
        claw->turn.open = false; /* as if it had never been sent */
}

/* ---- refusals ---- */

static void connect_refused(struct claw *claw, const json_t *error, struct str why, int64_t now,
                            struct drive_out *out) {
    (void)now;
    if (json_is_true(json_object_get(error, "retryable")))
        claw->stage = CLAW_AWAY; /* it is still starting, and closes the connection */
    else
        claw_break(claw, out, "the gateway refuses the connection", why);
}

static void create_refused(struct claw *claw, const json_t *error, struct str why, int64_t now,
                           struct drive_out *out) {
    (void)error, (void)now;
    claw_break(claw, out, "the gateway refuses the session", why);
}

static void agent_refused(struct claw *claw, const json_t *error, struct str why, int64_t now,
                          struct drive_out *out) {
    (void)error;
    end_read(claw, STR("error"), STR(""), why, now, out);
}

static void abort_refused(struct claw *claw, const json_t *error, struct str why, int64_t now,
                          struct drive_out *out) {
    (void)error, (void)now;
    if (claw->stage == CLAW_SESSION)
        claw_break(claw, out, "the gateway refuses the session", why);
    /* else: an agent that does not stop in time is reported as broken */
}

/* Without these answers nothing is known about the run. */
static void wait_refused(struct claw *claw, const json_t *error, struct str why, int64_t now,
                         struct drive_out *out) {
    (void)error;
    if (claw->turn.open)
        turn_failed(claw, why, now, out);
}

static void history_refused(struct claw *claw, const json_t *error, struct str why, int64_t now,
                            struct drive_out *out) {
    (void)error;
    if (claw->looking)
        looked_say(claw, TRISTATE_UNKNOWN, out);
    if (claw->turn.open && claw->pending[CALL_AGENT] == 0 && claw->pending[CALL_WAIT] == 0)
        turn_failed(claw, why, now, out);
}

static const struct {
    void (*answered)(struct claw *claw, const json_t *payload, int64_t now, struct drive_out *out);
    void (*refused)(struct claw *claw, const json_t *error, struct str why, int64_t now,
                    struct drive_out *out);
} ANSWERS[CALLS] = {[CALL_CONNECT] = {connect_answered, connect_refused},
                    [CALL_CREATE] = {create_answered, create_refused},
                    [CALL_AGENT] = {agent_answered, agent_refused},
                    [CALL_ABORT] = {abort_answered, abort_refused},
                    [CALL_WAIT] = {wait_answered, wait_refused},
                    [CALL_DESCRIBE] = {describe_answered, wait_refused},
                    [CALL_HISTORY] = {history_answered, history_refused}};

/* "3.7": the seventh request, on the third connection. 0: not on this one. */
static uint32_t id_read(const struct claw *claw, struct str id) {
    char text[32], *end;
    if (!drive_keep(text, sizeof text, id))
        return 0;
    unsigned long connection = strtoul(text, &end, 10);
    if (*end != '.' || connection != claw->connection)
        return 0;
    unsigned long number = strtoul(end + 1, &end, 10);
    return *end || number > UINT32_MAX ? 0 : (uint32_t)number;
}

static void answer_read(struct claw *claw, const json_t *frame, int64_t now,
                        struct drive_out *out) {
    uint32_t id = id_read(claw, drive_json_text(json_object_get(frame, "id")));
    const json_t *payload = json_object_get(frame, "payload");
    const json_t *error = json_object_get(frame, "error");
    enum claw_call call = 0;
    while (call < CALLS && (id == 0 || claw->pending[call] != id))
        call++;
    if (call == CALLS)
        return;
    if (call != CALL_AGENT)
        claw->pending[call] = 0;
    if (json_is_true(json_object_get(frame, "ok")))
        ANSWERS[call].answered(claw, payload, now, out);
    else
        ANSWERS[call].refused(claw, error, drive_json_text(json_object_get(error, "message")), now,
                              out);
}

/* ---- events ---- */

static void text_read(struct claw *claw, const json_t *data, int64_t now, struct drive_out *out) {
    if (json_is_true(json_object_get(data, "replace")))
        claw->turn.words.len = 0;
    struct str delta = drive_json_text(json_object_get(data, "delta"));
    turn_words(&claw->turn, delta, now, claw->lines.begin, out);
}

/* Text before a tool call arrives as an item of its own. */
static void item_read(struct claw *claw, const json_t *data, int64_t now, struct drive_out *out) {
    struct str kind = drive_json_text(json_object_get(data, "kind"));
    struct str phase = drive_json_text(json_object_get(data, "phase"));
    struct str text = drive_json_text(json_object_get(data, "progressText"));
    if (!str_equal(kind, STR("preamble")) || !str_equal(phase, STR("end")) || text.len == 0)
        turn_chatter(&claw->turn, now, claw->lines.begin, out);
    else
        turn_words(&claw->turn, arena_format(out->arena, "%.*s\n", STR_ARG(text)), now,
                   claw->lines.begin, out);
}

static void tool_read(struct claw *claw, const json_t *data, int64_t now, struct drive_out *out) {
    struct str phase = drive_json_text(json_object_get(data, "phase"));
    struct str id = drive_json_text(json_object_get(data, "toolCallId"));
    if (str_equal(phase, STR("start")))
        turn_tool_begin(&claw->turn, id, drive_json_text(json_object_get(data, "name")), now,
                        claw->lines.begin, out);
    else if (str_equal(phase, STR("result")))
        turn_tool_end(&claw->turn, id, now, claw->lines.begin, out);
    else
        turn_chatter(&claw->turn, now, claw->lines.begin, out);
}

static void thought_read(struct claw *claw, const json_t *data, int64_t now,
                         struct drive_out *out) {
    (void)data;
    claw->turn.active_at = now;
    drive_event_add(out, DRIVE_PROGRESS, claw->lines.begin)->text = STR("");
}

static void spent_read(struct claw *claw, const json_t *data, int64_t now, struct drive_out *out) {
    uint64_t tokens = claw->tokens_before + drive_json_count(json_object_get(data, "outputTokens"));
    claw->turn.chatter_at = now;
    if (tokens <= claw->turn.tokens)
        return;
    claw->turn.tokens = tokens;
    turn_usage(&claw->turn, claw->lines.begin, out);
}

static void claw_interrupt(void *state, int64_t now, struct drive_out *out);

/* FAIL-19: the gateway retries by itself. At a limit that would keep the turn open for long, the driver gives the turn
 * up. */
static void status_read(struct claw *claw, const json_t *data, int64_t now, struct drive_out *out) {
    uint64_t wait_ms = drive_json_count(json_object_get(data, "delayMs"));
    int64_t wait = wait_ms < 1000000000 ? MILLISECONDS(wait_ms) : 0;
    struct str reason = drive_json_text(json_object_get(data, "reason"));
    turn_chatter(&claw->turn, now, claw->lines.begin, out);
    if (!str_equal(reason, STR("rate_limit")) || wait < RETRY_WAITED || claw->turn.interrupted)
        return;
    claw->limited = true;
    claw->limited_until = time_after(out->wall ? out->wall : now, wait);
    claw_interrupt(claw, now, out);
}

static void other_read(struct claw *claw, const json_t *data, int64_t now, struct drive_out *out) {
    (void)data;
    turn_chatter(&claw->turn, now, claw->lines.begin, out);
}

static const struct {
    const char *stream;
    void (*read)(struct claw *claw, const json_t *data, int64_t now, struct drive_out *out);
} STREAMS[] = {{"assistant", text_read}, {"item", item_read},
               {"tool", tool_read},      {"thinking", thought_read},
               {"usage", spent_read},    {"run_status", status_read},
               {"", other_read}};

/* A restarted gateway continues what it had begun, as a run with another name in the same session. The driver takes
 * that run for ours while the fate of ours is unknown. */
static bool heir_take(struct claw *claw, const json_t *payload, struct drive_out *out) {
    struct str session = drive_json_text(json_object_get(payload, "sessionKey"));
    struct str phase = drive_json_text(drive_json_at(payload, "data.phase"));
    if (!claw->turn.accepted || claw->turn.interrupted || claw->pending[CALL_AGENT] != 0 ||
        claw->stage != CLAW_READY || !str_equal(session, str_of(claw->session)) ||
        str_equal(phase, STR("end")) || str_equal(phase, STR("error")) ||
        !drive_keep(claw->heir, sizeof claw->heir,
                    drive_json_text(json_object_get(payload, "runId"))))
        return false;
    claw->pending[CALL_DESCRIBE] = 0;
    wait_say(claw, false, out);
    return true;
}

static void agent_read(struct claw *claw, const json_t *payload, int64_t now,
                       struct drive_out *out) {
    char name[ID_TEXT + 1];
    struct str run = drive_json_text(json_object_get(payload, "runId"));
    size_t i = 0;
    if (!claw->turn.open ||
        (!str_equal(run, str_of(run_name(claw, name))) && !heir_take(claw, payload, out))) {
        claw->turn.chatter_at = now;
        return;
    }
    struct str stream = drive_json_text(json_object_get(payload, "stream"));
    while (i + 1 < count_of(STREAMS) && !str_equal(stream, str_of(STREAMS[i].stream)))
        i++;
    turn_accept(&claw->turn, claw->lines.begin, out);
    STREAMS[i].read(claw, json_object_get(payload, "data"), now, out);
}

/* The bridge has the token: it never passes through here. The gateway waits for a client that announces exec-approvals,
 * so the driver does that only with `ask`. */
static void challenge_read(struct claw *claw, const json_t *payload, int64_t now,
                           struct drive_out *out) {
    (void)payload, (void)now;
    if (claw->stage != CLAW_HELLO || claw->pending[CALL_CONNECT] != 0)
        return;
    json_t *caps = json_pack("[s]", "tool-events");
    if (claw->ask)
        json_array_append_new(caps, json_string("exec-approvals"));
    call_say(claw, CALL_CONNECT, "connect",
             json_pack("{s:i,s:i,s:{s:s,s:s,s:s,s:s},s:s,s:[s,s,s,s],s:o}", "minProtocol",
                       CLAW_PROTOCOL, "maxProtocol", CLAW_PROTOCOL, "client", "id",
                       "gateway-client", "version", "1", "platform", "linux", "mode", "backend",
                       "role", "operator", "scopes", "operator.read", "operator.write",
                       "operator.admin", "operator.approvals", "caps", caps),
             out);
}

static const struct {
    const char *event;
    void (*read)(struct claw *claw, const json_t *payload, int64_t now, struct drive_out *out);
} EVENTS[] = {{"agent", agent_read},
              {"connect.challenge", challenge_read},
              {"exec.approval.requested", ask_read},
              {"exec.approval.resolved", resolved_read}};

static void event_read(struct claw *claw, const json_t *frame, int64_t now, struct drive_out *out) {
    struct str name = drive_json_text(json_object_get(frame, "event"));
    for (size_t i = 0; i < count_of(EVENTS); i++)
        if (str_equal(name, str_of(EVENTS[i].event)))
            EVENTS[i].read(claw, json_object_get(frame, "payload"), now, out);
}

/* ---- the bridge ---- */

static void bridge_read(struct claw *claw, const json_t *frame, int64_t now,
                        struct drive_out *out) {
    struct str event = drive_json_text(json_object_get(frame, "event"));
    bool open = str_equal(event, STR("open"));
    (void)out;
    if (!open && !str_equal(event, STR("lost")))
        return;
    claw->stage = open ? CLAW_HELLO : CLAW_AWAY;
    memset(claw->pending, 0, sizeof claw->pending);
    if (open) {
        claw->connection = (uint32_t)drive_json_count(json_object_get(frame, "connection"));
        claw->next_id = 0;
    }
    if (claw->ready_by == 0)
        claw->ready_by = time_after(now, AWAY_MOST);
}

static const struct {
    const char *type;
    void (*read)(struct claw *claw, const json_t *frame, int64_t now, struct drive_out *out);
} FRAMES[] = {{"event", event_read}, {"res", answer_read}, {"bridge", bridge_read}};

static void frame_read(struct claw *claw, struct str line, int64_t now, struct drive_out *out) {
    json_t *frame = drive_json(line);
    struct str type = drive_json_text(json_object_get(frame, "type"));
    for (size_t i = 0; i < count_of(FRAMES); i++)
        if (str_equal(type, str_of(FRAMES[i].type)))
            FRAMES[i].read(claw, frame, now, out);
    json_decref(frame);
}

static void claw_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                      struct drive_out *out) {
    struct claw *claw = state;
    struct str line;
    while (drive_line(&claw->lines, bytes, offset, &line))
        if (claw->stage != CLAW_BROKEN)
            frame_read(claw, line, now, out);
    if (claw->stage != CLAW_BROKEN && drive_line_is_too_long(&claw->lines))
        claw_break(claw, out, "it wrote a line that is too long", STR(""));
    if (claw->stage == CLAW_BROKEN)
        claw->lines.begin = claw->lines.seen = offset + bytes.len;
}

static void claw_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct claw *claw = state;
    claw->stage = CLAW_BROKEN;
    turn_fail(&claw->turn,
              arena_format(out->arena, "its process ended with %lld", (long long)status), now,
              claw->lines.begin, out);
}

/* ---- driver calls ---- */

static void claw_interrupt(void *state, int64_t now, struct drive_out *out) {
    struct claw *claw = state;
    if (!claw->turn.open || claw->turn.interrupted || claw->stage == CLAW_BROKEN)
        return;
    claw->turn.interrupted = true;
    for (uint32_t i = 0; i < DRIVE_ASKS; i++)
        if (claw->asks[i].id[0])
            claw_answer(claw, str_of(claw->asks[i].id), DRIVE_CANCEL, now, out);
    if (claw->stage == CLAW_READY)
        abort_say(claw, now, out);
}

static void claw_look(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct claw *claw = state;
    (void)now;
    if (claw->looking)
        looked_say(claw, TRISTATE_UNKNOWN, out);
    claw->looked = dispatch;
    claw->looking = true;
    if (turn_delivered(&claw->turn, dispatch) == TRISTATE_YES)
        looked_say(claw, TRISTATE_YES, out);
    else if (claw->stage == CLAW_BROKEN)
        looked_say(claw, TRISTATE_UNKNOWN, out);
    else if (claw->stage == CLAW_READY)
        history_say(claw, out);
}

static int64_t claw_due(const void *state) {
    const struct claw *claw = state;
    if (claw->stage == CLAW_NOTHING || claw->stage == CLAW_BROKEN)
        return TIME_NEVER;
    if (claw->stage != CLAW_READY)
        return claw->ready_by;
    return claw->turn.stop_by > 0 ? claw->turn.stop_by : TIME_NEVER;
}

static void claw_tick(void *state, int64_t now, struct drive_out *out) {
    struct claw *claw = state;
    if (now < claw_due(claw))
        return;
    claw_break(claw, out,
               claw->stage != CLAW_READY ? "the gateway does not answer"
                                         : "it did not stop when it was told to",
               STR(""));
}

static void claw_see(const void *state, struct observation *ret) {
    turn_see(&((const struct claw *)state)->turn, ret);
}

static uint64_t claw_resume_at(const void *state) {
    return ((const struct claw *)state)->lines.begin;
}

const struct driver DRIVER_OPENCLAW = {.name = "openclaw",
                                       .size = sizeof(struct claw),
                                       .shape = &CLAW_STATE,
                                       .raw_size = 24544,
                                       .usual = true,
                                       .receipts = true,
                                       .adopts = true,
                                       .dedupes =
                                           false, /* it drops them only while the gateway runs */
                                       .bridged = true,
                                       .launch = claw_launch,
                                       .begin = claw_begin,
                                       .feed = claw_feed,
                                       .gone = claw_gone,
                                       .ready = claw_ready,
                                       .send = claw_send,
                                       .answer = claw_answer,
                                       .interrupt = claw_interrupt,
                                       .look = claw_look,
                                       .due = claw_due,
                                       .tick = claw_tick,
                                       .see = claw_see,
                                       .resume_at = claw_resume_at};
