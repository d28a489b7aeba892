/* SPDX-License-Identifier: Apache-2.0 */
/* Migrates the tables of an older build, in SQLite. */
#include "store/migrate.h"
#include "store/sqlite/sqlite_state.h"

#include <stdio.h>

/* Rows of the hot tables are stored in their primary key's tree; due_at is deliberately in no index. */
static const char *const TABLES[] = {
    "CREATE TABLE store (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,"
    " oldest INTEGER NOT NULL, level INTEGER NOT NULL, era INTEGER NOT NULL, instance BLOB NOT NULL,"
    " safe TEXT, tx INTEGER NOT NULL, retaining INTEGER NOT NULL DEFAULT 0,"
    " stopped TEXT, numbered INTEGER NOT NULL DEFAULT 0, numbered_era INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE host (host_id INTEGER PRIMARY KEY, instance INTEGER NOT NULL,"
    " epoch INTEGER NOT NULL, beat INTEGER NOT NULL, batch INTEGER NOT NULL, state INTEGER NOT NULL,"
    " build TEXT NOT NULL, addr TEXT NOT NULL, speaks INTEGER NOT NULL DEFAULT 1,"
    " policy BLOB, number_next INTEGER NOT NULL DEFAULT 0, number_end INTEGER NOT NULL DEFAULT 0,"
    " number_era INTEGER NOT NULL DEFAULT -1)",
    "CREATE TABLE IF NOT EXISTS goal (goal_id BLOB PRIMARY KEY, owner INTEGER NOT NULL,"
    "  fence INTEGER NOT NULL, version INTEGER NOT NULL, seq INTEGER NOT NULL, head BLOB NOT NULL,"
    "  due_at INTEGER NOT NULL, open INTEGER NOT NULL, aside INTEGER NOT NULL, hot BLOB NOT NULL)"
    "  WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS goal_owner ON goal (owner) WHERE open",
    "CREATE TABLE IF NOT EXISTS effect (goal_id BLOB NOT NULL, n INTEGER NOT NULL,"
    "  run_host INTEGER NOT NULL, state INTEGER NOT NULL, kind INTEGER NOT NULL,"
    "  until INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (goal_id, n)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS inbox (source BLOB PRIMARY KEY, to_host INTEGER NOT NULL,"
    "  goal_id BLOB NOT NULL, body BLOB NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS inbox_host ON inbox (to_host)",
    "CREATE INDEX IF NOT EXISTS inbox_goal ON inbox (goal_id)",
    "CREATE TABLE IF NOT EXISTS record (day INTEGER NOT NULL, tx INTEGER NOT NULL, n INTEGER NOT NULL,"
    "  goal_id BLOB NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, type INTEGER NOT NULL,"
    "  core INTEGER NOT NULL, policy BLOB NOT NULL, hash BLOB NOT NULL, body_hash BLOB, body BLOB,"
    "  PRIMARY KEY (day, tx, n)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS record_goal ON record (goal_id, seq)",
    "CREATE TABLE IF NOT EXISTS seen (goal_id BLOB NOT NULL, source BLOB NOT NULL, at INTEGER NOT NULL,"
    "  PRIMARY KEY (goal_id, source)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS aside (goal_id BLOB NOT NULL, source BLOB NOT NULL, at INTEGER NOT NULL,"
    "  why TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (goal_id, source)) WITHOUT ROWID",

    /* EVENT-01: only retention, which sets `retaining`, may change or delete records of the log. */
    "CREATE TRIGGER record_update BEFORE UPDATE ON record WHEN (SELECT retaining FROM store) = 0"
    " BEGIN SELECT RAISE(ABORT, 'records are append-only'); END",
    "CREATE TRIGGER record_delete BEFORE DELETE ON record WHEN (SELECT retaining FROM store) = 0"
    " BEGIN SELECT RAISE(ABORT, 'records are append-only'); END",
    "CREATE TABLE milestone (goal_id BLOB NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL,"
    " n INTEGER NOT NULL, at INTEGER NOT NULL, last_hash BLOB NOT NULL, body BLOB,"
    " PRIMARY KEY (goal_id, from_seq)) WITHOUT ROWID",

    "CREATE TABLE goal_view (row INTEGER PRIMARY KEY, @columns, asked_at INTEGER NOT NULL DEFAULT 0,"
    " repository INTEGER NOT NULL DEFAULT 0, number INTEGER NOT NULL DEFAULT 0)",
    "CREATE UNIQUE INDEX goal_view_goal ON goal_view (goal_id)",
    "CREATE INDEX goal_view_face ON goal_view (face, status, created_at, goal_id)",
    "CREATE UNIQUE INDEX goal_view_number ON goal_view (number) WHERE number > 0",
    "CREATE TABLE goal_tag (tag TEXT NOT NULL, face INTEGER NOT NULL, created_at INTEGER NOT NULL,"
    " goal_id BLOB NOT NULL, PRIMARY KEY (tag, face, created_at, goal_id)) WITHOUT ROWID",
    "CREATE INDEX goal_tag_goal ON goal_tag (goal_id)",
    "CREATE TABLE tally (host_id INTEGER NOT NULL, face INTEGER NOT NULL, n INTEGER NOT NULL,"
    " PRIMARY KEY (host_id, face)) WITHOUT ROWID",
    "CREATE TABLE text (goal_id BLOB NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL,"
    " PRIMARY KEY (goal_id, hash)) WITHOUT ROWID",

    /* Titles are stored once, in goal_view; this is only the index over their words. */
    "CREATE VIRTUAL TABLE goal_fts USING fts5 (title, content = 'goal_view', content_rowid = 'row',"
    " columnsize = 0, tokenize = 'unicode61 remove_diacritics 2')",
    "CREATE TRIGGER goal_view_insert AFTER INSERT ON goal_view BEGIN"
    " INSERT INTO goal_fts (rowid, title) VALUES (new.row, new.title); END",
    "CREATE TRIGGER goal_view_delete AFTER DELETE ON goal_view BEGIN"
    " INSERT INTO goal_fts (goal_fts, rowid, title) VALUES ('delete', old.row, old.title); END",
    "CREATE TRIGGER goal_view_title AFTER UPDATE OF title ON goal_view WHEN old.title <> new.title BEGIN"
    " INSERT INTO goal_fts (goal_fts, rowid, title) VALUES ('delete', old.row, old.title);"
    " INSERT INTO goal_fts (rowid, title) VALUES (new.row, new.title); END",
};

