/* SPDX-License-Identifier: Apache-2.0 */
/* Drives a program through its terminal, with its own tmux server in control mode.
 *
 *   boots ▸ ready ▸ pasted ▸ entered ▸ (looked ▸ entered again) ▸ taken ▸ ready
 *
 * A prompt is pasted once, bracketed, from its own buffer; then Enter follows, and once more if nothing shows that
 * the first was taken and the screen shows nothing that Enter would answer. Nothing is ever pasted twice. The program's own
 * hooks report what happened: each stores its JSON in a buffer and renames the window, and tmux notifies us of that. */
#include "drivers/drive_tmux.h"

#include <stdio.h>

enum {
    TMUX_GUARD = 64,
    TMUX_KIND = 16,
    TMUX_PIECE = 2000,    /* bytes of a text in one command */
    TMUX_SOCKET = 107,    /* bytes of its path: a system limit */
    TMUX_COMMAND = 16000, /* bytes of its whole command line: tmux takes 16 KiB at once */
    TMUX_IDLE = 3,        /* consecutive looks that saw no work: the turn is over */
    TMUX_UNSEEN = 24,     /* the same after a hook reported a dialog, which is drawn later */
    TMUX_DRAWS = 5 /* looks at a dialog whose screen goes on changing; then it counts as drawn */
};

#define BOOT_WITHIN SECONDS(120)
#define BOOT_LOOK MILLISECONDS(500)
#define TURN_LOOK SECONDS(5)
#define PASTE_REST MILLISECONDS(500) /* between the paste and Enter */
#define ENTER_REST SECONDS(4)        /* wait for a sign that it was taken */
#define CONFIRM_WITHIN SECONDS(20)   /* after the second Enter */
#define KEYS_REST MILLISECONDS(700)  /* until the screen shows the effect of a key */
#define DRAW_REST MILLISECONDS(200)  /* between two looks at a dialog that may not be drawn whole */
#define SAME_REST SECONDS(9) /* until the same dialog that was answered counts as a new one */
#define STOP_WITHIN SECONDS(15)

enum tmux_stage { TMUX_NOTHING, TMUX_BOOTS, TMUX_READY, TMUX_BROKEN };

/* Progress of a prompt. */
enum tmux_way { WAY_NONE, WAY_PASTED, WAY_ENTERED, WAY_LOOKED, WAY_AGAIN, WAY_DOUBTED, WAY_TAKEN };

/* What the next answer of tmux contains, as the answer before it announced. */
enum tmux_next { NEXT_NOTHING, NEXT_SCREEN, NEXT_HOOK, NEXT_BUFFERS, NEXT_LAST_SCREEN };

struct tmux {
    struct drive_lines lines;
    enum tmux_stage stage;
    enum tmux_way way;
    enum tmux_next next;
    uint32_t quirk;
    bool in_answer;
    char guard
        [TMUX_GUARD]; /* argument of %begin: only the %end with the same argument ends the answer, whatever a screen shows */
    char kind[TMUX_KIND]; /* of the hook whose JSON comes next */
    bool answering;
    enum drive_answer answer;
    int64_t by, look_at, way_at, calm_at; /* calm_at: the screen is not trusted before this time */
    uint32_t idle, asks;
    char session[DRIVE_SESSION];
    char ask[DRIVE_ASK_ID];    /* id of the open request; empty: none */
    struct hash answered;      /* hash of the screen whose dialog was answered last */
    int64_t answered_until;    /* until then the same screen is only slow to change */
    struct drive_words output; /* answer of tmux, its newest part */
    struct drive_turn turn;
    _Alignas(8) struct hash drawn; /* hash of the last screen that showed a dialog */
    int64_t drawn_at;
    uint32_t draws; /* looks at this dialog that each showed another screen */
};

/* ---- saved state ---- */

