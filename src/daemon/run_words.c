/* SPDX-License-Identifier: Apache-2.0 */
/* What do people read of a run? RUNDIR/said.log, a line for each thing: when, up to which byte of its output, what kind,
 * and the words, without secrets (STORE-14). What is read again after a restart is not told again. */
#include "daemon/clock.h"
#include "daemon/input.h"
#include "daemon/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
    text[tail_read(path, text)] = 0;
    for (char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (sscanf(line, "%llu %llu ", &at, &offset) == 2 && offset > most)
            most = offset;
    return most;
}

static void line_write(const struct running *run, uint64_t offset, const char *kind,
                       struct str text) {
    char path[RUN_PATH + 16];
    struct arena arena = {0};
    struct stat about;
    log_path(run, path);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && fstat(fd, &about) == 0 && about.st_size < FILE_MOST) {
        struct str clean = input_redacted(str_cut_utf8(text, 3 * RUN_WORDS), &arena);
        struct str line = arena_format(&arena, "%lld %llu %s %.*s", (long long)clock_wall(),
                                       (unsigned long long)offset, kind, STR_ARG(clean));
        char *at = arena_cstr(&arena, line);
        for (size_t i = 0; i < line.len; i++)
            at[i] = (unsigned char)at[i] < 0x20 ? ' ' : at[i];
        at[line.len] = '\n';
        if (write(fd, at, line.len + 1) < 0)
            about.st_size = 0; /* nothing is lost but a line that people would have read */
    }
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

void run_words_keep(struct running *run, const struct drive_out *out) {
    char path[RUN_PATH + 16];
    if (!run->told_known) {
        log_path(run, path);
        run->told_offset = told_offset(path);
        run->told_known = true;
    }
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

/* The end of a text, from where a line of it begins if it has several. */
static struct str end_of(struct str text) {
    size_t over = text.len > LAST_MOST ? text.len - LAST_MOST : 0;
    struct str end = {text.at + over, text.len - over}, rest = end;
    if (over > 0)
        str_line_take(&rest);
    if (rest.len > 0)
        end = rest;
    while (end.len > 0 && end.at[end.len - 1] == '\n')
        end.len--;
    return end;
}

struct str run_last_words(const struct running *run, struct arena *arena) {
    char path[RUN_PATH + 16], text[TAIL];
    snprintf(path, sizeof path, "%s/err.log", run->dir);
    struct str end = end_of((struct str){text, tail_read(path, text)});
    if (end.len == 0 || !str_is_text(end))
        return STR("");
    return arena_format(arena, "it ended with status %lld, and its last words were: %.*s",
                        (long long)run->exit, STR_ARG(end));
}
