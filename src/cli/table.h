/* SPDX-License-Identifier: Apache-2.0 */
/* How are rows put below each other, as wide as the terminal allows? */
#pragma once

#include "base/arena.h"
#include "cli/term.h"

enum { TABLE_COLUMNS = 8, TABLE_ROWS = 1024 };

struct column {
    const char *title; /* NULL in all of them: there is no line of titles */
    bool right;        /* numbers */
    bool bends;        /* it is cut where the terminal is too narrow */
    size_t
        least; /* columns that it has at least, so that it does not jump about while it is watched */
};

struct cell {
    struct str text;
    enum tint tint;
};

/* Begin with {.columns = …, .column_count = …}; the rest comes from the arena inside. */
struct table {
    const struct column *columns;
    size_t column_count;
    size_t indent;
    struct arena arena;
    struct cell (*rows)[TABLE_COLUMNS];
    size_t row_count, at; /* `at`: the next cell of the last row */
};

void table_row(struct table *table); /* begins one */
void table_cell(struct table *table, enum tint tint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void table_print(struct table *table); /* and frees it */