static const struct field TMUX_ROWS[] = {
    STATE_PART(tmux, lines, 1, DRIVE_LINES_SHAPE),
    STATE_ENUM(tmux, stage, 2, TMUX_BROKEN + 1),
    STATE_ENUM(tmux, way, 3, WAY_TAKEN + 1),
    STATE_ENUM(tmux, next, 4, NEXT_LAST_SCREEN + 1),
    STATE_ROW(FIELD_BOOL, tmux, in_answer, 5),
    STATE_CHARS(tmux, guard, 6),
    STATE_CHARS(tmux, kind, 7),
    STATE_ROW(FIELD_BOOL, tmux, answering, 8),
    STATE_ENUM(tmux, answer, 9, DRIVE_CANCEL + 1),
    STATE_ROW(FIELD_INT, tmux, by, 10),
    STATE_ROW(FIELD_INT, tmux, look_at, 11),
    STATE_ROW(FIELD_INT, tmux, way_at, 12),
    STATE_ROW(FIELD_INT, tmux, calm_at, 13),
    STATE_ROW(FIELD_U32, tmux, idle, 14),
    STATE_ROW(FIELD_U32, tmux, asks, 15),
    STATE_CHARS(tmux, session, 16),
    STATE_CHARS(tmux, ask, 17),
    STATE_ROW(FIELD_HASH, tmux, answered, 18),
    STATE_ROW(FIELD_INT, tmux, answered_until, 19),
    STATE_FILLED(tmux, output, 20),
    STATE_PART(tmux, turn, 21, DRIVE_TURN_SHAPE),
    STATE_ROW(FIELD_HASH, tmux, drawn, 22),
    STATE_ROW(FIELD_INT, tmux, drawn_at, 23),
    STATE_ROW(FIELD_U32, tmux, draws, 24),
};
static const struct shape TMUX_STATE = SHAPE_OF(tmux, "tmux", 1, TMUX_ROWS);
enum { TMUX_RAW = 36080 };
_Static_assert(offsetof(struct tmux, drawn) == TMUX_RAW,
               "files of version 2 begin with these bytes: new members come after them");

static const struct tmux_quirk *quirk_of(const struct tmux *tmux) {
    return tmux_quirk_at(tmux->quirk);
}

static void tmux_break(struct tmux *tmux, struct drive_out *out, const char *why) {
    tmux->stage = TMUX_BROKEN;
    drive_break(out, tmux->lines.begin, "%s", why);
}

/* ---- launch ---- */

#define HOOK_TEXT \
    "# SPDX-License-Identifier: Apache-2.0\n" \
    "name=overseer-hook-$1-$$\n" \
    "tmux -S '%.*s/tmux' load-buffer -b \"$name\" - \\; rename-window -t overseer: \"$name\" >/dev/null 2>&1\n" \
    "exit 0\n"
/* The screen of an ended program stays until it is read: tmux drops output that it has not yet written to its client. */
#define WINDOW_DEAD "overseer-dead"
#define CONF_TEXT \
    "set -g status off\nset -g allow-rename off\nset -g automatic-rename off\nset -g set-clipboard off\n" \
    "set -g default-terminal tmux-256color\nset -s escape-time 0\n" \
    "set -g remain-on-exit on\nset -gq remain-on-exit-format ''\n" \
    "set-hook -g pane-died 'rename-window " WINDOW_DEAD "'\n"

static bool command_fits(const struct drive_launch *launch) {
    size_t len = 0;
    for (uint32_t i = 0; i < launch->argc; i++)
        len += launch->argv[i].len + 1;
    return len <= TMUX_COMMAND;
}

static bool tmux_launch(const struct drive_spec *spec, struct arena *arena,
                        struct drive_launch *ret, struct str *ret_why) {
    static const char *const ARGS[] = {"-C", "new-session", "-s", "overseer",
                                       "-x", "160",         "-y", "50"};
    const struct tmux_quirk *quirk = tmux_quirk_named(spec->quirk);
    struct drive_launch inner;
    if (!quirk) {
        *ret_why = arena_format(arena, "unknown terminal program %.*s", STR_ARG(spec->quirk));
        return false;
    }
    if (spec->home.len + strlen("/tmux") > TMUX_SOCKET ||
        memchr(spec->home.at, '\'', spec->home.len)) {
        *ret_why = STR("the path of its home is too long for a socket or contains a quote");
        return false;
    }
    if (!quirk->launch(spec, arena, &inner, ret_why))
        return false;
    *ret = inner;
    ret->argc = 0;
    launch_arg(ret, STR("/usr/bin/tmux"));
    launch_arg(ret, STR("-S"));
    launch_arg(ret, arena_format(arena, "%.*s/tmux", STR_ARG(spec->home)));
    launch_arg(ret, STR("-f"));
    launch_arg(ret, arena_format(arena, "%.*s/overseer-tmux.conf", STR_ARG(spec->home)));
    for (size_t i = 0; i < count_of(ARGS); i++)
        launch_arg(ret, str_of(ARGS[i]));
    launch_arg(ret, STR("-c"));
    launch_arg(ret, spec->cwd);
    launch_arg(ret, STR("--"));
    launch_arg(ret, STR("/usr/bin/env")); /* several words, so that tmux uses no shell */
    for (uint32_t i = 0; i < inner.argc; i++)
        launch_arg(ret, inner.argv[i]);
    launch_file(ret, STR("overseer-tmux.conf"), STR(CONF_TEXT));
    launch_file(ret, STR(TMUX_HOOK), arena_format(arena, HOOK_TEXT, STR_ARG(spec->home)));
    ret->history = str_of(quirk->history);
    if (!command_fits(ret)) {
        *ret_why = STR("its args and lists of tools are longer than tmux takes: 16 KiB");
        return false;
    }
    return launch_is_whole(ret, ret_why);
}

