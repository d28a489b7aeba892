/* SPDX-License-Identifier: Apache-2.0 */
/* Examines whether an SQLite store is intact, from the outside in: the file, its log, the engine's check, rows, goals. */
#include "store/sqlite/sqlite_examine.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the engine ---- */

struct looking {
    sqlite3 *db, *fresh; /* the examined store, and a new one to compare it with */
    struct store *made;  /* the new store, which `fresh` belongs to */
    struct examination *it;
    const atomic_bool *ending; /* set: a ledger is running; NULL: nothing writes */
};

/* Derives a finding or verdict about the store from an engine error. */
static void engine_failed(struct looking *l, sqlite3 *db, const char *where) {
    const char *text = db ? sqlite3_errmsg(db) : "out of memory";
    switch (sqlite3_errcode(db) & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_FORMAT: examine_found(l->it, where, "", "%s", text); break;
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW: break;
    default:
        if (sqlite3_extended_errcode(db) == SQLITE_IOERR_SHORT_READ)
            examine_found(l->it, where, "", "%s", text);
        else if (l->it->verdict == EXAMINE_SOUND)
            examine_verdict_set(l->it, EXAMINE_AWAY, "SQLite: %s", text);
    }
}

static sqlite3_stmt *query(struct looking *l, const char *table, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(l->db, sql, -1, &statement, NULL) != SQLITE_OK)
        engine_failed(l, l->db, table);
    return statement;
}

static void query_end(struct looking *l, const char *table, sqlite3_stmt *statement) {
    if (statement && sqlite3_finalize(statement) != SQLITE_OK)
        engine_failed(l, l->db, table);
}

/* A file beyond the first bound gets the check that does not compare each index with its table; beyond the second bound
 * it gets none, because everyone would wait for it for minutes. */
static void engine_check(struct looking *l) {
    if (l->it->unchecked)
        return;
    sqlite3_stmt *rows =
        query(l, "file", l->it->deep ? "PRAGMA integrity_check(8)" : "PRAGMA quick_check(8)");
    while (rows && sqlite3_step(rows) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(rows, 0);
        if (text && strcmp(text, "ok") != 0)
            examine_found(l->it, "file", "", "%.140s", text);
    }
    query_end(l, "file", rows);
}

/* The first number of the first row; -1 when there is none. */
static int64_t number_of(sqlite3 *db, const char *sql, const char *text) {
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) {
        if (text)
            sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW)
            number = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return number;
}

/* ---- its tables ---- */

const char SQLITE_TABLE_NAMES[] =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    " AND name NOT LIKE 'goal_fts%'";
static const char COLUMNS_SQL[] =
    "SELECT group_concat(name || ' ' || type || ' ' || pk, ', ') FROM pragma_table_info(?1)";
static const char INDEXES_SQL[] =
    "SELECT group_concat(i.name || '(' || (SELECT group_concat(x.name) FROM pragma_index_info(i.name) x)"
    " || ')') FROM (SELECT name FROM pragma_index_list(?1) ORDER BY name) i";

static bool same_text(struct looking *l, const char *sql, const char *table) {
    sqlite3_stmt *ours = NULL, *theirs = NULL;
    bool same = false;
    if (sqlite3_prepare_v2(l->fresh, sql, -1, &ours, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(l->db, sql, -1, &theirs, NULL) == SQLITE_OK) {
        sqlite3_bind_text(ours, 1, table, -1, SQLITE_STATIC);
        sqlite3_bind_text(theirs, 1, table, -1, SQLITE_STATIC);
        sqlite3_step(ours);
        sqlite3_step(theirs);
        const char *a = (const char *)sqlite3_column_text(ours, 0);
        const char *b = (const char *)sqlite3_column_text(theirs, 0);
        same = strcmp(a ? a : "", b ? b : "") == 0;
    }
    sqlite3_finalize(ours);
    sqlite3_finalize(theirs);
    return same;
}

/* Each index and trigger is created by one statement, so its SQL text is the same in every store. */
static const char TEXT_SQL[] = "SELECT sql FROM sqlite_master WHERE name = ?1";

static void texts_check(struct looking *l) {
    sqlite3_stmt *names = NULL;
    sqlite3_prepare_v2(
        l->fresh,
        "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL", -1,
        &names, NULL);
    while (sqlite3_step(names) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(names, 0);
        if (!same_text(l, TEXT_SQL, name))
            examine_found(l->it, "schema", name, "its definition differs from Overseer's");
    }
    sqlite3_finalize(names);
}

/* The number of tables that differ from those of a new store. */
static int tables_differ(struct looking *l, bool report) {
    int differ = 0;
    sqlite3_stmt *tables = NULL;
    sqlite3_prepare_v2(l->fresh, SQLITE_TABLE_NAMES, -1, &tables, NULL);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(tables, 0);
        bool columns = same_text(l, COLUMNS_SQL, table), indexes = same_text(l, INDEXES_SQL, table);
        differ += !columns || !indexes;
        if (report && !columns)
            examine_found(l->it, table, "", "its columns differ from Overseer's");
        else if (report && !indexes)
            examine_found(l->it, table, "", "its indexes differ from Overseer's");
    }
    sqlite3_finalize(tables);
    return differ;
}

