/* SPDX-License-Identifier: Apache-2.0 */
/* Salvages what is still readable in a damaged SQLite store. STORE-11.
 *
 * Every table is read from both ends until a damaged page stops the read, and then once more goal by goal: one way may
 * reach rows that another cannot. All rows go into a new store, whose indexes are intact. There each goal is checked
 * against its records, and only goals that agree with them stay. An open effect that must run at most once becomes
 * unconfirmed: it may have been executed already. */
#include "store/sqlite/sqlite_mend_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct salvage {
    struct mend *mend;
    struct rebuild_report *report;
    sqlite3 *from, *to;
    FILE *lost;
    struct audit_source *source; /* the new store; list columns are checked separately */
    const char *(*columns)(struct audit_source *, const struct goal *, const struct audit *);
    char path[MEND_PATH],
        copy[MEND_PATH]; /* the new store; a copy with a repaired header, or empty */
    bool named;          /* the store's own row could be read */
    bool failed;         /* the new store cannot be written */
};

/* ---- reading a damaged file ---- */

/* A read past the end of a truncated file fails by itself, without making the whole file unreadable. */
static bool from_open(struct salvage *s, const char *place) {
    sqlite3_stmt *look = NULL;
    bool opened =
        sqlite3_open_v2(place, &s->from, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_extended_result_codes(s->from, 1) == SQLITE_OK &&
        sqlite3_exec(s->from, "PRAGMA writable_schema = ON", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(s->from, "SELECT name FROM sqlite_master", -1, &look, NULL) ==
            SQLITE_OK &&
        sqlite3_step(look) == SQLITE_ROW;
    sqlite3_finalize(look);
    if (opened)
        return true;
    sqlite3_close(s->from);
    s->from = NULL;
    return false;
}

static bool file_copy(const char *from, const char *to) {
    FILE *in = fopen(from, "rbe"), *out = in ? fopen(to, "wbe") : NULL;
    char block[65536];
    size_t length = 0;
    bool copied = in && out;
    while (copied && (length = fread(block, 1, sizeof block, in)) > 0)
        copied = fwrite(block, 1, length, out) == length;
    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        copied = false;
    return copied;
}

/* The header of every store is the same except for its counters. So a damaged header can be rewritten, in a copy: the
 * evidence stays as it is. */
static bool header_mend(const char *path) {
    static const uint8_t HEAD[24] = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm', 'a',
                                     't', ' ', '3', 0,   16,  0,   2,   2,   0,   64,  32,  32};
    static const uint8_t FORMAT[4] = {0, 0, 0, 4}, UTF8[4] = {0, 0, 0, 1};
    FILE *file = fopen(path, "r+be");
    bool put = file && fwrite(HEAD, sizeof HEAD, 1, file) == 1 && fseek(file, 44, SEEK_SET) == 0 &&
               fwrite(FORMAT, sizeof FORMAT, 1, file) == 1 && fseek(file, 56, SEEK_SET) == 0 &&
               fwrite(UTF8, sizeof UTF8, 1, file) == 1;
    if (file && fclose(file) != 0)
        put = false;
    return put;
}

/* Copies the file, with a correct header and, if wanted, with its log moved into it. */
static bool copy_make(struct salvage *s, const char *place, bool with_log) {
    char wal[MEND_PATH + 8], to[MEND_PATH + 8];
    sqlite3 *db = NULL;
    snprintf(s->copy, sizeof s->copy, "%.4000s.salvage", s->mend->path);
    snprintf(wal, sizeof wal, "%s-wal", place);
    snprintf(to, sizeof to, "%s-wal", s->copy);
    mend_remove(s->copy);
    if (with_log)
        file_copy(wal, to);
    if (!file_copy(place, s->copy) || !header_mend(s->copy))
        return false;
    if (sqlite3_open_v2(s->copy, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
        sqlite3_exec(db, "PRAGMA writable_schema = ON; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL,
                     NULL);
    sqlite3_close(db);
    return true;
}

static void execute(struct salvage *s, const char *sql) {
    s->failed = s->failed || sqlite3_exec(s->to, sql, NULL, NULL, NULL) != SQLITE_OK;
}

/* ---- copying rows ---- */

struct table {
    const char *name;
    char columns[1024], marks[128], keys[256],
        keys_down[320]; /* a, b · ?, ? · a, b · a DESC, b DESC */
    int count;
    bool of_goals;
    sqlite3_stmt *put;
};

static void list_add(char *list, size_t size, const char *word, const char *after) {
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s\"%s\"%s", used ? ", " : "", word, after);
}

static bool column_is_there(sqlite3 *db, const char *table, const char *column) {
    return sqlite3_table_column_metadata(db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

/* Uses the columns that both stores have. */
static bool table_open(struct salvage *s, const char *name, struct table *t) {
    sqlite3_stmt *columns = NULL;
    char sql[1400];
    *t = (struct table){.name = name};
    sqlite3_prepare_v2(s->to, "SELECT name, pk FROM pragma_table_info(?1)", -1, &columns, NULL);
    sqlite3_bind_text(columns, 1, name, -1, SQLITE_STATIC);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *column = (const char *)sqlite3_column_text(columns, 0);
        if (!column_is_there(s->from, name, column))
            continue;
        list_add(t->columns, sizeof t->columns, column, "");
        snprintf(t->marks + strlen(t->marks), sizeof t->marks - strlen(t->marks), "%s?",
                 t->count++ ? ", " : "");
        t->of_goals = t->of_goals || strcmp(column, "goal_id") == 0;
        if (sqlite3_column_int(columns, 1) == 0)
            continue;
        list_add(t->keys, sizeof t->keys, column, "");
        list_add(t->keys_down, sizeof t->keys_down, column, " DESC");
    }
    sqlite3_finalize(columns);
    snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO \"%s\" (%s) VALUES (%s)", name, t->columns,
             t->marks);
    return t->count > 0 && sqlite3_prepare_v2(s->to, sql, -1, &t->put, NULL) == SQLITE_OK;
}

/* A row that is invalid by itself is not copied; its goal will not verify without it. */
static void row_copy(struct salvage *s, struct table *t, sqlite3_stmt *row) {
    char what[96];
    if (sqlite_row_wrong(row, t->name, what, sizeof what))
        return;
    for (int i = 0; i < t->count; i++)
        sqlite3_bind_value(t->put, i + 1, sqlite3_column_value(row, i));
    int code = sqlite3_step(t->put);
    sqlite3_reset(t->put);
    if (code != SQLITE_DONE && (code & 0xFF) != SQLITE_CONSTRAINT)
        s->failed = true;
}

/* True: the table was read to its end. */
static bool rows_copy(struct salvage *s, struct table *t, const char *rest, const struct id *goal) {
    char sql[2048];
    sqlite3_stmt *rows = NULL;
    snprintf(sql, sizeof sql, "SELECT %s FROM \"%s\" %s", t->columns, t->name, rest);
    if (sqlite3_prepare_v2(s->from, sql, -1, &rows, NULL) != SQLITE_OK)
        return false;
    if (goal)
        sqlite3_bind_blob(rows, 1, goal->bytes, sizeof goal->bytes, SQLITE_STATIC);
    while (!s->failed && sqlite3_step(rows) == SQLITE_ROW)
        row_copy(s, t, rows);
    return sqlite3_finalize(rows) == SQLITE_OK;
}

static enum stored_salvage salvage_of(const char *name) {
    enum store_table table;
    return table_named(name, &table) ? STORED[table].salvage : SALVAGE_COPIED;
}

/* Tables that are made new, not copied: the store's own row, and the tallies. */
static bool is_made(const char *name) {
    return salvage_of(name) == SALVAGE_MADE;
}

static void table_copy(struct salvage *s, const char *name) {
    struct table t = {0};
    char up[300], down[360];
    if (!is_made(name) && table_open(s, name, &t)) {
        snprintf(up, sizeof up, "ORDER BY %s", t.keys);
        snprintf(down, sizeof down, "ORDER BY %s", t.keys_down);
        if (!rows_copy(s, &t, up, NULL)) {
            s->report->unreadable++;
            rows_copy(s, &t, down, NULL);
            rows_copy(s, &t, "NOT INDEXED", NULL);
        }
    }
    sqlite3_finalize(t.put);
}

/* ---- goal by goal ---- */

static void ids_note(struct salvage *s, const char *name) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT OR IGNORE INTO named SELECT goal_id FROM \"%s\" WHERE goal_id <> x'%032d'",
             name, 1);
    if (column_is_there(s->to, name, "goal_id"))
        execute(s, sql);
}

