/* SPDX-License-Identifier: Apache-2.0 */
/* Examines a text as JSON. RFC 8259, scanned once without storing it: an agent's file may be large, and as a tree it
 * would be a hundred times that. */
#include "runs/artifact/artifact.h"

#include <string.h>

struct scan {
    const char *at, *end;
    const char *wrong;
    const struct texts *keys;
    unsigned depth;
};

/* Keeps only the first error and its position. */
static bool fail(struct scan *s, const char *wrong) {
    if (!s->wrong)
        s->wrong = wrong;
    return false;
}

static void space_skip(struct scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool next_is(struct scan *s, char c) {
    space_skip(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* ---- strings ---- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The digits after \u; -1: there are not four of them. */
static long unit_read(const char *at, const char *end) {
    long unit = 0;
    for (int i = 0; i < 4; i++, at++) {
        if (at == end || hex_digit(*at) < 0)
            return -1;
        unit = unit * 16 + hex_digit(*at);
    }
    return unit;
}

static bool escape_skip(struct scan *s) {
    s->at++;
    if (s->at == s->end)
        return fail(s, "it ends inside a string");
    if (*s->at == 'u') {
        if (unit_read(s->at + 1, s->end) < 0)
            return fail(s, "\\u is not followed by four hexadecimal digits");
        s->at += 5;
        return true;
    }
    if (!memchr("\"\\/bfnrt", *s->at, 8))
        return fail(s, "unknown escape sequence");
    s->at++;
    return true;
}

/* `ret`: the text between the quotes, with escapes unchanged. */
static bool text_read(struct scan *s, struct str *ret) {
    const char *from = s->at;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at == '\\') {
            if (!escape_skip(s))
                return false;
            continue;
        }
        size_t len = str_character((struct str){s->at, (size_t)(s->end - s->at)});
        if ((unsigned char)*s->at < 0x20)
            return fail(s, "a string contains a control character");
        if (len == 0)
            return fail(s, "a string is not UTF-8");
        s->at += len;
    }
    if (s->at == s->end)
        return fail(s, "it ends inside a string");
    *ret = (struct str){from, (size_t)(s->at - from)};
    s->at++;
    return true;
}

/* ---- keys ---- */

static size_t utf8_put(char to[4], long c) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char LEAD[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = len; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(LEAD[len] | c);
    return len;
}

/* Decodes one character after a backslash; returns how many bytes it takes. */
static size_t escape_read(const char *at, const char *end, char to[4], size_t *ret_len) {
    static const char FROM[] = "bfnrt", TO[] = "\b\f\n\r\t";
    const char *plain = memchr(FROM, *at, sizeof FROM - 1);
    *ret_len = 1;
    to[0] = plain ? TO[plain - FROM] : *at;
    if (*at != 'u')
        return 1;
    long unit = unit_read(at + 1, end);
    bool pair = unit >= 0xD800 && unit < 0xDC00 && end - at >= 11 && at[5] == '\\' && at[6] == 'u';
    long low = pair ? unit_read(at + 7, end) : -1;
    pair = pair && low >= 0xDC00 && low < 0xE000;
    *ret_len = utf8_put(to, pair ? 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00) : unit);
    return pair ? 11 : 5;
}

/* Compares a text with escapes to one without. */
static bool text_is(struct str raw, struct str wanted) {
    const char *at = raw.at, *end = raw.at + raw.len;
    while (at < end) {
        char one[4] = {*at};
        size_t len = 1, used = 1;
        if (*at == '\\')
            used = 1 + escape_read(at + 1, end, one, &len);
        if (!str_begins(wanted, (struct str){one, len}))
            return false;
        wanted = (struct str){wanted.at + len, wanted.len - len};
        at += used;
    }
    return wanted.len == 0;
}

static void key_note(const struct texts *keys, struct str key, uint32_t *seen) {
    for (uint32_t i = 0; i < keys->count && i < LIMIT_ARTIFACT_KEYS; i++)
        if (text_is(key, keys->at[i]))
            *seen |= 1u << i;
}

/* ---- values ---- */

static bool value_read(struct scan *s);

static bool digits_skip(struct scan *s) {
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return s->at > from || fail(s, "a digit is missing");
}

