/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what an adopted session does: lines of JSON about its process, its transcript and its screen, until it ends. The
 * driver in src/drivers/drive_adopted.c reads them. Nothing is written but these lines.
 *
 *   there     pid, program, folder, session    it is observed from now on
 *   words     text                             it said something
 *   tool, tool-end   id, name                  it began to use a tool, and finished using it
 *   progress                                   it made progress of an unknown kind
 *   output                                     its screen changed, as a spinner does
 *   turn      busy                             it works, or it waits for its user
 *   not       why                              it cannot be observed */
#include "cli/adopt/adopt.h"

#include "base/str.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SCREEN_EVERY = 5,      /* seconds between two reads of a screen */
    SCREEN_MOST = 1 << 16, /* bytes of a screen */
    TEXT_MOST = 4000,      /* bytes of one text that it says */
    LINES_MOST = 8 << 20   /* bytes of a line of a transcript: a longer one is skipped */
};

struct following {
    const char *home;
    struct session session;
    FILE *transcript;
    char *line;
    size_t room;
    uint64_t shown, letters; /* hashes of its screen as last seen; 0: never seen */
    bool grew;               /* the transcript grew since the screen was last read */
};

static void say(json_t *line) {
    json_dumpf(line, stdout, JSON_COMPACT);
    fputc('\n', stdout);
    fflush(stdout);
    json_decref(line);
}

int session_unseen(const char *why) {
    say(json_pack("{s:s, s:s}", "type", "not", "why", why));
    return 1;
}

/* ---- its transcript ---- */

static void words_say(const char *text) {
    struct str cut = str_cut_utf8(str_of(text), TEXT_MOST);
    if (cut.len > 0)
        say(json_pack("{s:s, s:s%}", "type", "words", "text", cut.at, cut.len));
}

/* One piece of a message: text, the start of a tool, or the result of one. True: it was reported. */
static bool piece_say(const json_t *piece, bool own) {
    const char *type = json_string_value(json_object_get(piece, "type"));
    const char *text = json_string_value(json_object_get(piece, "text"));
    const char *id = json_string_value(json_object_get(piece, "id"));
    const char *name = json_string_value(json_object_get(piece, "name"));
    const char *of = json_string_value(json_object_get(piece, "tool_use_id"));
    if (!type)
        return false;
    if (own && text && strcmp(type, "text") == 0)
        words_say(text);
    else if (own && id && name && strcmp(type, "tool_use") == 0)
        say(json_pack("{s:s, s:s, s:s}", "type", "tool", "id", id, "name", name));
    else if (!own && of && strcmp(type, "tool_result") == 0)
        say(json_pack("{s:s, s:s}", "type", "tool-end", "id", of));
    else
        return false;
    return true;
}

/* What the user says is a sign of life as well, but is not repeated. */
static void line_say(const char *text) {
    json_t *line = json_loads(text, 0, NULL), *piece;
    const char *type = json_string_value(json_object_get(line, "type"));
    bool own = type && strcmp(type, "assistant") == 0;
    bool printed = false;
    size_t i;
    if (own || (type && strcmp(type, "user") == 0)) {
        json_array_foreach(json_object_get(json_object_get(line, "message"), "content"), i, piece)
            printed = piece_say(piece, own) || printed;
        if (!printed)
            say(json_pack("{s:s}", "type", "progress"));
    }
    json_decref(line);
}

/* Reads whole lines only: an incomplete line is read again later. */
static void transcript_read(struct following *it) {
    long at = it->transcript ? ftell(it->transcript) : 0;
    ssize_t length;
    while (it->transcript && (length = getline(&it->line, &it->room, it->transcript)) > 0) {
        if (it->line[length - 1] != '\n')
            break;
        at = ftell(it->transcript);
        it->grew = true;
        if (length < LINES_MOST)
            line_say(it->line);
    }
    if (it->transcript) {
        clearerr(it->transcript);
        fseek(it->transcript, at, SEEK_SET);
    }
}

static void transcript_open(struct following *it, bool from_end) {
    if (it->transcript)
        fclose(it->transcript);
    it->transcript = it->session.transcript[0] ? fopen(it->session.transcript, "re") : NULL;
    if (it->transcript && from_end)
        fseek(it->transcript, 0, SEEK_END);
}

/* ---- the state that it reports, and its screen ---- */

static void turn_say(const char *state) {
    if (*state)
        say(json_pack("{s:s, s:b}", "type", "turn", "busy", strcmp(state, "busy") == 0));
}

/* The user may have begun another session in the same process. */
static void hint_read(struct following *it) {
    static struct session now;
    now = (struct session){0};
    if (strcmp(it->session.program, "claude") != 0 ||
        !claude_hint(it->home, it->session.process.pid, &now))
        return;
    if (strcmp(now.state, it->session.state) != 0)
        turn_say(now.state);
    snprintf(it->session.state, sizeof it->session.state, "%s", now.state);
    if (it->transcript && strcmp(now.id, it->session.id) == 0)
        return;
    if (!claude_transcript(it->home, now.id, now.transcript))
        return;
    snprintf(it->session.id, sizeof it->session.id, "%s", now.id);
    snprintf(it->session.transcript, sizeof it->session.transcript, "%s", now.transcript);
    transcript_open(it, false);
}

/* FNV-1a. With `letters`, only letters count: a clock, a spinner or a counter is no progress. */
static uint64_t text_key(const char *text, size_t length, bool letters) {
    uint64_t key = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++)
        if (!letters || isalpha((unsigned char)text[i]))
            key = (key ^ (unsigned char)text[i]) * 0x100000001B3u;
    return key ? key : 1;
}

/* If the agent has a transcript, that shows its progress, and the screen only shows that something is happening. */
static void screen_read(struct following *it) {
    static char text[SCREEN_MOST];
    ssize_t length = it->session.pane[0] ? pane_read(it->session.pane, text, sizeof text) : -1;
    if (length < 0)
        return;
    uint64_t shown = text_key(text, (size_t)length, false);
    uint64_t letters = text_key(text, (size_t)length, true);
    bool got_on = it->letters && letters != it->letters && !it->transcript;
    if (it->shown && shown != it->shown && !it->grew)
        say(json_pack("{s:s}", "type", got_on ? "progress" : "output"));
    it->shown = shown;
    it->letters = letters;
    it->grew = false;
}

/* ---- the main loop ---- */

int session_follow(const char *home, const struct session *session) {
    struct following it = {.home = home, .session = *session};
    say(json_pack("{s:s, s:i, s:s, s:s, s:s}", "type", "there", "pid", (int)session->process.pid,
                  "program", session->program, "folder", session->folder, "session",
                  session->id[0] ? session->id : session->pane));
    turn_say(session->state);
    transcript_open(&it, true);
    for (unsigned second = 0; process_is_there(&it.session.process); second++) {
        hint_read(&it);
        transcript_read(&it);
        if (second % SCREEN_EVERY == 0)
            screen_read(&it);
        if (ferror(stdout))
            return 1;
        sleep(1);
    }
    transcript_read(&it);
    transcript_open(&(struct following){.transcript = it.transcript}, false);
    free(it.line);
    return 0;
}
