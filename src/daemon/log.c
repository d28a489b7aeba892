/* SPDX-License-Identifier: Apache-2.0 */
/* What does the daemon tell the operator? */
#include "daemon/log.h"

#include "base/time.h"
#include "daemon/clock.h"
#include "daemon/guard.h"
#include "daemon/input.h"

#include <stdarg.h>
#include <stdio.h>

static void put_escaped(char *to, size_t size, const char *from) {
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
}

/* STORE-14: logs are kept too. Without memory to look, the line says only that. */
struct looking {
    char *text;
    size_t size;
    struct arena arena;
};

static void look(void *with) {
    struct looking *looking = with;
    struct str clean = input_redacted(str_of(looking->text), &looking->arena);
    if (clean.at != looking->text)
        snprintf(looking->text, looking->size, "%.*s", STR_ARG(clean));
}

static void redact(char *text, size_t size) {
    struct looking looking = {.text = text, .size = size};
    struct guard_report report;
    if (guard_run(look, &looking, &report) != GUARD_WHOLE)
        snprintf(text, size, "there was no memory to look for secrets in this line");
    arena_free(&looking.arena);
}

/* One write a line, so that lines of several threads do not mix. */
void log_line(const char *level, const char *format, ...) {
    char text[1024], escaped[2048], at[TIME_TEXT + 1], line[2304];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    redact(text, sizeof text);
    put_escaped(escaped, sizeof escaped, text);
    time_format(clock_wall(), at);
    snprintf(line, sizeof line, "{\"at\":\"%s\",\"level\":\"%s\",\"text\":\"%s\"}\n", at, level,
             escaped);
    fputs(line, stderr);
}
