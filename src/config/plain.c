/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a text has characters beyond ASCII only in strings and comments. TOML requires that, and the parser
 * behind toml.cc relies on it. After an unterminated string nothing more is checked: the parser refuses that itself. */
#include "config/plain.h"

struct plain {
    struct str text;
    size_t at;
    uint32_t line, column;
};

static char peek(const struct plain *p, size_t ahead) {
    return p->at + ahead < p->text.len ? p->text.at[p->at + ahead] : 0;
}

static void step(struct plain *p) {
    if (peek(p, 0) == '\n') {
        p->line++;
        p->column = 0;
    }
    p->column += ((unsigned char)peek(p, 0) & 0xC0) != 0x80; /* characters, not bytes */
    p->at++;
}

static bool three(const struct plain *p, char mark) {
    return peek(p, 0) == mark && peek(p, 1) == mark && peek(p, 2) == mark;
}

/* Advances past the string that begins here. */
static void string_pass(struct plain *p) {
    char mark = peek(p, 0);
    bool lines = three(p, mark);
    for (int i = 0; i < (lines ? 3 : 1); i++)
        step(p);
    while (p->at < p->text.len) {
        if (mark == '"' && peek(p, 0) == '\\')
            step(p);
        else if (lines ? three(p, mark) : peek(p, 0) == mark)
            break;
        else if (!lines && peek(p, 0) == '\n')
            p->at = p->text.len; /* unterminated */
        step(p);
    }
    for (int i = 0; i < (lines ? 5 : 1) && peek(p, 0) == mark; i++)
        step(p);
}

static void comment_pass(struct plain *p) {
    while (p->at < p->text.len && peek(p, 0) != '\n')
        step(p);
}

const char *plain_broken(struct str text, uint32_t *ret_line, uint32_t *ret_column) {
    static const struct str MARK = STR("\xEF\xBB\xBF");
    struct plain p = {.text = text, .line = 1, .column = 1};
    if (text.len >= MARK.len && memcmp(text.at, MARK.at, MARK.len) == 0)
        p.at = MARK.len;
    while (p.at < text.len) {
        unsigned char c = (unsigned char)peek(&p, 0);
        *ret_line = p.line;
        *ret_column = p.column;
        if (c >= 0x80)
            return "this character is allowed only in quotes or in a comment";
        if (c == 0)
            return "this is not text";
        if (c == '"' || c == '\'')
            string_pass(&p);
        else if (c == '#')
            comment_pass(&p);
        else
            step(&p);
    }
    *ret_line = *ret_column = 1;
    return str_is_text(text) ? NULL : "this is not UTF-8";
}
