/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a store with a million goals in seconds. fill STORE GOALS: each goal has its title, its display state and its
 * first record. No goal is due before the year 2100. */
#include "bench/bench.h"
#include "store/sqlite/sqlite_state.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

struct filling {
    uint32_t count;
    struct arena arena;
};

struct row {
    struct goal goal;
    struct record record;
    struct str hot;
};

static struct row row_at(struct filling *filling, uint32_t i) {
    struct row row;
    arena_reset(&filling->arena);
    row.goal = goal_new(i, BENCH_OWNER, &filling->arena, &row.record);
    row.hot = row_seal(ROW_GOAL, row.goal.id, 0,
                       shape_encode(&GOAL_HOT, &row.goal, &filling->arena), &filling->arena);
    return row;
}

static const char TITLE[] = "Make the parser accept trailing commas";
#define VIEW "goal_id, status, face, priority, percent, created_at, updated_at, title"
enum { TABLE_COUNT = 3 };
static const char *const TABLES[TABLE_COUNT] = {"goal", "record", "goal_view (" VIEW ")"};
static const char *const TABLES_SQLITE[TABLE_COUNT] = {"goal", "record",
                                                       "goal_view (" VIEW ", row)"};
/* One letter per column, in the order of the tables: u id, n and i integers of 4 and 8 bytes, y bytes, b boolean, t
 * text, 0 null. */
static const char *const COLUMNS[TABLE_COUNT] = {"uniiiyibby", "ninuiinnyy0y", "unnnniit"};
static const char *const COLUMNS_SQLITE[TABLE_COUNT] = {"uniiiyibby", "ninuiinnyy0y", "unnnniiti"};

/* ---- a value for each column ---- */

struct value {
    int64_t number;
    struct str run;
};

static struct str run_of(const void *at, size_t len) {
    return (struct str){at, len};
}

static void values_of(const struct row *row, uint32_t i, int table, struct value *v) {
    const struct goal *goal = &row->goal;
    const struct record *record = &row->record;
    struct value id = {.run = run_of(goal->id.bytes, 16)};
    struct value of[TABLE_COUNT][12] = {
        {id,
         {.number = goal->owner},
         {.number = 1},
         {.number = 1},
         {.number = (int64_t)goal->records.seq},
         {.run = run_of(goal->records.head.bytes, 32)},
         {.number = goal->due_at},
         {.number = 1},
         {.number = 0},
         {.run = row->hot}},
        {{.number = time_day(record->at)},
         {.number = i / 100 + 1},
         {.number = i % 100},
         id,
         {.number = (int64_t)record->seq},
         {.number = record->at},
         {.number = record->type},
         {.number = record->core},
         {.run = run_of(record->policy.bytes, 32)},
         {.run = run_of(record->hash.bytes, 32)},
         {0},
         {.run = record->body}},
        {id,
         {.number = GOAL_ACTIVE},
         {.number = DISPLAY_QUEUED},
         {.number = PRIORITY_NORMAL},
         {.number = 0},
         {.number = goal->times.created_at},
         {.number = goal->times.updated_at},
         {.run = STR(TITLE)},
         {.number = sqlite_drawer(goal->times.created_at) + i % 10}},
    };
    memcpy(v, of[table], sizeof of[table]);
}

/* ---- SQLite: prepared inserts in one transaction, which need not be durable ---- */

static void sqlite_check(sqlite3 *db, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE)
        bench_fail("fill sqlite", sqlite3_errmsg(db));
}

static void sqlite_row(sqlite3 *db, sqlite3_stmt *statement, const char *columns, struct value *v) {
    for (int i = 0; columns[i]; i++)
        if (columns[i] == 'u' || columns[i] == 'y')
            sqlite3_bind_blob(statement, i + 1, v[i].run.at, (int)v[i].run.len, SQLITE_STATIC);
        else if (columns[i] == 't')
            sqlite3_bind_text(statement, i + 1, v[i].run.at, (int)v[i].run.len, SQLITE_STATIC);
        else if (columns[i] == '0')
            sqlite3_bind_null(statement, i + 1);
        else
            sqlite3_bind_int64(statement, i + 1, v[i].number);
    sqlite_check(db, sqlite3_step(statement));
    sqlite3_reset(statement);
}

