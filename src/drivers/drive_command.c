/* SPDX-License-Identifier: Apache-2.0 */
/* Drives a program that reads one prompt, works, and exits. Its input is the prompt, its output is its text, its exit
 * status is the result. */
#include "drivers/drive.h"

struct one_shot {
    uint64_t read; /* output up to here was read */
    bool begun, sent, gone;
    struct drive_turn turn;
};

/* ---- saved state ---- */

static const struct field ONE_SHOT_ROWS[] = {
    STATE_ROW(FIELD_UINT, one_shot, read, 1),        STATE_ROW(FIELD_BOOL, one_shot, begun, 2),
    STATE_ROW(FIELD_BOOL, one_shot, sent, 3),        STATE_ROW(FIELD_BOOL, one_shot, gone, 4),
    STATE_PART(one_shot, turn, 5, DRIVE_TURN_SHAPE),
};
static const struct shape ONE_SHOT_STATE = SHAPE_OF(one_shot, "command", 1, ONE_SHOT_ROWS);
_Static_assert(sizeof(struct one_shot) == 19312,
               "files of version 2 have these bytes: keep the old struct for them, as it was");

static bool one_shot_launch(const struct drive_spec *spec, struct arena *arena,
                            struct drive_launch *ret, struct str *ret_why) {
    (void)arena;
    if (spec->allow_given || spec->deny_count > 0) {
        *ret_why = STR("the command driver cannot restrict tools");
        return false;
    }
    if (spec->session.len > 0) {
        *ret_why = STR("a command has no session to resume");
        return false;
    }
    *ret = (struct drive_launch){.argc = 0};
    launch_begin(spec, ret);
    return launch_is_whole(ret, ret_why);
}

static void one_shot_begin(void *state, const struct drive_spec *spec, int64_t now,
                           struct drive_out *out) {
    struct one_shot *one = state;
    (void)spec, (void)now;
    one->begun = true;
    drive_event_add(out, DRIVE_STARTED, 0);
}

/* All its output is its text, byte for byte: people read all of it. */
static void one_shot_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                          struct drive_out *out) {
    struct one_shot *one = state;
    must(offset <= one->read && offset + bytes.len >= one->read);
    size_t known = (size_t)(one->read - offset);
    struct str news = {bytes.at + known, bytes.len - known};
    if (news.len == 0)
        return;
    one->read += news.len;
    if (one->turn.open)
        drive_words_add(&one->turn.words, news);
    one->turn.active_at = now;
    struct drive_event *event = drive_event_add(out, DRIVE_PROGRESS, one->read);
    event->text = arena_copy(out->arena, news);
    event->raw = true;
}

/* A prompt is delivered if the program read it: a successful exit proves that, a failed one proves nothing. */
static void one_shot_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct one_shot *one = state;
    one->gone = true;
    bytes_mend(one->turn.words.at, one->turn.words.len);
    if (status == 0)
        turn_end(&one->turn, DRIVE_TURN_DONE, one->read, out);
    else if (one->turn.interrupted)
        turn_end(&one->turn, DRIVE_TURN_CANCELLED, one->read, out);
    else
        turn_fail(&one->turn,
                  arena_format(out->arena, "it ended with %lld: %.*s", (long long)status,
                               STR_ARG(turn_text(&one->turn))),
                  now, one->read, out);
}

static bool one_shot_ready(const void *state) {
    const struct one_shot *one = state;
    return one->begun && !one->sent && !one->gone;
}

static void one_shot_send(void *state, struct id dispatch, struct str text, int64_t now,
                          struct drive_out *out) {
    struct one_shot *one = state;
    must(one_shot_ready(one));
    one->sent = true;
    turn_begin(&one->turn, dispatch, now);
    drive_say(out, drive_tagged(dispatch, text, out->arena));
    drive_say(out, STR("\n"));
    out->close = true;
}

static void one_shot_answer(void *state, struct str ask, enum drive_answer answer, int64_t now,
                            struct drive_out *out) {
    (void)state, (void)ask, (void)answer, (void)now, (void)out;
}

/* A command takes no interrupt: its hold has to end it. */
static void one_shot_interrupt(void *state, int64_t now, struct drive_out *out) {
    struct one_shot *one = state;
    (void)now;
    if (!one->turn.open || one->turn.interrupted)
        return;
    one->turn.interrupted = true;
    drive_break(out, one->read, "a command can only be ended");
}

static void one_shot_look(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct one_shot *one = state;
    (void)now;
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, one->read);
    event->dispatch = dispatch;
    event->arrived = turn_delivered(&one->turn, dispatch);
}

static int64_t one_shot_due(const void *state) {
    (void)state;
    return TIME_NEVER;
}

static void one_shot_tick(void *state, int64_t now, struct drive_out *out) {
    (void)state, (void)now, (void)out;
}

static void one_shot_see(const void *state, struct observation *ret) {
    turn_see(&((const struct one_shot *)state)->turn, ret);
}

static uint64_t one_shot_resume_at(const void *state) {
    return ((const struct one_shot *)state)->read;
}

const struct driver DRIVER_COMMAND = {.name = "command",
                                      .size = sizeof(struct one_shot),
                                      .shape = &ONE_SHOT_STATE,
                                      .raw_size = 19312,
                                      .usual = true,
                                      .untried = true,
                                      .launch = one_shot_launch,
                                      .begin = one_shot_begin,
                                      .feed = one_shot_feed,
                                      .gone = one_shot_gone,
                                      .ready = one_shot_ready,
                                      .send = one_shot_send,
                                      .answer = one_shot_answer,
                                      .interrupt = one_shot_interrupt,
                                      .look = one_shot_look,
                                      .due = one_shot_due,
                                      .tick = one_shot_tick,
                                      .see = one_shot_see,
                                      .resume_at = one_shot_resume_at};
