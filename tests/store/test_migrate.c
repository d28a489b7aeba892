/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that an older SQLite store is migrated completely or not at all, and that foreign files are left alone. */
#include "lib/memvfs.h"
#include "store/shop.h"
#include "store/sqlite/sqlite.h"
#include "store/words.h"

#include <sqlite3.h>
#include <unistd.h>

static char path[64];

/* ---- files ---- */

struct file {
    char *at;
    size_t len;
};

static struct file file_read(const char *name) {
    FILE *in = fopen(name, "rb");
    check(in, "%s is not there", name);
    struct file file = {malloc(1 << 22), 0};
    assert_non_null(file.at);
    file.len = fread(file.at, 1, (1 << 22) - 1, in);
    file.at[file.len] = 0;
    fclose(in);
    return file;
}

static void file_remove(void) {
    static const char *const SUFFIXES[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < count_of(SUFFIXES); i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", path, SUFFIXES[i]);
        unlink(name);
    }
}

static sqlite3 *raw_open(const char *vfs) {
    sqlite3 *db;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    assert_int_equal(sqlite3_open_v2(path, &db, flags, vfs), SQLITE_OK);
    return db;
}

static void raw_run(sqlite3 *db, const char *sql) {
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    check(code == SQLITE_OK, "%.80s: %s", sql, sqlite3_errmsg(db));
}

/* A store of an older version, as the daemon of that version left it. */
static void fixture_of(uint32_t version, const char *vfs, const char *more) {
    const char *tests = getenv("OVERSEER_TESTS");
    char name[256];
    snprintf(name, sizeof name, "%s/fixtures/store-%u.sqlite.sql", tests ? tests : "tests",
             version);
    struct file sql = file_read(name);
    sqlite3 *db = raw_open(vfs);
    raw_run(db, "PRAGMA journal_mode = WAL");
    raw_run(db, sql.at);
    raw_run(db, more);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    free(sql.at);
}

static void fixture_make(const char *vfs, const char *more) {
    fixture_of(1, vfs, more);
}

/* Changes a closed store. */
static void raw_change(const char *sql) {
    sqlite3 *db = raw_open(NULL);
    raw_run(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ---- the whole content as text ---- */

struct dump {
    char *at;
    size_t len;
};

static void column_print(FILE *out, sqlite3_stmt *row, const char *table, int i, struct id goal,
                         uint32_t n) {
    const char *column = sqlite3_column_name(row, i);
    struct str bytes = {sqlite3_column_blob(row, i), (size_t)sqlite3_column_bytes(row, i)};
    fprintf(out, "%s%s ", i == 0 ? "  " : ", ", column);
    switch (sqlite3_column_type(row, i)) {
    case SQLITE_INTEGER: words_int(out, table, column, sqlite3_column_int64(row, i)); break;
    case SQLITE_TEXT: words_text(out, bytes); break;
    case SQLITE_NULL: fputs("none", out); break;
    default: words_bytes(out, table, column, goal, n, bytes); break;
    }
}

/* The goal and n of a row determine its seals. */
static void row_print(FILE *out, sqlite3_stmt *row, const char *table) {
    struct id goal = {0};
    uint32_t n = 0;
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *column = sqlite3_column_name(row, i);
        if (strcmp(column, "goal_id") == 0 && sqlite3_column_bytes(row, i) == 16)
            memcpy(goal.bytes, sqlite3_column_blob(row, i), 16);
        if (strcmp(column, "n") == 0)
            n = (uint32_t)sqlite3_column_int64(row, i);
    }
    for (int i = 0; i < sqlite3_column_count(row); i++)
        column_print(out, row, table, i, goal, n);
    fputc('\n', out);
}

static void table_print(FILE *out, sqlite3 *db, const char *table) {
    static const char *const ORDER[] = {"", "1", "1, 2", "1, 2, 3"};
    char sql[128];
    sqlite3_stmt *rows;
    snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    int columns = sqlite3_column_count(rows);
    sqlite3_finalize(rows);
    snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY %s", table,
             ORDER[columns < 3 ? columns : 3]);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    fprintf(out, "%s\n", table);
    while (sqlite3_step(rows) == SQLITE_ROW)
        row_print(out, rows, table);
    sqlite3_finalize(rows);
}

