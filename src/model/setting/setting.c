/* SPDX-License-Identifier: Apache-2.0 */
/* Converts written text to setting values, and back. */
#include "model/setting/setting.h"

#include <stdarg.h>
#include <stdio.h>

static void *value_at(void *base, const struct setting *row) {
    return (char *)base + row->offset;
}

static const void *value_of(const void *base, const struct setting *row) {
    return (const char *)base + row->offset;
}

/* ---- numbers ---- */

static bool number_parse(struct str text, int64_t *ret) {
    bool minus = text.len > 1 && text.at[0] == '-';
    int64_t value = 0;
    if (text.len == 0)
        return false;
    for (size_t i = minus; i < text.len; i++)
        if (text.at[i] < '0' || text.at[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text.at[i] - '0', &value))
            return false;
    *ret = minus ? -value : value;
    return true;
}

static bool real_parse(struct str text, double *ret) {
    double value = 0, scale = 1;
    bool digits = false, point = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '.' && !point && digits) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9' || text.len > 18)
            return false;
        digits = true;
        value = value * 10 + (c - '0');
        scale *= point ? 10 : 1;
    }
    *ret = value / scale;
    return digits;
}

/* ---- refusals ---- */

struct putting {
    void *at;
    const struct setting *row;
    const struct given *given;
    enum span_unit unit;
    struct arena *arena;
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct putting *p, const char *format,
                                                         ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(p->why, p->why_size, format, rest);
    va_end(rest);
    return false;
}

static bool span_refuse(struct putting *p) {
    char least[SPAN_TEXT], most[SPAN_TEXT];
    span_format((int64_t)p->row->least, least);
    span_format((int64_t)p->row->most, most);
    return refuse(p, "must be a duration from %s to %s, such as \"%s\"", least, most,
                  p->row->fallback);
}

static bool choice_refuse(struct putting *p) {
    char list[256];
    size_t len = 0;
    for (uint32_t i = 0; i < p->row->names->count && len < sizeof list - 40; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s\"%s\"", i ? ", " : "",
                                name_of(p->row->names, i));
    return refuse(p, "must be one of %s", list);
}

/* ---- one function for each type ---- */

static bool put_text(struct putting *p) {
    if (p->given->type != SETTING_TEXT)
        return refuse(p, "must be a quoted string");
    if (p->given->text.len > LIMIT_SETTING || !str_is_text(p->given->text))
        return refuse(p, "must be a string of at most %d bytes", LIMIT_SETTING);
    const char *wrong = p->row->wrong ? p->row->wrong(p->given->text) : NULL;
    if (wrong)
        return refuse(p, "%s", wrong);
    *(struct str *)p->at = str_of(arena_cstr(p->arena, p->given->text));
    return true;
}

static bool put_number(struct putting *p) {
    int64_t least = (int64_t)p->row->least, most = (int64_t)p->row->most;
    if (p->given->type != SETTING_NUMBER || p->given->number < least || p->given->number > most)
        return refuse(p, "must be a whole number from %lld to %lld", (long long)least,
                      (long long)most);
    *(int64_t *)p->at = p->given->number;
    return true;
}

static bool put_real(struct putting *p) {
    bool is_number = p->given->type == SETTING_NUMBER || p->given->type == SETTING_REAL;
    double value = p->given->type == SETTING_NUMBER ? (double)p->given->number : p->given->real;
    if (!is_number || !(value >= p->row->least && value <= p->row->most))
        return refuse(p, "must be a number from %g to %g", p->row->least, p->row->most);
    *(double *)p->at = value;
    return true;
}

static bool put_flag(struct putting *p) {
    if (p->given->type != SETTING_FLAG)
        return refuse(p, "must be true or false");
    *(bool *)p->at = p->given->flag;
    return true;
}

