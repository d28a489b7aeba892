/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, rows and cells of a store as both engines name them. */
#include "store/dump.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- tables ---- */

struct table_line {
    const char *name, *key, *by_goal;
};

static const struct table_line TABLES[TABLE_PART] = {
    [TABLE_STORE] = {"store", "one", NULL},
    [TABLE_HOST] = {"host", "host_id", NULL},
    [TABLE_GOAL] = {"goal", "goal_id", "goal_id"},
    [TABLE_GOAL_VIEW] = {"goal_view", "goal_id", "goal_id"},
    [TABLE_GOAL_TAG] = {"goal_tag", "goal_id, tag", "goal_id, tag"},
    [TABLE_TEXT] = {"text", "goal_id, hash", "goal_id, hash"},
    [TABLE_EFFECT] = {"effect", "goal_id, n", "goal_id, n"},
    [TABLE_INBOX] = {"inbox", "source", "goal_id, source"},
    [TABLE_RECORD] = {"record", "day, tx, n", "goal_id, seq"},
    [TABLE_MILESTONE] = {"milestone", "goal_id, from_seq", "goal_id, from_seq"},
    [TABLE_SEEN] = {"seen", "goal_id, source", "goal_id, source"},
    [TABLE_ASIDE] = {"aside", "goal_id, source", "goal_id, source"},
    [TABLE_TALLY] = {"tally", "host_id, face", NULL},
};

const char *table_name(enum store_table table) {
    must(table < STORE_TABLES);
    return table < TABLE_PART ? TABLES[table].name : PART[table - TABLE_PART].table;
}

const char *table_order(enum store_table table, enum walk_order order) {
    bool part = table >= TABLE_PART;
    switch (order) {
    case WALK_BY_KEY: return part ? "goal_id, n" : TABLES[table].key;
    case WALK_BY_GOAL: return part ? "goal_id, n" : TABLES[table].by_goal;
    default: return part ? "name, goal_id, n" : NULL;
    }
}

/* ---- rows ---- */

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