/* The word index is shown by its search results. */
static void search_print(FILE *out, sqlite3 *db, const char *word) {
    char sql[160];
    sqlite3_stmt *rows;
    snprintf(sql, sizeof sql, "SELECT title FROM goal_fts WHERE goal_fts MATCH '%s' ORDER BY rowid",
             word);
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
        return; /* version 1 had no word index */
    fprintf(out, "search %s\n", word);
    while (sqlite3_step(rows) == SQLITE_ROW)
        fprintf(out, "  %s\n", sqlite3_column_text(rows, 0));
    sqlite3_finalize(rows);
}

static struct dump dump_of(const char *vfs) {
    struct dump dump;
    FILE *out = open_memstream(&dump.at, &dump.len);
    sqlite3 *db = raw_open(vfs);
    sqlite3_stmt *tables;
    const char *sql =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'goal_fts%'"
        " ORDER BY name";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &tables, NULL), SQLITE_OK);
    while (sqlite3_step(tables) == SQLITE_ROW)
        table_print(out, db, (const char *)sqlite3_column_text(tables, 0));
    sqlite3_finalize(tables);
    search_print(out, db, "command");
    search_print(out, db, "grosser OR größer");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    fclose(out);
    return dump;
}

static void dump_same(const struct dump *a, const struct dump *b) {
    check(strcmp(a->at, b->at) == 0, "was:\n%s\nis:\n%s", a->at, b->at);
}

/* ---- schemas ---- */

static void sql_normal(FILE *out, const char *sql) {
    bool space = false;
    for (; *sql; sql++) {
        if (*sql == ' ' || *sql == '\n' || *sql == '"') {
            space = true;
            continue;
        }
        if (space && !strchr("(),", *sql))
            fputc(' ', out);
        space = false;
        fputc(*sql, out);
    }
}

static struct dump schema_of(void) {
    struct dump dump;
    FILE *out = open_memstream(&dump.at, &dump.len);
    sqlite3 *db = raw_open(NULL);
    sqlite3_stmt *rows;
    const char *sql = "SELECT type, name, coalesce(sql, '') FROM sqlite_master ORDER BY 1, 2";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        fprintf(out, "%s %s: ", sqlite3_column_text(rows, 0), sqlite3_column_text(rows, 1));
        sql_normal(out, (const char *)sqlite3_column_text(rows, 2));
        fputc('\n', out);
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    fclose(out);
    return dump;
}

/* ---- opening ---- */

static void open_must(void) {
    char where[96], error[512] = "";
    snprintf(where, sizeof where, "sqlite:%s", path);
    struct store *store = store_open(str_of(where), error, sizeof error);
    check(store, "%s", error);
    store_close(store);
}

/* Opening is refused with these words, and the file is unchanged. */
static void open_refused(const char *words) {
    char where[96], error[512] = "";
    snprintf(where, sizeof where, "sqlite:%s", path);
    struct file before = file_read(path);
    struct store *store = store_open(str_of(where), error, sizeof error);
    check(!store && strstr(error, words), "opened, or: %s", error);
    struct file after = file_read(path);
    check(before.len == after.len && memcmp(before.at, after.at, after.len) == 0, "it was changed");
    free(before.at);
    free(after.at);
}

/* Tables that a version after 6 has added are empty in a store that was migrated. */
static void added_tables(const char *form) {
    char columns[1024], sql[1200];
    for (enum store_table table = 0; table < TABLE_PART; table++)
        if (STORED[table].since > 6) {
            snprintf(sql, sizeof sql, form, table_name(table),
                     table_columns(table, "@", NULL, columns, sizeof columns));
            raw_change(sql);
        }
    snprintf(sql, sizeof sql, "UPDATE store SET version = %d",
             strncmp(form, "DROP", 4) == 0 ? 6 : SCHEMA_VERSION);
    raw_change(sql);
}

