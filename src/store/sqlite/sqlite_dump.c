/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of an SQLite store, and loads rows into it. */
#include "base/memory.h"
#include "store/dump.h"
#include "store/sqlite/sqlite_state.h"

#include <stdio.h>
#include <stdlib.h>

/* Columns that only SQLite has: the position of a view's row, and whether retention is running. The transaction number
 * of the store is written, because PostgreSQL has its own. */
static bool is_own(enum store_table table, const char *column) {
    const struct stored_column *row = table_column(table, column);
    return row && row->flags & STORED_SQLITE && strcmp(column, "tx") != 0;
}

/* ---- reading ---- */

struct sqlite_walk {
    struct walk walk;
    struct sqlite_store *store;
};

struct sqlite_cursor {
    struct walk_cursor cursor;
    sqlite3_stmt *statement;
    const char *names[TABLE_COLUMNS];
};

static struct sqlite_store *store_of(struct walk *walk) {
    return ((struct sqlite_walk *)walk)->store;
}

static void walk_error(struct walk *walk) {
    if (!walk->failed[0])
        snprintf(walk->failed, sizeof walk->failed, "SQLite: %s",
                 sqlite3_errmsg(store_of(walk)->db));
}

static bool columns_list(struct walk *walk, enum store_table table, char *text, size_t size) {
    sqlite3_stmt *statement = NULL;
    char sql[96];
    size_t used = 0;
    snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') ORDER BY cid",
             table_name(table));
    int code = sqlite3_prepare_v2(store_of(walk)->db, sql, -1, &statement, NULL);
    while (!code && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!is_own(table, name))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        must(used < size);
    }
    if (sqlite3_finalize(statement) != SQLITE_OK || used == 0)
        walk_error(walk);
    return used > 0;
}

static void walk_rows_end(struct walk_cursor *base) {
    struct sqlite_cursor *cursor = (struct sqlite_cursor *)base;
    sqlite3_finalize(cursor->statement);
    free(cursor);
}

static struct walk_cursor *walk_rows_begin(struct walk *walk, enum store_table table,
                                           const char *order, const char *where) {
    char columns[512], sql[1024];
    struct sqlite_cursor *cursor = memory_new(sizeof *cursor);
    cursor->cursor.walk = walk;
    if (columns_list(walk, table, columns, sizeof columns)) {
        snprintf(sql, sizeof sql, "SELECT %s FROM %s%s ORDER BY %s", columns, table_name(table),
                 where, order);
        if (sqlite3_prepare_v2(store_of(walk)->db, sql, -1, &cursor->statement, NULL) != SQLITE_OK)
            walk_error(walk);
    }
    if (walk->failed[0]) {
        walk_rows_end(&cursor->cursor);
        return NULL;
    }
    int count = sqlite3_column_count(cursor->statement);
    must(count <= TABLE_COLUMNS);
    for (int i = 0; i < count; i++)
        cursor->names[i] = sqlite3_column_name(cursor->statement, i);
    cursor->cursor.row =
        (struct table_row){.table = table, .count = (uint32_t)count, .names = cursor->names};
    return &cursor->cursor;
}

static struct cell cell_of(sqlite3_stmt *statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: return (struct cell){.type = CELL_NULL};
    case SQLITE_INTEGER:
        return (struct cell){CELL_INT, sqlite3_column_int64(statement, column), {NULL, 0}};
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        return (struct cell){CELL_TEXT, 0, {text, (size_t)sqlite3_column_bytes(statement, column)}};
    }
    default: {
        const void *at = sqlite3_column_blob(statement, column);
        int len = sqlite3_column_bytes(statement, column);
        return (struct cell){CELL_BYTES, 0, {at ? at : "", (size_t)len}};
    }
    }
}

static const struct table_row *walk_rows_next(struct walk_cursor *base) {
    struct sqlite_cursor *cursor = (struct sqlite_cursor *)base;
    int code = sqlite3_step(cursor->statement);
    if (code != SQLITE_ROW) {
        if (code != SQLITE_DONE)
            walk_error(base->walk);
        return NULL;
    }
    for (uint32_t i = 0; i < base->row.count; i++)
        base->row.cells[i] = cell_of(cursor->statement, (int)i);
    return &base->row;
}

static void walk_end_all(struct walk *walk) {
    sqlite3_exec(store_of(walk)->db, "ROLLBACK", NULL, NULL, NULL);
    free(walk);
}