static void not_ours(struct looking *l) {
    engine_failed(l, l->db, "file");
    examine_verdict_set(l->it, EXAMINE_NOT_A_STORE, "it is a database of another program");
}

/* A version that is not ours although all tables are is a damaged number, not the version of another build. */
static void version_judge(struct looking *l, int64_t version, int64_t oldest) {
    bool ours = tables_differ(l, false) == 0;
    if (version == SCHEMA_VERSION) {
        tables_differ(l, true);
        texts_check(l);
    } else if (version < 1 || ours)
        examine_found(l->it, "store", "", "its version does not match its tables");
    else if (version < SCHEMA_VERSION)
        l->it->older = true;
    else if (oldest > SCHEMA_VERSION)
        examine_verdict_set(
            l->it, EXAMINE_NEWER,
            "it was written by a newer build (tables of version %lld, this build knows %d)",
            (long long)version, SCHEMA_VERSION);
}

static void version_check(struct looking *l) {
    if (number_of(l->db, "SELECT count(*) FROM sqlite_master", NULL) < 0) {
        engine_failed(l, l->db, "file");
        return;
    }
    int64_t version = number_of(l->db, "SELECT version FROM store WHERE one = 1", NULL);
    int64_t oldest = number_of(l->db, "SELECT oldest FROM store WHERE one = 1", NULL);
    if (version < 0 && number_of(l->db, "SELECT count(*) FROM goal", NULL) < 0)
        not_ours(l);
    else
        version_judge(l, version, oldest);
}

/* ---- each row by itself ---- */

static const char *range_wrong(const struct stored_column *column, int64_t value) {
    bool any = !column || (column->least == 0 && column->most == 0);
    return !any && (value < column->least || value > column->most) ? "out of range" : NULL;
}

const char *sqlite_length_wrong(const struct stored_column *column, int length) {
    size_t right = !column                       ? 0
                   : column->type == STORED_ID   ? sizeof(struct id)
                   : column->type == STORED_HASH ? sizeof(struct hash)
                                                 : 0;
    return right && (size_t)length != right ? "of the wrong length" : NULL;
}

/* The declared column; NULL: a newer build has added it. */
static const struct stored_column *column_of(const char *table, const char *column) {
    enum store_table which;
    return table_named(table, &which) ? table_column(which, column) : NULL;
}

/* What is wrong with a value in its column, or NULL. */
static const char *value_wrong(sqlite3_stmt *row, int at, const char *table) {
    const struct stored_column *column = column_of(table, sqlite3_column_name(row, at));
    const char *declared = sqlite3_column_decltype(row, at);
    int type = sqlite3_column_type(row, at);
    if (type == SQLITE_NULL)
        return NULL; /* integrity_check reports a NULL that is not allowed */
    switch (declared ? declared[0] : 0) {
    case 'I':
        return type == SQLITE_INTEGER ? range_wrong(column, sqlite3_column_int64(row, at))
                                      : "not a number";
    case 'B':
        return type == SQLITE_BLOB ? sqlite_length_wrong(column, sqlite3_column_bytes(row, at))
                                   : "not bytes";
    case 'T': {
        const char *text = (const char *)sqlite3_column_text(row, at);
        struct str words = {text, (size_t)sqlite3_column_bytes(row, at)};
        return type == SQLITE_TEXT && str_is_text(words) ? NULL : "not text";
    }
    default: return NULL;
    }
}

static void row_key(sqlite3_stmt *row, char *text, size_t size) {
    struct id id;
    if (sqlite3_column_type(row, 0) == SQLITE_BLOB && sqlite3_column_bytes(row, 0) == sizeof id) {
        memcpy(&id, sqlite3_column_blob(row, 0), sizeof id);
        id_format(id, text);
    } else
        snprintf(text, size, "%lld", (long long)sqlite3_column_int64(row, 0));
}

static int column_named(sqlite3_stmt *row, const char *name) {
    for (int i = 0; i < sqlite3_column_count(row); i++)
        if (strcmp(sqlite3_column_name(row, i), name) == 0)
            return i;
    return -1;
}