static const char *const PART_TABLES[] = {
    "CREATE TABLE @part (goal_id BLOB NOT NULL, n INTEGER NOT NULL, name TEXT NOT NULL,"
    " body BLOB NOT NULL, PRIMARY KEY (goal_id, n)) WITHOUT ROWID",
    "CREATE INDEX @part_name ON @part (name)",
};

/* ASSIGN-12: dispatches are append-only as well. ASSIGN-15: a body ends with the hash of its instruction, as 64
 * hexadecimal digits, and its check. */
static const char *const DISPATCH_TABLES[] = {
    "CREATE TRIGGER dispatch_update BEFORE UPDATE ON dispatch WHEN (SELECT retaining FROM store) = 0"
    " BEGIN SELECT RAISE(ABORT, 'dispatches are append-only'); END",
    "CREATE TRIGGER dispatch_delete BEFORE DELETE ON dispatch WHEN (SELECT retaining FROM store) = 0"
    " BEGIN SELECT RAISE(ABORT, 'dispatches are append-only'); END",
    "CREATE INDEX dispatch_instruction ON dispatch (substr(body, -68, 64))",
};

/* Goals that are done, by end time. 3 is DISPLAY_DONE. The triggers serve builds and exports that do not know the
 * column: the time of the last change is taken as the end. */
