/* SPDX-License-Identifier: Apache-2.0 */
/* What do people read of a run? RUNDIR/said.log, a line for each thing: when, up to which byte of its output, what kind,
 * and the words, without secrets (STORE-14). What is read again after a restart is not told again. */
#include "base/bytes.h"
#include "daemon/clock.h"
#include "daemon/input.h"
#include "daemon/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL = 4 * RUN_WORDS, FILE_MOST = 32 << 20, LAST_MOST = 400 };

static void log_path(const struct running *run, char path[RUN_PATH + 16]) {
    snprintf(path, RUN_PATH + 16, "%s/said.log", run->dir);
}

static size_t tail_read(const char *path, char text[TAIL]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    ssize_t length = fd >= 0 ? pread(fd, text, TAIL, size > TAIL ? size - TAIL : 0) : 0;
    if (fd >= 0)
        close(fd);
    return length > 0 ? (size_t)length : 0;
}

/* The furthest byte that the last lines tell of. */
static uint64_t told_offset(const char *path) {
    char text[TAIL + 1];
    unsigned long long at, offset, most = 0;
    size_t length = tail_read(path, text);
    text[length] = 0;
    char *first = length == TAIL ? strchr(text, '\n') : text; /* half a line is an agent's words */
    for (char *line = first; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (sscanf(line, "%llu %llu ", &at, &offset) == 2 && offset > most)
            most = offset;
    return most;
}

/* The line is made before the file is opened: what makes it may be abandoned by the crash guard. */
static void line_write(const struct running *run, uint64_t offset, const char *kind,
                       struct str text) {
    char path[RUN_PATH + 16];
    struct arena arena = {0};
    struct stat about;
    struct str clean = input_redacted(str_cut_utf8(text, 3 * RUN_WORDS), &arena);
    struct str line = arena_format(&arena, "%lld %llu %s %.*s", (long long)clock_wall(),
                                   (unsigned long long)offset, kind, STR_ARG(clean));
    char *at = arena_cstr(&arena, line);
    for (size_t i = 0; i < line.len; i++)
        at[i] = (unsigned char)at[i] < 0x20 ? ' ' : at[i];
    at[line.len] = '\n';
    log_path(run, path);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && fstat(fd, &about) == 0 && about.st_size < FILE_MOST &&
        write(fd, at, line.len + 1) < 0)
        about.st_size = 0; /* nothing is lost but a line that people would have read */
    if (fd >= 0)
        close(fd);
    arena_free(&arena);
}

static void words_flush(struct running *run) {
    if (run->word_count > 0)
        line_write(run, run->word_offset, "said", (struct str){run->words, run->word_count});
    run->word_count = 0;
}

static void words_add(struct running *run, struct str text, uint64_t offset) {
    run->word_offset = offset;
    for (size_t i = 0; i < text.len; i++) {
        bool full = run->word_count >= RUN_WORDS - 4 && ((unsigned char)text.at[i] & 0xc0) != 0x80;
        if (text.at[i] == '\n' || full)
            words_flush(run);
        if (text.at[i] != '\n' && run->word_count < RUN_WORDS)
            run->words[run->word_count++] = text.at[i];
    }
}

/* Of most things the name says enough. */
static const struct {
    enum drive_kind kind;
    const char *name;
} KINDS[] = {{DRIVE_TOOL_BEGUN, "tool"},
             {DRIVE_ASKS_FOR, "asks"},
             {DRIVE_FAILED, "failed"},
             {DRIVE_LIMITED, "failed"},
             {DRIVE_BROKEN, "failed"}};

static void event_keep(struct running *run, const struct drive_event *event, struct arena *arena) {
    struct str text = event->text;
    if (event->kind == DRIVE_PROGRESS) {
        words_add(run, text, event->offset);
        return;
    }
    for (size_t i = 0; i < count_of(KINDS); i++)
        if (KINDS[i].kind == event->kind) {
            words_flush(run);
            if (event->kind == DRIVE_BROKEN)
                text = run_broken_words(run, event, arena);
            if (event->detail.len > 0)
                text = arena_format(arena, "%.*s: %.*s", STR_ARG(text), STR_ARG(event->detail));
            line_write(run, event->offset, KINDS[i].name, text);
        }
    if (event->kind != DRIVE_ENDED)
        return;
    words_flush(run);
    line_write(run, event->offset, "ended",
               event->reason == DRIVE_TURN_CUT ? STR("its turn was cut off")
                                               : STR("its turn is over"));
}

static void told_know(struct running *run) {
    char path[RUN_PATH + 16];
    if (run->told_known)
        return;
    log_path(run, path);
    run->told_offset = told_offset(path);
    run->told_known = true;
}

void run_words_keep(struct running *run, const struct drive_out *out) {
    told_know(run);
    for (uint32_t i = 0; i < out->event_count; i++)
        if (out->events[i].offset > run->told_offset)
            event_keep(run, &out->events[i], out->arena);
}

void run_told_keep(struct running *run, struct str text) {
    struct str first = text;
    const char *end = memchr(text.at, '\n', text.len);
    if (end)
        first.len = (size_t)(end - text.at);
    words_flush(run);
    line_write(run, run->word_offset, "told", first);
}

/* ---- how it ended ---- */

/* The length of an escape sequence of a terminal. */
static size_t escape_length(struct str text) {
    size_t len = 2;
    if (text.len > 1 && text.at[1] == '[')
        while (len < text.len && !(text.at[len] >= 0x40 && text.at[len] <= 0x7e))
            len++;
    else if (text.len > 1 && text.at[1] == ']')
        while (len < text.len && text.at[len] != '\a' && text.at[len] != '\n' &&
               !(text.at[len] == '\\' && text.at[len - 1] == 27))
            len++;
    else
        len = 1;
    return len < text.len ? len + 1 : text.len;
}