static void version_1_becomes_10(void **state) {
    (void)state;
    file_remove();
    fixture_make(NULL, "");
    open_must();
    struct file before = file_read(path);
    open_must();
    struct file after = file_read(path);
    check(before.len == after.len && memcmp(before.at, after.at, after.len) == 0,
          "a second start changed it");
    added_tables("DROP TABLE %s");
    struct dump migrated = dump_of(NULL);
    golden_check("store-10.from-1.txt", (struct str){migrated.at, migrated.len});
    free(before.at);
    free(after.at);
    free(migrated.at);
    proof_passed("store", "version_1_becomes_10 [sqlite]", "STORE-04 STORE-18 TEST-01");
}

static void goals_of_version_1_are_whole(void **state) {
    (void)state;
    file_remove();
    fixture_make(NULL, "");
    struct shop shop;
    char where[96];
    snprintf(where, sizeof where, "sqlite:%s", path);
    shop_open(&shop, where);
    shop.request.limit = 100;
    shop_ask(&shop, STORE_LIST);
    check(shop.answer.view_count == 6, "%u goals", shop.answer.view_count);
    struct id ids[6];
    for (uint32_t i = 0; i < 6; i++)
        ids[i] = shop.answer.views[5 - i].id;
    shop.request.ids = ids;
    shop.request.id_count = 6;
    shop_ask(&shop, STORE_LOAD);
    for (uint32_t i = 0; i < 6; i++) {
        const struct goal_loaded *loaded = &shop.answer.loaded[i];
        check(loaded->exists && loaded->whole, "goal %u is not whole", i);
        const char *broken = goal_broken(&loaded->goal);
        check(!broken, "goal %u: %s", i, broken);
    }
    shop_close(&shop);
}

static void upgraded_equals_new(void **state) {
    (void)state;
    for (uint32_t version = 1; version <= 6; version++) {
        file_remove();
        fixture_of(version, NULL, "");
        open_must();
        struct dump upgraded = schema_of();
        file_remove();
        open_must();
        struct dump made = schema_of();
        dump_same(&made, &upgraded);
        free(upgraded.at);
        free(made.at);
    }
}

/* The columns of the live tables are those of STORED; PostgreSQL: test_migrate_postgres.c. */
static void tables_are_as_declared(void **state) {
    (void)state;
    sqlite3_stmt *rows;
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    file_remove();
    open_must();
    sqlite3 *db = raw_open(NULL);
    const char *sql =
        "SELECT m.name || '.' || c.name || ' ' || c.type || iif(c.\"notnull\" OR c.pk, '',"
        " ' null') FROM sqlite_master m, pragma_table_info(m.name) c"
        " WHERE m.type = 'table' AND m.name NOT LIKE 'goal_fts%'";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    fputc('\n', out);
    while (sqlite3_step(rows) == SQLITE_ROW)
        fprintf(out, "%s\n", sqlite3_column_text(rows, 0));
    sqlite3_finalize(rows);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    fclose(out);
    schema_check(text, false);
    free(text);
    proof_passed("store", "tables_are_as_declared [sqlite]", "STORE-03");
}

/* Only the new columns, the new tables and the version differ. */
static void version_becomes_10(uint32_t version, const char *by_hand, const char *words) {
    static const char TABLES[] =
        "CREATE TABLE charge (goal_id, n, name, body); CREATE TABLE question (goal_id, n, name, body);"
        "CREATE TABLE letter (goal_id, n, name, body); CREATE TABLE permit (goal_id, n, name, body);"
        "CREATE TABLE account (goal_id, n, name, body); CREATE TABLE budget (goal_id, n, name, body);"
        "CREATE TABLE host_access (goal_id, n, name, body);"
        "CREATE TABLE task_batch (goal_id, n, name, body);"
        "ALTER TABLE goal_view ADD ended_at INTEGER NOT NULL DEFAULT 0;"
        "UPDATE goal_view SET ended_at = updated_at WHERE face = 3;"
        "ALTER TABLE goal_view ADD asked_at INTEGER NOT NULL DEFAULT 0;"
        "UPDATE goal_view SET asked_at = updated_at WHERE face = 2;"
        "ALTER TABLE goal_view ADD repository INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE goal_view ADD number INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE store ADD numbered INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE store ADD numbered_era INTEGER NOT NULL DEFAULT 0;"
        "UPDATE store SET numbered = (SELECT count(*) FROM goal_view);"
        "ALTER TABLE host ADD number_next INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE host ADD number_end INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE host ADD number_era INTEGER NOT NULL DEFAULT -1";
    file_remove();
    fixture_of(version, NULL, by_hand);
    raw_change(TABLES);
    added_tables("CREATE TABLE %s (%s)");
    struct dump wanted = dump_of(NULL);
    file_remove();
    fixture_of(version, NULL, "");
    open_must();
    struct dump migrated = dump_of(NULL);
    dump_same(&wanted, &migrated);
    check(strstr(migrated.at, "a command that runs") && strstr(migrated.at, words), "%s",
          migrated.at);
    free(wanted.at);
    free(migrated.at);
}

