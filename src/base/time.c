/* SPDX-License-Identifier: Apache-2.0 */
/* Calendar arithmetic, timestamps and durations. */
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

void time_format_basic(int64_t at_us, char text[TIME_BASIC_TEXT + 1]) {
    char full[TIME_TEXT + 1];
    time_format(at_us, full);
    snprintf(text, TIME_BASIC_TEXT + 1, "%.4s%.2s%.2sT%.2s%.2s%.2sZ", full, full + 5, full + 8,
             full + 11, full + 14, full + 17);
}

/* ---- reading ---- */

/* Takes exactly `count` digits from the front of the text; -1: there are fewer. */
static int64_t digits(struct str *text, size_t count) {
    int64_t value = 0;
    if (text->len < count)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (text->at[i] < '0' || text->at[i] > '9')
            return -1;
        value = value * 10 + (text->at[i] - '0');
    }
    *text = (struct str){text->at + count, text->len - count};
    return value;
}

static bool mark(struct str *text, char c) {
    if (text->len == 0 || text->at[0] != c)
        return false;
    *text = (struct str){text->at + 1, text->len - 1};
    return true;
}

static int64_t fraction(struct str *text) {
    int64_t micros = 0, unit = 100000;
    for (; text->len > 0 && text->at[0] >= '0' && text->at[0] <= '9'; unit /= 10) {
        micros += unit * (text->at[0] - '0');
        *text = (struct str){text->at + 1, text->len - 1};
    }
    return micros;
}

/* The day number of a civil date: eras of 400 years, years that begin in March. */
static int64_t days_from(int64_t year, int64_t month, int64_t day) {
    int64_t y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400,
            of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool offset(struct str *text, int64_t *ret_us) {
    *ret_us = 0;
    if (mark(text, 'Z'))
        return true;
    int64_t sign = mark(text, '-') ? -1 : mark(text, '+') ? 1 : 0;
    int64_t hours = digits(text, 2), minutes = mark(text, ':') ? digits(text, 2) : -1;
    *ret_us = sign * (hours * MINUTES(60) + minutes * MINUTES(1));
    return sign != 0 && hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
}

bool time_parse(struct str text, int64_t *ret_us) {
    int64_t year = digits(&text, 4), month = mark(&text, '-') ? digits(&text, 2) : -1;
    int64_t day = mark(&text, '-') ? digits(&text, 2) : -1;
    int64_t hour = mark(&text, 'T') ? digits(&text, 2) : -1;
    int64_t minute = mark(&text, ':') ? digits(&text, 2) : -1;
    int64_t second = mark(&text, ':') ? digits(&text, 2) : -1;
    int64_t micros = mark(&text, '.') ? fraction(&text) : 0, ahead;
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59 || second < 0 || second > 60 || !offset(&text, &ahead) ||
        text.len > 0)
        return false;
    *ret_us = days_from(year, month, day) * MINUTES(24 * 60) + hour * MINUTES(60) +
              minute * MINUTES(1) + SECONDS(second) + micros - ahead;
    return true;
}

/* ---- spans ---- */

struct unit {
    const char *name;
    int64_t us;
};
static const struct unit UNITS[] = {
    {"w", SECONDS(7 * 86400)}, {"d", SECONDS(86400)}, {"h", MINUTES(60)}, {"m", MINUTES(1)},
    {"s", SECONDS(1)},         {"ms", 1000},          {"us", 1},
};

/* Finds the unit at the start of the text. The longest match wins: ms before m. */
static size_t unit_find(struct str *text) {
    size_t found = count_of(UNITS), longest = 0;
    for (size_t i = 0; i < count_of(UNITS); i++) {
        size_t len = strlen(UNITS[i].name);
        if (len > longest && text->len >= len && memcmp(text->at, UNITS[i].name, len) == 0) {
            found = i;
            longest = len;
        }
    }
    *text = (struct str){text->at + longest, text->len - longest};
    return found;
}

/* Digits and a fraction of at most six more; in millionths. */
static bool millionths(struct str *text, int64_t *ret) {
    int64_t whole = 0, part = 0, scale = 1000000;
    size_t count = 0;
    for (int64_t digit; (digit = digits(text, 1)) >= 0; count++) {
        if (count >= 12)
            return false;
        whole = whole * 10 + digit;
    }
    if (count > 0 && mark(text, '.')) {
        int64_t digit = digits(text, 1);
        if (digit < 0)
            return false;
        for (; digit >= 0; digit = digits(text, 1)) {
            if (scale == 1)
                return false;
            scale /= 10;
            part += digit * scale;
        }
    }
    *ret = whole * 1000000 + part;
    return count > 0;
}

bool span_parse(struct str text, int64_t *ret_us) {
    int64_t sum = 0;
    size_t last = count_of(UNITS);
    for (bool first = true; first || text.len > 0; first = false) {
        int64_t amount, us;
        if (!millionths(&text, &amount))
            return false;
        size_t unit = unit_find(&text);
        if (unit == count_of(UNITS) || (!first && unit <= last) ||
            __builtin_mul_overflow(amount / 1000000, UNITS[unit].us, &us) ||
            __builtin_add_overflow(sum, us, &sum) ||
            __builtin_mul_overflow(amount % 1000000, UNITS[unit].us, &us) ||
            __builtin_add_overflow(sum, us / 1000000, &sum))
            return false;
        last = unit;
    }
    *ret_us = sum;
    return true;
}

void span_format(int64_t span_us, char text[SPAN_TEXT]) {
    size_t len = 0;
    int64_t rest = span_us < 0 ? 0 : span_us;
    text[0] = 0;
    for (size_t i = 1; i < count_of(UNITS); i++) { /* starts after weeks: they are shown as days */
        if (rest < UNITS[i].us)
            continue;
        len += (size_t)snprintf(text + len, SPAN_TEXT - len, "%lld%s",
                                (long long)(rest / UNITS[i].us), UNITS[i].name);
        must(len < SPAN_TEXT);
        rest %= UNITS[i].us;
    }
    if (len == 0)
        snprintf(text, SPAN_TEXT, "0s");
}
