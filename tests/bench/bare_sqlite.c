/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the benchmark's rows with SQLite alone, as the baseline: no fence, no version check, no batch number; one
 * update and one insert for each goal, prepared once, in one transaction with the store's own pragmas. */
#include "bench/bench.h"

#include <sqlite3.h>
#include <stdlib.h>

struct bare_sqlite {
    struct bare bare;
    sqlite3 *db;
    sqlite3_stmt *begin, *update, *insert, *commit;
    int64_t tx;
};

static void check(struct bare_sqlite *bare, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE)
        bench_fail("bare sqlite", sqlite3_errmsg(bare->db));
}

static sqlite3_stmt *prepare(struct bare_sqlite *bare, const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(bare, sqlite3_prepare_v3(bare->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

static void run(struct bare_sqlite *bare, sqlite3_stmt *statement) {
    check(bare, sqlite3_step(statement));
    sqlite3_reset(statement);
}

static void bind_bytes(sqlite3_stmt *statement, int place, const void *at, size_t len) {
    sqlite3_bind_blob(statement, place, at, (int)len, SQLITE_STATIC);
}

static struct bare *open_sqlite(const char *path) {
    struct bare_sqlite *bare = calloc(1, sizeof *bare);
    if (!bare)
        bench_fail("bare sqlite", "no memory");
    bare->bare.driver = &BARE_SQLITE;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    check(bare, sqlite3_open_v2(path, &bare->db, flags, NULL));
    sqlite3_busy_timeout(bare->db, 2000);
    check(bare, sqlite3_exec(bare->db,
                             "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                             "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
                             "PRAGMA wal_autocheckpoint = 0",
                             NULL, NULL, NULL));
    bare->begin = prepare(bare, "BEGIN IMMEDIATE");
    bare->update = prepare(bare, "UPDATE goal SET version = ?1, seq = ?2, head = ?3, due_at = ?4,"
                                 " hot = ?5 WHERE goal_id = ?6");
    bare->insert =
        prepare(bare, "INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
                      " NULL, ?11)");
    bare->commit = prepare(bare, "COMMIT");
    bare->tx = 1000000000; /* above any number that the store has assigned */
    return &bare->bare;
}

static void update(struct bare_sqlite *bare, const struct goal_commit *commit) {
    sqlite3_stmt *statement = bare->update;
    sqlite3_bind_int64(statement, 1, (int64_t)commit->goal.version);
    sqlite3_bind_int64(statement, 2, (int64_t)commit->goal.records.seq);
    bind_bytes(statement, 3, commit->goal.records.head.bytes, 32);
    sqlite3_bind_int64(statement, 4, commit->goal.due_at);
    bind_bytes(statement, 5, commit->hot.at, commit->hot.len);
    bind_bytes(statement, 6, commit->goal.id.bytes, 16);
    run(bare, statement);
}

static void insert(struct bare_sqlite *bare, const struct goal_commit *commit, uint32_t n) {
    const struct record *record = &commit->records[0];
    sqlite3_stmt *statement = bare->insert;
    sqlite3_bind_int64(statement, 1, time_day(record->at));
    sqlite3_bind_int64(statement, 2, bare->tx);
    sqlite3_bind_int64(statement, 3, n);
    bind_bytes(statement, 4, commit->goal.id.bytes, 16);
    sqlite3_bind_int64(statement, 5, (int64_t)record->seq);
    sqlite3_bind_int64(statement, 6, record->at);
    sqlite3_bind_int64(statement, 7, record->type);
    sqlite3_bind_int64(statement, 8, record->core);
    bind_bytes(statement, 9, record->policy.bytes, 32);
    bind_bytes(statement, 10, record->hash.bytes, 32);
    bind_bytes(statement, 11, record->body.at, record->body.len);
    run(bare, statement);
}

static void commit_sqlite(struct bare *base, const struct store_request *request) {
    struct bare_sqlite *bare = (struct bare_sqlite *)base;
    run(bare, bare->begin);
    bare->tx++;
    for (uint32_t i = 0; i < request->commit_count; i++) {
        update(bare, &request->commits[i]);
        insert(bare, &request->commits[i], i);
    }
    run(bare, bare->commit);
}

static void close_sqlite(struct bare *base) {
    struct bare_sqlite *bare = (struct bare_sqlite *)base;
    sqlite3_finalize(bare->begin);
    sqlite3_finalize(bare->update);
    sqlite3_finalize(bare->insert);
    sqlite3_finalize(bare->commit);
    sqlite3_close(bare->db);
    free(bare);
}

const struct bare_driver BARE_SQLITE = {open_sqlite, commit_sqlite, close_sqlite};