static void version_2_becomes_10(void **state) {
    (void)state;
    version_becomes_10(2, "ALTER TABLE store ADD stopped TEXT; ALTER TABLE host ADD policy BLOB",
                       "stopped none");
    proof_passed("store", "version_2_becomes_10 [sqlite]", "STORE-04 STORE-18");
}

static void version_3_becomes_10(void **state) {
    (void)state;
    version_becomes_10(3, "", "for the night");
    proof_passed("store", "version_3_becomes_10 [sqlite]", "STORE-04 STORE-18");
}

/* A goal that was done before gets the time of its last change as its end, and is found by it; so does a row that an
 * older build writes. */
static void version_4_becomes_10(void **state) {
    (void)state;
    struct shop shop;
    char where[96];
    file_remove();
    fixture_of(4, NULL, "");
    open_must();
    raw_change(
        "UPDATE goal_view SET face = 3, status = 2, updated_at = updated_at + 9000000"
        " WHERE title = 'it is still open';"
        "INSERT INTO goal_view (row, goal_id, status, face, priority, percent, created_at, updated_at, title)"
        " VALUES (1, x'00112233445566778899aabbccddeeff', 2, 3, 0, 0, 5, 1, 'of an older export')");
    snprintf(where, sizeof where, "sqlite:%s", path);
    shop_open(&shop, where);
    shop.request.limit = 10;
    shop.request.filter.ended_since = 1;
    shop_ask(&shop, STORE_LIST);
    check(shop.answer.list_count == 4 && shop.answer.view_count == 4, "%lld done",
          (long long)shop.answer.list_count);
    static const char *const TITLES[] = {"it is still open", "it was done long ago",
                                         "it was done later", "of an older export"};
    for (uint32_t i = 0; i < 4; i++)
        check(str_equal(shop.answer.views[i].title, str_of(TITLES[i])) &&
                  shop.answer.views[i].ended_at == shop.answer.views[i].updated_at,
              "%u: %.*s", i, STR_ARG(shop.answer.views[i].title));
    shop_close(&shop);
    proof_passed("store", "version_4_becomes_10 [sqlite]", "STORE-04 STORE-18");
}

/* A goal that needed a person before gets the time of its last change; a row that an older build writes gets the time
 * of that write, and a goal that is changed while it waits keeps its place. */
static void version_5_becomes_10(void **state) {
    (void)state;
    struct shop shop;
    char where[96];
    file_remove();
    fixture_of(5, NULL, "");
    open_must();
    raw_change(
        "UPDATE goal_view SET face = 2, updated_at = updated_at + 9000000"
        " WHERE title = 'it asks nothing';"
        "UPDATE goal_view SET face = 2, updated_at = updated_at + 19000000"
        " WHERE title = 'it asks first';"
        "INSERT INTO goal_view (row, goal_id, status, face, priority, percent, created_at, updated_at, title)"
        " VALUES (1, x'00112233445566778899aabbccddeeff', 0, 2, 0, 0, 5, 1, 'of an older export');"
        "UPDATE tally SET n = n + 2 WHERE face = 2");
    snprintf(where, sizeof where, "sqlite:%s", path);
    shop_open(&shop, where);
    shop.request.limit = 3;
    shop.request.filter.asking = true;
    shop_ask(&shop, STORE_LIST);
    check(shop.answer.list_count == 4 && shop.answer.view_count == 3 && shop.answer.more,
          "%lld need a person", (long long)shop.answer.list_count);
    static const char *const TITLES[] = {"of an older export", "it asks first", "it asks last"};
    for (uint32_t i = 0; i < 3; i++)
        check(str_equal(shop.answer.views[i].title, str_of(TITLES[i])), "%u: %.*s", i,
              STR_ARG(shop.answer.views[i].title));
    shop_close(&shop);
    proof_passed("store", "version_5_becomes_10 [sqlite]", "STORE-04 STORE-18");
}

