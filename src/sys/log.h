/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the daemon's log for the operator: one line for each thing, with what it is about. OBSERVE-02.
 *
 * As JSON: {"at", "level", "component", "text", "goal", "task", "run", "effect", "trace", "detail", "incident"}; members without a
 * value are left out. The text form for a terminal and the journal's own form say the same. */
#pragma once

#include "base/id.h"
#include "base/str.h"

enum log_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR, LEVELS };
enum log_format { LOG_AUTO, LOG_TEXT, LOG_JSON, LOG_JOURNAL, LOG_FORMATS };

struct log_options {
    enum log_format
        format; /* auto: the journal if it reads our standard error, text on a terminal, otherwise JSON */
    enum log_level least;
    const char *file; /* NULL: standard error */
    uint64_t
        most; /* size limit in bytes: the file is then moved to FILE.1, and a new one begun; 0: none */
};

/* Called again with the same file, it reopens the file, so that it can be moved away (G-26). False: the file cannot be
 * opened, and everything stays as it was. */
bool log_open(const struct log_options *options);

struct log_about {
    struct id goal;    /* zero: none */
    uint32_t effect;   /* ordinal + 1; 0: none */
    struct str task;   /* node of the goal; empty: none */
    struct id run;     /* zero: none */
    struct str trace;  /* OBSERVE-06 */
    bool incident;     /* OBSERVE-09: a person should look at it */
    struct str detail; /* of an incident: the command, its output */
};

/* `from` is a source file: its name is the component. */
void log_line(enum log_level level, const char *from, const struct log_about *about,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

#define log_debug(...) log_line(LEVEL_DEBUG, __FILE__, NULL, __VA_ARGS__)
#define log_info(...) log_line(LEVEL_INFO, __FILE__, NULL, __VA_ARGS__)
#define log_warning(...) log_line(LEVEL_WARNING, __FILE__, NULL, __VA_ARGS__)
#define log_error(...) log_line(LEVEL_ERROR, __FILE__, NULL, __VA_ARGS__)
#define log_about(level, about, ...) log_line(level, __FILE__, about, __VA_ARGS__)