static const struct walk_engine WALKS = {
    .close = walk_end_all, .rows = walk_rows_begin, .next = walk_rows_next, .end = walk_rows_end};

/* The first read starts the snapshot. */
struct walk *sqlite_walk_open(struct store *base, char *error, size_t error_size) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    if (store->db && sqlite3_exec(store->db, "BEGIN; SELECT count(*) FROM store", NULL, NULL,
                                  NULL) == SQLITE_OK) {
        struct sqlite_walk *walk = memory_new(sizeof *walk);
        *walk = (struct sqlite_walk){.walk = {.engine = &WALKS}, .store = store};
        return &walk->walk;
    }
    snprintf(error, error_size, "The store cannot be read: %s",
             store->db ? sqlite3_errmsg(store->db) : "it is not open");
    return NULL;
}

/* ---- loading ---- */

enum { LOAD_ROWS = 8192, LOAD_BYTES = 8 << 20 }; /* per transaction */

struct sqlite_load {
    struct load load;
    struct sqlite_store *store;
    sqlite3_stmt *put[STORE_TABLES];
    struct load_columns columns[STORE_TABLES]; /* the columns that `put` was prepared for */
    uint32_t rows;
    size_t bytes;
};

static struct sqlite_load *ours(struct load *load) {
    return (struct sqlite_load *)load;
}

static bool load_error(struct load *load, const char *table) {
    return load_fail(load, "SQLite: %s%s%s", table ? table : "", table ? ": " : "",
                     sqlite3_errmsg(ours(load)->store->db));
}

static bool begin(struct load *load) {
    sqlite3 *db = ours(load)->store->db;
    return !sqlite3_get_autocommit(db) ||
           sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK ||
           load_error(load, NULL);
}

