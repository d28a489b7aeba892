/* SPDX-License-Identifier: Apache-2.0 */
/* How is time counted? In microseconds of UTC, 64 bits, always handed in. */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define TIME_NEVER INT64_MAX

#define MILLISECONDS(n) ((int64_t)(n)*1000)
#define SECONDS(n) MILLISECONDS((int64_t)(n)*1000)
#define MINUTES(n) SECONDS((int64_t)(n)*60)

enum { TIME_TEXT = 27 }; /* 2026-11-15T00:16:22.123456Z */

/* Days since 1970-01-01, also for times before it. */
int32_t time_day(int64_t at_us);

/* RFC 3339 in UTC. */
void time_format(int64_t at_us, char text[TIME_TEXT + 1]);

/* The same back; also without a fraction, and with an offset such as +02:00. */
bool time_parse(struct str text, int64_t *ret_us);

/* at + span, never past TIME_NEVER. */
int64_t time_after(int64_t at_us, int64_t span_us);

/* A span with its unit: 500ms, 90s, 15m, 1h30m, 0.5s, 30d. Units: us ms s m h d w, the larger before the smaller.
 * CONFIG-05: the one place where durations are read. */
bool span_parse(struct str text, int64_t *ret_us);

/* The same back, in the fewest units that say it exactly; "0s" for none. */
enum { SPAN_TEXT = 40 };
void span_format(int64_t span_us, char text[SPAN_TEXT]);
