/* SPDX-License-Identifier: Apache-2.0 */
/* A string as pointer and length: never assumed to end in NUL, never owned. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *at;
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_ARG(s) (int)(s).len, (s).at /* for %.*s */

static inline struct str str_of(const char *text) {
    return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_equal(struct str a, struct str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline bool str_begins(struct str s, struct str with) {
    return s.len >= with.len && (with.len == 0 || memcmp(s.at, with.at, with.len) == 0);
}

/* Byte by byte; a text is before every longer one that begins with it. */
static inline int str_compare(struct str a, struct str b) {
    size_t both = a.len < b.len ? a.len : b.len;
    int order = both > 0 ? memcmp(a.at, b.at, both) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool str_is_among(struct str s, const struct str *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(list[i], s))
            return true;
    return false;
}

static inline struct str str_cut(struct str s, size_t cap) {
    return (struct str){s.at, s.len < cap ? s.len : cap};
}

/* The longest prefix of at most cap bytes that does not end inside a UTF-8 character. */
struct str str_cut_utf8(struct str s, size_t cap);

/* Copies a text into an array: whole characters, as many as fit; the rest of the array becomes NUL. */
void name_put(char *to, size_t size, struct str from);

bool str_has_word(struct str list, struct str word); /* separated by spaces */

/* Removes the next line from *rest and returns it without its line end. */
struct str str_line_take(struct str *rest);

/* Length in bytes of the well-formed character at the start, except NUL; 0: there is none. */
size_t str_character(struct str s);

/* Well-formed UTF-8 without NUL: what both store engines accept as text. */
bool str_is_text(struct str s);

/* Turns any bytes into text, in place: bytes that begin no character become "?". */
void bytes_mend(char *at, size_t len);