/* CONFIG-05: with its unit, or as a plain number under a name that states the unit. */
static bool put_span(struct putting *p) {
    static const int64_t UNIT[] = {
        [UNIT_MS] = 1000, [UNIT_SECONDS] = SECONDS(1), [UNIT_DAYS] = SECONDS(86400)};
    int64_t span = 0, number = p->given->number;
    bool read = false;
    if (p->given->type == SETTING_TEXT)
        read = span_parse(p->given->text, &span);
    else if (p->given->type == SETTING_NUMBER && p->unit == UNIT_WRITTEN && number != 0)
        return refuse(p, "must have a unit, such as \"%s\"", p->row->fallback);
    else if (p->given->type == SETTING_NUMBER)
        read = number == 0 || !__builtin_mul_overflow(number, UNIT[p->unit], &span);
    else if (p->given->type == SETTING_REAL && p->unit != UNIT_WRITTEN && p->given->real >= 0 &&
             p->given->real < 1e9) {
        span = (int64_t)(p->given->real * (double)UNIT[p->unit]);
        read = true;
    }
    if (!read || (double)span < p->row->least || (double)span > p->row->most)
        return span_refuse(p);
    *(int64_t *)p->at = span;
    return true;
}

static bool put_choice(struct putting *p) {
    uint32_t value = p->given->flag;
    bool older =
        p->given->type == SETTING_FLAG && p->given->older && (p->row->flags & SETTING_WAS_FLAG);
    if (!older &&
        (p->given->type != SETTING_TEXT || !names_find(p->row->names, p->given->text, &value)))
        return choice_refuse(p);
    *(uint32_t *)p->at = value;
    return true;
}

static bool put_texts(struct putting *p) {
    const struct texts *texts = &p->given->texts;
    if (p->given->type != SETTING_TEXTS)
        return refuse(p, "must be a list of strings, such as [\"a\", \"b\"]");
    if (texts->count > LIMIT_LINES)
        return refuse(p, "must have at most %d entries", LIMIT_LINES);
    struct str *copy = arena_new(p->arena, struct str, texts->count);
    for (uint32_t i = 0; i < texts->count; i++) {
        if (texts->at[i].len > LIMIT_LINE || !str_is_text(texts->at[i]))
            return refuse(p, "must be a list of strings of at most %d bytes", LIMIT_LINE);
        copy[i] = str_of(arena_cstr(p->arena, texts->at[i]));
    }
    *(struct texts *)p->at = (struct texts){copy, texts->count};
    return true;
}

bool setting_put(void *base, const struct setting *row, const struct given *given,
                 enum span_unit unit, struct arena *arena, char *why, size_t why_size) {
    static bool (*const PUT[])(struct putting *) = {
        [SETTING_TEXT] = put_text,  [SETTING_NUMBER] = put_number, [SETTING_REAL] = put_real,
        [SETTING_FLAG] = put_flag,  [SETTING_SPAN] = put_span,     [SETTING_CHOICE] = put_choice,
        [SETTING_TEXTS] = put_texts};
    struct putting p = {value_at(base, row), row, given, unit, arena, why, why_size};
    return PUT[row->type](&p);
}

/* ---- from one text ---- */

static struct str trimmed(struct str text) {
    while (text.len > 0 && strchr(" \t\r", text.at[0]))
        text = (struct str){text.at + 1, text.len - 1};
    while (text.len > 0 && strchr(" \t\r", text.at[text.len - 1]))
        text.len--;
    return text;
}

static bool has(struct str text, char c) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == c)
            return true;
    return false;
}

static struct texts split(struct str text, struct arena *arena) {
    char mark = has(text, '\n') ? '\n' : ',';
    uint32_t most = 1;
    for (size_t i = 0; i < text.len; i++)
        most += text.at[i] == mark;
    struct str *list = arena_new(arena, struct str, most);
    uint32_t count = 0;
    for (size_t from = 0, i = 0; i <= text.len; i++)
        if (i == text.len || text.at[i] == mark) {
            struct str entry = trimmed((struct str){text.at + from, i - from});
            if (entry.len > 0)
                list[count++] = entry;
            from = i + 1;
        }
    return (struct texts){list, count};
}

