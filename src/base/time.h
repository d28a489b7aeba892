/* SPDX-License-Identifier: Apache-2.0 */
/* Time in 64-bit microseconds of UTC. The caller always supplies the current time. */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define TIME_NEVER INT64_MAX

#define MILLISECONDS(n) ((int64_t)(n)*1000)
#define SECONDS(n) MILLISECONDS((int64_t)(n)*1000)
#define MINUTES(n) SECONDS((int64_t)(n)*60)

enum {
    TIME_TEXT = 27,      /* 2026-11-15T00:16:22.123456Z */
    TIME_BASIC_TEXT = 16 /* 20261115T001622Z */
};

/* Days since 1970-01-01, also for times before it. */
int32_t time_day(int64_t at_us);

/* RFC 3339 in UTC. */
void time_format(int64_t at_us, char text[TIME_TEXT + 1]);

/* ISO 8601's basic format in whole seconds, for the names of files. */
void time_format_basic(int64_t at_us, char text[TIME_BASIC_TEXT + 1]);

/* Parses the same format; the fraction is optional, and an offset such as +02:00 is accepted. */
bool time_parse(struct str text, int64_t *ret_us);

static inline int64_t time_later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t time_sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* at + span, never past TIME_NEVER. */
int64_t time_after(int64_t at_us, int64_t span_us);

/* A span with its unit: 500ms, 90s, 15m, 1h30m, 0.5s, 30d. Units: us ms s m h d w, larger before smaller. CONFIG-05:
 * the only place that parses durations. */
bool span_parse(struct str text, int64_t *ret_us);

/* Formats a span in the fewest units that express it exactly; "0s" for zero. */
enum { SPAN_TEXT = 40 };
void span_format(int64_t span_us, char text[SPAN_TEXT]);