static void table_copy_by_goal(struct salvage *s, const char *name) {
    struct table t = {0};
    sqlite3_stmt *ids = NULL;
    bool open = !is_made(name) && table_open(s, name, &t) && t.of_goals &&
                sqlite3_prepare_v2(s->to, "SELECT goal_id FROM named", -1, &ids, NULL) == SQLITE_OK;
    while (open && sqlite3_step(ids) == SQLITE_ROW) {
        struct id goal;
        if (sqlite3_column_bytes(ids, 0) != sizeof goal)
            continue;
        memcpy(&goal, sqlite3_column_blob(ids, 0), sizeof goal);
        rows_copy(s, &t, "WHERE goal_id = ?1", &goal);
    }
    sqlite3_finalize(ids);
    sqlite3_finalize(t.put);
}

/* Tables whose rows are found through an index over the goal. The index holds the goal id a second time: a row whose
 * own goal id is damaged is still found through it, and a row whose index entry is damaged is found in the table
 * itself. */
static bool is_found_by_goal(const char *name) {
    return salvage_of(name) == SALVAGE_FOUND_BY_GOAL;
}

static void table_copy_keyed(struct salvage *s, const char *name) {
    if (!is_found_by_goal(name))
        table_copy(s, name);
}

static void table_copy_found(struct salvage *s, const char *name) {
    if (!is_found_by_goal(name))
        return;
    table_copy_by_goal(s, name);
    table_copy(s, name);
}