static struct str column_bytes(sqlite3_stmt *row, int at) {
    return (struct str){sqlite3_column_blob(row, at), (size_t)sqlite3_column_bytes(row, at)};
}

/* Bodies that carry their own check; an effect's body is what will be executed, so it must also decode. */
static const char *seal_wrong(sqlite3_stmt *row, uint32_t table) {
    int at_goal = column_named(row, "goal_id"), at_n = column_named(row, "n"),
        at_kind = column_named(row, "kind"), at_body = column_named(row, "body");
    struct id goal;
    struct effect effect = {0};
    if (at_goal < 0 || at_n < 0 || at_body < 0 || sqlite3_column_bytes(row, at_goal) != sizeof goal)
        return NULL;
    memcpy(&goal, sqlite3_column_blob(row, at_goal), sizeof goal);
    struct str body = column_bytes(row, at_body);
    if (!row_unseal(table, goal, (uint32_t)sqlite3_column_int64(row, at_n), &body))
        return "its checksum does not match";
    if (table == ROW_EFFECT &&
        !effect_decode((enum effect_kind)sqlite3_column_int64(row, at_kind), body, &effect))
        return "its effect cannot be decoded";
    return NULL;
}

/* A text must match its hash. */
static const char *text_wrong(sqlite3_stmt *row) {
    int at_hash = column_named(row, "hash"), at_body = column_named(row, "body");
    if (at_hash < 0 || at_body < 0)
        return NULL;
    struct hash hash = sha256(column_bytes(row, at_body));
    return memcmp(&hash, sqlite3_column_blob(row, at_hash), sizeof hash) == 0
               ? NULL
               : "its text does not match its hash";
}

static const char *body_wrong(sqlite3_stmt *row, const char *name) {
    enum store_table table;
    if (!table_named(name, &table))
        return NULL;
    switch (STORED[table].body) {
    case BODY_HASHED: return text_wrong(row);
    case BODY_EFFECT: return seal_wrong(row, ROW_EFFECT);
    case BODY_PART: return seal_wrong(row, ROW_PART + (uint32_t)(table - TABLE_PART));
    default: return NULL;
    }
}

/* The one place that knows what a row may hold. */
bool sqlite_row_wrong(sqlite3_stmt *row, const char *table, char *what, size_t size) {
    const char *wrong = NULL;
    for (int i = 0; i < sqlite3_column_count(row); i++)
        if ((wrong = value_wrong(row, i, table))) {
            snprintf(what, size, "%s is %s", sqlite3_column_name(row, i), wrong);
            return true;
        }
    wrong = body_wrong(row, table);
    if (wrong)
        snprintf(what, size, "%s", wrong);
    return wrong != NULL;
}

/* A quarantined goal keeps its bytes, whatever they are. */
static bool row_is_aside(struct looking *l, sqlite3_stmt *row) {
    int at = column_named(row, "goal_id");
    sqlite3_stmt *goal = NULL;
    bool aside = false;
    if (at >= 0 && sqlite3_prepare_v2(l->db, "SELECT aside FROM goal WHERE goal_id = ?1", -1, &goal,
                                      NULL) == SQLITE_OK) {
        sqlite3_bind_value(goal, 1, sqlite3_column_value(row, at));
        aside = sqlite3_step(goal) == SQLITE_ROW && sqlite3_column_int64(goal, 0) == 1;
    }
    sqlite3_finalize(goal);
    return aside;
}

static void table_check(struct looking *l, const char *table) {
    char sql[128], what[96], key[64];
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table);
    sqlite3_stmt *rows = query(l, table, sql);
    while (rows && l->it->found < LIMIT_FINDINGS && sqlite3_step(rows) == SQLITE_ROW)
        if (sqlite_row_wrong(rows, table, what, sizeof what) && !row_is_aside(l, rows)) {
            row_key(rows, key, sizeof key);
            examine_found(l->it, table, key, "%s", what);
        }
    query_end(l, table, rows);
}

/* ---- rows against one another ---- */

/* Queries that return no row for an intact store. The first column names the goal. */
static const struct question_row {
    const char *table, *sql, *what;
} QUESTIONS[] = {
    {"goal",
     "SELECT goal_id FROM goal WHERE owner NOT IN (SELECT host_id FROM host) AND EXISTS (SELECT 1 FROM host)",
     "its owner is unknown"},
    {"record", "SELECT goal_id FROM record WHERE tx > (SELECT tx FROM store)",
     "a record is newer than the store"},
    {"record", "SELECT goal_id FROM record WHERE day NOT IN (0, at / 86400000000) AND at >= 0",
     "a record is filed under another day than its own"},
    {"record",
     "SELECT goal_id FROM record WHERE goal_id <> x'00000000000000000000000000000001'"
     " AND goal_id NOT IN (SELECT goal_id FROM goal)",
     "it has records but no row"},
};

