/* SPDX-License-Identifier: Apache-2.0 */
/* Which day is it, and how is that written? */
#include "base/time.h"

#include "base/must.h"

#include <stdio.h>

static const int64_t DAY = SECONDS(86400);

int32_t time_day(int64_t at_us) {
    int64_t day = at_us / DAY;
    return (int32_t)(at_us % DAY < 0 ? day - 1 : day);
}

int64_t time_after(int64_t at_us, int64_t span_us) {
    must(span_us >= 0);
    return at_us > TIME_NEVER - span_us ? TIME_NEVER : at_us + span_us;
}

/* The civil date of a day number: eras of 400 years, years that begin in March. */
static void date_of(int32_t day, int *year, int *month, int *mday) {
    int shifted = day + 719468;
    int era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int doe = shifted - era * 146097;
    int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int mp = (5 * doy + 2) / 153;
    *mday = doy - (153 * mp + 2) / 5 + 1;
    *month = mp < 10 ? mp + 3 : mp - 9;
    *year = yoe + era * 400 + (*month <= 2);
}

void time_format(int64_t at_us, char text[TIME_TEXT + 1]) {
    int32_t day = time_day(at_us);
    int64_t rest = at_us % DAY < 0 ? at_us % DAY + DAY : at_us % DAY;
    int year, month, mday, second = (int)(rest / 1000000), micro = (int)(rest % 1000000);
    date_of(day, &year, &month, &mday);
    char wide[80];
    snprintf(wide, sizeof wide, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", year, month, mday,
             second / 3600, second / 60 % 60, second % 60, micro);
    snprintf(text, TIME_TEXT + 1, "%.*s", TIME_TEXT, wide);
}