static struct given given_flag(struct str text) {
    static const char *const YES[] = {"true", "1", "yes", "on"}, *const NO[] = {"false", "0", "no",
                                                                                "off"};
    for (size_t i = 0; i < count_of(YES); i++) {
        if (str_equal(text, str_of(YES[i])))
            return (struct given){.type = SETTING_FLAG, .flag = true};
        if (str_equal(text, str_of(NO[i])))
            return (struct given){.type = SETTING_FLAG};
    }
    return (struct given){.type = SETTING_TEXT, .text = text};
}

/* A text that does not parse as a number stays a text, and is refused as one. */
static struct given given_of(const struct setting *row, struct str text, enum span_unit unit,
                             struct arena *arena) {
    struct given given = {.type = SETTING_TEXT, .text = text};
    bool is_number = row->type == SETTING_NUMBER || row->type == SETTING_REAL ||
                     (row->type == SETTING_SPAN && unit != UNIT_WRITTEN);
    if (row->type == SETTING_TEXTS)
        return (struct given){.type = SETTING_TEXTS, .texts = split(text, arena)};
    if (row->type == SETTING_FLAG)
        return given_flag(text);
    if (is_number && number_parse(text, &given.number))
        given.type = SETTING_NUMBER;
    else if (is_number && real_parse(text, &given.real))
        given.type = SETTING_REAL;
    return given;
}

bool setting_put_text(void *base, const struct setting *row, struct str text, enum span_unit unit,
                      struct arena *arena, char *why, size_t why_size) {
    struct given given = given_of(row, text, unit, arena);
    return setting_put(base, row, &given, unit, arena, why, why_size);
}

/* ---- defaults ---- */

static void put_defaults(void *base, const struct setting *rows, size_t count,
                         struct arena *arena) {
    char why[160];
    for (size_t i = 0; i < count; i++)
        must(setting_put_text(base, &rows[i], str_of(rows[i].fallback), UNIT_WRITTEN, arena, why,
                              sizeof why));
}

void settings_default(struct settings *settings) {
    put_defaults(settings, SETTINGS, SETTING_COUNT, &settings->source.arena);
}

void list_entry_default(const struct setting_list *list, void *entry, struct arena *arena) {
    put_defaults(entry, list->rows, list->count, arena);
}

const char *settings_broken(const struct settings *settings) {
    if (settings->supervision.backoff_base > settings->supervision.backoff_max)
        return "supervision.backoff.base must be at most supervision.backoff.max";
    if ((settings->server.tls_cert.len > 0) != (settings->server.tls_key.len > 0))
        return "server.tls_cert and server.tls_key must be set together";
    for (uint32_t i = 0; i < settings->lists.budget_count; i++)
        if (settings->lists.budgets[i].most.len == 0)
            return "budgets: each budget needs \"most\"";
    if (settings->people.say_again > settings->people.say_again_most)
        return "people.say_again must be at most people.say_again_most";
    return NULL;
}

/* ---- showing ---- */

static void show_text(struct writer *writer, struct str text) {
    write_byte(writer, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i], code[8];
        if (c == '"' || c == '\\') {
            write_byte(writer, '\\');
            write_byte(writer, (uint8_t)c);
        } else if (c == '\n') {
            write_raw(writer, STR("\\n"));
        } else if ((unsigned char)c < 0x20 || c == 0x7F) {
            snprintf(code, sizeof code, "\\u%04X", (unsigned)(unsigned char)c);
            write_raw(writer, str_of(code));
        } else {
            write_byte(writer, (uint8_t)c);
        }
    }
    write_byte(writer, '"');
}

static void show_texts(struct writer *writer, const struct texts *texts) {
    write_byte(writer, '[');
    for (uint32_t i = 0; i < texts->count; i++) {
        if (i > 0)
            write_raw(writer, STR(", "));
        show_text(writer, texts->at[i]);
    }
    write_byte(writer, ']');
}

static void show_real(struct writer *writer, double value) {
    char text[40];
    int len = snprintf(text, sizeof text, "%.12g", value);
    write_raw(writer, (struct str){text, (size_t)len});
    if (!has((struct str){text, (size_t)len}, '.'))
        write_raw(writer, STR(".0"));
}