/* ---- output ---- */

static void keys_say(const char *keys, struct drive_out *out) {
    drive_say(out, arena_format(out->arena, "send-keys -t overseer: %s\n", keys));
}

static void screen_ask(struct tmux *tmux, int64_t now, struct drive_out *out) {
    drive_say(out, STR("display-message -p -t overseer: '@screen#{?pane_dead,-last,}'\n"
                       "capture-pane -p -t overseer:\n"));
    if (tmux->turn.open) /* tmux may report two simultaneous hooks as one */
        drive_say(out, STR("display-message -p @buffers\nlist-buffers -F '#{buffer_name}'\n"));
    tmux->look_at = tmux->stage == TMUX_BOOTS                   ? time_after(now, BOOT_LOOK)
                    : tmux->turn.interrupted || tmux->answering ? time_after(now, KEYS_REST)
                    : tmux->turn.open                           ? time_after(now, TURN_LOOK)
                                                                : 0;
}

/* Puts a text into double quotes for tmux: every character that could have a special meaning is in octal. */
static struct str text_quoted(struct str text, struct arena *arena) {
    static const char PLAIN[] = " .,:_/()<>+=-@!?*|";
    char *quoted = arena_new(arena, char, text.len * 4 + 8);
    size_t len = 0;
    quoted[len++] = '"';
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
            (c >= 'a' && c <= 'z') || (c && strchr(PLAIN, c)))
            quoted[len++] = (char)c;
        else
            len += (size_t)snprintf(quoted + len, 5, "\\%03o", c);
    }
    quoted[len++] = '"';
    return (struct str){quoted, len};
}

/* Replaces control characters, except line feed and tab, so that none ends the paste early. */
static struct str text_tamed(struct str text, struct arena *arena) {
    char *tamed = arena_cstr(arena, text);
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)tamed[i] < ' ' && tamed[i] != '\n' && tamed[i] != '\t') ||
            tamed[i] == 0x7F)
            tamed[i] = ' ';
    return (struct str){tamed, text.len};
}

static void paste_say(struct id dispatch, struct str text, struct drive_out *out) {
    char id[ID_TEXT + 1];
    const char *append = "";
    id_format(dispatch, id);
    struct str rest = text_tamed(drive_tagged(dispatch, text, out->arena), out->arena);
    while (rest.len > 0) {
        struct str piece = str_cut_utf8(rest, TMUX_PIECE);
        if (piece.len == 0)
            piece = str_cut(rest, TMUX_PIECE);
        drive_say(out, arena_format(out->arena, "set-buffer %s-b overseer-%s %.*s\n", append, id,
                                    STR_ARG(text_quoted(piece, out->arena))));
        rest = (struct str){rest.at + piece.len, rest.len - piece.len};
        append = "-a ";
    }
    drive_say(out,
              arena_format(out->arena, "paste-buffer -p -d -b overseer-%s -t overseer:\n", id));
}

static void tmux_begin(void *state, const struct drive_spec *spec, int64_t now,
                       struct drive_out *out) {
    struct tmux *tmux = state;
    char uuid[UUID_TEXT + 1];
    const struct tmux_quirk *quirk = tmux_quirk_named(spec->quirk);
    must(tmux->stage == TMUX_NOTHING);
    if (!quirk) {
        tmux_break(tmux, out, "the settings now name another kind of agent");
        return;
    }
    id_format_uuid(spec->run, uuid);
    tmux->quirk = tmux_quirk_row(quirk);
    tmux->stage = TMUX_BOOTS;
    tmux->by = time_after(now, BOOT_WITHIN);
    tmux->look_at = time_after(now, BOOT_LOOK);
    if (!drive_keep(tmux->session, sizeof tmux->session,
                    spec->session.len > 0   ? spec->session
                    : quirk->session_is_run ? str_of(uuid)
                                            : STR("")))
        tmux_break(tmux, out, "the name of its session is too long");
}

static bool tmux_ready(const void *state) {
    const struct tmux *tmux = state;
    return tmux->stage == TMUX_READY && !tmux->turn.open;
}

static void tmux_send(void *state, struct id dispatch, struct str text, int64_t now,
                      struct drive_out *out) {
    struct tmux *tmux = state;
    must(tmux_ready(tmux));
    turn_begin(&tmux->turn, dispatch, now);
    tmux->idle = 0;
    tmux->way = WAY_PASTED;
    tmux->way_at = time_after(now, PASTE_REST);
    tmux->look_at = time_after(now, TURN_LOOK);
    paste_say(dispatch, text, out);
}

