/* SPDX-License-Identifier: Apache-2.0 */
#include "model/secret/key_block.h"

#include <string.h>

enum {
    KEY_TOKEN = 16, /* a shorter base64 word may be a word of a sentence */
    KEY_LINE = 40,  /* a whole line of base64: part of a key whose first line was not seen */
};

static bool line_has(struct str line, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= line.len; i++)
        if (line.at[i] == text[0] && memcmp(line.at + i, text, length) == 0)
            return true;
    return false;
}

static bool line_begins_key(struct str line) {
    return (line_has(line, "---- BEGIN ") || line_has(line, "-----BEGIN "))
               ? line_has(line, "PRIVATE KEY")
               : line_has(line, "PuTTY-User-Key-File-");
}

static bool line_ends_key(struct str line) {
    return line_has(line, "---- END ") || line_has(line, "-----END ") ||
           line_has(line, "Private-MAC: ");
}

static bool is_base64(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '=';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* "Proc-Type: 4,ENCRYPTED", "Comment: ...": such lines come between the first line and the key. */
static bool line_is_header(struct str line) {
    size_t i = 0;
    while (i < line.len && (is_base64(line.at[i]) || line.at[i] == '-'))
        i++;
    return i > 0 && line.at[0] >= 'A' && line.at[0] <= 'Z' && i < line.len && line.at[i] == ':';
}

static struct str line_trim(struct str line) {
    while (line.len > 0 && is_blank(line.at[line.len - 1]))
        line.len--;
    while (line.len > 0 && is_blank(line.at[0]))
        line.at++, line.len--;
    return line;
}

/* A line of hexadecimal digits is a hash, not a secret. */
static bool line_is_key(struct str line) {
    bool upper = false, lower = false, digit = false;
    line = line_trim(line);
    for (size_t i = 0; i < line.len; i++) {
        if (!is_base64(line.at[i]))
            return false;
        upper |= line.at[i] >= 'A' && line.at[i] <= 'Z';
        lower |= line.at[i] >= 'a' && line.at[i] <= 'z';
        digit |= line.at[i] >= '0' && line.at[i] <= '9';
    }
    return line.len >= KEY_LINE && upper && lower && digit;
}

/* A line of base64, whatever precedes it: a line number, a '+' of a diff, a quotation mark. */
static bool line_is_body(struct str line) {
    line = line_trim(line);
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < line.len; i++) {
        run = is_base64(line.at[i]) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest >= KEY_TOKEN || longest == line.len;
}

bool key_block_line(bool *open, struct str line) {
    bool was_open = *open;
    if (line_begins_key(line)) {
        *open = !line_ends_key(line);
        return was_open;
    }
    *open = was_open && !line_ends_key(line) && (line_is_header(line) || line_is_body(line));
    return line_is_key(line) || (was_open && (*open || line_ends_key(line)));
}
