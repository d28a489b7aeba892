/* SPDX-License-Identifier: Apache-2.0 */
/* Observes a session that Overseer did not start; it is never driven. The hold runs `overseer adopt NAME --lines`,
 * which reports what it sees as lines of JSON and reads nothing; this driver never writes a byte. A dispatch starts the
 * observation, and its receipt means that the session is there. */
#include "drivers/drive.h"

enum { ADOPTED_ID = 80 };

struct adopted {
    struct drive_lines lines;
    bool there, broken;
    enum tristate busy; /* is it in a turn? */
    struct drive_turn turn;
};

/* ---- saved state ---- */

static const struct field ADOPTED_ROWS[] = {
    STATE_PART(adopted, lines, 1, DRIVE_LINES_SHAPE), STATE_ROW(FIELD_BOOL, adopted, there, 2),
    STATE_ROW(FIELD_BOOL, adopted, broken, 3),        STATE_ENUM(adopted, busy, 4, TRISTATE_COUNT),
    STATE_PART(adopted, turn, 5, DRIVE_TURN_SHAPE),
};
static const struct shape ADOPTED_STATE = SHAPE_OF(adopted, "watched", 1, ADOPTED_ROWS);
_Static_assert(sizeof(struct adopted) == 19320,
               "files of version 2 have these bytes: keep the old struct for them, as it was");

static bool adopted_launch(const struct drive_spec *spec, struct arena *arena,
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

static void adopted_begin(void *state, const struct drive_spec *spec, int64_t now,
                          struct drive_out *out) {
    (void)state, (void)spec, (void)now, (void)out;
}

/* ---- observations ---- */

typedef void seen_fn(struct adopted *adopted, const json_t *line, int64_t now,
                     struct drive_out *out);

static struct str member(const json_t *line, const char *name) {
    return drive_json_text(json_object_get(line, name));
}

static void seen_there(struct adopted *adopted, const json_t *line, int64_t now,
                       struct drive_out *out) {
    (void)now;
    adopted->there = true;
    drive_event_add(out, DRIVE_STARTED, adopted->lines.begin)->session =
        arena_copy(out->arena, str_cut_utf8(member(line, "session"), ADOPTED_ID));
}

static void seen_words(struct adopted *adopted, const json_t *line, int64_t now,
                       struct drive_out *out) {
    struct str text = member(line, "text");
    turn_words(&adopted->turn, text, now, adopted->lines.begin, out);
    if (text.len > 0) /* each text is a line of its own */
        drive_event_add(out, DRIVE_PROGRESS, adopted->lines.begin)->text = STR("\n");
}

static void seen_progress(struct adopted *adopted, const json_t *line, int64_t now,
                          struct drive_out *out) {
    (void)line;
    adopted->turn.active_at = now;
    drive_event_add(out, DRIVE_PROGRESS, adopted->lines.begin);
}

static void seen_output(struct adopted *adopted, const json_t *line, int64_t now,
                        struct drive_out *out) {
    (void)line;
    turn_chatter(&adopted->turn, now, adopted->lines.begin, out);
}

static void seen_tool(struct adopted *adopted, const json_t *line, int64_t now,
                      struct drive_out *out) {
    turn_tool_begin(&adopted->turn, member(line, "id"), member(line, "name"), now,
                    adopted->lines.begin, out);
}

static void seen_tool_end(struct adopted *adopted, const json_t *line, int64_t now,
                          struct drive_out *out) {
    turn_tool_end(&adopted->turn, member(line, "id"), now, adopted->lines.begin, out);
}

/* A session that is not in a turn has no open tool either, even if the tool's end was not reported. */
static void seen_turn(struct adopted *adopted, const json_t *line, int64_t now,
                      struct drive_out *out) {
    (void)now;
    adopted->busy = json_is_true(json_object_get(line, "busy")) ? TRISTATE_YES : TRISTATE_NO;
    for (; adopted->busy == TRISTATE_NO && adopted->turn.tool_count > 0; adopted->turn.tool_count--)
        drive_event_add(out, DRIVE_TOOL_ENDED, adopted->lines.begin);
}

static void seen_not(struct adopted *adopted, const json_t *line, int64_t now,
                     struct drive_out *out) {
    (void)now;
    adopted->broken = true;
    struct str why = str_cut_utf8(member(line, "why"), DRIVE_TEXT);
    drive_break(out, adopted->lines.begin, "%.*s", STR_ARG(why));
}

static const struct {
    const char *type;
    seen_fn *seen;
} SEEN[] = {{"there", seen_there},   {"words", seen_words}, {"progress", seen_progress},
            {"output", seen_output}, {"tool", seen_tool},   {"tool-end", seen_tool_end},
            {"turn", seen_turn},     {"not", seen_not}};

static void line_take(struct adopted *adopted, struct str text, int64_t now,
                      struct drive_out *out) {
    json_t *line = drive_json(text);
    struct str type = member(line, "type");
    for (size_t i = 0; i < count_of(SEEN); i++)
        if (str_equal(type, str_of(SEEN[i].type)))
            SEEN[i].seen(adopted, line, now, out);
    json_decref(line);
}

static void adopted_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                         struct drive_out *out) {
    struct adopted *adopted = state;
    struct str line;
    while (!adopted->broken && drive_line(&adopted->lines, bytes, offset, &line))
        line_take(adopted, line, now, out);
    if (!adopted->broken && drive_line_is_too_long(&adopted->lines)) {
        adopted->broken = true;
        drive_break(out, adopted->lines.begin, "a line is too long");
    }
}

