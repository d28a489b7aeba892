/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/log.h"

#include "base/time.h"
#include "model/limits.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/redaction.h"
#include "sys/service_manager.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 8192, DETAIL = 4096 };

static const char *const LEVEL_NAMES[LEVELS] = {"debug", "info", "warning", "error"};
static const char SYSLOG_LEVELS[LEVELS] = {'7', '6', '4', '3'}; /* the numbers of syslog */

static enum log_format format_now = LOG_JSON;
static enum log_level least_now = LEVEL_INFO;
static atomic_int file = STDERR_FILENO;
static char file_path[PATH_MAX]; /* empty: standard error */
static atomic_ullong file_size;  /* bytes in the file, */
static atomic_ullong file_most;  /* and the size at which it is rotated; 0: never */
static atomic_bool file_turns;   /* set while one thread rotates the file */

/* ---- destination ---- */

static enum log_format format_of(const struct log_options *options) {
    if (options->format != LOG_AUTO)
        return options->format;
    if (!options->file && notify_in_journal())
        return LOG_JOURNAL;
    return !options->file && isatty(STDERR_FILENO) ? LOG_TEXT : LOG_JSON;
}

bool log_open(const struct log_options *options) {
    int fd = STDERR_FILENO;
    if (options->file)
        fd = open(options->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    format_now = format_of(options);
    least_now = options->least;
    struct stat about;
    snprintf(file_path, sizeof file_path, "%s", options->file ? options->file : "");
    atomic_store(&file_most, options->file ? options->most : 0);
    atomic_store(&file_size, fstat(fd, &about) == 0 ? (uint64_t)about.st_size : 0);
    int before = atomic_load(&file);
    if (before == STDERR_FILENO || fd == STDERR_FILENO)
        atomic_store(&file, fd);
    else { /* under the same descriptor: a thread that is just writing writes to one of the two files */
        dup3(fd, before, O_CLOEXEC);
        close(fd);
    }
    return true;
}

/* Rotates the file, and drops the previous one. A line that another thread writes meanwhile is in one of the two. */
static void file_turn(void) {
    char before[PATH_MAX + 4];
    uint64_t most = atomic_load(&file_most);
    if (most == 0 || atomic_load(&file_size) < most || atomic_exchange(&file_turns, true))
        return;
    snprintf(before, sizeof before, "%s.1", file_path);
    bool still = atomic_load(&file_size) >= most; /* another thread may have been faster */
    int fd = still && rename(file_path, before) == 0
                 ? open(file_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                 : -1;
    if (fd >= 0) {
        dup3(fd, atomic_load(&file), O_CLOEXEC);
        close(fd);
    }
    if (still)
        atomic_store(&file_size, 0); /* if it failed, the next try comes as many bytes later */
    atomic_store(&file_turns, false);
}

/* ---- secrets ---- */

/* STORE-14: logs are kept, too. If there is no memory to look for secrets, the line says only that. */
struct looking {
    char *text;
    size_t size;
    struct arena arena;
};

static void look(void *with) {
    struct looking *looking = with;
    struct str clean = redacted(str_of(looking->text), &looking->arena);
    if (clean.at != looking->text)
        snprintf(looking->text, looking->size, "%.*s", STR_ARG(clean));
}

static void redact(char *text, size_t size) {
    struct looking looking = {.text = text, .size = size};
    struct crash_guard_report report;
    if (crash_guard_run(look, &looking, &report) != CRASH_GUARD_WHOLE)
        snprintf(text, size, "(line dropped: out of memory while redacting secrets)");
    arena_free(&looking.arena);
}

/* ---- one line ---- */

struct line {
    enum log_level level;
    char component[32], at[TIME_TEXT + 1], goal[5 + ID_TEXT + 1], effect[12], trace[160];
    char task[LIMIT_NODE_ID + 1], run[ID_TEXT + 1], text[1024], detail[DETAIL];
    bool incident;
};

static void component_of(const char *from, char *to, size_t size) {
    const char *slash = strrchr(from, '/');
    const char *name = slash ? slash + 1 : from;
    snprintf(to, size, "%.*s", (int)strcspn(name, "."), name);
}

static void about_take(struct line *line, const struct log_about *about) {
    static const struct id NONE;
    if (!id_equal(about->goal, NONE)) {
        memcpy(line->goal, "goal_", 5);
        id_format(about->goal, line->goal + 5);
    }
    snprintf(line->task, sizeof line->task, "%.*s",
             STR_ARG(str_cut_utf8(about->task, LIMIT_NODE_ID)));
    if (id_is_set(about->run))
        id_format(about->run, line->run);
    if (about->effect > 0)
        snprintf(line->effect, sizeof line->effect, "%u", about->effect);
    snprintf(line->trace, sizeof line->trace, "%.*s", STR_ARG(str_cut_utf8(about->trace, 128)));
    line->incident = about->incident;
    snprintf(line->detail, sizeof line->detail, "%.*s",
             STR_ARG(str_cut_utf8(about->detail, DETAIL - 1)));
    redact(line->detail, sizeof line->detail);
    redact(line->trace, sizeof line->trace);
}

/* ---- formats ---- */

static size_t put_escaped(char *to, size_t size, const char *from) {
    size_t n = 0;
    for (; *from && n + 7 < size; from++) {
        unsigned char c = (unsigned char)*from;
        if (c == '"' || c == '\\')
            n += (size_t)snprintf(to + n, size - n, "\\%c", c);
        else if (c < 0x20)
            n += (size_t)snprintf(to + n, size - n, "\\u%04x", c);
        else
            to[n++] = (char)c;
    }
    to[n] = 0;
    return n;
}

static void json_member(char *to, size_t size, const char *name, const char *value) {
    size_t n = strlen(to);
    if (!*value || n + strlen(name) + 16 > size)
        return;
    n += (size_t)snprintf(to + n, size - n, "%s\"%s\":\"", n > 1 ? "," : "", name);
    n += put_escaped(to + n, size - n - 2, value);
    snprintf(to + n, size - n, "\"");
}

static size_t json_form(const struct line *line, char to[LINE]) {
    size_t size = LINE - 32; /* the end always fits */
    snprintf(to, size, "{");
    json_member(to, size, "at", line->at);
    json_member(to, size, "level", LEVEL_NAMES[line->level]);
    json_member(to, size, "component", line->component);
    json_member(to, size, "text", line->text);
    json_member(to, size, "goal", line->goal);
    json_member(to, size, "task", line->task);
    json_member(to, size, "run", line->run);
    json_member(to, size, "effect", line->effect);
    json_member(to, size, "trace", line->trace);
    json_member(to, size, "detail", line->detail);
    size_t n = strlen(to);
    return n +
           (size_t)snprintf(to + n, LINE - n, "%s}\n", line->incident ? ",\"incident\":true" : "");
}

static size_t text_form(const struct line *line, char to[LINE]) {
    char plain[2 * sizeof line->text];
    put_escaped(plain, sizeof plain, line->text); /* a terminal would obey control characters */
    int n = snprintf(to, LINE, "%s %-7s %s: %s%s%s%s%s%s%s%s\n", line->at, LEVEL_NAMES[line->level],
                     line->component, plain, line->goal[0] ? " " : "", line->goal,
                     line->task[0] ? " " : "", line->task, line->run[0] ? " run " : "", line->run,
                     line->incident ? " (incident)" : "");
    return (size_t)n;
}

/* The journal takes NAME=value lines; a value with a line break would need another form, so line breaks are replaced. */
static void journal_member(char *to, const char *name, const char *value) {
    size_t n = strlen(to);
    if (!*value || n + strlen(name) + strlen(value) + 2 >= LINE)
        return;
    int used = snprintf(to + n, LINE - n, "%s=%s\n", name, value);
    for (int i = 0; i < used - 1; i++)
        if (to[n + (size_t)i] == '\n')
            to[n + (size_t)i] = ' ';
}

static size_t journal_form(const struct line *line, char to[LINE]) {
    snprintf(to, LINE, "PRIORITY=%c\nSYSLOG_IDENTIFIER=overseerd\n", SYSLOG_LEVELS[line->level]);
    journal_member(to, "MESSAGE", line->text);
    journal_member(to, "OVERSEER_COMPONENT", line->component);
    journal_member(to, "OVERSEER_GOAL", line->goal);
    journal_member(to, "OVERSEER_TASK", line->task);
    journal_member(to, "OVERSEER_RUN", line->run);
    journal_member(to, "OVERSEER_EFFECT", line->effect);
    journal_member(to, "OVERSEER_TRACE", line->trace);
    journal_member(to, "OVERSEER_DETAIL", line->detail);
    if (line->incident)
        journal_member(to, "OVERSEER_INCIDENT", "true");
    return strlen(to);
}

/* One write for each line, so that lines of several threads do not mix. A line that the journal does not take goes to
 * the file or standard error. */
static void line_put(const struct line *line) {
    char text[LINE];
    if (format_now == LOG_JOURNAL && notify_journal(text, journal_form(line, text)))
        return;
    size_t length = format_now == LOG_TEXT ? text_form(line, text) : json_form(line, text);
    if (length >= sizeof text)
        length = sizeof text - 1;
    ssize_t put = write(atomic_load(&file), text, length);
    atomic_fetch_add(&file_size,
                     put > 0 ? (uint64_t)put : 0); /* a full disk must not stop the daemon */
    file_turn();
}

void log_line(enum log_level level, const char *from, const struct log_about *about,
              const char *format, ...) {
    if (level < least_now)
        return;
    struct line line = {.level = level};
    va_list args;
    va_start(args, format);
    vsnprintf(line.text, sizeof line.text, format, args);
    va_end(args);
    redact(line.text, sizeof line.text);
    component_of(from, line.component, sizeof line.component);
    time_format(clock_wall(), line.at);
    if (about)
        about_take(&line, about);
    line_put(&line);
}
