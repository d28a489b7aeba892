/* SPDX-License-Identifier: Apache-2.0 */
/* Builds texts for services so that text written by others stays plain text. */
#include "base/memory.h"
#include "channels/channel_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS_MOST = 2 * LIMIT_CHANNEL_LOOK }; /* far more than a notice or an answer can have */

static void words_room(struct words *words, size_t more) {
    size_t need = words->len + more + 1;
    must(need <= WORDS_MOST);
    if (need <= words->cap)
        return;
    size_t cap = need * 2;
    char *at = memory_new(cap);
    if (words->at) {
        memcpy(at, words->at, words->len + 1);
        explicit_bzero(words->at, words->len);
        free(words->at);
    }
    words->at = at;
    words->cap = cap;
}

void words_add(struct words *words, struct str text) {
    words_room(words, text.len);
    if (text.len > 0)
        memcpy(words->at + words->len, text.at, text.len);
    words->len += text.len;
    words->at[words->len] = 0;
}

void words_format(struct words *words, const char *format, ...) {
    char text[512];
    va_list rest;
    va_start(rest, format);
    int len = vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    must(len >= 0);
    words_add(words, (struct str){text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1});
}

void words_clear(struct words *words) {
    if (words->at)
        explicit_bzero(words->at, words->cap);
    words->len = 0;
}

void words_free(struct words *words) {
    words_clear(words);
    free(words->at);
    *words = (struct words){0};
}

/* ---- escaping ---- */

struct escaping {
    struct words *words;
    enum markup markup;
    size_t end;      /* limit of words->len */
    bool line_start; /* only blanks since the start of the line */
    bool numbering;  /* only digits since then */
};

static size_t char_len(unsigned char first) {
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* Characters that change the writing direction or are invisible: U+200B to U+200F, U+202A to U+202E, U+2066 to U+2069,
 * U+FEFF. */
static bool char_deceives(struct str c) {
    if (c.len != 3)
        return false;
    unsigned a = (unsigned char)c.at[0], b = (unsigned char)c.at[1], d = (unsigned char)c.at[2];
    unsigned code = (a & 0x0F) << 12 | (b & 0x3F) << 6 | (d & 0x3F);
    return (code >= 0x200B && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

static bool char_is_shown(struct str c) {
    unsigned char first = (unsigned char)c.at[0];
    if (c.len == 1)
        return (first >= 0x20 && first != 0x7F) || first == '\n' || first == '\t';
    if (c.len == 2 && first == 0xC2 && (unsigned char)c.at[1] < 0xA0)
        return false; /* C1 */
    return !char_deceives(c);
}

static struct str entity_of(char c) {
    switch (c) {
    case '&': return STR("&amp;");
    case '<': return STR("&lt;");
    case '>': return STR("&gt;");
    default: return STR("");
    }
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '"' ||
           (unsigned char)c >= 0x80;
}

/* Formatting is escaped; at the start of a line also lists, headings and GitLab's quick actions. A character that would
 * introduce a person, an issue or a label is followed by a zero-width space, because escaping alone does not prevent
 * that. In a pull request "closes" takes effect on merge, so addresses and numbers such as GH-12 do not become links
 * there either. */
static bool leads_elsewhere(enum markup markup, char c, char next) {
    bool digit = next >= '0' && next <= '9';
    if (strchr("@#!%$&~", c))
        return is_word(next);
    if (markup != MARKUP_PULL && markup != MARKUP_TITLE)
        return false;
    return (c == ':' && next == '/') || (c == '-' && digit) || (c == '[' && markup == MARKUP_TITLE);
}

static size_t sign_part(enum markup markup, char c, char next, char room[8], size_t len) {
    room[len++] = c;
    if (leads_elsewhere(markup, c, next)) {
        memcpy(room + len, "\u200b", 3);
        len += 3;
    }
    return len;
}

static struct str markdown_of(struct escaping *e, char c, char next, char room[8]) {
    bool anywhere = strchr("\\`*_[]<>#|~!&$", c) != NULL;
    bool at_start = e->line_start && strchr("-+=/", c);
    bool ends_number = e->numbering && (c == '.' || c == ')');
    size_t len = 0;
    if (anywhere || at_start || ends_number)
        room[len++] = '\\';
    return (struct str){room, sign_part(e->markup, c, next, room, len)};
}

static struct str escaped(struct escaping *e, struct str c, char next, char room[8]) {
    struct str entity = entity_of(c.at[0]);
    if (c.len > 1 || e->markup == MARKUP_NONE)
        return c;
    if (e->markup == MARKUP_ENTITIES)
        return entity.len ? entity : c;
    if (e->markup == MARKUP_TITLE)
        return (struct str){room, sign_part(MARKUP_TITLE, c.at[0], next, room, 0)};
    return markdown_of(e, c.at[0], next, room);
}

static void line_note(struct escaping *e, struct str c) {
    char first = c.at[0];
    bool blank = first == ' ' || first == '\t', digit = first >= '0' && first <= '9';
    if (first == '\n') {
        e->line_start = true;
        e->numbering = false;
    } else if (!blank) {
        e->numbering = digit && (e->line_start || e->numbering);
        e->line_start = false;
    }
}

static void escape(struct escaping *e, struct str text, bool one_line) {
    static const struct str MORE = STR("…");
    for (size_t i = 0; i < text.len;) {
        struct str c = {text.at + i, char_len((unsigned char)text.at[i])};
        if (c.len > text.len - i)
            return;
        i += c.len;
        char room[8], next = i < text.len ? text.at[i] : 0;
        if (one_line && (c.at[0] == '\n' || c.at[0] == '\t'))
            c = STR(" ");
        if (!char_is_shown(c))
            continue;
        struct str out = escaped(e, c, next, room);
        size_t spare = i < text.len ? MORE.len : 0;
        if (e->words->len + out.len + spare > e->end) {
            words_add(e->words, MORE);
            return;
        }
        words_add(e->words, out);
        line_note(e, c);
    }
}

static void escape_text(struct words *words, enum markup markup, struct str text, size_t most,
                        bool one_line) {
    static const struct str MORE = STR("…");
    struct escaping e = {words, markup, words->len + most, true, false};
    if (most < MORE.len)
        return;
    escape(&e, str_is_text(text) ? text : STR("(not text)"), one_line);
}

void words_escape(struct words *words, enum markup markup, struct str text, size_t most) {
    escape_text(words, markup, text, most, false);
}

void words_escape_line(struct words *words, enum markup markup, struct str text, size_t most) {
    escape_text(words, markup, text, most, true);
}

void words_url(struct words *words, struct str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c && strchr("-._~", c)))
            words_add(words, (struct str){&c, 1});
        else
            words_format(words, "%%%02X", (unsigned)(unsigned char)c);
    }
}

