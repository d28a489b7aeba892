/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a text is one that every store engine accepts, and finds where it may be cut. */
#include "base/str.h"

#include <stdint.h>

struct str str_cut_utf8(struct str s, size_t cap) {
    if (s.len <= cap)
        return s;
    size_t end = cap;
    while (end > 0 && ((unsigned char)s.at[end] & 0xC0) == 0x80)
        end--;
    return (struct str){s.at, end};
}

void name_put(char *to, size_t size, struct str from) {
    struct str cut = str_cut_utf8(from, size - 1);
    memset(to, 0, size);
    if (cut.len > 0)
        memcpy(to, cut.at, cut.len);
}

bool str_has_word(struct str list, struct str word) {
    for (size_t i = 0; i + word.len <= list.len; i++) {
        bool begins = i == 0 || list.at[i - 1] == ' ';
        bool ends = i + word.len == list.len || list.at[i + word.len] == ' ';
        if (begins && ends && memcmp(list.at + i, word.at, word.len) == 0)
            return word.len > 0;
    }
    return false;
}

struct str str_line_take(struct str *rest) {
    size_t len = 0;
    while (len < rest->len && rest->at[len] != '\n')
        len++;
    struct str line = {rest->at, len};
    size_t used = len < rest->len ? len + 1 : len;
    *rest = (struct str){rest->at + used, rest->len - used};
    return line;
}

/* Table 3-7 of the Unicode standard. */
size_t str_character(struct str text) {
    const unsigned char *s = (const unsigned char *)text.at;
    unsigned char first = text.len > 0 ? s[0] : 0;
    if (first < 0x80)
        return first != 0;
    size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 || more >= text.len)
        return 0;
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i <= more; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return more + 1;
}

bool str_is_text(struct str s) {
    for (size_t i = 0; i < s.len;) {
        size_t n = str_character((struct str){s.at + i, s.len - i});
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

void bytes_mend(char *at, size_t len) {
    for (size_t i = 0; i < len;) {
        size_t length = str_character((struct str){at + i, len - i});
        if (length == 0)
            at[i] = '?';
        i += length ? length : 1;
    }
}