static void tables_each(struct salvage *s, void (*call)(struct salvage *, const char *)) {
    sqlite3_stmt *tables = NULL;
    sqlite3_prepare_v2(s->to, SQLITE_TABLE_NAMES, -1, &tables, NULL);
    while (sqlite3_step(tables) == SQLITE_ROW)
        call(s, (const char *)sqlite3_column_text(tables, 0));
    sqlite3_finalize(tables);
}

static int64_t number_of(sqlite3 *db, const char *sql) {
    sqlite3_stmt *rows = NULL;
    int64_t number = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK &&
        sqlite3_step(rows) == SQLITE_ROW)
        number = sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    return number;
}

/* The store keeps its instance id and continues its counters, as far as they are readable. */
static void store_row(struct salvage *s) {
    sqlite3_stmt *old = NULL, *put = NULL;
    bool read =
        !s->named &&
        sqlite3_prepare_v2(s->from,
                           "SELECT era, tx, instance FROM store WHERE one = 1 AND era BETWEEN 0"
                           " AND 4294967295 AND tx >= 0 AND length(instance) = 16",
                           -1, &old, NULL) == SQLITE_OK &&
        sqlite3_step(old) == SQLITE_ROW;
    if (read && sqlite3_prepare_v2(s->to, "UPDATE store SET era = ?1, tx = ?2, instance = ?3", -1,
                                   &put, NULL) == SQLITE_OK) {
        for (int i = 0; i < 3; i++)
            sqlite3_bind_value(put, i + 1, sqlite3_column_value(old, i));
        s->named = sqlite3_step(put) == SQLITE_DONE;
    }
    sqlite3_finalize(old);
    sqlite3_finalize(put);
}

