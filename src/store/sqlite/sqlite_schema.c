/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and migrates the tables of an SQLite store. */
#include "store/migrate.h"
#include "store/sqlite/sqlite_state.h"

#include <stdio.h>
_Static_assert(DISPLAY_DONE == 3, "3 above");
_Static_assert(DISPLAY_NEEDS_YOU == 2, "2 above");

/* ---- opening ---- */

static bool column_exists(struct sqlite_store *store, const char *table, const char *column) {
    return sqlite3_table_column_metadata(store->db, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static int number(struct sqlite_store *store, const char *sql, uint32_t *ret) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (!code && sqlite3_step(statement) == SQLITE_ROW)
        *ret = (uint32_t)sqlite3_column_int64(statement, 0);
    int end = sqlite3_finalize(statement);
    return code ? code : end;
}

/* The tables of version 1 did not declare which builds may use them. */
static int schema_read(struct sqlite_store *store, struct schema_mark *ret) {
    uint32_t any = 0;
    *ret = (struct schema_mark){0};
    int code = number(store, "SELECT count(*) FROM sqlite_master", &any);
    if (code || any == 0)
        return code;
    if (!column_exists(store, "store", "version")) {
        snprintf(store->why, sizeof store->why,
                 "%s is a database of another program, not a store. Use another file; nothing was "
                 "changed.",
                 store->path);
        return SQLITE_ERROR;
    }
    code = number(store, "SELECT version FROM store", &ret->version);
    if (code || !column_exists(store, "store", "oldest"))
        return code;
    code = number(store, "SELECT oldest FROM store", &ret->oldest);
    return code ? code : number(store, "SELECT level FROM store", &ret->level);
}

static int schema_check(struct sqlite_store *store, struct schema_mark *ret) {
    store->why[0] = 0;
    int code = schema_read(store, ret);
    if (!code && !schema_is_ours(*ret, store->why, sizeof store->why))
        code = SQLITE_ERROR;
    return code;
}

static int migrations_run(struct sqlite_store *store, uint32_t version) {
    int code = SQLITE_OK;
    bool whole = false;
    for (uint32_t i = 0; i < MIGRATION_COUNT && !whole && !code; i++) {
        const struct migration *row = &MIGRATIONS[i];
        if (row->to <= version)
            continue;
        if (row->sqlite)
            code = sqlite3_exec(store->db, row->sqlite, NULL, NULL, NULL);
        if (!code && row->sqlite_run)
            code = row->sqlite_run(store);
        whole = row->whole;
    }
    return code ? code : sqlite_tables_add(store, version);
}

static int schema_bring(struct sqlite_store *store, struct schema_mark mark) {
    int code = mark.version ? SQLITE_OK : sqlite_tables_make(store);
    if (!code)
        code = mark.version ? migrations_run(store, mark.version) : sqlite_tables_add(store, 0);
    char text[256];
    if (mark.version)
        snprintf(text, sizeof text, "UPDATE store SET version = %d, oldest = %d", SCHEMA_VERSION,
                 SCHEMA_OLDEST);
    else
        snprintf(text, sizeof text,
                 "INSERT INTO store (one, version, oldest, level, era, instance, tx)"
                 " VALUES (1, %d, %d, %d, 0, randomblob(16), 0)",
                 SCHEMA_VERSION, SCHEMA_OLDEST, SCHEMA_LEVEL);
    return code ? code : sqlite3_exec(store->db, text, NULL, NULL, NULL);
}

int sqlite_schema_look(struct sqlite_store *store) {
    struct schema_mark mark;
    return schema_check(store, &mark);
}

/* The version is checked again under the lock: if several processes open the store at once, only one makes the tables.
 * A backup by an earlier build is read as it is. */
int sqlite_schema(struct sqlite_store *store) {
    struct schema_mark mark;
    int code = schema_check(store, &mark);
    if (code || mark.version >= SCHEMA_VERSION)
        return code;
    if (store->read_only)
        return sqlite_parts_stand_in(store);
    code = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (!code)
        code = schema_check(store, &mark);
    if (!code && mark.version < SCHEMA_VERSION)
        code = schema_bring(store, mark);
    if (!code)
        code = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
    if (code && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return code;
}