static const char *const ENDED_TABLES[] = {
    "CREATE INDEX goal_view_ended ON goal_view (ended_at, goal_id, face) WHERE face = 3",
    "CREATE TRIGGER goal_view_ends_new AFTER INSERT ON goal_view WHEN new.face = 3 AND new.ended_at = 0"
    " BEGIN UPDATE goal_view SET ended_at = updated_at WHERE row = new.row; END",
    "CREATE TRIGGER goal_view_ends AFTER UPDATE OF face ON goal_view WHEN new.face = 3 AND new.ended_at = 0"
    " BEGIN UPDATE goal_view SET ended_at = updated_at WHERE row = new.row; END",
};

/* Goals that need a person, by the time since when they do. 2 is DISPLAY_NEEDS_YOU. Only the triggers write the column. */
static const char *const ASKING_TABLES[] = {
    "CREATE INDEX goal_view_asking ON goal_view (asked_at, goal_id, face) WHERE face = 2",
    "CREATE TRIGGER goal_view_asks_new AFTER INSERT ON goal_view WHEN new.face = 2 AND new.asked_at = 0"
    " BEGIN UPDATE goal_view SET asked_at = updated_at WHERE row = new.row; END",
    "CREATE TRIGGER goal_view_asks AFTER UPDATE OF face ON goal_view WHEN new.face = 2 AND old.face <> 2"
    " BEGIN UPDATE goal_view SET asked_at = updated_at WHERE row = new.row; END",
};

static int make(struct sqlite_store *store, const char *form, const char *part) {
    char text[SQL_TEXT];
    return sqlite3_exec(store->db, sqlite_complete(form, part, text), NULL, NULL, NULL);
}

static int parts_make(struct sqlite_store *store, uint32_t first, uint32_t end) {
    int code = SQLITE_OK;
    for (uint32_t k = first; k < end; k++)
        for (size_t i = 0; i < count_of(PART_TABLES) && !code; i++)
            code = make(store, PART_TABLES[i], PART[k].table);
    return code;
}

/* A store that is only read keeps the tables of the build that wrote it. Parts that it does not have yet are empty for this
 * connection. */
int sqlite_parts_stand_in(struct sqlite_store *store) {
    static const char FORM[] =
        "CREATE TEMP TABLE IF NOT EXISTS %s (goal_id BLOB, n INTEGER, name TEXT, body BLOB)";
    int code = SQLITE_OK;
    for (uint32_t k = 0; k < PARTS && !code; k++) {
        char sql[160];
        sqlite3_stmt *statement = NULL;
        snprintf(sql, sizeof sql, "SELECT 1 FROM sqlite_master WHERE name = '%s'", PART[k].table);
        code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
        bool there = !code && sqlite3_step(statement) == SQLITE_ROW;
        sqlite3_finalize(statement);
        snprintf(sql, sizeof sql, FORM, PART[k].table);
        if (!code && !there)
            code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    }
    return code;
}

static int all_make(struct sqlite_store *store, const char *const *forms, size_t count) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = make(store, forms[i], NULL);
    return code;
}

static int dispatch_make(struct sqlite_store *store) {
    return all_make(store, DISPATCH_TABLES, count_of(DISPATCH_TABLES));
}

/* Creates the tables that a store of this version does not have, from their rows of STORED. */
int sqlite_tables_add(struct sqlite_store *store, uint32_t version) {
    static const char *const TYPES[STORED_TYPES] = {
        [STORED_INT] = "INTEGER", [STORED_LONG] = "INTEGER", [STORED_FLAG] = "INTEGER",
        [STORED_TEXT] = "TEXT",   [STORED_BYTES] = "BLOB",   [STORED_ID] = "BLOB",
        [STORED_HASH] = "BLOB"};
    char text[SQL_TEXT];
    int code = SQLITE_OK;
    for (enum store_table table = 0; table < TABLE_PART && !code; table++)
        if (STORED[table].since > version)
            code = sqlite3_exec(store->db,
                                table_create(table, TYPES, " WITHOUT ROWID", text, sizeof text),
                                NULL, NULL, NULL);
    return code;
}