/* P15: the numbers that hosts had taken. Tables before version 8 have none. */
static void numbered_keep(struct salvage *s) {
    sqlite3_stmt *old = NULL, *put = NULL;
    if (sqlite3_prepare_v2(s->from,
                           "SELECT numbered FROM store WHERE one = 1 AND numbered BETWEEN 0 AND"
                           " 4294967295",
                           -1, &old, NULL) == SQLITE_OK &&
        sqlite3_step(old) == SQLITE_ROW &&
        sqlite3_prepare_v2(s->to, "UPDATE store SET numbered = max(numbered, ?1)", -1, &put,
                           NULL) == SQLITE_OK) {
        sqlite3_bind_value(put, 1, sqlite3_column_value(old, 0));
        sqlite3_step(put);
    }
    sqlite3_finalize(old);
    sqlite3_finalize(put);
}

/* A stopped fleet stays stopped. */
static void stopped_keep(struct salvage *s) {
    sqlite3_stmt *old = NULL, *put = NULL;
    if (sqlite3_prepare_v2(s->from, "SELECT stopped FROM store WHERE one = 1", -1, &old, NULL) ==
            SQLITE_OK &&
        sqlite3_step(old) == SQLITE_ROW && sqlite3_column_type(old, 0) == SQLITE_TEXT &&
        sqlite3_prepare_v2(s->to, "UPDATE store SET stopped = ?1", -1, &put, NULL) == SQLITE_OK) {
        sqlite3_bind_value(put, 1, sqlite3_column_value(old, 0));
        sqlite3_step(put);
    }
    sqlite3_finalize(old);
    sqlite3_finalize(put);
}

static void tables_copy(struct salvage *s) {
    execute(s, "BEGIN");
    tables_each(s, table_copy_keyed);
    tables_each(s, ids_note);
    tables_each(s, table_copy_found);
    tables_each(s, ids_note);
    if (s->report->unreadable > 0)
        tables_each(s, table_copy_by_goal);
    tables_each(s, ids_note);
    store_row(s);
    stopped_keep(s);
    numbered_keep(s);
    execute(s, "COMMIT");
}

/* ---- goals that do not verify ---- */

static void text_put(FILE *to, const char *at, size_t length) {
    fputc('"', to);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static bool lost_open(struct salvage *s) {
    char stamp[TIME_BASIC_TEXT + 1];
    if (s->lost)
        return true;
    time_format_basic(s->mend->at, stamp);
    snprintf(s->report->lost_path, sizeof s->report->lost_path, "%.4000s.lost-%s.jsonl",
             s->mend->path, stamp);
    s->lost = fopen(s->report->lost_path, "ae");
    s->failed = s->failed || !s->lost;
    return s->lost;
}

static void lost_add(struct salvage *s, struct id goal, const char *wrong) {
    char id[ID_TEXT + 1];
    s->report->lost++;
    if (!lost_open(s))
        return;
    id_format(goal, id);
    fprintf(s->lost, "{\"goalId\": \"goal_%s\", \"lost\": ", id);
    text_put(s->lost, wrong, strlen(wrong));
    fprintf(s->lost, "}\n");
}

/* The list columns follow from the goal, and its title from the records. So a view can be made again. */
static void view_make(struct salvage *s, const struct audit *audit, const struct goal *goal) {
    static const char MAKE[] =
        "INSERT INTO goal_view (row, goal_id, status, face, priority, percent, created_at, updated_at, title,"
        " ended_at, repository, number)"
        " VALUES (coalesce((SELECT max(row) + 1 FROM goal_view WHERE row BETWEEN ?1 AND ?1 + 2097151), ?1),"
        " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    const int64_t numbers[] = {goal->status,           goal_display_state(goal),
                               goal->priority,         goal->progress.percent,
                               goal->times.created_at, goal->times.updated_at};
    struct str title = {audit->title, audit->title_length};
    sqlite3_stmt *put = NULL;
    if (title.len == 0)
        title = STR("(its title is lost)");
    s->failed = s->failed || sqlite3_prepare_v2(s->to, MAKE, -1, &put, NULL) != SQLITE_OK;
    sqlite3_bind_int64(put, 1, sqlite_drawer(goal->times.created_at));
    sqlite3_bind_blob(put, 2, goal->id.bytes, sizeof goal->id.bytes, SQLITE_STATIC);
    for (int i = 0; i < (int)count_of(numbers); i++)
        sqlite3_bind_int64(put, 3 + i, numbers[i]);
    sqlite3_bind_text(put, 9, title.at, (int)title.len, SQLITE_STATIC);
    sqlite3_bind_int64(put, 10, goal->times.ended_at);
    sqlite3_bind_int64(put, 11, (int64_t)goal->repository);
    sqlite3_bind_int64(put, 12, (int64_t)goal->kind.number);
    s->failed = s->failed || sqlite3_step(put) != SQLITE_DONE;
    sqlite3_finalize(put);
}