/* ---- the screen ---- */

static bool screen_shows(struct str screen, const char *text) {
    return text && screen.len > 0 && memmem(screen.at, screen.len, text, strlen(text)) != NULL;
}

static const struct tmux_dialog *dialog_find(const struct tmux *tmux, struct str screen) {
    const struct tmux_quirk *quirk = quirk_of(tmux);
    for (size_t i = 0; i < count_of(quirk->dialogs) && quirk->dialogs[i].name; i++)
        if (screen_shows(screen, quirk->dialogs[i].shows[0]) &&
            (!quirk->dialogs[i].shows[1] || screen_shows(screen, quirk->dialogs[i].shows[1])))
            return &quirk->dialogs[i];
    return NULL;
}

/* Its last lines, without trailing empty ones. */
static struct str screen_tail(struct str screen, size_t most) {
    while (screen.len > 0 &&
           (screen.at[screen.len - 1] == ' ' || screen.at[screen.len - 1] == '\n'))
        screen.len--;
    if (screen.len > most)
        screen = (struct str){screen.at + screen.len - most, most};
    while (screen.len > 0 && ((unsigned char)*screen.at & 0xC0) == 0x80)
        screen = (struct str){screen.at + 1, screen.len - 1};
    return screen;
}

/* Joins a sentence that the terminal wrapped, and drops padding blanks. */
static struct str screen_unwrapped(struct str screen, struct arena *arena) {
    char *text = arena_cstr(arena, screen);
    size_t len = 0;
    for (size_t i = 0; i < screen.len; i++) {
        bool blank = text[i] == ' ' || text[i] == '\n';
        if (!blank || (len > 0 && text[len - 1] != ' '))
            text[len++] = blank ? ' ' : text[i];
    }
    return (struct str){text, len};
}

static struct drive_event *ask_tell(struct tmux *tmux, struct str name, struct str detail,
                                    struct drive_out *out) {
    snprintf(tmux->ask, sizeof tmux->ask, "ask-%u", ++tmux->asks);
    struct drive_event *event = drive_event_add(out, DRIVE_ASKS_FOR, tmux->lines.begin);
    event->ask = arena_copy(out->arena, str_of(tmux->ask));
    event->text = arena_copy(out->arena, str_cut_utf8(name, DRIVE_TEXT));
    event->detail = arena_copy(out->arena, str_cut_utf8(detail, DRIVE_TEXT));
    event->dispatch = tmux->turn.dispatch;
    return event;
}

static struct hash screen_hash(struct str screen) {
    struct sha256 sha;
    struct str tail = screen_tail(screen, DRIVE_TEXT);
    sha256_begin(&sha);
    sha256_add(&sha, tail.at, tail.len);
    return sha256_end(&sha);
}

/* Answering No ends the turn in both programs; no hook reports that, only the screen shows it. */
static void dialog_answer(struct tmux *tmux, const struct tmux_dialog *dialog, struct str screen,
                          int64_t now, struct drive_out *out) {
    tmux->answered = screen_hash(screen);
    tmux->answered_until = time_after(now, SAME_REST);
    keys_say(tmux->answer == DRIVE_ALLOW ? dialog->allow : dialog->reject, out);
    if (tmux->answer != DRIVE_ALLOW && tmux->turn.open) {
        tmux->turn.interrupted = true;
        tmux->turn.stop_by = time_after(now, STOP_WITHIN);
    }
    tmux->answering = false;
    tmux->ask[0] = 0;
    tmux->draws = 0;
    tmux->calm_at = time_after(now, 2 * KEYS_REST);
    tmux->look_at = tmux->calm_at;
}

/* A program may draw a dialog in several steps and take no key before the last: two looks must show the same. */
static bool dialog_is_drawn(struct tmux *tmux, const struct hash *shown, int64_t now) {
    bool same = tmux->draws > 0 && hash_equal(shown, &tmux->drawn);
    if (same && now - tmux->drawn_at >= DRAW_REST)
        return true;
    if (!same && tmux->draws >= TMUX_DRAWS)
        return true;
    if (!same) {
        tmux->drawn = *shown;
        tmux->drawn_at = now;
        tmux->draws++;
    }
    tmux->look_at = time_after(tmux->drawn_at, DRAW_REST);
    return false;
}

