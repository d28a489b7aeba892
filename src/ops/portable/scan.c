/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/portable/scan.h"

#include "base/memory.h"
#include "base/must.h"
#include "ops/json.h"

#include <stdlib.h>

void scan_begin(struct scan *scan, FILE *file) {
    struct buffer item = scan->item;
    rewind(file);
    *scan = (struct scan){.file = file, .line = 1, .column = 1, .item = item};
}

void scan_free(struct scan *scan) {
    buffer_free(&scan->item);
}

bool scan_refuse(struct scan *scan, const char *what) {
    if (!scan->why[0])
        snprintf(scan->why, sizeof scan->why, "line %lu, column %lu: %s", scan->line, scan->column,
                 what);
    return false;
}

/* ---- characters ---- */

static int next(struct scan *scan) {
    int c = getc_unlocked(scan->file);
    if (c == '\n') {
        scan->line++;
        scan->column = 1;
    } else if (c != EOF)
        scan->column++;
    return c;
}

static void back(struct scan *scan, int c) {
    if (c == EOF)
        return;
    ungetc(c, scan->file);
    scan->column--; /* never a newline: newlines are skipped as spaces */
}

/* The next character that is not a space, or EOF. */
static int scan_peek(struct scan *scan) {
    int c;
    do
        c = next(scan);
    while (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    back(scan, c);
    return c;
}

bool scan_take(struct scan *scan, char c) {
    if (scan_peek(scan) != c)
        return false;
    next(scan);
    return true;
}

bool scan_expect(struct scan *scan, char c) {
    char what[32];
    if (scan_peek(scan) == EOF)
        return scan_refuse(scan, "the document is truncated");
    snprintf(what, sizeof what, "'%c' is expected here", c);
    return scan_take(scan, c) || scan_refuse(scan, what);
}

/* ---- values ---- */

static bool item_add(struct scan *scan, int c) {
    if (scan->item.len == SCAN_ITEM)
        return scan_refuse(scan, "this item is too large");
    char byte = (char)c;
    if (!buffer_add(&scan->item, &byte, 1))
        memory_exhausted();
    return true;
}

/* From after the opening quote to after the closing one. */
static bool string_scan(struct scan *scan) {
    for (;;) {
        int c = next(scan);
        if (c == EOF)
            return scan_refuse(scan, "the document ends inside a text");
        if (!item_add(scan, c))
            return false;
        if (c == '"')
            return true;
        if (c == '\\') {
            c = next(scan);
            if (c == EOF || !item_add(scan, c))
                return scan_refuse(scan, "the document ends inside a text");
        }
    }
}

static bool ends_scalar(int c) {
    return c == EOF || c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\t' ||
           c == '\r';
}

static bool scalar_scan(struct scan *scan) {
    for (int c;;) {
        c = getc_unlocked(scan->file);
        if (ends_scalar(c)) {
            if (c != EOF)
                ungetc(c, scan->file);
            return scan->item.len > 0 || scan_refuse(scan, "a value is expected here");
        }
        scan->column++;
        if (!item_add(scan, c))
            return false;
    }
}

static bool nested_scan(struct scan *scan) {
    int depth = 0;
    do {
        int c = next(scan);
        if (c == EOF)
            return scan_refuse(scan, "the document ends inside an item");
        if (!item_add(scan, c) || (c == '"' && !string_scan(scan)))
            return false;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth > SCAN_DEPTH)
            return scan_refuse(scan, "this is nested too deeply");
    } while (depth > 0);
    return true;
}

bool scan_value(struct scan *scan) {
    int c = scan_peek(scan);
    scan->item.len = 0;
    scan->item_line = scan->line;
    scan->item_column = scan->column;
    if (c == '{' || c == '[')
        return nested_scan(scan);
    if (c != '"')
        return scalar_scan(scan);
    return item_add(scan, next(scan)) && string_scan(scan);
}

json_t *scan_parse(struct scan *scan) {
    json_error_t error;
    json_t *json = json_loadb(scan->item.at, scan->item.len,
                              JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (json || scan->why[0])
        return json;
    bool below = error.line > 1;
    unsigned long line = scan->item_line + (unsigned long)(below ? error.line - 1 : 0);
    unsigned long column =
        (unsigned long)(error.column > 0 ? error.column : 1) + (below ? 0 : scan->item_column - 1);
    snprintf(scan->why, sizeof scan->why, "line %lu, column %lu: %s", line, column, error.text);
    return NULL;
}

bool scan_name(struct scan *scan, char ret_name[SCAN_KEY]) {
    if (scan_peek(scan) != '"')
        return scan_refuse(scan, "the name of a member is expected here");
    if (!scan_value(scan))
        return false;
    json_t *name = scan_parse(scan);
    size_t len = json_string_length(name);
    bool good = name && len < SCAN_KEY && !memchr(json_string_value(name), 0, len);
    if (good)
        memcpy(ret_name, json_string_value(name), len + 1);
    json_decref(name);
    return (good || scan_refuse(scan, "this name is too long or not valid")) &&
           scan_expect(scan, ':');
}

bool scan_end(struct scan *scan) {
    return scan_peek(scan) == EOF ||
           scan_refuse(scan, "there is text after the end of the document");
}
