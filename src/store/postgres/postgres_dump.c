/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of a PostgreSQL store, and loads rows into it. */
#include "base/buffer.h"
#include "base/memory.h"
#include "store/dump.h"
#include "store/postgres/postgres_state.h"

#include <stdio.h>
#include <stdlib.h>

/* A walk or a load may take any time, so it runs without timeouts. The connection is closed afterwards: the next
 * request opens one with the normal settings. */
static const char PATIENT[] = "SET statement_timeout = 0; SET lock_timeout = 0;"
                              "SET idle_in_transaction_session_timeout = 0;"
                              "SET plan_cache_mode = auto";

static bool connection_take(struct pg_store *store, char *error, size_t error_size) {
    store->at_work = true;
    store->answer_ms = LIMIT_STORE_MIGRATE_MS;
    if (store->connection && PQexitPipelineMode(store->connection) && pg_execute(store, PATIENT))
        return true;
    snprintf(error, error_size, "The store does not answer: %s",
             store->connection ? PQerrorMessage(store->connection) : store->why);
    return false;
}

/* The table's columns, except generated ones. */
static const char COLUMNS[] =
    "SELECT attname, atttypid::int8::text FROM pg_attribute WHERE attrelid = '%s'::regclass"
    " AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum";

static PGresult *columns_ask(PGconn *connection, enum store_table table) {
    char sql[256];
    snprintf(sql, sizeof sql, COLUMNS, table_name(table));
    return PQexec(connection, sql);
}

enum oid {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_UUID = 2950
};

/* ---- reading ---- */

enum { FETCHED = 200 };

struct pg_walk {
    struct walk walk;
    struct pg_store *store;
    unsigned cursors;
};

struct pg_cursor {
    struct walk_cursor cursor;
    unsigned number;
    PGresult *rows;
    int next;
    const char *names[TABLE_COLUMNS];
};

static PGconn *connection_of(struct walk *walk) {
    return ((struct pg_walk *)walk)->store->connection;
}

static void walk_error(struct walk *walk) {
    if (walk->failed[0])
        return;
    snprintf(walk->failed, sizeof walk->failed, "PostgreSQL: %s",
             PQerrorMessage(connection_of(walk)));
    walk->failed[strcspn(walk->failed, "\n")] = 0;
}

static bool walk_execute(struct walk *walk, const char *sql) {
    if (pg_execute(((struct pg_walk *)walk)->store, sql))
        return true;
    walk_error(walk);
    return false;
}

/* PostgreSQL numbers transactions itself, so the upper bound of the snapshot stands for tx. */
static bool columns_list(struct walk *walk, enum store_table table, char *text, size_t size) {
    PGresult *result = columns_ask(connection_of(walk), table);
    size_t used = 0;
    for (int i = 0; i < PQntuples(result); i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 PQgetvalue(result, i, 0));
    must(used < size);
    if (table == TABLE_STORE && used > 0)
        snprintf(text + used, size - used,
                 ", pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS tx");
    PQclear(result);
    if (used == 0)
        walk_error(walk);
    return used > 0;
}

static bool page_fetch(struct pg_cursor *cursor) {
    char sql[64];
    snprintf(sql, sizeof sql, "FETCH %d FROM walk_%u", FETCHED, cursor->number);
    PQclear(cursor->rows);
    cursor->next = 0;
    cursor->rows =
        PQexecParams(connection_of(cursor->cursor.walk), sql, 0, NULL, NULL, NULL, NULL, 1);
    if (PQresultStatus(cursor->rows) == PGRES_TUPLES_OK)
        return true;
    walk_error(cursor->cursor.walk);
    return false;
}

static void walk_rows_end(struct walk_cursor *base) {
    struct pg_cursor *cursor = (struct pg_cursor *)base;
    char sql[64];
    snprintf(sql, sizeof sql, "CLOSE walk_%u", cursor->number);
    if (!base->walk->failed[0])
        walk_execute(base->walk, sql);
    for (uint32_t i = 0; i < base->row.count; i++)
        free((char *)(uintptr_t)cursor->names[i]);
    PQclear(cursor->rows);
    free(cursor);
}

