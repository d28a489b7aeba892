/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { GAP = 2, NARROWEST = 8 };

void table_row(struct table *table) {
    if (!table->rows)
        table->rows = arena_take(&table->arena, TABLE_ROWS * sizeof *table->rows, 16);
    must(table->row_count < TABLE_ROWS);
    table->row_count++;
    table->at = 0;
}

void table_cell(struct table *table, enum tint tint, const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    must(table->row_count > 0 && table->at < table->column_count);
    struct cell *cell = &table->rows[table->row_count - 1][table->at++];
    *cell = (struct cell){arena_copy(&table->arena, str_of(text)), tint};
}

static bool has_titles(const struct table *table) {
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].title)
            return true;
    return false;
}

static void widths_find(const struct table *table, size_t widths[TABLE_COLUMNS]) {
    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        widths[i] = 0;
        for (size_t row = 0; row < table->row_count; row++) {
            size_t width = text_width(table->rows[row][i].text);
            widths[i] = width > widths[i] ? width : widths[i];
        }
        size_t named = title && widths[i] > 0 ? text_width(str_of(title)) : 0;
        widths[i] = named > widths[i] ? named : widths[i];
        if (widths[i] > 0 && widths[i] < table->columns[i].least)
            widths[i] = table->columns[i].least;
    }
}

/* Narrows the widest column that bends, step by step, until the table fits. */
static void widths_bend(const struct table *table, size_t widths[TABLE_COLUMNS]) {
    size_t all = table->indent, most = term_width();
    for (size_t i = 0; i < table->column_count; i++)
        all += widths[i] + (widths[i] ? GAP : 0);
    all -= all > GAP ? GAP : 0;
    while (most > 0 && all > most) {
        size_t widest = TABLE_COLUMNS;
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].bends && widths[i] > NARROWEST &&
                (widest == TABLE_COLUMNS || widths[i] > widths[widest]))
                widest = i;
        if (widest == TABLE_COLUMNS)
            return;
        widths[widest]--;
        all--;
    }
}

static void cell_print(const struct table *table, size_t i, struct cell cell,
                       const size_t widths[TABLE_COLUMNS]) {
    size_t own = text_width(cell.text);
    bool last = true;
    for (size_t next = i + 1; next < table->column_count; next++)
        last = last && widths[next] == 0;
    if (table->columns[i].right && own < widths[i])
        printf("%*s", (int)(widths[i] - own), "");
    bool cut = own > widths[i], pads = !last && !table->columns[i].right;
    tint_on(stdout, cell.tint);
    text_print(stdout, cell.text, cut ? widths[i] : 0, pads ? widths[i] : 0);
    tint_off(stdout, cell.tint);
    printf("%*s", last ? 0 : GAP, "");
}

static void row_print(const struct table *table, const struct cell *cells,
                      const size_t widths[TABLE_COLUMNS]) {
    size_t last = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (cells[i].text.len > 0)
            last = i;
    printf("%*s", (int)table->indent, "");
    for (size_t i = 0; i <= last; i++) {
        size_t kept[TABLE_COLUMNS];
        for (size_t at = 0; at < table->column_count; at++)
            kept[at] = at <= last ? widths[at] : 0; /* no blanks at the end of a line */
        if (widths[i] > 0)
            cell_print(table, i, cells[i], kept);
    }
    printf("\n");
}

void table_print(struct table *table) {
    size_t widths[TABLE_COLUMNS];
    struct cell titles[TABLE_COLUMNS] = {0};
    if (table->row_count > 0) {
        widths_find(table, widths);
        widths_bend(table, widths);
        for (size_t i = 0; i < table->column_count; i++)
            titles[i] = (struct cell){str_of(table->columns[i].title), TINT_DIM};
        if (has_titles(table))
            row_print(table, titles, widths);
        for (size_t row = 0; row < table->row_count; row++)
            row_print(table, table->rows[row], widths);
    }
    arena_free(&table->arena);
    *table = (struct table){0};
}
