/* SPDX-License-Identifier: Apache-2.0 */
/* Runs prepared statements: binds parameters, steps, reads columns. */
#include "store/sqlite/sqlite_state.h"

/* ---- statements ---- */

void run_begin(struct sqlite_run *run, enum sql sql) {
    run->statement = NULL;
    run->place = 0;
    if (run->code)
        return;
    sqlite3_stmt **statement = &run->store->statements[sql];
    if (!*statement) {
        char text[SQL_TEXT];
        sqlite_text(sql, text);
        run->code = sqlite3_prepare_v3(run->store->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                                       statement, NULL);
    }
    if (!run->code)
        run->statement = *statement;
}

#define BIND(call) \
    if (!run->code) \
    run->code = (call)

void run_int(struct sqlite_run *run, int64_t value) {
    BIND(sqlite3_bind_int64(run->statement, ++run->place, value));
}

void run_blob(struct sqlite_run *run, const void *at, size_t len) {
    BIND(sqlite3_bind_blob(run->statement, ++run->place, at ? at : "", (int)len, SQLITE_STATIC));
}

void run_id(struct sqlite_run *run, struct id id) {
    BIND(sqlite3_bind_blob(run->statement, ++run->place, id.bytes, sizeof id.bytes,
                           SQLITE_TRANSIENT));
}

void run_id_at(struct sqlite_run *run, const struct id *id) {
    run_blob(run, id->bytes, sizeof id->bytes);
}

void run_text(struct sqlite_run *run, struct str text) {
    BIND(sqlite3_bind_text(run->statement, ++run->place, text.at ? text.at : "", (int)text.len,
                           SQLITE_STATIC));
}

void run_null(struct sqlite_run *run) {
    BIND(sqlite3_bind_null(run->statement, ++run->place));
}

bool run_row(struct sqlite_run *run) {
    if (run->code)
        return false;
    int code = sqlite3_step(run->statement);
    run->place = 0;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        run->code = sqlite3_extended_errcode(run->store->db);
    return code == SQLITE_ROW;
}

int64_t row_int(struct sqlite_run *run) {
    return sqlite3_column_int64(run->statement, run->place++);
}

struct id row_id(struct sqlite_run *run) {
    struct id id = {0};
    const void *at = sqlite3_column_blob(run->statement, run->place);
    if (at && sqlite3_column_bytes(run->statement, run->place) == sizeof id.bytes)
        memcpy(id.bytes, at, sizeof id.bytes);
    run->place++;
    return id;
}

struct hash row_hash(struct sqlite_run *run) {
    struct hash hash = {0};
    const void *at = sqlite3_column_blob(run->statement, run->place);
    if (at && sqlite3_column_bytes(run->statement, run->place) == sizeof hash.bytes)
        memcpy(hash.bytes, at, sizeof hash.bytes);
    run->place++;
    return hash;
}

struct str row_bytes(struct sqlite_run *run, struct arena *arena) {
    const void *at = sqlite3_column_blob(run->statement, run->place);
    int len = sqlite3_column_bytes(run->statement, run->place++);
    return arena_copy(arena, (struct str){at, at ? (size_t)len : 0});
}

void run_end(struct sqlite_run *run) {
    if (run->statement)
        sqlite3_reset(run->statement);
    run->statement = NULL;
}

bool run_change(struct sqlite_run *run) {
    while (run_row(run)) {
    }
    bool changed = !run->code && sqlite3_changes(run->store->db) > 0;
    run_end(run);
    return changed;
}