static struct walk_cursor *walk_rows_begin(struct walk *walk, enum store_table table,
                                           const char *order, const char *where) {
    char columns[512], sql[1024];
    struct pg_cursor *cursor = memory_new(sizeof *cursor);
    cursor->cursor.walk = walk;
    cursor->number = ++((struct pg_walk *)walk)->cursors;
    if (columns_list(walk, table, columns, sizeof columns)) {
        snprintf(sql, sizeof sql,
                 "DECLARE walk_%u NO SCROLL CURSOR FOR SELECT %s FROM %s%s ORDER BY %s",
                 cursor->number, columns, table_name(table), where, order);
        if (walk_execute(walk, sql))
            page_fetch(cursor);
    }
    if (walk->failed[0]) {
        walk_rows_end(&cursor->cursor);
        return NULL;
    }
    int count = PQnfields(cursor->rows);
    must(count <= TABLE_COLUMNS);
    for (int i = 0; i < count; i++) { /* the names must outlive the page they come from */
        const char *name = PQfname(cursor->rows, i);
        cursor->names[i] = memory_text(name, strlen(name));
    }
    cursor->cursor.row =
        (struct table_row){.table = table, .count = (uint32_t)count, .names = cursor->names};
    return &cursor->cursor;
}

static struct cell cell_of(const PGresult *rows, int row, int column) {
    struct str bytes = {PQgetvalue(rows, row, column), (size_t)PQgetlength(rows, row, column)};
    if (PQgetisnull(rows, row, column))
        return (struct cell){.type = CELL_NULL};
    switch (PQftype(rows, column)) {
    case OID_TEXT: return (struct cell){CELL_TEXT, 0, bytes};
    case OID_UUID:
    case OID_BYTEA: return (struct cell){CELL_BYTES, 0, bytes};
    default: return (struct cell){CELL_INT, pg_int(rows, row, column), {NULL, 0}};
    }
}

static const struct table_row *walk_rows_next(struct walk_cursor *base) {
    struct pg_cursor *cursor = (struct pg_cursor *)base;
    if (cursor->next == PQntuples(cursor->rows) &&
        (cursor->next < FETCHED || !page_fetch(cursor) || PQntuples(cursor->rows) == 0))
        return NULL;
    for (uint32_t i = 0; i < base->row.count; i++)
        base->row.cells[i] = cell_of(cursor->rows, cursor->next, (int)i);
    cursor->next++;
    return &base->row;
}

static void walk_end_all(struct walk *walk) {
    pg_execute(((struct pg_walk *)walk)->store, "ROLLBACK");
    free(walk);
}

static const struct walk_engine WALKS = {
    .close = walk_end_all, .rows = walk_rows_begin, .next = walk_rows_next, .end = walk_rows_end};

