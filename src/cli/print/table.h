/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables, as wide as the terminal allows. */
#pragma once

#include "base/arena.h"
#include "cli/term.h"

enum { TABLE_COLUMNS = 8, TABLE_ROWS = 1024 };

struct column {
    const char *title; /* NULL in all columns: no title row */
    bool right;        /* right-aligned, for numbers */
    bool bends;        /* cut if the terminal is too narrow */
    size_t least;      /* minimum width, so that the column does not jump while it is watched */
};

struct cell {
    struct str text;
    enum tint tint;
};

/* Initialise with {.columns = …, .column_count = …}; the arena inside provides the rest. */
struct table {
    const struct column *columns;
    size_t column_count;
    size_t indent;
    struct arena arena;
    struct cell (*rows)[TABLE_COLUMNS];
    size_t row_count, at; /* `at`: the next cell of the last row */
};

void table_row(struct table *table); /* begins a row */
void table_cell(struct table *table, enum tint tint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void table_print(struct table *table); /* prints the table and frees it */