/* ASSIGN-12: dispatches that an older build wrote are append-only as well. */
static void dispatches_stay(void **state) {
    (void)state;
    static const char *const FORBIDDEN[] = {"UPDATE dispatch SET body = x'00'",
                                            "UPDATE dispatch SET name = 'D_2'",
                                            "DELETE FROM dispatch"};
    file_remove();
    fixture_of(3, NULL, "");
    open_must();
    struct dump before = dump_of(NULL);
    sqlite3 *db = raw_open(NULL);
    for (size_t i = 0; i < count_of(FORBIDDEN); i++) {
        int code = sqlite3_exec(db, FORBIDDEN[i], NULL, NULL, NULL);
        check(code == SQLITE_CONSTRAINT && strstr(sqlite3_errmsg(db), "append-only"), "%s: %s",
              FORBIDDEN[i], sqlite3_errmsg(db));
    }
    raw_run(db, "INSERT INTO dispatch SELECT goal_id, n + 1, 'D_2', body FROM dispatch");
    raw_run(db, "UPDATE store SET retaining = 1; DELETE FROM dispatch WHERE name = 'D_2';"
                "UPDATE store SET retaining = 0");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    struct dump after = dump_of(NULL);
    check(strstr(before.at, "D_1"), "the fixture has no dispatch");
    dump_same(&before, &after);
    free(before.at);
    free(after.at);
    proof_passed("store", "dispatches_stay [sqlite]", "ASSIGN-12");
}

static void newer_is_refused(void **state) {
    (void)state;
    file_remove();
    open_must();
    raw_change("UPDATE store SET version = 99, oldest = 99, level = 99");
    char words[160];
    snprintf(
        words, sizeof words,
        "This store was written by a newer version of Overseer (tables 99; this build knows %d). Update "
        "this build; nothing was changed.",
        SCHEMA_VERSION);
    open_refused(words);
    raw_change("UPDATE store SET oldest = 2, level = 99");
    open_refused("newer version of Overseer (level 99");
    raw_change("UPDATE store SET level = 4");
    struct dump before = dump_of(NULL);
    open_must();
    struct dump after = dump_of(NULL);
    dump_same(&before, &after);
    free(before.at);
    free(after.at);
    proof_passed("store", "newer_is_refused [sqlite]", "STORE-04 STORE-18");
}

static void unknown_store_is_refused(void **state) {
    (void)state;
    file_remove();
    raw_change("CREATE TABLE letters (body TEXT); INSERT INTO letters VALUES ('dear')");
    open_refused("is a database of another program");
    file_remove();
}

/* A row that cannot be decoded is kept as it is, and listed as needing a person. */
static void undecodable_is_kept(void **state) {
    (void)state;
    file_remove();
    fixture_make(
        NULL,
        "UPDATE goal SET hot = substr(hot, 1, 5) WHERE goal_id = (SELECT min(goal_id) FROM goal)");
    struct shop shop;
    char where[96];
    snprintf(where, sizeof where, "sqlite:%s", path);
    shop_open(&shop, where);
    shop.request.limit = 100;
    shop.request.filter =
        (struct list_filter){.by_display_state = true, .display_state = DISPLAY_NEEDS_YOU};
    shop_ask(&shop, STORE_LIST);
    check(shop.answer.view_count == 2, "%u goals", shop.answer.view_count);
    struct id id = shop.answer.views[1].id;
    shop.request.ids = &id;
    shop.request.id_count = 1;
    shop_ask(&shop, STORE_LOAD);
    check(shop.answer.loaded[0].exists && !shop.answer.loaded[0].whole, "whole");
    shop_close(&shop);
}

/* ---- a migration that fails in the middle ---- */