static void dialog_seen(struct tmux *tmux, const struct tmux_dialog *dialog, struct str screen,
                        int64_t now, struct drive_out *out) {
    struct hash shown = screen_hash(screen);
    bool slow = now < tmux->answered_until && hash_equal(&shown, &tmux->answered);
    tmux->idle = 0;
    if (!tmux->answering && (now < tmux->calm_at || slow))
        return;
    if (!dialog_is_drawn(tmux, &shown, now))
        return;
    if (tmux->answering)
        dialog_answer(tmux, dialog, screen, now, out);
    else if (dialog->ours) {
        keys_say(dialog->allow, out);
        tmux->calm_at = time_after(now, 2 * KEYS_REST);
    } else if (!tmux->ask[0])
        ask_tell(tmux, str_of(dialog->name), screen_tail(screen, DRIVE_TEXT), out);
}

static void tmux_started(struct tmux *tmux, struct drive_out *out) {
    if (tmux->stage == TMUX_BOOTS)
        tmux->stage = TMUX_READY;
    tmux->by = 0;
    drive_event_add(out, DRIVE_STARTED, tmux->lines.begin)->session =
        arena_copy(out->arena, str_of(tmux->session));
}

static void turn_close(struct tmux *tmux) {
    tmux->way = WAY_NONE;
    tmux->way_at = tmux->look_at = 0;
    tmux->idle = 0;
    tmux->ask[0] = 0;
    tmux->answering = false;
}

/* The program neither works nor asks. What that means depends on what was requested. */
static void idle_seen(struct tmux *tmux, struct str screen, int64_t now, struct drive_out *out) {
    tmux->idle++;
    if (tmux->way == WAY_LOOKED) {
        keys_say("Enter", out);
        tmux->way = WAY_AGAIN;
        tmux->way_at = time_after(now, CONFIRM_WITHIN);
    } else if (tmux->turn.interrupted && tmux->idle >= 2) {
        keys_say(quirk_of(tmux)->clear, out); /* the prompt may be back in its input */
        turn_end(&tmux->turn, DRIVE_TURN_CANCELLED, tmux->lines.begin, out);
        turn_close(tmux);
    } else if (tmux->way == WAY_TAKEN && tmux->idle >= (tmux->ask[0] ? TMUX_UNSEEN : TMUX_IDLE)) {
        turn_fail(&tmux->turn, screen_tail(screen_unwrapped(screen, out->arena), 600), now,
                  tmux->lines.begin, out);
        turn_close(tmux);
    }
}

static void screen_read(struct tmux *tmux, struct str screen, int64_t now, struct drive_out *out) {
    const struct tmux_dialog *dialog = dialog_find(tmux, screen);
    tmux->draws = dialog ? tmux->draws : 0;
    if (dialog)
        dialog_seen(tmux, dialog, screen, now, out);
    else if (tmux->stage == TMUX_BOOTS) {
        if (screen_shows(screen, quirk_of(tmux)->ready) && now >= tmux->calm_at) {
            tmux->look_at = 0;
            tmux_started(tmux, out);
        }
    } else if (tmux->turn.open && now >= tmux->calm_at) {
        if (screen_shows(screen, quirk_of(tmux)->busy))
            tmux->idle = 0;
        else
            idle_seen(tmux, screen, now, out);
    }
    if (dialog && tmux->way == WAY_LOOKED) {
        tmux->way = WAY_AGAIN; /* Enter would answer the dialog */
        tmux->way_at = time_after(now, CONFIRM_WITHIN);
    }
}

/* ---- hooks ---- */

static void session_learn(struct tmux *tmux, const json_t *hook, struct drive_out *out) {
    struct str session = drive_json_text(json_object_get(hook, "session_id"));
    if (tmux->session[0] || session.len == 0 ||
        !drive_keep(tmux->session, sizeof tmux->session, session))
        return;
    if (tmux->stage == TMUX_READY)
        tmux_started(tmux, out); /* again, now with its session */
}

/* The receipt: the program took the prompt that ends with this dispatch. */
static void submit_hook(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                        struct drive_out *out) {
    struct id dispatch;
    bool ours = false;
    (void)now;
    while (drive_tag_next(&text, &dispatch))
        ours = ours || id_equal(dispatch, tmux->turn.dispatch);
    if (!ours || !tmux->turn.open)
        return;
    session_learn(tmux, hook, out);
    tmux->way = WAY_TAKEN;
    tmux->way_at = 0;
    turn_accept(&tmux->turn, tmux->lines.begin, out);
}

static void tool_hook(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                      struct drive_out *out) {
    (void)text;
    turn_tool_begin(&tmux->turn, drive_json_text(json_object_get(hook, "tool_use_id")),
                    drive_json_text(json_object_get(hook, "tool_name")), now, tmux->lines.begin,
                    out);
}

static void tooled_hook(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                        struct drive_out *out) {
    (void)text;
    turn_tool_end(&tmux->turn, drive_json_text(json_object_get(hook, "tool_use_id")), now,
                  tmux->lines.begin, out);
}