/* The driver does not judge how the session ended: the exit status says whether its end was observed. */
static void adopted_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct adopted *adopted = state;
    (void)status, (void)now, (void)out;
    adopted->there = false;
}

/* ---- driver calls: nothing is ever sent ---- */

static bool adopted_ready(const void *state) {
    const struct adopted *adopted = state;
    return adopted->there && !adopted->broken;
}

static void adopted_send(void *state, struct id dispatch, struct str text, int64_t now,
                         struct drive_out *out) {
    struct adopted *adopted = state;
    (void)text;
    turn_begin(&adopted->turn, dispatch, now);
    turn_accept(&adopted->turn, adopted->lines.begin, out);
}

static void adopted_answer(void *state, struct str ask, enum drive_answer answer, int64_t now,
                           struct drive_out *out) {
    (void)state, (void)ask, (void)answer, (void)now, (void)out;
}

static void adopted_interrupt(void *state, int64_t now, struct drive_out *out) {
    (void)state, (void)now, (void)out;
}

static void adopted_look(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct adopted *adopted = state;
    (void)now;
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, adopted->lines.begin);
    event->dispatch = dispatch;
    event->arrived = turn_delivered(&adopted->turn, dispatch);
}

static int64_t adopted_due(const void *state) {
    (void)state;
    return TIME_NEVER;
}

static void adopted_tick(void *state, int64_t now, struct drive_out *out) {
    (void)state, (void)now, (void)out;
}

static void adopted_see(const void *state, struct observation *ret) {
    const struct adopted *adopted = state;
    turn_see(&adopted->turn, ret);
    ret->turn = adopted->busy;
}

static uint64_t adopted_resume_at(const void *state) {
    return ((const struct adopted *)state)->lines.begin;
}

const struct driver DRIVER_ADOPTED = {.name = "watched",
                                      .size = sizeof(struct adopted),
                                      .shape = &ADOPTED_STATE,
                                      .raw_size = 19320,
                                      .receipts = true,
                                      .adopts = true,
                                      .bridged = true,
                                      .watches = true,
                                      .launch = adopted_launch,
                                      .begin = adopted_begin,
                                      .feed = adopted_feed,
                                      .gone = adopted_gone,
                                      .ready = adopted_ready,
                                      .send = adopted_send,
                                      .answer = adopted_answer,
                                      .interrupt = adopted_interrupt,
                                      .look = adopted_look,
                                      .due = adopted_due,
                                      .tick = adopted_tick,
                                      .see = adopted_see,
                                      .resume_at = adopted_resume_at};