static bool execute(struct load *load, const char *sql) {
    return begin(load) &&
           (sqlite3_exec(ours(load)->store->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
            load_error(load, NULL));
}

static bool ask(struct load *load, const char *sql, char *ret, size_t size) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(ours(load)->store->db, sql, -1, &statement, NULL);
    ret[0] = 0;
    if (!code && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
        snprintf(ret, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    return sqlite3_finalize(statement) == SQLITE_OK && !code ? true : load_error(load, NULL);
}

static bool flush(struct load *load) {
    struct sqlite_load *it = ours(load);
    it->rows = 0;
    it->bytes = 0;
    return sqlite3_get_autocommit(it->store->db) ||
           sqlite3_exec(it->store->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ||
           load_error(load, NULL);
}

/* A view's `row` is assigned anew: see DRAWER_BITS. */
static void put_text(const struct table_row *row, char *text, size_t size) {
    bool view = row->table == TABLE_GOAL_VIEW;
    uint32_t last = row->count + 1;
    size_t used = (size_t)snprintf(text, size, "INSERT INTO %s (%s", table_name(row->table),
                                   view ? "row, " : "");
    for (uint32_t i = 0; i < row->count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", row->names[i]);
    used += (size_t)snprintf(text + used, size - used, ") VALUES (");
    if (view)
        used +=
            (size_t)snprintf(text + used, size - used,
                             "coalesce((SELECT max(row) + 1 FROM goal_view WHERE row BETWEEN ?%u"
                             " AND ?%u + %d), ?%u), ",
                             last, last, (1 << DRAWER_BITS) - 1, last);
    for (uint32_t i = 0; i < row->count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s?%u", i ? ", " : "", i + 1);
    used += (size_t)snprintf(text + used, size - used, ")");
    must(used < size);
}

static bool put_prepare(struct load *load, const struct table_row *row) {
    struct sqlite_load *it = ours(load);
    char text[1024];
    if (it->put[row->table] && columns_fit(&it->columns[row->table], row))
        return true;
    sqlite3_finalize(it->put[row->table]);
    it->put[row->table] = NULL;
    columns_keep(&it->columns[row->table], row);
    put_text(row, text, sizeof text);
    return sqlite3_prepare_v2(it->store->db, text, -1, &it->put[row->table], NULL) == SQLITE_OK ||
           load_error(load, table_name(row->table));
}

static int cell_bind(sqlite3_stmt *statement, int place, const struct cell *cell) {
    const char *at = cell->bytes.at ? cell->bytes.at : "";
    switch (cell->type) {
    case CELL_INT: return sqlite3_bind_int64(statement, place, cell->number);
    case CELL_TEXT:
        return sqlite3_bind_text(statement, place, at, (int)cell->bytes.len, SQLITE_STATIC);
    case CELL_BYTES:
        return sqlite3_bind_blob(statement, place, at, (int)cell->bytes.len, SQLITE_STATIC);
    default: return sqlite3_bind_null(statement, place);
    }
}

static bool put(struct load *load, const struct table_row *row) {
    struct sqlite_load *it = ours(load);
    if (!begin(load) || !put_prepare(load, row))
        return false;
    sqlite3_stmt *statement = it->put[row->table];
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < row->count && !code; i++) {
        code = cell_bind(statement, (int)i + 1, &row->cells[i]);
        it->bytes += row->cells[i].bytes.len;
    }
    if (!code && row->table == TABLE_GOAL_VIEW)
        code = sqlite3_bind_int64(statement, (int)row->count + 1,
                                  sqlite_drawer(cell_int(row, "created_at")));
    if (!code)
        sqlite3_step(statement);
    if (code || sqlite3_reset(statement) != SQLITE_OK)
        return load_error(load, table_name(row->table));
    return (++it->rows < LOAD_ROWS && it->bytes < LOAD_BYTES) || flush(load);
}

static bool put_store(struct load *load, const struct table_row *row) {
    sqlite3 *db = ours(load)->store->db;
    sqlite3_stmt *statement = NULL;
    static const char *const NAMES[] = {"level",   "era",      "instance",    "tx",
                                        "stopped", "numbered", "numbered_era"};
    int code = begin(load)
                   ? sqlite3_prepare_v2(db,
                                        "UPDATE store SET level = ?1, era = ?2, instance = ?3,"
                                        " tx = ?4, stopped = ?5, numbered = coalesce(?6, 0),"
                                        " numbered_era = coalesce(?7, 0)",
                                        -1, &statement, NULL)
                   : SQLITE_ERROR;
    for (int i = 0; i < (int)count_of(NAMES) && !code; i++) {
        struct cell cell = row_cell(row, NAMES[i]);
        code = cell_bind(statement, i + 1, &cell);
    }
    if (!code)
        sqlite3_step(statement);
    return (sqlite3_finalize(statement) == SQLITE_OK && !code) || load_error(load, "store");
}

static void sha256_of(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const char *at = sqlite3_value_blob(values[0]);
    struct hash hash = sha256((struct str){at ? at : "", (size_t)sqlite3_value_bytes(values[0])});
    sqlite3_result_blob(context, hash.bytes, sizeof hash.bytes, SQLITE_TRANSIENT);
}

/* The title index keeps deleted words until its segments are merged, and the write-ahead log keeps them until it is
 * written back. */
static bool wipe(struct load *load) {
    return execute(load, "INSERT INTO goal_fts (goal_fts) VALUES ('optimize')") && flush(load) &&
           (sqlite3_exec(ours(load)->store->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL,
                         NULL) == SQLITE_OK ||
            load_error(load, NULL));
}

static void load_close(struct load *load) {
    struct sqlite_load *it = ours(load);
    if (!sqlite3_get_autocommit(it->store->db))
        sqlite3_exec(it->store->db, "ROLLBACK", NULL, NULL, NULL);
    for (size_t i = 0; i < STORE_TABLES; i++)
        sqlite3_finalize(it->put[i]);
    free(it);
}

static const struct load_engine LOADS = {
    .row = put,
    .store = put_store,
    .execute = execute,
    .ask = ask,
    .flush = flush,
    .close = load_close,
    .unlock = "PRAGMA secure_delete = ON; UPDATE store SET retaining = 1",
    .lock = "UPDATE store SET retaining = 0",
    .wipe = wipe,
    .for_update = "",
    .goal_hex = "lower(hex(goal_id))",
    .goal_of_hex = "x'%s'",
    .hot_hex = "lower(hex(hot))",
    .hot_of_hex = "x'%s'"};

struct load *sqlite_load_open(struct store *base, char *error, size_t error_size) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    if (!store->db) {
        snprintf(error, error_size, "The store is not open.");
        return NULL;
    }
    struct sqlite_load *load = memory_new(sizeof *load);
    load->load.engine = &LOADS;
    load->store = store;
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    sqlite3_create_function(store->db, "sha256", 1, flags, NULL, sha256_of, NULL, NULL);
    return &load->load;
}