static void ask_hook(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                     struct drive_out *out) {
    (void)text;
    tmux->turn.active_at = now;
    if (!tmux->turn.open || tmux->ask[0] || tmux->turn.interrupted)
        return;
    struct drive_event *event =
        ask_tell(tmux, drive_json_text(json_object_get(hook, "tool_name")),
                 drive_json_dump(json_object_get(hook, "tool_input"), out->arena, DRIVE_TEXT), out);
    event->named = event->tool = true;
}

static bool turn_is_of(const struct tmux *tmux, const json_t *hook) {
    return tmux->turn.open &&
           str_equal(drive_json_text(json_object_get(hook, "session_id")), str_of(tmux->session));
}

static void stop_hook(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                      struct drive_out *out) {
    (void)text;
    if (!turn_is_of(tmux, hook) || tmux->way != WAY_TAKEN)
        return;
    turn_words(&tmux->turn, drive_json_text(json_object_get(hook, "last_assistant_message")), now,
               tmux->lines.begin, out);
    turn_end(&tmux->turn, tmux->turn.interrupted ? DRIVE_TURN_CANCELLED : DRIVE_TURN_DONE,
             tmux->lines.begin, out);
    turn_close(tmux);
}

static void fail_hook(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                      struct drive_out *out) {
    (void)text;
    if (!turn_is_of(tmux, hook))
        return;
    struct str why = drive_json_text(json_object_get(hook, "last_assistant_message"));
    if (why.len == 0)
        why = drive_json_text(json_object_get(hook, "error"));
    turn_fail(&tmux->turn, why, now, tmux->lines.begin, out);
    turn_close(tmux);
}

static void start_hook(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                       struct drive_out *out) {
    (void)text, (void)now;
    session_learn(tmux, hook, out);
}

static const struct {
    const char *kind;
    void (*read)(struct tmux *tmux, const json_t *hook, struct str text, int64_t now,
                 struct drive_out *out);
} HOOKS[] = {{"start", start_hook},   {"submit", submit_hook}, {"tool", tool_hook},
             {"tooled", tooled_hook}, {"ask", ask_hook},       {"stop", stop_hook},
             {"fail", fail_hook}};

/* A hook's text that was too long for an answer has lost its start and is not valid JSON. Its end contains the
 * dispatch. */
static void hook_read(struct tmux *tmux, struct str text, int64_t now, struct drive_out *out) {
    json_t *hook = drive_json(text);
    for (size_t i = 0; i < count_of(HOOKS); i++)
        if (str_equal(str_of(tmux->kind), str_of(HOOKS[i].kind)))
            HOOKS[i].read(tmux, hook, text, now, out);
    json_decref(hook);
}

/* "overseer-hook-KIND-PID" is the new name of the window, and the name of a buffer. */
static void hook_ask(struct str name, struct drive_out *out) {
    const struct str head = STR("overseer-hook-");
    if (!str_begins(name, head) || name.len > TMUX_GUARD)
        return;
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] != '-' && !(name.at[i] >= 'a' && name.at[i] <= 'z') &&
            !(name.at[i] >= '0' && name.at[i] <= '9'))
            return;
    drive_say(out, arena_format(out->arena,
                                "display-message -p @hook-%.*s\nshow-buffer -b %.*s\n"
                                "delete-buffer -b %.*s\n",
                                (int)(name.len - head.len), name.at + head.len, STR_ARG(name),
                                STR_ARG(name)));
}

/* Buffers that still exist have not been read. */
static void buffers_read(struct str names, struct drive_out *out) {
    while (names.len > 0)
        hook_ask(str_line_take(&names), out);
}

/* ---- input ---- */

static void answer_end(struct tmux *tmux, bool fine, int64_t now, struct drive_out *out) {
    enum tmux_next next = tmux->next;
    struct str output = {tmux->output.at, tmux->output.len};
    const struct str hook = STR("@hook-");
    tmux->next = NEXT_NOTHING;
    if (next == NEXT_LAST_SCREEN)
        tmux_break(tmux, out, "its terminal is gone");
    else if (next == NEXT_SCREEN && fine)
        screen_read(tmux, arena_copy(out->arena, output), now, out);
    else if (next == NEXT_HOOK && fine)
        hook_read(tmux, arena_copy(out->arena, output), now, out);
    else if (next == NEXT_BUFFERS && fine)
        buffers_read(arena_copy(out->arena, output), out);
    else if (next == NEXT_NOTHING && str_begins(output, STR("@screen")))
        tmux->next = str_begins(output, STR("@screen-last")) ? NEXT_LAST_SCREEN : NEXT_SCREEN;
    else if (next == NEXT_NOTHING && str_begins(output, STR("@buffers")))
        tmux->next = NEXT_BUFFERS;
    else if (next == NEXT_NOTHING && str_begins(output, hook)) {
        struct str kind = {output.at + hook.len, output.len - hook.len};
        const char *end = memchr(kind.at, '-', kind.len);
        kind.len = end ? (size_t)(end - kind.at) : 0;
        tmux->next = drive_keep(tmux->kind, sizeof tmux->kind, kind) ? NEXT_HOOK : NEXT_NOTHING;
    }
}