/* Tables that have not changed since version 1 may exist already. */
int sqlite_tables_make(struct sqlite_store *store) {
    int code = all_make(store, TABLES, count_of(TABLES));
    if (!code)
        code = parts_make(store, 0, PARTS);
    if (!code)
        code = dispatch_make(store);
    if (!code)
        code = all_make(store, ENDED_TABLES, count_of(ENDED_TABLES));
    return code ? code : all_make(store, ASKING_TABLES, count_of(ASKING_TABLES));
}

/* ---- version 5 ---- */

int sqlite_from_5(struct sqlite_store *store) {
    int code = sqlite3_exec(store->db,
                            "ALTER TABLE goal_view ADD asked_at INTEGER NOT NULL DEFAULT 0;"
                            "UPDATE goal_view SET asked_at = updated_at WHERE face = 2",
                            NULL, NULL, NULL);
    return code ? code : all_make(store, ASKING_TABLES, count_of(ASKING_TABLES));
}

/* ---- version 8 ---- */

int sqlite_from_8(struct sqlite_store *store) {
    return parts_make(store, PART_HOST_ACCESS, PART_HOST_ACCESS + 1);
}

/* ---- version 9 ---- */

int sqlite_from_9(struct sqlite_store *store) {
    return parts_make(store, PART_TASK_BATCH, PART_TASK_BATCH + 1);
}

/* ---- version 4 ---- */

int sqlite_from_4(struct sqlite_store *store) {
    int code = sqlite3_exec(store->db,
                            "ALTER TABLE goal_view ADD ended_at INTEGER NOT NULL DEFAULT 0;"
                            "UPDATE goal_view SET ended_at = updated_at WHERE face = 3",
                            NULL, NULL, NULL);
    return code ? code : all_make(store, ENDED_TABLES, count_of(ENDED_TABLES));
}

/* ---- version 3 ---- */

int sqlite_from_3(struct sqlite_store *store) {
    int code = parts_make(store, PART_ASSIGNMENT, PART_BUDGET + 1);
    return code ? code : dispatch_make(store);
}

/* ---- version 1 ---- */

static struct id id_of(const void *at, int len) {
    struct id id = {0};
    if (at && len == sizeof id.bytes)
        memcpy(id.bytes, at, sizeof id.bytes);
    return id;
}

static struct id value_id(sqlite3_value *value) {
    return id_of(sqlite3_value_blob(value), sqlite3_value_bytes(value));
}

static struct str value_bytes(sqlite3_value *value) {
    return (struct str){sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value)};
}

/* renewed(goal_id, hot): the hot part in today's encoding, sealed. Content that cannot be decoded stays as it is. */
static void renewed(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    struct sqlite_store *store = sqlite3_user_data(context);
    struct goal goal = {.id = value_id(values[0])};
    struct str hot = value_bytes(values[1]);
    if (shape_decode(&GOAL_HOT, hot, &goal)) {
        if (goal.status != GOAL_ACTIVE && goal.status != GOAL_PAUSED)
            goal.times.ended_at = goal.times.updated_at;
        hot = shape_encode(&GOAL_HOT, &goal, &store->scratch);
    }
    hot = row_seal(ROW_GOAL, goal.id, 0, hot, &store->scratch);
    sqlite3_result_blob(context, hot.at, (int)hot.len, SQLITE_TRANSIENT);
    arena_reset(&store->scratch);
}

/* sealed(goal_id, n, body): the sealed body of an effect. */
static void sealed(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    struct sqlite_store *store = sqlite3_user_data(context);
    struct str body =
        row_seal(ROW_EFFECT, value_id(values[0]), (uint32_t)sqlite3_value_int64(values[1]),
                 value_bytes(values[2]), &store->scratch);
    sqlite3_result_blob(context, body.at, (int)body.len, SQLITE_TRANSIENT);
    arena_reset(&store->scratch);
}