static void of_goal(struct salvage *s, const char *sql, struct id goal, bool flag) {
    sqlite3_stmt *run = NULL;
    s->failed = s->failed || sqlite3_prepare_v2(s->to, sql, -1, &run, NULL) != SQLITE_OK;
    sqlite3_bind_blob(run, 1, goal.bytes, sizeof goal.bytes, SQLITE_STATIC);
    if (sqlite3_bind_parameter_count(run) > 1)
        sqlite3_bind_int64(run, 2, flag);
    s->failed = s->failed || sqlite3_step(run) != SQLITE_DONE;
    sqlite3_finalize(run);
}

/* A number that is wrong in one list row must not keep another goal from its own. */
static void number_set(struct salvage *s, const struct goal *goal) {
    sqlite3_stmt *put = NULL;
    s->failed = s->failed ||
                sqlite3_prepare_v2(s->to, "UPDATE goal_view SET number = ?2 WHERE goal_id = ?1", -1,
                                   &put, NULL) != SQLITE_OK;
    sqlite3_bind_blob(put, 1, goal->id.bytes, sizeof goal->id.bytes, SQLITE_STATIC);
    sqlite3_bind_int64(put, 2, (int64_t)goal->kind.number);
    s->failed = s->failed || sqlite3_step(put) != SQLITE_DONE;
    sqlite3_finalize(put);
}

static void goal_judge(void *with, const struct audit *audit, const struct goal *goal,
                       const char *wrong) {
    struct salvage *s = with;
    if (wrong) {
        lost_add(s, audit->goal, wrong);
        return;
    }
    of_goal(s, "INSERT INTO kept VALUES (?1)", audit->goal, false);
    number_set(s, goal);
    if (goal->quarantined || !s->columns(s->source, goal, audit))
        return;
    of_goal(s, "UPDATE goal SET open = ?2 WHERE goal_id = ?1", audit->goal, goal_is_open(goal));
    of_goal(s, "DELETE FROM goal_view WHERE goal_id = ?1", audit->goal, false);
    if (!goal->kind.admission)
        view_make(s, audit, goal);
}

/* Ids that some row names although the goal's own row is gone. */
static void traces_judge(struct salvage *s) {
    sqlite3_stmt *ids = NULL;
    sqlite3_prepare_v2(s->to,
                       "SELECT goal_id FROM named WHERE goal_id NOT IN (SELECT goal_id FROM goal)",
                       -1, &ids, NULL);
    while (sqlite3_step(ids) == SQLITE_ROW) {
        struct id goal;
        if (sqlite3_column_bytes(ids, 0) == sizeof goal) {
            memcpy(&goal, sqlite3_column_blob(ids, 0), sizeof goal);
            lost_add(s, goal, "its row is missing");
        }
    }
    sqlite3_finalize(ids);
}

static void table_clear(struct salvage *s, const char *name) {
    char sql[256];
    snprintf(
        sql, sizeof sql,
        "DELETE FROM \"%s\" WHERE goal_id NOT IN (SELECT goal_id FROM kept) AND goal_id <> x'%032d'",
        name, 1);
    if (column_is_there(s->to, name, "goal_id"))
        execute(s, sql);
}