/* ---- JSON ---- */

static void quoted(struct words *words, struct str text) {
    words_add(words, STR("\""));
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '"' || c == '\\')
            words_format(words, "\\%c", c);
        else if ((unsigned char)c < 0x20 || c == 0x7F)
            words_format(words, "\\u%04x", (unsigned)(unsigned char)c);
        else
            words_add(words, (struct str){&c, 1});
    }
    words_add(words, STR("\""));
}

static void out_name(struct words *words, const char *name) {
    if (words->len > 0 && !strchr("{[:", words->at[words->len - 1]))
        words_add(words, STR(","));
    if (!name)
        return;
    quoted(words, str_of(name));
    words_add(words, STR(":"));
}

void out_text(struct words *words, const char *name, struct str text) {
    out_name(words, name);
    quoted(words, str_is_text(text) ? text : STR("(not text)"));
}

void out_number(struct words *words, const char *name, int64_t number) {
    out_name(words, name);
    words_format(words, "%lld", (long long)number);
}

void out_flag(struct words *words, const char *name, bool flag) {
    out_name(words, name);
    words_format(words, "%s", flag ? "true" : "false");
}

void out_time(struct words *words, const char *name, int64_t at) {
    char text[TIME_TEXT + 1];
    time_format(at, text);
    out_text(words, name, str_of(text));
}

void out_raw(struct words *words, const char *name, struct str json) {
    out_name(words, name);
    words_add(words, json);
}

void out_begin(struct words *words, const char *name, char bracket) {
    out_name(words, name);
    words_add(words, (struct str){&bracket, 1});
}

void out_end(struct words *words, char bracket) {
    words_add(words, (struct str){&bracket, 1});
}
