/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/place.h"

#include "ops/json.h"
#include "ops/view.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- positions ---- */

void place_format(const struct cursor *place, char text[PLACE_TEXT]) {
    snprintf(text, PLACE_TEXT, "%llu.%lld.%u", (unsigned long long)place->era, (long long)place->tx,
             place->n);
}

static bool number_take(const char **at, bool may_be_negative, int64_t *ret) {
    bool negative = may_be_negative && **at == '-';
    uint64_t value = 0;
    *at += negative;
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        if (value > (INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(**at - '0');
    }
    *ret = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool dot_take(const char **at) {
    return *(*at)++ == '.';
}

bool place_parse(struct str text, struct cursor *ret) {
    char plain[PLACE_TEXT];
    int64_t era, tx, n;
    const char *at = plain;
    *ret = (struct cursor){.from_start = text.len == 0, .from_now = str_equal(text, STR("now"))};
    if (ret->from_start || ret->from_now)
        return true;
    if (text.len >= sizeof plain)
        return false;
    snprintf(plain, sizeof plain, "%.*s", STR_ARG(text));
    if (!number_take(&at, false, &era) || !dot_take(&at) || !number_take(&at, true, &tx) ||
        !dot_take(&at) || !number_take(&at, false, &n) || *at || n > UINT32_MAX)
        return false;
    *ret = (struct cursor){.era = (uint64_t)era, .tx = tx, .n = (uint32_t)n};
    return true;
}

bool place_is_before(const struct cursor *a, const struct cursor *b) {
    return a->tx < b->tx || (a->tx == b->tx && a->n < b->n);
}

/* ---- filters ---- */

static bool type_fits(struct str wanted, const char *name) {
    if (wanted.len > 0 && wanted.at[wanted.len - 1] == '*')
        return strncmp(name, wanted.at, wanted.len - 1) == 0;
    return str_equal(wanted, str_of(name));
}

static bool type_take(struct str wanted, bool *types) {
    bool found = false;
    for (uint32_t type = 1; type < RECORD_TYPES; type++)
        if (type_fits(wanted, RECORDS[type].name))
            types[type] = found = true;
    return found;
}

bool types_parse(struct str text, bool ret_types[RECORD_TYPES]) {
    size_t begin = 0;
    bool any = false;
    memset(ret_types, 0, RECORD_TYPES * sizeof *ret_types);
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.at[i] != ',' && text.at[i] != ' ')
            continue;
        struct str word = {text.at + begin, i - begin};
        begin = i + 1;
        if (word.len == 0)
            continue;
        if (!type_take(word, ret_types))
            return false;
        any = true;
    }
    return any;
}

bool since_parse(struct str text, int64_t now, int64_t *ret_at) {
    int64_t span;
    if (time_parse(text, ret_at))
        return true;
    if (!span_parse(text, &span))
        return false;
    *ret_at = now - span;
    return true;
}

/* ---- events ---- */

json_t *event_json(const struct logged *row) {
    char place[PLACE_TEXT], goal[GOAL_ID_TEXT + 1];
    struct goal of = {.id = row->goal};
    json_t *json = record_json(&of, &row->record);
    place_format(&row->place, place);
    goal_id_format(row->goal, goal);
    json_object_set_new(json, "id", json_string(place));
    json_object_set_new(json, "goalId", json_string(goal));
    return json;
}
