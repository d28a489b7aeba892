/* SPDX-License-Identifier: Apache-2.0 */
/* How is a session driven that is not ours? It is not: it is only watched. `overseer adopt NAME --lines` is held, says in lines of
 * JSON what it sees, and reads nothing; this driver never writes a byte. A dispatch begins the watch, and its receipt is that
 * the session is there. */
#include "ports/drive.h"

enum { WATCHED_ID = 80 };

struct watched {
    struct drive_lines lines;
    bool there, broken;
    enum sure busy; /* is it in a turn? */
    struct drive_turn turn;
};

/* ---- saved state ---- */

static const struct field WATCHED_ROWS[] = {
    STATE_PART(watched, lines, 1, DRIVE_LINES_SHAPE), STATE_ROW(FIELD_BOOL, watched, there, 2),
    STATE_ROW(FIELD_BOOL, watched, broken, 3),        STATE_ENUM(watched, busy, 4, SURES),
    STATE_PART(watched, turn, 5, DRIVE_TURN_SHAPE),
};
static const struct shape WATCHED_STATE = SHAPE_OF(watched, "watched", 1, WATCHED_ROWS);
_Static_assert(sizeof(struct watched) == 19320,
               "files of version 2 have these bytes: keep the old struct for them, as it was");

static bool watched_launch(const struct drive_spec *spec, struct arena *arena,
                           struct drive_launch *ret, struct str *ret_why) {
    (void)arena;
    if (!launch_is_text(spec)) {
        *ret_why = STR("a path or a name is not text");
        return false;
    }
    *ret = (struct drive_launch){.argc = 0};
    launch_arg(ret, spec->program);
    launch_arg(ret, STR("adopt"));
    launch_arg(ret, spec->quirk);
    launch_arg(ret, STR("--lines"));
    for (uint32_t i = 0; i < spec->arg_count; i++)
        launch_arg(ret, spec->args[i]);
    for (uint32_t i = 0; i < spec->env_count; i++)
        launch_env(ret, spec->env[i].name, spec->env[i].value);
    return launch_is_whole(ret, ret_why);
}

static void watched_begin(void *state, const struct drive_spec *spec, int64_t now,
                          struct drive_out *out) {
    (void)state, (void)spec, (void)now, (void)out;
}

/* ---- what is seen ---- */

typedef void seen_fn(struct watched *watched, const json_t *line, int64_t now,
                     struct drive_out *out);

static struct str member(const json_t *line, const char *name) {
    return drive_json_text(json_object_get(line, name));
}

static void seen_there(struct watched *watched, const json_t *line, int64_t now,
                       struct drive_out *out) {
    (void)now;
    watched->there = true;
    drive_event_add(out, DRIVE_STARTED, watched->lines.begin)->session =
        arena_copy(out->arena, str_cut_utf8(member(line, "session"), WATCHED_ID));
}

static void seen_words(struct watched *watched, const json_t *line, int64_t now,
                       struct drive_out *out) {
    struct str text = member(line, "text");
    turn_words(&watched->turn, text, now, watched->lines.begin, out);
    if (text.len > 0) /* each is a line of its own */
        drive_event_add(out, DRIVE_PROGRESS, watched->lines.begin)->text = STR("\n");
}

static void seen_progress(struct watched *watched, const json_t *line, int64_t now,
                          struct drive_out *out) {
    (void)line;
    watched->turn.active_at = now;
    drive_event_add(out, DRIVE_PROGRESS, watched->lines.begin);
}

static void seen_output(struct watched *watched, const json_t *line, int64_t now,
                        struct drive_out *out) {
    (void)line;
    turn_chatter(&watched->turn, now, watched->lines.begin, out);
}

static void seen_tool(struct watched *watched, const json_t *line, int64_t now,
                      struct drive_out *out) {
    turn_tool_begin(&watched->turn, member(line, "id"), member(line, "name"), now,
                    watched->lines.begin, out);
}

static void seen_tool_end(struct watched *watched, const json_t *line, int64_t now,
                          struct drive_out *out) {
    turn_tool_end(&watched->turn, member(line, "id"), now, watched->lines.begin, out);
}