static void goals_judge(struct salvage *s) {
    struct sqlite_options options = {.path = s->path, .busy_ms = 2000, .read_only = true};
    struct examination it = {0};
    struct store *store = sqlite_open(&options, s->mend->error, sizeof s->mend->error);
    if (!store) {
        s->failed = true;
        return;
    }
    execute(s, "CREATE TEMP TABLE kept (goal_id BLOB PRIMARY KEY) WITHOUT ROWID");
    struct sqlite_source source = sqlite_source_of(s->to, store);
    s->source = &source.source;
    s->columns = source.source.columns;
    source.source.columns = NULL;
    if (!audit_each(&source.source, false, &it, goal_judge, s))
        s->failed = true;
    sqlite_source_end(&source);
    traces_judge(s);
    store_close(store);
    tables_each(s, table_clear);
}

/* ---- finishing the new store ---- */

/* P4, as if this host had taken over from itself: an open effect may have been executed, so it is never executed again
 * automatically. The ledger finds it unconfirmed, and asks a person. Effects that may be repeated are left as they
 * were. */
static const char UNCONFIRM[] =
    "UPDATE goal SET fence = fence + 1, version = version + 1"
    " WHERE goal_id IN (SELECT goal_id FROM effect WHERE state < 2 AND kind IN (SELECT kind FROM once));"
    "UPDATE effect SET state = 2, run_host = CASE run_host WHEN 0 THEN"
    " (SELECT owner FROM goal WHERE goal.goal_id = effect.goal_id) ELSE run_host END"
    " WHERE state < 2 AND kind IN (SELECT kind FROM once);"
    "DELETE FROM tally;"
    "INSERT INTO tally SELECT g.owner, v.face, count(*) FROM goal g JOIN goal_view v USING (goal_id)"
    " GROUP BY 1, 2;";

static void once_note(struct salvage *s) {
    char sql[64];
    execute(s, "CREATE TEMP TABLE once (kind INTEGER PRIMARY KEY)");
    for (int kind = EFFECT_NONE + 1; kind < EFFECT_KINDS; kind++) {
        snprintf(sql, sizeof sql, "INSERT INTO once VALUES (%d)", kind);
        if (EFFECTS[kind].promise == PROMISE_AT_MOST_ONCE)
            execute(s, sql);
    }
}

/* The store's own log: the damaged store's records, if their chain verifies, followed by those written since. */
static void system_keep(struct salvage *s) {
    struct sqlite_source source = sqlite_source_of(s->to, NULL);
    struct audit audit;
    audit_begin(&audit, SYSTEM_GOAL);
    if (!source.source.records(&source.source, SYSTEM_GOAL, &audit) || audit.broken)
        execute(s, "DELETE FROM record WHERE goal_id = x'00000000000000000000000000000001'");
    sqlite_source_end(&source);
}