static bool number_skip(struct scan *s) {
    s->at += *s->at == '-';
    if (s->at < s->end && *s->at == '0')
        s->at++;
    else if (!digits_skip(s))
        return false;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!digits_skip(s))
            return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        s->at += s->at < s->end && (*s->at == '+' || *s->at == '-');
        return digits_skip(s);
    }
    return true;
}

static bool word_skip(struct scan *s) {
    static const struct str WORDS[] = {STR("true"), STR("false"), STR("null")};
    for (size_t i = 0; i < count_of(WORDS); i++)
        if (str_begins((struct str){s->at, (size_t)(s->end - s->at)}, WORDS[i])) {
            s->at += WORDS[i].len;
            return true;
        }
    return fail(s, s->at == s->end ? "it ends where a value is expected" : "this is not a value");
}

/* Reads an object after its opening brace. `seen`: a bit for each key found; NULL: not needed. */
static bool object_read(struct scan *s, uint32_t *seen) {
    if (next_is(s, '}'))
        return true;
    do {
        struct str key;
        if (!next_is(s, '"'))
            return fail(s, "a name in quotes is expected here");
        if (!text_read(s, &key))
            return false;
        if (seen)
            key_note(s->keys, key, seen);
        if (!next_is(s, ':'))
            return fail(s, "a colon is expected here");
        if (!value_read(s))
            return false;
    } while (next_is(s, ','));
    return next_is(s, '}') || fail(s, "a comma or the end of an object is expected here");
}

static bool list_read(struct scan *s) {
    if (next_is(s, ']'))
        return true;
    do {
        if (!value_read(s))
            return false;
    } while (next_is(s, ','));
    return next_is(s, ']') || fail(s, "a comma or the end of a list is expected here");
}

/* Nests at most LIMIT_ARTIFACT_DEPTH deep. */
static bool value_read(struct scan *s) {
    struct str text;
    bool read;
    if (s->depth == LIMIT_ARTIFACT_DEPTH)
        return fail(s, "it is nested too deeply");
    s->depth++;
    if (next_is(s, '{'))
        read = object_read(s, NULL);
    else if (next_is(s, '['))
        read = list_read(s);
    else if (next_is(s, '"'))
        read = text_read(s, &text);
    else if (s->at < s->end && (*s->at == '-' || (*s->at >= '0' && *s->at <= '9')))
        read = number_skip(s);
    else
        read = word_skip(s);
    s->depth--;
    return read;
}

/* ---- the whole text ---- */

static uint32_t key_lacking(const struct texts *keys, uint32_t seen) {
    uint32_t key = 0;
    while (key < keys->count && key < LIMIT_ARTIFACT_KEYS && (seen & (1u << key)))
        key++;
    return key;
}

static bool item_read(struct scan *s, struct artifact_json *ret) {
    uint32_t seen = 0;
    bool object = next_is(s, '{');
    if (!(object ? object_read(s, &seen) : value_read(s)))
        return false;
    uint32_t key = object ? key_lacking(s->keys, seen) : 0;
    if (!ret->lacks && s->keys->count > 0 && (!object || key < s->keys->count)) {
        ret->lacks = true;
        ret->lacks_at = ret->items;
        ret->lacks_key = object ? key : s->keys->count;
    }
    ret->items++;
    return true;
}

static bool whole_read(struct scan *s, struct artifact_json *ret) {
    ret->is_list = next_is(s, '[');
    if (!ret->is_list)
        return value_read(s);
    s->depth = 1;
    if (next_is(s, ']'))
        return true;
    do {
        if (!item_read(s, ret))
            return false;
    } while (next_is(s, ','));
    return next_is(s, ']') || fail(s, "a comma or the end of the list is expected here");
}

struct artifact_json artifact_json(struct str text, const struct texts *keys) {
    const char *begin = text.at ? text.at : "";
    struct scan s = {.at = begin, .end = begin + text.len, .keys = keys};
    struct artifact_json json = {.line = 1, .column = 1};
    if (whole_read(&s, &json)) {
        space_skip(&s);
        if (s.at < s.end)
            fail(&s, "something follows the value");
    }
    json.wrong = s.wrong;
    for (const char *at = begin; s.wrong && at < s.at; at++) {
        json.column = *at == '\n' ? 1 : json.column + 1;
        json.line += *at == '\n';
    }
    return json;
}