static void show_span(struct writer *writer, int64_t span) {
    char text[SPAN_TEXT];
    span_format(span, text);
    show_text(writer, str_of(text));
}

static void show_number(struct writer *writer, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    write_raw(writer, str_of(text));
}

static void show_value(struct writer *writer, const void *at, const struct setting *row) {
    switch (row->type) {
    case SETTING_TEXT: {
        struct str text = *(const struct str *)at;
        show_text(writer, row->flags & SETTING_HIDDEN && text.len > 0 ? STR("(hidden)") : text);
        break;
    }
    case SETTING_NUMBER: show_number(writer, *(const int64_t *)at); break;
    case SETTING_REAL: show_real(writer, *(const double *)at); break;
    case SETTING_FLAG: write_raw(writer, *(const bool *)at ? STR("true") : STR("false")); break;
    case SETTING_SPAN: show_span(writer, *(const int64_t *)at); break;
    case SETTING_CHOICE:
        show_text(writer, str_of(name_of(row->names, *(const uint32_t *)at)));
        break;
    case SETTING_TEXTS: show_texts(writer, at); break;
    }
}

struct str setting_show(const void *base, const struct setting *row, struct arena *arena) {
    struct writer writer = {.arena = arena};
    show_value(&writer, value_of(base, row), row);
    return (struct str){writer.at, writer.len};
}

static bool texts_equal(const struct texts *a, const struct texts *b) {
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = str_equal(a->at[i], b->at[i]);
    return same;
}

bool setting_equal(const void *a, const void *b, const struct setting *row) {
    const void *x = value_of(a, row), *y = value_of(b, row);
    switch (row->type) {
    case SETTING_TEXT: return str_equal(*(const struct str *)x, *(const struct str *)y);
    case SETTING_TEXTS: return texts_equal(x, y);
    case SETTING_REAL:
        return !(*(const double *)x < *(const double *)y) &&
               !(*(const double *)y < *(const double *)x);
    case SETTING_FLAG: return *(const bool *)x == *(const bool *)y;
    case SETTING_CHOICE: return *(const uint32_t *)x == *(const uint32_t *)y;
    default: return *(const int64_t *)x == *(const int64_t *)y;
    }
}

void setting_give(void *to, const struct setting *row, const void *from,
                  const struct setting *from_row, struct arena *arena) {
    must(row->type == from_row->type);
    void *at = value_at(to, row);
    const void *value = value_of(from, from_row);
    switch (row->type) {
    case SETTING_TEXT: *(struct str *)at = arena_copy(arena, *(const struct str *)value); break;
    case SETTING_TEXTS: *(struct texts *)at = texts_copy(value, arena); break;
    case SETTING_REAL: *(double *)at = *(const double *)value; break;
    case SETTING_FLAG: *(bool *)at = *(const bool *)value; break;
    case SETTING_CHOICE: *(uint32_t *)at = *(const uint32_t *)value; break;
    default: *(int64_t *)at = *(const int64_t *)value;
    }
}

void setting_copy(void *to, const void *from, const struct setting *row, struct arena *arena) {
    setting_give(to, row, from, row, arena);
}

static void policy_lines(struct writer *writer, struct str before, const void *base,
                         const struct setting *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(rows[i].flags & SETTING_POLICY))
            continue;
        write_raw(writer, before);
        write_raw(writer, str_of(rows[i].name));
        write_raw(writer, STR(" = "));
        show_value(writer, value_of(base, &rows[i]), &rows[i]);
        write_byte(writer, '\n');
    }
}

struct str settings_policy(const struct settings *settings, struct arena *arena) {
    struct writer writer = {.arena = arena};
    policy_lines(&writer, STR(""), settings, SETTINGS, SETTING_COUNT);
    for (const struct setting_list *list = SETTING_LIST; list < SETTING_LIST + SETTING_LISTS;
         list++)
        for (uint32_t i = 0; i < list_count(settings, list); i++) {
            struct str before = arena_format(arena, "%s.%u.", list->name, i + 1);
            policy_lines(&writer, before, list_entry(settings, list, i), list->rows, list->count);
        }
    return (struct str){writer.at, writer.len};
}