/* Whoever is not in a turn has no tool open either, whatever was not heard of. */
static void seen_turn(struct watched *watched, const json_t *line, int64_t now,
                      struct drive_out *out) {
    (void)now;
    watched->busy = json_is_true(json_object_get(line, "busy")) ? SURE_YES : SURE_NO;
    for (; watched->busy == SURE_NO && watched->turn.tool_count > 0; watched->turn.tool_count--)
        drive_event_add(out, DRIVE_TOOL_ENDED, watched->lines.begin);
}

static void seen_not(struct watched *watched, const json_t *line, int64_t now,
                     struct drive_out *out) {
    (void)now;
    watched->broken = true;
    struct str why = str_cut_utf8(member(line, "why"), DRIVE_TEXT);
    drive_break(out, watched->lines.begin, "%.*s", STR_ARG(why));
}

static const struct {
    const char *type;
    seen_fn *seen;
} SEEN[] = {{"there", seen_there},   {"words", seen_words}, {"progress", seen_progress},
            {"output", seen_output}, {"tool", seen_tool},   {"tool-end", seen_tool_end},
            {"turn", seen_turn},     {"not", seen_not}};

static void line_take(struct watched *watched, struct str text, int64_t now,
                      struct drive_out *out) {
    json_t *line = drive_json(text);
    struct str type = member(line, "type");
    for (size_t i = 0; i < count_of(SEEN); i++)
        if (str_equal(type, str_of(SEEN[i].type)))
            SEEN[i].seen(watched, line, now, out);
    json_decref(line);
}

static void watched_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                         struct drive_out *out) {
    struct watched *watched = state;
    struct str line;
    while (!watched->broken && drive_line(&watched->lines, bytes, offset, &line))
        line_take(watched, line, now, out);
    if (!watched->broken && drive_line_is_too_long(&watched->lines)) {
        watched->broken = true;
        drive_break(out, watched->lines.begin, "a line is too long");
    }
}

/* How it ended is not ours to judge: its exit says whether it was seen to end. */
static void watched_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct watched *watched = state;
    (void)status, (void)now, (void)out;
    watched->there = false;
}

/* ---- what is never said ---- */

static bool watched_ready(const void *state) {
    const struct watched *watched = state;
    return watched->there && !watched->broken;
}

static void watched_send(void *state, struct id dispatch, struct str text, int64_t now,
                         struct drive_out *out) {
    struct watched *watched = state;
    (void)text;
    turn_begin(&watched->turn, dispatch, now);
    turn_accept(&watched->turn, watched->lines.begin, out);
}

static void watched_answer(void *state, struct str ask, enum drive_answer answer, int64_t now,
                           struct drive_out *out) {
    (void)state, (void)ask, (void)answer, (void)now, (void)out;
}

static void watched_interrupt(void *state, int64_t now, struct drive_out *out) {
    (void)state, (void)now, (void)out;
}

static void watched_look(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct watched *watched = state;
    (void)now;
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, watched->lines.begin);
    event->dispatch = dispatch;
    event->sure = turn_delivered(&watched->turn, dispatch);
}

static int64_t watched_due(const void *state) {
    (void)state;
    return TIME_NEVER;
}

static void watched_tick(void *state, int64_t now, struct drive_out *out) {
    (void)state, (void)now, (void)out;
}

static void watched_see(const void *state, struct sighting *ret) {
    const struct watched *watched = state;
    turn_see(&watched->turn, ret);
    ret->turn = watched->busy;
}

static uint64_t watched_resume_at(const void *state) {
    return ((const struct watched *)state)->lines.begin;
}

const struct driver DRIVER_WATCHED = {.name = "watched",
                                      .size = sizeof(struct watched),
                                      .shape = &WATCHED_STATE,
                                      .raw_size = 19320,
                                      .receipts = true,
                                      .adopts = true,
                                      .bridged = true,
                                      .watches = true,
                                      .launch = watched_launch,
                                      .begin = watched_begin,
                                      .feed = watched_feed,
                                      .gone = watched_gone,
                                      .ready = watched_ready,
                                      .send = watched_send,
                                      .answer = watched_answer,
                                      .interrupt = watched_interrupt,
                                      .look = watched_look,
                                      .due = watched_due,
                                      .tick = watched_tick,
                                      .see = watched_see,
                                      .resume_at = watched_resume_at};