static void question_ask(struct looking *l, const char *table, const char *sql, const char *what) {
    char key[64];
    sqlite3_stmt *rows = query(l, table, sql);
    for (int i = 0; rows && i < 4 && sqlite3_step(rows) == SQLITE_ROW; i++) {
        row_key(rows, key, sizeof key);
        examine_found(l->it, table, key, "%s", what);
    }
    query_end(l, table, rows);
}

static void owner_ask(struct looking *l, const char *table) {
    char sql[256];
    bool of_goals =
        number_of(l->fresh, "SELECT count(*) FROM pragma_table_info(?1) WHERE name = 'goal_id'",
                  table) == 1;
    if (!of_goals || strcmp(table, "goal") == 0 || strcmp(table, "record") == 0)
        return;
    snprintf(sql, sizeof sql,
             "SELECT goal_id FROM \"%s\" WHERE goal_id NOT IN (SELECT goal_id FROM goal)%s", table,
             strcmp(table, "text") == 0 /* policies belong to the store itself */
                 ? " AND goal_id <> x'00000000000000000000000000000001'"
                 : "");
    question_ask(l, table, sql, "it belongs to no goal");
}

static void tables_check(struct looking *l) {
    sqlite3_stmt *tables = NULL;
    sqlite3_prepare_v2(l->fresh, SQLITE_TABLE_NAMES, -1, &tables, NULL);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(tables, 0);
        table_check(l, table);
        owner_ask(l, table);
    }
    sqlite3_finalize(tables);
    for (size_t i = 0; i < count_of(QUESTIONS); i++)
        question_ask(l, QUESTIONS[i].table, QUESTIONS[i].sql, QUESTIONS[i].what);
}

/* ---- goals and their records ---- */

static void goals_check(struct looking *l, const char *path) {
    char error[256];
    struct sqlite_options options = {.path = path, .busy_ms = 2000, .read_only = true};
    struct store *store = sqlite_open(&options, error, sizeof error);
    if (!store) {
        examine_found(l->it, "file", "", "%s", error);
        return;
    }
    struct sqlite_source source = sqlite_source_of(l->db, store);
    examine_goals(&source.source, !l->it->deep, l->it);
    sqlite_source_end(&source);
    store_close(store);
}

/* ---- the whole examination ---- */

enum { PACE_OPS = 20000, PACE_US = 1000 }; /* engine steps, and the pause after them */

/* Next to a running ledger each statement has its own snapshot, and pauses to leave time for other work. */
static int pace(void *with) {
    struct looking *l = with;
    usleep(PACE_US);
    return atomic_load(l->ending);
}

static bool looking_open(struct looking *l, const char *path) {
    int code = sqlite3_open_v2(path, &l->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_extended_result_codes(l->db, 1);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(l->db, 2000);
    if (l->ending)
        sqlite3_progress_handler(l->db, PACE_OPS, pace, l);
    else if (code == SQLITE_OK)
        code = sqlite3_exec(l->db, "BEGIN", NULL, NULL,
                            NULL); /* one snapshot and one lock for the whole examination */
    if (code != SQLITE_OK)
        engine_failed(l, l->db, "file");
    char error[LIMIT_WHY];
    struct sqlite_options options = {.path = ":memory:"};
    l->made = sqlite_open(&options, error, sizeof error);
    if (l->made)
        l->fresh = ((struct sqlite_store *)l->made)->db;
    else if (l->it->verdict == EXAMINE_SOUND)
        examine_verdict_set(l->it, EXAMINE_AWAY, "out of memory while examining the store");
    return l->it->verdict == EXAMINE_SOUND;
}

/* For a store that an older build wrote, only what does not depend on its tables is examined; the rest follows after
 * they have been migrated. */
static void looking_run(struct looking *l, const char *path) {
    version_check(l);
    if (l->it->verdict == EXAMINE_SOUND || l->it->verdict == EXAMINE_DAMAGED)
        engine_check(l);
    if (l->it->verdict != EXAMINE_SOUND || l->it->older)
        return;
    if (l->it->deep)
        tables_check(l);
    if (l->it->verdict == EXAMINE_SOUND || l->it->verdict == EXAMINE_DAMAGED)
        goals_check(l, path);
}

void sqlite_examine(const char *path, const struct examine_options *options,
                    struct examination *ret) {
    struct looking looking = {.it = ret, .ending = options->ending};
    *ret = (struct examination){.verdict = EXAMINE_SOUND};
    if (sqlite_file_check(path, options, ret) && looking_open(&looking, path))
        looking_run(&looking, path);
    sqlite3_close(looking.db);
    store_close(looking.made);
}
