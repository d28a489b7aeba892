/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a matched value is really a secret. The text after "password=" may also be a reference, a placeholder,
 * a word or a piece of code, and digits with dashes may be anything. A check examines a bounded part of the value. */
#include "model/secret/secret_shapes.h"

static bool byte_is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool byte_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char byte_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool byte_is_in(char c, const char *set) {
    return c != 0 && strchr(set, c) != NULL;
}

static bool value_begins(struct str value, const char *with) {
    size_t len = strlen(with);
    if (value.len < len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (byte_lower(value.at[i]) != with[i])
            return false;
    return true;
}

static bool value_is(struct str value, const char *word) {
    return value.len == strlen(word) && value_begins(value, word);
}

static size_t value_count(struct str value, bool (*is)(char)) {
    size_t count = 0;
    for (size_t i = 0; i < value.len; i++)
        count += is(value.at[i]);
    return count;
}

static bool value_is_all(struct str value, const char *set) {
    for (size_t i = 0; i < value.len; i++)
        if (!byte_is_in(value.at[i], set))
            return false;
    return true;
}

/* ---- literals ---- */

static bool value_is_one_sign(struct str value) {
    for (size_t i = 1; i < value.len; i++)
        if (value.at[i] != value.at[0])
            return false;
    return true;
}

/* $VAR, ${VAR}, $(cat x), <token>, {{token}}, %s, %VAR%, @file, [token], ****, xxxx, ... */
static bool value_is_reference(struct str value) {
    if (byte_is_in(value.at[0], "$<{@[("))
        return true;
    if (value.at[0] == '%' && (value.len <= 3 || value.at[value.len - 1] == '%'))
        return true;
    return value_is_one_sign(value) || value_begins(value, "...") || value_begins(value, "****") ||
           value_begins(value, "\xE2\x80\xA6") || value_begins(value, "xxxx");
}

/* ---- values ---- */

static const char *const PLAIN_WORDS[] = {
    "null",     "none",     "nil",        "true",        "false",    "undefined", "unset",
    "missing",  "required", "optional",   "empty",       "invalid",  "expired",   "string",
    "str",      "bytes",    "number",     "integer",     "boolean",  "object",    "text",
    "password", "passwd",   "passphrase", "secret",      "token",    "key",       "value",
    "example",  "hidden",   "redacted",   "placeholder", "changeme", "default",   "input",
    "prompt",   "stdin",    "env",        "not",         "and",      "the",       "for",
    "from",     "with",     "option",     "flag",        "argument", "parameter", "must",
    "should",   "when",     "file",       "that",        "this",     "instead",   "which",
    "will",     "into",     "over",       "only",        "need",     "needs",     "field",
    "before",   "after",    "without",    "unknown",     "rejected", "accepted",  "revoked",
    "options",  "flags",    "arguments",  "parameters",  "and",      "both",      "either",
    "is",       "was",      "are",        "has",         "can",      "to",        "in",
    "or",       "on",       "as",         "at",          "it",       "if",        "of",
};

static const char *const PLAIN_BEGINS[] = {
    "process.",  "os.",     "self.",   "this.",   "config.",  "cfg.",   "settings.", "env.",
    "ctx.",      "req.",    "request", "args.",   "opts.",    "opt.",   "options.",  "params.",
    "props.",    "state.",  "data.",   "secrets", "vars.",    "var.",   "local.",    "std::",
    "getenv",    "import.", "module.", "app.",    "context.", "input.", "event.",    "user.",
    "enter ",    "please ", "choose ", "confirm", "forgot ",  "new ",   "current ",  "the ",
    "must ",     "wrong ",  "invalid", "incorre", "a ",       "is ",    "not ",      "no ",
    "your",      "example", "replace", "insert",  "http://",  "https:", "file:",     "vault:",
    "aws4-hmac",
};

/* A name in capitals stands for its value: key: OPENAI_API_KEY (STORE-15). */
static bool value_is_name(struct str value) {
    bool divided = false;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        divided = divided || c == '_';
        if (c != '_' && !(c >= 'A' && c <= 'Z') && !byte_is_digit(c))
            return false;
    }
    return divided && value_count(value, byte_is_digit) <= 2;
}

static bool value_is_path(struct str value) {
    return byte_is_in(value.at[0], "/.~") &&
           value_is_all(value, "abcdefghijklmnopqrstuvwxyz0123456789_./~-");
}

/* 0x and at most 64 bits. */
static bool value_is_number(struct str value) {
    size_t digits = value_count(value, byte_is_digit);
    return (digits == value.len && digits < 6) || (value_begins(value, "0x") && value.len <= 18);
}

static bool value_is_plain(struct str value) {
    for (size_t i = 0; i < count_of(PLAIN_WORDS); i++)
        if (value_is(value, PLAIN_WORDS[i]))
            return true;
    for (size_t i = 0; i < count_of(PLAIN_BEGINS); i++)
        if (value_begins(value, PLAIN_BEGINS[i]))
            return true;
    return value_is_number(value) || value_is_name(value) || value_is_path(value);
}