static void fill_sqlite(struct filling *filling, const char *path) {
    sqlite3 *db;
    sqlite3_stmt *statements[TABLE_COUNT];
    sqlite_check(NULL, sqlite3_open(path, &db));
    sqlite_check(db,
                 sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN",
                              NULL, NULL, NULL));
    for (int t = 0; t < TABLE_COUNT; t++) {
        char sql[256];
        int len = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", TABLES_SQLITE[t]);
        for (size_t i = 1; COLUMNS_SQLITE[t][i]; i++)
            len += snprintf(sql + len, sizeof sql - (size_t)len, ",?");
        snprintf(sql + len, sizeof sql - (size_t)len, ")");
        sqlite_check(db, sqlite3_prepare_v2(db, sql, -1, &statements[t], NULL));
    }
    for (uint32_t i = 0; i < filling->count; i++) {
        struct row row = row_at(filling, i);
        for (int t = 0; t < TABLE_COUNT; t++) {
            struct value values[12];
            values_of(&row, i, t, values);
            sqlite_row(db, statements[t], COLUMNS_SQLITE[t], values);
        }
    }
    for (int t = 0; t < TABLE_COUNT; t++)
        sqlite3_finalize(statements[t]);
    char sql[256];
    snprintf(sql, sizeof sql,
             "UPDATE store SET tx = %u; INSERT INTO tally VALUES (%d, %d, %u); COMMIT;"
             "PRAGMA wal_checkpoint(TRUNCATE)",
             filling->count, BENCH_OWNER, DISPLAY_QUEUED, filling->count);
    sqlite_check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
    sqlite3_close(db);
}

/* ---- PostgreSQL: binary COPY, one table after the other ---- */

static void pg_check(PGconn *connection, PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
        bench_fail("fill postgres", PQerrorMessage(connection));
    PQclear(result);
}

static void put_number(char **to, int64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--)
        *(*to)++ = (char)((uint64_t)value >> (8 * i));
}

static void put_value(char **to, char letter, const struct value *value) {
    int bytes = letter == 'i' ? 8 : letter == 'n' ? 4 : letter == 'b' ? 1 : 0;
    if (letter == '0') {
        put_number(to, -1, 4);
        return;
    }
    put_number(to, bytes ? bytes : (int64_t)value->run.len, 4);
    if (bytes) {
        put_number(to, value->number, bytes);
        return;
    }
    memcpy(*to, value->run.at, value->run.len);
    *to += value->run.len;
}

static void copy_table(struct filling *filling, PGconn *connection, int table) {
    char sql[256], block[65536], *to = block;
    snprintf(sql, sizeof sql, "COPY %s FROM STDIN (FORMAT binary)", TABLES[table]);
    pg_check(connection, PQexec(connection, sql));
    memcpy(to, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    to += 19;
    for (uint32_t i = 0; i < filling->count; i++) {
        struct row row = row_at(filling, i);
        struct value values[12];
        values_of(&row, i, table, values);
        put_number(&to, (int64_t)strlen(COLUMNS[table]), 2);
        for (size_t c = 0; COLUMNS[table][c]; c++)
            put_value(&to, COLUMNS[table][c], &values[c]);
        if (to - block < 60000)
            continue;
        PQputCopyData(connection, block, (int)(to - block));
        to = block;
    }
    put_number(&to, -1, 2);
    PQputCopyData(connection, block, (int)(to - block));
    PQputCopyEnd(connection, NULL);
    pg_check(connection, PQgetResult(connection));
    PQclear(PQgetResult(connection));
}

static void fill_postgres(struct filling *filling, const char *where) {
    PGconn *connection = PQconnectdb(where);
    pg_check(connection, PQexec(connection, "SET synchronous_commit = off"));
    for (int t = 0; t < TABLE_COUNT; t++)
        copy_table(filling, connection, t);
    char sql[128];
    snprintf(sql, sizeof sql, "INSERT INTO tally VALUES (%d, %d, %u)", BENCH_OWNER, DISPLAY_QUEUED,
             filling->count);
    pg_check(connection, PQexec(connection, sql));
    pg_check(connection, PQexec(connection, "VACUUM ANALYZE"));
    PQfinish(connection);
}

/* The store driver creates its own tables; the PostgreSQL driver does so at its first request. */
static void make_tables(const char *where) {
    char error[512];
    struct arena arena = {0};
    struct store_answer answer;
    struct store_request poll = {.verb = STORE_POLL, .self = {.host = BENCH_OWNER}, .limit = 1};
    struct store *store = store_open(str_of(where), error, sizeof error);
    if (!store)
        bench_fail("fill", error);
    poll.at = bench_wall_us();
    store_perform(store, &poll, &answer, &arena);
    if (answer.outcome != STORE_DONE)
        bench_fail("fill", answer.error.at);
    store_close(store);
    arena_free(&arena);
}

int main(int argc, char **argv) {
    if (argc != 3)
        bench_fail("fill", "fill STORE GOALS");
    make_tables(argv[1]);
    struct filling filling = {.count = (uint32_t)atoi(argv[2])};
    if (store_address_file(argv[1]))
        fill_sqlite(&filling, argv[1] + 7);
    else
        fill_postgres(&filling, argv[1]);
    arena_free(&filling.arena);
    return 0;
}