struct walk *postgres_walk_open(struct store *base, char *error, size_t error_size) {
    struct pg_store *store = (struct pg_store *)base;
    struct pg_walk *walk = memory_new(sizeof *walk);
    if (connection_take(store, error, error_size)) {
        *walk = (struct pg_walk){.walk = {.engine = &WALKS}, .store = store};
        /* The first read starts the snapshot. */
        if (walk_execute(&walk->walk, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") &&
            walk_execute(&walk->walk, "SELECT version FROM store"))
            return &walk->walk;
        snprintf(error, error_size, "%s", walk->walk.failed);
    }
    free(walk);
    return NULL;
}

/* ---- loading ---- */

enum {
    LOAD_BYTES = 8 << 20, /* per transaction */
    LOAD_DAYS =
        400, /* days that get their own partition; records of other days go to the default one */
    DAY_FIRST = 0,
    DAY_LAST = 60000,
};

/* Buffered rows of one table, in COPY's binary format, until the buffers of all tables together are full. */
struct pg_heap {
    struct buffer rows;
    struct load_columns columns; /* the columns that `types` describes */
    uint32_t types[TABLE_COLUMNS];
    char copy[1024]; /* the COPY statement that receives the rows */
};

struct pg_load {
    struct load load;
    struct pg_store *store;
    struct pg_heap heaps[STORE_TABLES];
    size_t bytes;
    int64_t shift; /* subtracted from record.tx */
    bool known;    /* the shift is known */
    int32_t days[LOAD_DAYS];
    uint32_t day_count, days_made;
};

static struct pg_load *ours(struct load *load) {
    return (struct pg_load *)load;
}

static bool load_error(struct load *load, const char *table) {
    load_fail(load, "PostgreSQL: %s%s%s", table ? table : "", table ? ": " : "",
              PQerrorMessage(ours(load)->store->connection));
    for (char *at = load->failed; *at; at++)
        if (*at == '\n')
            *at = at[1] ? ' ' : 0;
    return false;
}

static bool begin(struct load *load) {
    struct pg_store *store = ours(load)->store;
    return PQtransactionStatus(store->connection) == PQTRANS_INTRANS ||
           pg_execute(store, "BEGIN") || load_error(load, NULL);
}

static bool execute(struct load *load, const char *sql) {
    return begin(load) && (pg_execute(ours(load)->store, sql) || load_error(load, NULL));
}

static bool ask(struct load *load, const char *sql, char *ret, size_t size) {
    PGresult *result = PQexec(ours(load)->store->connection, sql);
    bool ok = PQresultStatus(result) == PGRES_TUPLES_OK;
    ret[0] = 0;
    if (ok && PQntuples(result) > 0)
        snprintf(ret, size, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return ok || load_error(load, NULL);
}

/* ---- rows in COPY format ---- */

static void heap_add(struct pg_load *load, struct pg_heap *heap, const void *at, size_t len) {
    must(buffer_add(&heap->rows, at, len));
    load->bytes += len;
}

static void heap_number(struct pg_load *load, struct pg_heap *heap, uint64_t value, int bytes) {
    uint8_t number[8];
    for (int i = 0; i < bytes; i++)
        number[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
    heap_add(load, heap, number, (size_t)bytes);
}

static void copy_write(struct pg_heap *heap, const struct table_row *row) {
    size_t size = sizeof heap->copy;
    size_t used = (size_t)snprintf(heap->copy, size, "COPY %s (", table_name(row->table));
    for (uint32_t i = 0; i < row->count; i++)
        used +=
            (size_t)snprintf(heap->copy + used, size - used, "%s%s", i ? ", " : "", row->names[i]);
    must(used < size - 32);
    snprintf(heap->copy + used, size - used, ") FROM STDIN (FORMAT binary)");
}

static bool types_read(struct load *load, const struct table_row *row) {
    struct pg_heap *heap = &ours(load)->heaps[row->table];
    PGresult *result = columns_ask(ours(load)->store->connection, row->table);
    int count = PQntuples(result);
    columns_keep(&heap->columns, row);
    copy_write(heap, row);
    for (uint32_t i = 0; i < row->count; i++) {
        heap->types[i] = 0;
        for (int k = 0; k < count; k++)
            if (strcmp(PQgetvalue(result, k, 0), row->names[i]) == 0)
                heap->types[i] = (uint32_t)strtoul(PQgetvalue(result, k, 1), NULL, 10);
        if (heap->types[i] == 0)
            load_fail(load, "%s has no column \"%s\".", table_name(row->table), row->names[i]);
    }
    PQclear(result);
    return !load->failed[0];
}

static int int_bytes(uint32_t type) {
    return type == OID_INT8 ? 8 : type == OID_INT4 ? 4 : type == OID_BOOL ? 1 : 0;
}

static bool int_fits(uint32_t type, int64_t value) {
    return type == OID_INT8 || (type == OID_INT4 && value >= INT32_MIN && value <= INT32_MAX) ||
           (type == OID_BOOL && (value == 0 || value == 1));
}

static bool cell_fits(uint32_t type, const struct cell *cell) {
    switch (cell->type) {
    case CELL_INT: return int_fits(type, cell->number);
    case CELL_TEXT: return type == OID_TEXT && str_is_text(cell->bytes);
    case CELL_BYTES: return type == OID_BYTEA || (type == OID_UUID && cell->bytes.len == 16);
    default: return true;
    }
}

static bool cell_put(struct pg_load *load, struct pg_heap *heap, uint32_t type,
                     const struct cell *cell) {
    if (!cell_fits(type, cell))
        return false;
    if (cell->type == CELL_NULL)
        heap_number(load, heap, UINT32_MAX, 4);
    else if (cell->type == CELL_INT) {
        heap_number(load, heap, (uint64_t)int_bytes(type), 4);
        heap_number(load, heap, (uint64_t)cell->number, int_bytes(type));
    } else {
        heap_number(load, heap, cell->bytes.len, 4);
        heap_add(load, heap, cell->bytes.at, cell->bytes.len);
    }
    return true;
}

/* ---- records ---- */

static void day_note(struct pg_load *load, int64_t day) {
    if (day < DAY_FIRST || day > DAY_LAST || load->day_count == LOAD_DAYS)
        return;
    for (uint32_t i = load->day_count; i > 0; i--)
        if (load->days[i - 1] == day)
            return;
    load->days[load->day_count++] = (int32_t)day;
}

static bool days_make(struct load *load) {
    struct pg_load *it = ours(load);
    for (; it->days_made < it->day_count; it->days_made++) {
        char sql[160];
        int32_t day = it->days[it->days_made];
        snprintf(
            sql, sizeof sql,
            "CREATE TABLE IF NOT EXISTS record_%d PARTITION OF record FOR VALUES FROM (%d) TO (%d)",
            day, day, day + 1);
        if (!execute(load, sql))
            return false;
    }
    return true;
}

/* Shifts transaction numbers below zero: see load_row(). */
static bool record_shift(struct load *load, struct table_row *row) {
    struct pg_load *it = ours(load);
    if (!it->known)
        return load_fail(load, "A record comes before the row of the store.");
    for (uint32_t i = 0; i < row->count; i++) {
        if (strcmp(row->names[i], "day") == 0)
            day_note(it, row->cells[i].number);
        else if (strcmp(row->names[i], "tx") != 0)
            continue;
        else if (row->cells[i].number >= it->shift)
            return load_fail(load, "A record has a later transaction than its store.");
        else
            row->cells[i].number -= it->shift;
    }
    return true;
}

/* ---- sending ---- */

static bool heap_send(struct load *load, enum store_table table) {
    static const char HEADER[19] = "PGCOPY\n\377\r\n\0";
    struct pg_load *it = ours(load);
    struct pg_heap *heap = &it->heaps[table];
    PGconn *connection = it->store->connection;
    PGresult *result = PQexec(connection, heap->copy);
    bool ok = PQresultStatus(result) == PGRES_COPY_IN;
    PQclear(result);
    ok = ok && PQputCopyData(connection, HEADER, sizeof HEADER) == 1 &&
         PQputCopyData(connection, heap->rows.at, (int)heap->rows.len) == 1 &&
         PQputCopyData(connection, "\377\377", 2) == 1 && PQputCopyEnd(connection, NULL) == 1;
    while (ok && (result = PQgetResult(connection))) {
        ok = PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
    }
    heap->rows.len = 0;
    return ok || load_error(load, table_name(table));
}

static bool flush(struct load *load) {
    struct pg_load *it = ours(load);
    bool ok = !load->failed[0] && days_make(load);
    for (uint32_t table = 0; ok && table < STORE_TABLES; table++)
        if (it->heaps[table].rows.len > 0)
            ok = begin(load) && heap_send(load, table);
    it->bytes = 0;
    if (ok && PQtransactionStatus(it->store->connection) == PQTRANS_INTRANS)
        ok = pg_execute(it->store, "COMMIT") || load_error(load, NULL);
    return ok;
}

static bool put(struct load *load, const struct table_row *given) {
    struct pg_load *it = ours(load);
    struct pg_heap *heap = &it->heaps[given->table];
    struct table_row row = *given;
    if (!columns_fit(&heap->columns, &row) &&
        ((heap->rows.len > 0 && !flush(load)) || !types_read(load, &row)))
        return false;
    if (row.table == TABLE_RECORD && !record_shift(load, &row))
        return false;
    heap_number(it, heap, row.count, 2);
    for (uint32_t i = 0; i < row.count; i++)
        if (!cell_put(it, heap, heap->types[i], &row.cells[i]))
            return load_fail(load, "%s.%s does not fit.", table_name(row.table), row.names[i]);
    return it->bytes < LOAD_BYTES || flush(load);
}

static bool put_store(struct load *load, const struct table_row *row) {
    struct pg_load *it = ours(load);
    struct id instance = cell_id(row, "instance");
    struct str stopped = cell_str(row, "stopped");
    char sql[256 + 2 * LIMIT_WHY], digits[33];
    for (size_t i = 0; i < sizeof instance.bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", instance.bytes[i]);
    stopped = str_cut_utf8(stopped, LIMIT_WHY);
    char *why = row_cell(row, "stopped").type == CELL_NULL
                    ? NULL
                    : PQescapeLiteral(it->store->connection, stopped.at, stopped.len);
    snprintf(sql, sizeof sql,
             "UPDATE store SET level = %lld, era = %lld, instance = '%s', stopped = %s,"
             " numbered = %lld, numbered_era = %lld",
             (long long)cell_int(row, "level"), (long long)cell_int(row, "era"), digits,
             why ? why : "NULL", (long long)cell_int(row, "numbered"),
             (long long)cell_int(row, "numbered_era"));
    PQfreemem(why);
    it->shift = cell_int(row, "tx") + 1;
    it->known = true;
    return execute(load, sql);
}

static bool wipe(struct load *load) {
    char sql[64];
    for (enum store_table table = TABLE_HOST; table < STORE_TABLES; table++) {
        snprintf(sql, sizeof sql, "VACUUM %s", table_name(table));
        if (!pg_execute(ours(load)->store, sql))
            return load_error(load, NULL);
    }
    return true;
}

static void load_close(struct load *load) {
    struct pg_load *it = ours(load);
    if (PQtransactionStatus(it->store->connection) != PQTRANS_IDLE)
        pg_execute(it->store, "ROLLBACK");
    for (size_t i = 0; i < STORE_TABLES; i++)
        buffer_free(&it->heaps[i].rows);
    free(it);
}

static const struct load_engine LOADS = {.row = put,
                                         .store = put_store,
                                         .execute = execute,
                                         .ask = ask,
                                         .flush = flush,
                                         .close = load_close,
                                         .unlock = "SET LOCAL overseer.retaining = 'on'",
                                         .lock = "SET LOCAL overseer.retaining = 'off'",
                                         .wipe = wipe,
                                         .for_update = " FOR UPDATE",
                                         .goal_hex = "replace(goal_id::text, '-', '')",
                                         .goal_of_hex = "'%s'::uuid",
                                         .hot_hex = "encode(hot, 'hex')",
                                         .hot_of_hex = "'\\x%s'::bytea"};

struct load *postgres_load_open(struct store *base, char *error, size_t error_size) {
    struct pg_store *store = (struct pg_store *)base;
    if (!connection_take(store, error, error_size))
        return NULL;
    struct pg_load *load = memory_new(sizeof *load);
    load->load.engine = &LOADS;
    load->store = store;
    return &load->load;
}