static void in_the_way(void **state) {
    (void)state;
    file_remove();
    fixture_make(NULL, "CREATE TABLE tally (n INTEGER)");
    struct dump before = dump_of(NULL);
    char where[96], error[512] = "";
    snprintf(where, sizeof where, "sqlite:%s", path);
    check(!store_open(str_of(where), error, sizeof error), "opened");
    struct dump after = dump_of(NULL);
    dump_same(&before, &after);
    raw_change("DROP TABLE tally");
    open_must();
    free(before.at);
    free(after.at);
}

struct trial {
    enum memdisk_fault kind;
    bool cut; /* the power is cut afterwards */
    struct dump old, new;
};

static bool disk_open(struct memdisk *disk) {
    char error[512];
    struct sqlite_options options = {.path = path, .vfs = memdisk_vfs(disk)};
    struct store *store = sqlite_open(&options, error, sizeof error);
    store_close(store);
    return store != NULL;
}

/* The nth write fails: afterwards the store is unchanged, or completely migrated. False: there is no nth write. */
static bool trial_run(const struct trial *trial, uint64_t nth) {
    struct memdisk *disk = memdisk_create(nth);
    fixture_make(memdisk_vfs(disk), "");
    memdisk_owner(disk, 1);
    memdisk_fail(disk, trial->kind, nth);
    bool opened = disk_open(disk);
    bool reached = !memdisk_armed(disk, trial->kind);
    memdisk_fail(disk, trial->kind, 0);
    if (trial->cut)
        memdisk_power_cut(disk);
    memdisk_owner(disk, 2);
    struct dump now = dump_of(memdisk_vfs(disk));
    bool is_old = strcmp(now.at, trial->old.at) == 0, is_new = strcmp(now.at, trial->new.at) == 0;
    check(is_old || is_new, "fault %d at %llu left:\n%s", trial->kind, (unsigned long long)nth,
          now.at);
    check(!opened || is_new, "opened, and not brought up to date");
    check(disk_open(disk), "it cannot be opened afterwards");
    struct dump after = dump_of(memdisk_vfs(disk));
    check(strcmp(after.at, trial->new.at) == 0, "not as it has to be:\n%s", after.at);
    free(now.at);
    free(after.at);
    memdisk_free(disk);
    return reached;
}

static void failure_leaves_it_whole(void **state) {
    (void)state;
    struct trial trials[] = {{.kind = MEMDISK_FULL},
                             {.kind = MEMDISK_WRITE},
                             {.kind = MEMDISK_SYNC, .cut = true},
                             {.kind = MEMDISK_DIE, .cut = true}};
    struct memdisk *disk = memdisk_create(1);
    fixture_make(memdisk_vfs(disk), "");
    struct dump old = dump_of(memdisk_vfs(disk));
    check(disk_open(disk), "the fixture cannot be opened");
    struct dump new = dump_of(memdisk_vfs(disk));
    memdisk_free(disk);
    check(strcmp(old.at, new.at) != 0, "nothing was brought up to date");
    for (size_t i = 0; i < count_of(trials); i++) {
        trials[i].old = old;
        trials[i].new = new;
        uint64_t nth = 1;
        while (trial_run(&trials[i], nth))
            nth += 1 + nth / 8; /* every one at first, then a sample */
        check(nth > 1, "no fault of kind %d was reached", trials[i].kind);
    }
    free(old.at);
    free(new.at);
    proof_passed("store", "failure_leaves_it_whole [sqlite]", "STORE-04");
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/overseer-migrate-%d.db", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_as_declared),
        cmocka_unit_test(version_1_becomes_10),
        cmocka_unit_test(version_2_becomes_10),
        cmocka_unit_test(version_3_becomes_10),
        cmocka_unit_test(version_4_becomes_10),
        cmocka_unit_test(version_5_becomes_10),
        cmocka_unit_test(dispatches_stay),
        cmocka_unit_test(goals_of_version_1_are_whole),
        cmocka_unit_test(upgraded_equals_new),
        cmocka_unit_test(newer_is_refused),
        cmocka_unit_test(unknown_store_is_refused),
        cmocka_unit_test(undecodable_is_kept),
        cmocka_unit_test(in_the_way),
        cmocka_unit_test(failure_leaves_it_whole),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove();
    return failed;
}