static bool line_is(struct str line, struct str word, struct str rest) {
    return str_begins(line, word) &&
           str_equal((struct str){line.at + word.len, line.len - word.len}, rest);
}

static void answer_line(struct tmux *tmux, struct str line, int64_t now, struct drive_out *out) {
    bool fine = line_is(line, STR("%end "), str_of(tmux->guard));
    if (fine || line_is(line, STR("%error "), str_of(tmux->guard))) {
        tmux->in_answer = false;
        answer_end(tmux, fine, now, out);
        return;
    }
    drive_words_add(&tmux->output, line);
    drive_words_add(&tmux->output, STR("\n"));
}

static void notice_read(struct tmux *tmux, struct str line, int64_t now, struct drive_out *out) {
    const struct str begin = STR("%begin "), renamed = STR("%window-renamed ");
    if (str_begins(line, begin)) {
        tmux->in_answer = drive_keep(tmux->guard, sizeof tmux->guard,
                                     (struct str){line.at + begin.len, line.len - begin.len});
        tmux->output.len = 0;
    } else if (str_begins(line, renamed)) {
        const char *space = memchr(line.at + renamed.len, ' ', line.len - renamed.len);
        struct str name =
            space ? (struct str){space + 1, (size_t)(line.at + line.len - space - 1)} : STR("");
        if (str_equal(name, STR(WINDOW_DEAD)))
            screen_ask(tmux, now, out);
        else
            hook_ask(name, out);
    } else if (str_begins(line, STR("%output ")) && now - tmux->turn.chatter_at >= SECONDS(1))
        turn_chatter(&tmux->turn, now, tmux->lines.begin, out);
    else if (str_begins(line, STR("%exit")))
        tmux_break(tmux, out, "its terminal is gone");
}

static void tmux_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                      struct drive_out *out) {
    struct tmux *tmux = state;
    struct str line;
    while (drive_line(&tmux->lines, bytes, offset, &line)) {
        if (tmux->stage == TMUX_BROKEN)
            continue;
        if (tmux->in_answer)
            answer_line(tmux, line, now, out);
        else
            notice_read(tmux, line, now, out);
    }
    if (tmux->stage != TMUX_BROKEN && drive_line_is_too_long(&tmux->lines))
        tmux_break(tmux, out, "it wrote a line that is too long");
    if (tmux->stage == TMUX_BROKEN)
        tmux->lines.begin = tmux->lines.seen = offset + bytes.len;
}

/* Decodes "%output %0 text", in which characters that are not letters are in octal, and requested screens, which are
 * plain. */
static struct str tmux_shown(struct str output, struct arena *arena) {
    const struct str begin = STR("%output ");
    char *text = arena_new(arena, char, output.len + 1);
    size_t len = 0;
    while (output.len > 0) {
        struct str line = str_line_take(&output);
        const char *space =
            str_begins(line, begin) ? memchr(line.at + begin.len, ' ', line.len - begin.len) : NULL;
        if (line.len > 0 && line.at[0] != '%' && line.at[0] != '@') {
            memcpy(text + len, line.at, line.len);
            len += line.len;
            text[len++] = '\n';
        }
        for (const char *at = space ? space + 1 : line.at + line.len; at < line.at + line.len;
             at++) {
            bool octal = *at == '\\' && line.at + line.len - at > 3 && at[1] >= '0' && at[1] <= '3';
            text[len++] =
                octal ? (char)((at[1] - '0') * 64 + ((at[2] - '0') & 7) * 8 + ((at[3] - '0') & 7))
                      : *at;
            at += octal ? 3 : 0;
        }
    }
    return (struct str){text, len};
}

static void tmux_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct tmux *tmux = state;
    tmux->stage = TMUX_BROKEN;
    turn_fail(&tmux->turn,
              arena_format(out->arena, "its process ended with %lld", (long long)status), now,
              tmux->lines.begin, out);
}

/* ---- driver calls ---- */

/* The keys are sent when the dialog is on the screen, not before. */
static void tmux_answer(void *state, struct str ask, enum drive_answer answer, int64_t now,
                        struct drive_out *out) {
    struct tmux *tmux = state;
    if (ask.len == 0 || !str_equal(ask, str_of(tmux->ask)) || tmux->answering)
        return;
    tmux->answering = true;
    tmux->answer = answer;
    screen_ask(tmux, now, out);
}