static const char *const VARIABLE_ENDS[] = {
    ".password", "_password", ".token", "_token", ".secret",
    "_secret",   ".key",      "_key",   "_env",   "_t",
};

/* password=db2.password: the name of a variable that holds one. */
static bool value_is_variable(struct str value) {
    for (size_t i = 0; i < count_of(VARIABLE_ENDS); i++) {
        size_t len = strlen(VARIABLE_ENDS[i]);
        if (value.len > len &&
            value_is((struct str){value.at + value.len - len, len}, VARIABLE_ENDS[i]))
            return true;
    }
    return false;
}

static bool value_is_mixed(struct str value, bool by_signs) {
    bool letter = false, other = false;
    for (size_t i = 0; i < value.len && !(letter && other); i++) {
        letter = letter || byte_is_letter(value.at[i]);
        other = other || byte_is_digit(value.at[i]) ||
                (by_signs && byte_is_in(value.at[i], "!@#$%^&*+="));
    }
    return letter && other && !value_is_variable(value);
}

static struct str value_of(struct str text, struct span secret) {
    struct str value = {text.at + secret.from, secret.to - secret.from};
    return str_cut(value, LIMIT_SECRET_LOOK);
}

static bool is_called(struct str text, size_t end) {
    return end < text.len && text.at[end] == '(';
}

/* The full stop of a sentence and the comma of a list are not part of the value before them. */
static void secret_trim(struct str text, struct span *secret, const char *signs) {
    while (secret->to > secret->from && byte_is_in(text.at[secret->to - 1], signs))
        secret->to--;
}

static bool value_passes(enum secret_check check, struct str text, struct span *secret) {
    bool call = is_called(text, secret->to);
    secret_trim(text, secret, check == CHECK_LITERAL ? "" : ".,;:");
    struct str value = value_of(text, *secret);
    if (value.len == 0 || value_is_reference(value))
        return false;
    if (check == CHECK_LITERAL)
        return true;
    if (check != CHECK_VALUE && !value_is_mixed(value, check == CHECK_MIXED))
        return false;
    return !call && !value_is_plain(value);
}

/* ---- telephone numbers ---- */

static bool byte_is_hex(char c) {
    return byte_is_digit(c) || (byte_lower(c) >= 'a' && byte_lower(c) <= 'f');
}

/* Two hexadecimal digits on their own that are not a word: at least one is a decimal digit. */
static bool has_pair(struct str text, size_t at) {
    if (at + 2 > text.len || !byte_is_hex(text.at[at]) || !byte_is_hex(text.at[at + 1]))
        return false;
    return (byte_is_digit(text.at[at]) || byte_is_digit(text.at[at + 1])) &&
           (at + 2 == text.len || !byte_is_letter(text.at[at + 2]));
}

/* 06 12 34 56 78 is a number; with more pairs before or after it, it is a row of bytes. */
static bool is_row_of_bytes(struct str text, struct span secret) {
    if (text.at[secret.from + 2] != ' ')
        return false;
    bool before =
        secret.from >= 3 && text.at[secret.from - 1] == ' ' && has_pair(text, secret.from - 3);
    bool after = secret.to < text.len && text.at[secret.to] == ' ' && has_pair(text, secret.to + 1);
    return before || after;
}

static bool is_part_of_more(struct str text, struct span secret) {
    char before = secret.from > 0 ? text.at[secret.from - 1] : '\n';
    if (byte_is_in(before, "-./+") || byte_is_digit(before))
        return true;
    if (secret.to + 1 >= text.len)
        return false;
    return byte_is_in(text.at[secret.to], "-./") && byte_is_digit(text.at[secret.to + 1]);
}

/* +1 and +7 are followed by ten digits: so a timestamp on an added line of a diff does not match. */
static bool country_fits(struct str value, size_t digits) {
    return value.at[0] != '+' || !byte_is_in(value.at[1], "17") || digits == 11;
}

static bool phone_passes(enum secret_check check, struct str text, struct span *secret) {
    secret_trim(text, secret, " -./()");
    struct str value = value_of(text, *secret);
    size_t digits = value_count(value, byte_is_digit);
    size_t least = check == CHECK_CALLED ? 7 : 10;
    if (value.len < least || digits < least || digits > 15)
        return false;
    if (check == CHECK_CALLED)
        return true;
    return country_fits(value, digits) && !is_part_of_more(text, *secret) &&
           !is_row_of_bytes(text, *secret);
}

bool secret_check_passes(enum secret_check check, struct str text, struct span *secret) {
    if (check == CHECK_NONE)
        return true;
    if (check == CHECK_PHONE || check == CHECK_CALLED)
        return phone_passes(check, text, secret);
    return value_passes(check, text, secret);
}