static void system_follow(struct salvage *s) {
    sqlite3 *safe = NULL;
    sqlite3_stmt *rows = NULL;
    if (sqlite3_open_v2(s->mend->path, &safe, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(safe,
                           "SELECT type, at, body FROM record WHERE"
                           " goal_id = x'00000000000000000000000000000001' ORDER BY seq",
                           -1, &rows, NULL) == SQLITE_OK)
        while (!s->failed && sqlite3_step(rows) == SQLITE_ROW) {
            struct evidence evidence = {0};
            struct str body = {sqlite3_column_blob(rows, 2), (size_t)sqlite3_column_bytes(rows, 2)};
            if (shape_decode(&EVIDENCE, body, &evidence))
                s->failed = !mend_note(s->to, sqlite3_column_int64(rows, 1),
                                       (enum record_type)sqlite3_column_int64(rows, 0),
                                       evidence.rule, evidence.text);
        }
    sqlite3_finalize(rows);
    sqlite3_close(safe);
}

static void rebuilt_note(struct salvage *s, const char *place) {
    struct rebuild_report *report = s->report;
    char text[LIMIT_RECORD_BODY];
    report->goals = (uint64_t)number_of(s->to, "SELECT count(*) FROM goal");
    report->records = (uint64_t)number_of(s->to, "SELECT count(*) FROM record");
    report->effects = (uint64_t)number_of(s->to, "SELECT count(*) FROM effect");
    snprintf(text, sizeof text,
             "from %.1000s: %llu goals, %llu records; %llu goals lost; %llu effects unconfirmed",
             place, (unsigned long long)report->goals, (unsigned long long)report->records,
             (unsigned long long)report->lost, (unsigned long long)report->effects);
    if (!s->failed)
        s->failed = !mend_note(s->to, s->mend->at, RECORD_STORE_REBUILT, STR("store.rebuild"),
                               str_of(text));
}

static void pages_end(struct salvage *s) {
    char path[MEND_PATH];
    snprintf(path, sizeof path, "%.4000s.pages", s->mend->path);
    sqlite3_close(s->from);
    s->from = NULL;
    mend_remove(path);
}

/* Inserts every row found in the file's pages into a separate store, which is then read like any other. */
static bool pages_read(struct salvage *s, const char *file) {
    char path[MEND_PATH];
    sqlite3 *pages = NULL;
    pages_end(s);
    snprintf(path, sizeof path, "%.4000s.pages", s->mend->path);
    bool walked = mend_create(s->mend, path, &pages) &&
                  sqlite3_exec(pages, "PRAGMA synchronous = OFF; BEGIN; DELETE FROM store", NULL,
                               NULL, NULL) == SQLITE_OK &&
                  mend_walk_pages(file, pages) &&
                  sqlite3_exec(pages, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(pages);
    return walked && from_open(s, path);
}

static int64_t goals_read(struct salvage *s) {
    return number_of(s->to, "SELECT count(*) FROM goal");
}

/* Reads first what the trees lead to, which is certainly the newest; then what only the pages hold. If that yields
 * nothing, the log may not belong to the file: then the pages without the log are read. */
static bool salvage_read(struct salvage *s, const char *place) {
    bool read = from_open(s, place);
    if (read)
        tables_copy(s);
    if ((!read || s->report->unreadable > 0) && copy_make(s, place, true) && pages_read(s, s->copy))
        tables_copy(s);
    if (goals_read(s) == 0 && copy_make(s, place, false) && pages_read(s, s->copy)) {
        s->report->unreadable++;
        tables_copy(s);
    }
    pages_end(s);
    mend_remove(s->copy);
    if (goals_read(s) == 0)
        return mend_failed(s->mend, "No row of it can be read", place);
    s->mend->error[0] = 0;
    return true;
}

static void salvage_run(struct salvage *s, const char *place) {
    execute(s, "PRAGMA synchronous = OFF"); /* it is synced as a whole, before it is put in place */
    execute(s, "CREATE TEMP TABLE named (goal_id BLOB PRIMARY KEY) WITHOUT ROWID");
    if (!salvage_read(s, place)) {
        s->failed = true;
        return;
    }
    execute(
        s,
        "UPDATE store SET retaining = 1, era = era + 1," /* the rebuilt store has gone back in time */
        " tx = max(tx, (SELECT coalesce(max(tx), 0) FROM record))");
    execute(s, "UPDATE goal_view SET number = 0"); /* each goal says its own */
    goals_judge(s);
    once_note(s);
    execute(s, "BEGIN");
    execute(s, UNCONFIRM);
    system_keep(s);
    system_follow(s);
    rebuilt_note(s, place);
    execute(s, "UPDATE store SET retaining = 0, safe = NULL");
    execute(s, "COMMIT");
}

bool mend_rebuild(struct mend *mend, const char *place, struct rebuild_report *ret) {
    struct salvage s = {.mend = mend, .report = ret};
    *ret = (struct rebuild_report){0};
    snprintf(s.path, sizeof s.path, "%.4000s.rebuild", mend->path);
    bool good = mend_create(mend, s.path, &s.to);
    if (good) {
        salvage_run(&s, place);
        good = !s.failed;
    }
    sqlite3_close(s.from);
    if (s.lost && fclose(s.lost) != 0)
        good = mend_failed(mend, "The list of what is lost cannot be written", strerror(errno));
    return mend_install(mend, s.path, s.to, good) && good;
}
