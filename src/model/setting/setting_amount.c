/* SPDX-License-Identifier: Apache-2.0 */
/* Parses money, tokens, budget scopes, hours of the day and authors of commits. */
#include "model/admission.h"
#include "model/setting/setting.h"

/* ---- amounts ---- */

static struct str rest_of(struct str text, size_t from) {
    return (struct str){text.at + from, text.len - from};
}

static size_t digits(struct str text) {
    size_t len = 0;
    while (len < text.len && text.at[len] >= '0' && text.at[len] <= '9')
        len++;
    return len;
}

static bool whole_parse(struct str text, uint64_t *ret) {
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.at[i] - '0'), &value))
            return false;
    *ret = value;
    return text.len > 0;
}

/* In millionths, so that no money is lost to rounding. */
static bool money_parse(struct str text, uint64_t *ret) {
    uint64_t whole, part = 0;
    size_t len = digits(text);
    if (!whole_parse(str_cut(text, len), &whole) || whole > UINT32_MAX)
        return false;
    struct str after = rest_of(text, len);
    if (after.len > 0) {
        struct str fraction = rest_of(after, 1);
        if (after.at[0] != '.' || fraction.len == 0 || fraction.len > 6 ||
            digits(fraction) != fraction.len || !whole_parse(fraction, &part))
            return false;
        for (size_t i = fraction.len; i < 6; i++)
            part *= 10;
    }
    *ret = whole * 1000000 + part;
    return true;
}

static uint64_t times_of(char letter) {
    switch (letter) {
    case 'k': return 1000;
    case 'M': return 1000000;
    case 'G': return 1000000000;
    default: return 1;
    }
}

static bool count_parse(struct str text, uint32_t *ret_unit, uint64_t *ret) {
    size_t len = digits(text);
    uint64_t times = len < text.len ? times_of(text.at[len]) : 1;
    if (!whole_parse(str_cut(text, len), ret) || __builtin_mul_overflow(*ret, times, ret))
        return false;
    text = rest_of(text, len + (times > 1));
    if (text.len == 0 || text.at[0] != ' ' || *ret > INT64_MAX)
        return false;
    return names_find(&BUDGET_UNIT_NAMES, rest_of(text, 1), ret_unit) && *ret_unit != UNIT_MONEY;
}

bool amount_parse(struct str text, uint32_t *ret_unit, uint64_t *ret_amount) {
    *ret_unit = UNIT_MONEY;
    *ret_amount = 0;
    if (text.len == 0)
        return true;
    if (text.at[0] == '$')
        return money_parse(rest_of(text, 1), ret_amount);
    return count_parse(text, ret_unit, ret_amount);
}

uint64_t money_of(struct str text) {
    uint32_t unit;
    uint64_t amount;
    return amount_parse(text, &unit, &amount) && unit == UNIT_MONEY ? amount : 0;
}

const char *amount_wrong(struct str text) {
    uint32_t unit;
    uint64_t amount;
    return amount_parse(text, &unit, &amount)
               ? NULL
               : "must be an amount, such as \"$400\", \"5M tokens\" or \"200 starts\"";
}

const char *money_wrong(struct str text) {
    uint32_t unit;
    uint64_t amount;
    return amount_parse(text, &unit, &amount) && unit == UNIT_MONEY
               ? NULL
               : "must be an amount of money, such as \"$2.50\"";
}

/* ---- scopes ---- */

const char *scope_wrong(struct str text) {
    static const char *const ALONE[] = {"", "fleet", "day", "goal"};
    static const char *const NAMED[] = {"agent", "team", "account", "model"};
    size_t len = 0;
    while (len < text.len && text.at[len] != '/')
        len++;
    struct str kind = str_cut(text, len);
    bool named = len < text.len;
    for (size_t i = 0; i < count_of(ALONE); i++)
        if (str_equal(text, str_of(ALONE[i])))
            return NULL;
    for (size_t i = 0; i < count_of(NAMED); i++)
        if (str_equal(kind, str_of(NAMED[i])) && text.len <= LIMIT_SCOPE &&
            (!named || text.len > kind.len + 1))
            return NULL;
    return "must be fleet, day, goal, agent, team, account or model; the last four may have a name, such as \"team/web\"";
}

/* ---- hours ---- */

static bool clock_parse(struct str text, int64_t *ret) {
    uint64_t hours, minutes;
    if (text.len != 5 || text.at[2] != ':' || digits(text) != 2 || digits(rest_of(text, 3)) != 2)
        return false;
    if (!whole_parse(str_cut(text, 2), &hours) || !whole_parse(rest_of(text, 3), &minutes))
        return false;
    *ret = MINUTES(hours * 60 + minutes);
    return hours < 24 && minutes < 60;
}

bool hours_parse(struct str text, int64_t *ret_from, int64_t *ret_to) {
    const int64_t day = MINUTES(1440);
    int64_t offset = 0;
    *ret_from = *ret_to = 0;
    if (text.len == 0)
        return true;
    if (text.len == 18 && text.at[11] == ' ' && (text.at[12] == '+' || text.at[12] == '-')) {
        if (!clock_parse(rest_of(text, 13), &offset))
            return false;
        offset = text.at[12] == '-' ? -offset : offset;
        text.len = 11;
    }
    if (text.len != 11 || text.at[5] != '-' || !clock_parse(str_cut(text, 5), ret_from) ||
        !clock_parse(rest_of(text, 6), ret_to))
        return false;
    *ret_from = (*ret_from - offset + 2 * day) % day;
    *ret_to = (*ret_to - offset + 2 * day) % day;
    return true;
}

const char *hours_wrong(struct str text) {
    int64_t from, to;
    return hours_parse(text, &from, &to)
               ? NULL
               : "must be two times of the day, such as \"22:00-07:00\" or \"22:00-07:00 +02:00\"";
}

/* ---- authors ---- */

/* From the ends of a name; git refuses one that has nothing else. */
static bool git_trims(char c) {
    return (unsigned char)c <= ' ' || c == '.' || c == ',' || c == ':' || c == ';' || c == '"' ||
           c == '\\' || c == '\'';
}

static bool author_part_is_right(struct str text) {
    bool names = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '<' || text.at[i] == '>' || (unsigned char)text.at[i] < ' ')
            return false;
        names = names || !git_trims(text.at[i]);
    }
    return names;
}

bool author_parse(struct str text, struct str *ret_name, struct str *ret_address) {
    size_t open = 0;
    while (open < text.len && text.at[open] != '<')
        open++;
    if (open == 0 || open == text.len || text.at[open - 1] != ' ' || text.at[text.len - 1] != '>')
        return false;
    *ret_name = (struct str){text.at, open - 1};
    *ret_address = (struct str){text.at + open + 1, text.len - open - 2};
    return author_part_is_right(*ret_name) && author_part_is_right(*ret_address);
}

const char *author_wrong(struct str text) {
    struct str name, address;
    return text.len == 0 || author_parse(text, &name, &address)
               ? NULL
               : "must be a name and an address, such as \"Ana Diaz <ana@example.org>\"";
}