/* Lines of text, and nothing that moves a cursor. */
static struct str words_clean(struct str text, struct arena *arena) {
    char *at = arena_new(arena, char, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == 27)
            i += escape_length((struct str){text.at + i, text.len - i}) - 1;
        else if (c == '\n' || c == '\r')
            at[len++] = '\n';
        else if (c == '\t' || (c >= 0x20 && c != 0x7f))
            at[len++] = c == '\t' ? ' ' : (char)c;
    }
    bytes_mend(at, len);
    return (struct str){at, len};
}

/* Compilers and interpreters say what is wrong in one line, and more before and after it. */
static bool line_explains(struct str line, struct arena *arena) {
    static const char *const SIGNS[] = {"error",  "fatal", "panic",     "denied",
                                        "cannot", "can't", "not found", "no such"};
    char *text = arena_cstr(arena, line);
    for (size_t i = 0; i < count_of(SIGNS); i++)
        if (strcasestr(text, SIGNS[i]))
            return true;
    return false;
}

static bool line_is_empty(struct str line) {
    for (size_t i = 0; i < line.len; i++)
        if (line.at[i] != ' ')
            return false;
    return true;
}

/* The last line that explains something, or the last one. */
static struct str line_choose(struct str text, struct arena *arena) {
    struct str rest = text, last = {0}, best = {0};
    while (rest.len > 0) {
        struct str line = str_line_take(&rest);
        if (line_is_empty(line))
            continue;
        last = line;
        if (line_explains(line, arena))
            best = line;
    }
    return best.len ? best : last;
}

static struct str others_join(struct str text, struct str chosen, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (struct str rest = text; rest.len > 0;) {
        struct str line = str_line_take(&rest);
        if (line.at == chosen.at || line_is_empty(line))
            continue;
        write_raw(&writer, writer.len ? STR(" / ") : STR(""));
        write_raw(&writer, line);
    }
    size_t over = writer.len > LAST_MOST ? writer.len - LAST_MOST : 0;
    while (over > 0 && over < writer.len && ((unsigned char)writer.at[over] & 0xc0) == 0x80)
        over++;
    return (struct str){writer.at + over, writer.len - over};
}

/* Secrets are taken out while lines are whole: half a key is not recognised. */
static struct str errors_read(const struct running *run, struct arena *arena) {
    char path[RUN_PATH + 16], text[TAIL];
    snprintf(path, sizeof path, "%s/err.log", run->dir);
    struct str end = {text, tail_read(path, text)};
    if (end.len == TAIL)
        str_line_take(&end);
    return input_redacted(words_clean(end, arena), arena);
}

struct str words_explain(struct str output, struct arena *arena) {
    return line_choose(input_redacted(words_clean(output, arena), arena), arena);
}

struct str words_first(struct str output, struct arena *arena) {
    struct str text = input_redacted(words_clean(output, arena), arena), line = {0};
    while (text.len > 0 && line_is_empty(line))
        line = str_line_take(&text);
    return line;
}

/* Of the last output before this byte. Where a program has a terminal, its errors are there, too. */
static struct str output_read(const struct running *run, uint64_t end, struct arena *arena) {
    char text[TAIL];
    uint64_t from = end > TAIL ? end - TAIL : 0;
    struct str output = {text, held_left(run->dir, from, text, (size_t)(end - from))};
    struct writer writer = {.arena = arena};
    if (from > 0)
        str_line_take(&output);
    if (run->driver->shown)
        return input_redacted(words_clean(run->driver->shown(output, arena), arena), arena);
    while (output.len > 0) {
        struct str line = str_line_take(&output);
        if (line.len == 0 || line.at[0] == '{')
            continue;
        write_raw(&writer, line);
        write_byte(&writer, '\n');
    }
    return input_redacted(words_clean((struct str){writer.at, writer.len}, arena), arena);
}

struct str run_broken_words(const struct running *run, const struct drive_event *event,
                            struct arena *arena) {
    uint64_t end = run->pour.offset + run->pour.len;
    struct str line =
        line_choose(output_read(run, end > event->offset ? end : event->offset, arena), arena);
    if (line.len == 0)
        return event->text;
    return arena_format(arena, "%.*s: %.*s", STR_ARG(event->text),
                        STR_ARG(str_cut_utf8(line, LAST_MOST)));
}

struct str run_last_words(const struct running *run, struct arena *arena) {
    struct str text = errors_read(run, arena), line = line_choose(text, arena);
    if (line.len == 0) {
        text = output_read(run, run->end, arena);
        line = line_choose(text, arena);
    }
    struct str others = others_join(text, line, arena);
    if (line.len == 0)
        return arena_format(arena, "it exited with status %lld and wrote nothing to standard error",
                            (long long)run->exit);
    return arena_format(arena, "it exited with status %lld: %.*s%s%.*s", (long long)run->exit,
                        STR_ARG(str_cut_utf8(line, LAST_MOST)), others.len ? " / also: " : "",
                        STR_ARG(others));
}

void run_end_keep(struct running *run, struct str why) {
    uint64_t offset = run->end + 1; /* behind everything that it said */
    if (why.len == 0)
        return;
    told_know(run);
    mkdir(run->dir, 0700); /* one that never began has none */
    words_flush(run);
    if (offset > run->told_offset)
        line_write(run, offset, "failed", why);
    run->told_offset = offset;
}
