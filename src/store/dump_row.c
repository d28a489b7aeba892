/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and cells of a store, as both engines name them. */
#include "store/dump.h"

#include <stdarg.h>
#include <stdio.h>

struct cell row_cell(const struct table_row *row, const char *name) {
    for (uint32_t i = 0; i < row->count; i++)
        if (strcmp(row->names[i], name) == 0)
            return row->cells[i];
    return (struct cell){.type = CELL_NULL};
}

int64_t cell_int(const struct table_row *row, const char *name) {
    return row_cell(row, name).number;
}

struct str cell_str(const struct table_row *row, const char *name) {
    return row_cell(row, name).bytes;
}

struct id cell_id(const struct table_row *row, const char *name) {
    struct str bytes = cell_str(row, name);
    struct id id = {0};
    if (bytes.len == sizeof id.bytes)
        memcpy(id.bytes, bytes.at, sizeof id.bytes);
    return id;
}

bool load_fail(struct load *load, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!load->failed[0])
        vsnprintf(load->failed, sizeof load->failed, format, args);
    va_end(args);
    return false;
}

bool columns_fit(const struct load_columns *columns, const struct table_row *row) {
    if (columns->count != row->count)
        return false;
    for (uint32_t i = 0; i < row->count; i++)
        if (strcmp(columns->names[i], row->names[i]) != 0)
            return false;
    return true;
}

void columns_keep(struct load_columns *columns, const struct table_row *row) {
    columns->count = row->count;
    for (uint32_t i = 0; i < row->count; i++)
        snprintf(columns->names[i], sizeof columns->names[i], "%s", row->names[i]);
}