static void tmux_interrupt(void *state, int64_t now, struct drive_out *out) {
    struct tmux *tmux = state;
    if (!tmux->turn.open || tmux->stage != TMUX_READY || tmux->turn.interrupted)
        return;
    tmux->turn.interrupted = true;
    tmux->turn.stop_by = time_after(now, STOP_WITHIN);
    tmux->way_at = 0;
    tmux->idle = 0;
    tmux->answering = false;
    tmux->ask[0] = 0;
    keys_say("Escape", out);
    tmux->calm_at = tmux->look_at = time_after(now, KEYS_REST);
}

static void tmux_look(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct tmux *tmux = state;
    (void)now;
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, tmux->lines.begin);
    event->dispatch = dispatch;
    event->arrived = turn_delivered(&tmux->turn, dispatch);
}

static int64_t tmux_due(const void *state) {
    const struct tmux *tmux = state;
    const int64_t times[] = {tmux->by, tmux->look_at, tmux->way_at, tmux->turn.stop_by};
    int64_t due = TIME_NEVER;
    if (tmux->stage == TMUX_BROKEN || tmux->stage == TMUX_NOTHING)
        return due;
    for (size_t i = 0; i < count_of(times); i++)
        if (times[i] > 0 && times[i] < due)
            due = times[i];
    return due;
}

static void way_doubt(struct tmux *tmux, struct drive_out *out) {
    tmux->way = WAY_DOUBTED;
    tmux->way_at = 0;
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, tmux->lines.begin);
    event->dispatch = tmux->turn.dispatch;
    event->arrived = TRISTATE_UNKNOWN;
}

/* The next step for a prompt without any sign of receipt. */
static void way_go(struct tmux *tmux, int64_t now, struct drive_out *out) {
    switch (tmux->way) {
    case WAY_PASTED:
        keys_say("Enter", out);
        tmux->way = WAY_ENTERED;
        tmux->way_at = time_after(now, ENTER_REST);
        break;
    case WAY_ENTERED:
        tmux->way = WAY_LOOKED;
        tmux->way_at = time_after(now, CONFIRM_WITHIN);
        screen_ask(tmux, now, out);
        break;
    case WAY_LOOKED:
    case WAY_AGAIN: way_doubt(tmux, out); break;
    case WAY_NONE:
    case WAY_DOUBTED:
    case WAY_TAKEN: tmux->way_at = 0; break;
    }
}

static void tmux_tick(void *state, int64_t now, struct drive_out *out) {
    struct tmux *tmux = state;
    if (tmux->stage == TMUX_BROKEN || tmux->stage == TMUX_NOTHING)
        return;
    if (tmux->by > 0 && now >= tmux->by)
        tmux_break(tmux, out, "its screen never showed that it is ready");
    else if (tmux->turn.stop_by > 0 && now >= tmux->turn.stop_by)
        tmux_break(tmux, out, "it did not stop when it was told to");
    else {
        if (tmux->way_at > 0 && now >= tmux->way_at)
            way_go(tmux, now, out);
        if (tmux->look_at > 0 && now >= tmux->look_at)
            screen_ask(tmux, now, out);
    }
}

static void tmux_see(const void *state, struct observation *ret) {
    turn_see(&((const struct tmux *)state)->turn, ret);
}

static uint64_t tmux_resume_at(const void *state) {
    return ((const struct tmux *)state)->lines.begin;
}

/* Table rows may have moved since the state was saved. */
static bool tmux_quirk_set(void *state, struct str quirk) {
    const struct tmux_quirk *row = tmux_quirk_named(quirk);
    if (row)
        ((struct tmux *)state)->quirk = tmux_quirk_row(row);
    return row != NULL;
}

const struct driver DRIVER_TMUX = {.name = "tmux",
                                   .size = sizeof(struct tmux),
                                   .shape = &TMUX_STATE,
                                   .raw_size = TMUX_RAW,
                                   .receipts = true,
                                   .adopts = true,
                                   .dedupes = false,
                                   .launch = tmux_launch,
                                   .begin = tmux_begin,
                                   .feed = tmux_feed,
                                   .gone = tmux_gone,
                                   .ready = tmux_ready,
                                   .send = tmux_send,
                                   .answer = tmux_answer,
                                   .interrupt = tmux_interrupt,
                                   .look = tmux_look,
                                   .due = tmux_due,
                                   .tick = tmux_tick,
                                   .see = tmux_see,
                                   .resume_at = tmux_resume_at,
                                   .quirk_set = tmux_quirk_set,
                                   .shown = tmux_shown};