static const char RENAME_1[] = "ALTER TABLE store RENAME TO store_1;"
                               "ALTER TABLE host RENAME TO host_1;"
                               "ALTER TABLE goal_view RENAME TO goal_view_1;";
static const char COPY_1[] =
    "INSERT INTO store (one, version, oldest, level, era, instance, tx)"
    " SELECT 1, 2, 2, 2, 0, randomblob(16), tx FROM store_1;"
    "INSERT INTO host (host_id, instance, epoch, beat, batch, state, build, addr, speaks)"
    " SELECT host_id, instance, epoch, beat, batch, state, build, addr, 1 FROM host_1;"
    "UPDATE goal SET hot = renewed(goal_id, hot);"
    "UPDATE effect SET body = sealed(goal_id, n, body);";
static const char PAGE_1[] =
    "SELECT g.goal_id, t.title, v.updated_at FROM goal g LEFT JOIN goal_text t USING (goal_id)"
    " LEFT JOIN goal_view_1 v USING (goal_id)";
static const char END_1[] =
    "INSERT INTO tally (host_id, face, n) SELECT g.owner, v.face, count(*) FROM goal g JOIN goal_view v USING (goal_id)"
    " GROUP BY 1, 2;"
    "UPDATE store SET numbered = (SELECT count(*) FROM goal_view);"
    "DROP TABLE goal_text; DROP TABLE goal_view_1; DROP TABLE host_1; DROP TABLE store_1;";

/* Writes the list columns of a goal. A goal that cannot be read is shown as one that needs a person. */
static void view_from_1(struct sqlite_run *run, sqlite3_stmt *page) {
    struct goal_loaded loaded;
    struct id id = id_of(sqlite3_column_blob(page, 0), sqlite3_column_bytes(page, 0));
    sqlite_load_goal(run, id, &loaded, &run->store->scratch);
    struct goal_commit commit = {.goal = loaded.goal};
    if (!loaded.whole)
        commit.goal = (struct goal){.id = id,
                                    .quarantined = true,
                                    .times.created_at = sqlite3_column_int64(page, 2),
                                    .times.updated_at = sqlite3_column_int64(page, 2)};
    commit.title = (struct str){(const char *)sqlite3_column_text(page, 1),
                                (size_t)sqlite3_column_bytes(page, 1)};
    struct goal_view view = view_of(&commit);
    run_begin(run, SQL_VIEW_INSERT);
    run_int(run, sqlite_drawer(view.created_at));
    run_view(run, &view);
    run_change(run);
    arena_reset(&run->store->scratch);
}

static int views_from_1(struct sqlite_store *store) {
    struct sqlite_run run = {.store = store};
    sqlite3_stmt *page = NULL;
    run.code = sqlite3_prepare_v2(store->db, PAGE_1, -1, &page, NULL);
    while (!run.code) {
        int code = sqlite3_step(page);
        if (code == SQLITE_DONE)
            break;
        if (code == SQLITE_ROW)
            view_from_1(&run, page);
        else
            run.code = code;
    }
    sqlite3_finalize(page);
    return run.code;
}

int sqlite_from_1(struct sqlite_store *store) {
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int code = sqlite3_create_function(store->db, "renewed", 2, flags, store, renewed, NULL, NULL);
    if (!code)
        code = sqlite3_create_function(store->db, "sealed", 3, flags, store, sealed, NULL, NULL);
    if (!code)
        code = sqlite3_exec(store->db, RENAME_1, NULL, NULL, NULL);
    if (!code)
        code = sqlite_tables_make(store);
    if (!code)
        code = sqlite3_exec(store->db, COPY_1, NULL, NULL, NULL);
    if (!code)
        code = views_from_1(store);
    return code ? code : sqlite3_exec(store->db, END_1, NULL, NULL, NULL);
}
