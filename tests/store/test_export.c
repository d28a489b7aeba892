/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a store survives export and import unchanged, whatever happened in it and whichever engine keeps it: on
 * SQLite alone, and inside tests/lib/with-postgres from one engine to the other and back.
 *
 * test_export [--worlds N] */
#include "base/time.h"
#include "lib/backend.h"
#include "ops/portable/export.h"
#include "ops/portable/import.h"
#include "store/examine.h"
#include "store/export_world.h"
#include "store/forget.h"
#include "store/rows.h"
#include "store/words.h"

#include <jansson.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

static unsigned world_count = 12;
static char folder[64];

/* ---- engines ---- */

static const char *server(void) {
    return getenv("OVERSEER_TEST_PG");
}

static void sql_run(const char *sql) {
    PGconn *connection = PQconnectdb(server());
    PGresult *result = PQexec(connection, sql);
    check(PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK,
          "%s: %s", sql, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

/* Drops all tables the first time and only deletes rows later, which is faster. The tests here do not depend on the
 * disk. */
static void server_empty(void) {
    static bool made;
    char error[256];
    if (!made) {
        sql_run("ALTER SYSTEM SET fsync = off");
        sql_run("SELECT pg_reload_conf()");
        sql_run(
            "SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        store_close(store_open(str_of(server()), error, sizeof error));
    }
    made = true;
    PGconn *connection = PQconnectdb(server());
    postgres_empty(connection);
    PQfinish(connection);
}

/* The address of an empty store; on the server there is only one at a time. */
static const char *fresh(const char *name, bool postgres) {
    static char where[4][128], file[160];
    static unsigned turn;
    char *place = where[turn++ % 4];
    if (postgres) {
        server_empty();
        return server();
    }
    snprintf(place, sizeof where[0], "sqlite:%s/%s.db", folder, name);
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        snprintf(file, sizeof file, "%s%s", place + 7, *end);
        unlink(file);
    }
    return place;
}

/* ---- documents ---- */

struct document {
    char *at;
    size_t len;
};

static struct document exported(const char *where, struct export_report *report) {
    struct document document = {0};
    char error[512] = "";
    struct store *store = store_open(str_of(where), error, sizeof error);
    check(store, "%s", error);
    struct walk *walk = walk_open(store, error, sizeof error);
    check(walk, "%s", error);
    FILE *to = open_memstream(&document.at, &document.len);
    check(export_write(walk, to, report, error, sizeof error), "%s", error);
    fclose(to);
    walk_close(walk);
    store_close(store);
    return document;
}

static char warnings[16384];

static void warning_keep(void *with, const char *what) {
    (void)with;
    size_t used = strlen(warnings);
    snprintf(warnings + used, sizeof warnings - used, "%s\n", what);
}

enum { MOVE = 1, TASKS = 2 };

static bool imported(const char *where, struct str text, int flags, struct import_report *report,
                     char *error, size_t error_size) {
    struct store *store = where ? store_open(str_of(where), error, error_size) : NULL;
    check(!where || store, "%s", error);
    FILE *file = fmemopen((void *)(uintptr_t)text.at, text.len, "r");
    check(file, "no memory");
    struct import_options options = {.file = file,
                                     .tasks = flags & TASKS,
                                     .move = flags & MOVE,
                                     .host = 1,
                                     .now = 1800000000000000,
                                     .store = store,
                                     .where = where,
                                     .warn = warning_keep};
    warnings[0] = 0;
    bool done = import_run(&options, report, error, error_size);
    fclose(file);
    store_close(store);
    return done;
}

static void import_well(const char *where, struct document document, int flags,
                        struct import_report *report) {
    char error[1024] = "";
    check(imported(where, (struct str){document.at, document.len}, flags, report, error,
                   sizeof error),
          "%s", error);
}

static void documents_equal(const struct document *a, const struct document *b, const char *what) {
    size_t at = 0;
    while (at < a->len && at < b->len && a->at[at] == b->at[at])
        at++;
    size_t from = at > 100 ? at - 100 : 0;
    check(a->len == b->len && at == a->len, "%s, at byte %zu:\n%.200s\n----\n%.200s", what, at,
          a->at + from, b->at + from);
}

/* ---- stores, row by row ---- */

struct row_sum {
    struct sha256 sha;
    uint64_t count;
};

/* Columns that an import regenerates: the place of a record in the log, the hosts' tallies, and the number of
 * transactions. */
static bool is_made(enum store_table table, const char *column) {
    return (table == TABLE_RECORD && (strcmp(column, "tx") == 0 || strcmp(column, "n") == 0)) ||
           (table == TABLE_STORE && strcmp(column, "tx") == 0);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool row_count_in(void *with, const struct table_row *row) {
    struct row_sum *sum = (struct row_sum *)with + row->table;
    const char *names[TABLE_COLUMNS];
    memcpy(names, row->names, row->count * sizeof *names);
    qsort(names, row->count, sizeof *names, by_name);
    if (sum->count++ == 0)
        sha256_begin(&sum->sha);
    for (uint32_t i = 0; i < row->count; i++) {
        struct cell cell = row_cell(row, names[i]);
        if (is_made(row->table, names[i]))
            continue;
        sha256_add(&sum->sha, names[i], strlen(names[i]) + 1);
        sha256_add(&sum->sha, &cell.type, sizeof cell.type);
        sha256_add(&sum->sha, &cell.number, sizeof cell.number);
        sha256_add(&sum->sha, &cell.bytes.len, sizeof cell.bytes.len);
        if (cell.bytes.len > 0)
            sha256_add(&sum->sha, cell.bytes.at, cell.bytes.len);
    }
    return true;
}

static void sums_of(const char *where, struct row_sum sums[STORE_TABLES]) {
    char error[512] = "";
    memset(sums, 0, STORE_TABLES * sizeof *sums);
    struct store *store = store_open(str_of(where), error, sizeof error);
    check(store, "%s", error);
    check(store_dump(store, row_count_in, sums, error, sizeof error), "%s", error);
    store_close(store);
}

static void sums_equal(struct row_sum a[STORE_TABLES], struct row_sum b[STORE_TABLES]) {
    for (enum store_table table = 0; table < STORE_TABLES; table++) {
        if (table == TABLE_TALLY)
            continue;
        check(a[table].count == b[table].count, "%s: %llu rows, %llu came back", table_name(table),
              (unsigned long long)a[table].count, (unsigned long long)b[table].count);
        struct sha256 x = a[table].sha, y = b[table].sha;
        struct hash one = sha256_end(&x), two = sha256_end(&y);
        check(a[table].count == 0 || hash_equal(&one, &two), "%s: a row did not come back the same",
              table_name(table));
    }
}

/* Compares the number of goals per display state, however the hosts share them. */
static void tallies_equal(const char *a, const char *b) {
    int64_t counts[2][DISPLAY_STATES];
    for (int i = 0; i < 2; i++) {
        char error[512];
        struct arena arena = {0};
        struct store *store = store_open(str_of(i ? b : a), error, sizeof error);
        struct store_request request = {.verb = STORE_TALLY};
        struct store_answer answer;
        store_perform(store, &request, &answer, &arena);
        check(answer.outcome == STORE_DONE, "%.*s", STR_ARG(answer.error));
        memcpy(counts[i], answer.tally, sizeof counts[i]);
        store_close(store);
        arena_free(&arena);
    }
    check(memcmp(counts[0], counts[1], sizeof counts[0]) == 0, "the tallies differ");
}

static void record_passes(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    (void)with, (void)goal, (void)seq, (void)hash;
}

static void chain_ends(void *with, const struct audit *audit, const char *wrong) {
    (void)with, (void)audit;
    check(!wrong, "a chain does not hold: %s", wrong);
}

static void chains_hold(const char *where, uint64_t records) {
    struct log_visitor visitor = {NULL, record_passes, chain_ends};
    struct log_report report;
    store_verify_log(str_of(where), &visitor, &report);
    check(!report.failed && report.records == records, "%s: %llu records followed", report.why,
          (unsigned long long)report.records);
}

/* ---- tests ---- */

static uint32_t furnished; /* worlds with assignments, questions and messages */

/* An admission is in no collection that people read as goals, and it is exported completely. */
static void admission_is_apart(const struct document *document, const struct row_sum *sums) {
    json_t *json = json_loadb(document->at, document->len, 0, NULL);
    json_t *ours = json_object_get(json, "overseer"), *goals = json_object_get(json, "goals");
    size_t admissions = json_array_size(json_object_get(ours, "desks"));
    check(admissions > 0 && sums[TABLE_GOAL].count == json_object_size(goals) + admissions,
          "%zu desks", admissions);
    for (enum part_kind kind = PART_ASSIGNMENT; kind <= PART_BUDGET; kind++) {
        char name[32];
        snprintf(name, sizeof name, "%ss", PART[kind].table);
        check(json_array_size(json_object_get(ours, name)) == sums[TABLE_PART + kind].count,
              "not all %s are there", name);
    }
    json_decref(json);
}

/* Moves a store from SQLite to the other engine and back. */
static void world_travels(uint64_t seed, bool postgres) {
    struct export_world world;
    struct export_report first = {0}, second = {0}, third = {0};
    struct import_report there, back;
    struct row_sum before[STORE_TABLES], between[STORE_TABLES], after[STORE_TABLES];
    const char *home = fresh("home", postgres && seed % 2);
    world_begin(&world, home, seed);
    world_live(&world, 40);
    furnished += world_furnish(&world);
    world_end(&world);
    struct document one = exported(home, &first);
    sums_of(home, before);
    admission_is_apart(&one, before);
    check(first.raw == 0 && first.orphans == 0, "%llu items raw, %llu orphans in world %llu",
          (unsigned long long)first.raw, (unsigned long long)first.orphans,
          (unsigned long long)seed);
    bool away_is_server = postgres && !(seed % 2);
    const char *copy = home;
    if (!away_is_server)
        copy = fresh("away", false);
    else
        copy = fresh("away", true);
    import_well(copy, one, MOVE, &there);
    check(there.goals == first.goals && there.events == first.events, "counts differ");
    struct document two = exported(copy, &second);
    sums_of(copy, between);
    chains_hold(copy, first.events);
    documents_equal(&one, &two, "the second document differs");
    sums_equal(before, between);
    if (home != server())
        tallies_equal(home, copy);
    if (copy != server())
        store_judge(copy + 7);
    const char *end = fresh("end", postgres && copy != server());
    import_well(end, two, MOVE, &back);
    struct document three = exported(end, &third);
    sums_of(end, after);
    documents_equal(&one, &three, "the third document differs");
    sums_equal(before, after);
    free(one.at);
    free(two.at);
    free(three.at);
}

static void test_worlds(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < world_count; seed++)
        world_travels(seed, server());
    check(furnished > 0, "no world has an open assignment");
    print_message("export: %u worlds%s\n", world_count,
                  server() ? ", from one engine to the other" : "");
}

/* ---- bytes written by a newer build ---- */

static void sqlite_run(const char *where, const char *sql) {
    sqlite3 *db;
    char *why = NULL;
    check(sqlite3_open(where + 7, &db) == SQLITE_OK, "%s", where);
    int code = sqlite3_exec(db, sql, NULL, NULL, &why);
    check(code == SQLITE_OK, "%s: %s", sql, why);
    sqlite3_close(db);
}

/* Bytes that this build does not understand survive unchanged. */
static void test_unknown_bytes(void **state) {
    (void)state;
    struct export_world world;
    struct export_report report = {0}, again = {0};
    struct import_report back;
    struct row_sum before[STORE_TABLES], after[STORE_TABLES];
    const char *home = fresh("home", false);
    world_begin(&world, home, 3);
    world_live(&world, 60);
    world_end(&world);
    sqlite_run(
        home,
        "UPDATE goal SET hot = CAST(x'01f7070203' || hot AS BLOB) WHERE goal_id = (SELECT min(goal_id) FROM goal);"
        "UPDATE node SET body = x'ffff' WHERE n = 0;"
        "UPDATE goal_view SET updated_at = -5, title = 'a ''quoted'' title';"
        "UPDATE effect SET kind = 77, body = x'';"
        "UPDATE text SET body = CAST(body || x'00' AS BLOB) WHERE hash = (SELECT min(hash) FROM text);"
        "UPDATE host SET build = 'größer \"and\" ''so''';"
        "INSERT INTO aside VALUES (zeroblob(16), randomblob(16), -1, '', x'');"
        "DELETE FROM aside WHERE goal_id = zeroblob(16);"
        "UPDATE store SET safe = 'it''s so'");
    struct document one = exported(home, &report);
    check(report.raw > 0, "nothing was kept raw");
    sums_of(home, before);
    const char *copy = fresh("away", server());
    char error[1024] = "";
    struct import_options options = {.move = true, .host = 1, .warn = warning_keep};
    options.store = store_open(str_of(copy), error, sizeof error);
    options.file = fmemopen(one.at, one.len, "r");
    check(import_run(&options, &back, error, sizeof error), "%s", error);
    fclose(options.file);
    store_close(options.store);
    struct document two = exported(copy, &again);
    documents_equal(&one, &two, "what is not understood did not come back");
    sums_of(copy, after);
    sums_equal(before, after);
    free(one.at);
    free(two.at);
}

/* ---- the columns of the tables ---- */

static bool table_walked(const char *name) {
    for (enum store_table table = 0; table < STORE_TABLES; table++)
        if (strcmp(table_name(table), name) == 0)
            return true;
    return false;
}

static int name_checked(void *with, int count, char **values, char **names) {
    (void)with, (void)count, (void)names;
    check(table_walked(values[0]), "the table %s is not exported", values[0]);
    return 0;
}

static void test_every_table(void **state) {
    (void)state;
    char error[256];
    const char *where = fresh("home", false);
    store_close(store_open(str_of(where), error, sizeof error));
    sqlite3 *db;
    check(sqlite3_open(where + 7, &db) == SQLITE_OK, "%s", where);
    check(sqlite3_exec(
              db,
              "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'goal_fts%'",
              name_checked, NULL, NULL) == SQLITE_OK,
          "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    if (!server())
        return;
    store_close(store_open(str_of(fresh("", true)), error, sizeof error));
    PGconn *connection = PQconnectdb(server());
    PGresult *result =
        PQexec(connection, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT"
                           " relispartition AND relnamespace = 'public'::regnamespace");
    check(PQntuples(result) == STORE_TABLES, "%d tables", PQntuples(result));
    for (int i = 0; i < PQntuples(result); i++)
        check(table_walked(PQgetvalue(result, i, 0)), "the table %s is not exported",
              PQgetvalue(result, i, 0));
    PQclear(result);
    PQfinish(connection);
}

/* ---- one snapshot ---- */

static void snapshot_holds(const char *where) {
    struct export_world world;
    struct export_report report = {0};
    char error[512] = "";
    world_begin(&world, where, 5);
    world_live(&world, 30);
    struct document before = exported(where, &report);
    struct store *store = store_open(str_of(where), error, sizeof error);
    struct walk *walk = walk_open(store, error, sizeof error);
    check(walk, "%s", error);
    world_live(&world, 30); /* while the walk is open */
    struct document during = {0}, after;
    FILE *to = open_memstream(&during.at, &during.len);
    check(export_write(walk, to, &report, error, sizeof error), "%s", error);
    fclose(to);
    walk_close(walk);
    store_close(store);
    documents_equal(&before, &during, "the walk saw what came later");
    after = exported(where, &report);
    check(after.len != before.len, "nothing happened meanwhile");
    world_end(&world);
    free(before.at);
    free(during.at);
    free(after.at);
}

static void test_snapshot(void **state) {
    (void)state;
    snapshot_holds(fresh("home", false));
    if (server())
        snapshot_holds(fresh("", true));
}

/* ---- an import is either a restore or a move ---- */

static void effects_after(int flags, uint64_t expected_acts) {
    struct export_world world;
    struct export_report report = {0};
    struct import_report back;
    const char *home = fresh("home", false), *copy;
    world_begin(&world, home, 11);
    ledger_hold_acts(world.ledger, true); /* decided, but not yet claimed */
    struct signal create = {.kind = SIGNAL_GOAL_CREATE,
                            .goal = dice_id(&world.gen.dice),
                            .source = dice_id(&world.gen.dice),
                            .describe.title = STR("run it"),
                            .describe.command = STR("true"),
                            .sender.by = WHO_HUMAN,
                            .sender.actor = STR("agnes")};
    check(world_signal(&world, create) == ERROR_NONE, "not created");
    world_end(&world);
    struct document one = exported(home, &report);
    copy = fresh("away", server());
    import_well(copy, one, flags, &back);
    world_begin(&world, copy, 12);
    struct signal say = {.kind = SIGNAL_GOAL_REPORT,
                         .goal = create.goal,
                         .source = dice_id(&world.gen.dice),
                         .text = STR("how does it go?"),
                         .sender.by = WHO_HUMAN,
                         .sender.actor = STR("agnes")};
    world.now.wall += SECONDS(86400);
    for (int i = 0; i < 3; i++) {
        say.source = dice_id(&world.gen.dice);
        world_signal(&world, say);
    }
    check(world.acts == expected_acts, "%llu acts after the import",
          (unsigned long long)world.acts);
    world_end(&world);
    free(one.at);
}

static void test_effects(void **state) {
    (void)state;
    effects_after(0, 0);    /* a restore: it is unknown whether it was done since */
    effects_after(MOVE, 1); /* a move: it is done here, once */
}

/* Imports a fleet's store on one host: goals of a host that stayed behind are worked on here. */
static void test_adopt(void **state) {
    (void)state;
    struct export_world world;
    struct export_report report = {0};
    struct import_report back;
    uint64_t goals = 0;
    char error[512] = "";
    const char *home = fresh("home", false), *copy;
    world_begin(&world, home, 14);
    world_live(&world, 30);
    struct signal create = {.kind = SIGNAL_GOAL_CREATE,
                            .goal = dice_id(&world.gen.dice),
                            .source = dice_id(&world.gen.dice),
                            .describe.title = STR("wait for a person"),
                            .sender.by = WHO_HUMAN,
                            .sender.actor = STR("agnes")};
    check(world_signal(&world, create) == ERROR_NONE, "not created");
    world_end(&world);
    sqlite_run(home, "UPDATE host SET host_id = 2; UPDATE goal SET owner = 2;"
                     "UPDATE effect SET run_host = 2 WHERE run_host = 1");
    struct document one = exported(home, &report);
    copy = fresh("away", false);
    import_well(copy, one, MOVE, &back);
    struct store *store = store_open(str_of(copy), error, sizeof error);
    check(import_adopt(store, 1, 1800000000000000, &goals, error, sizeof error) && goals > 0, "%s",
          error);
    check(import_adopt(store, 1, 1800000000000001, &goals, error, sizeof error) && goals == 0, "%s",
          error);
    store_close(store);
    world_begin(&world, copy, 15);
    world.now.wall += SECONDS(86400);
    struct signal say = {.kind = SIGNAL_GOAL_REPORT,
                         .goal = create.goal,
                         .source = dice_id(&world.gen.dice),
                         .text = STR("is anybody there?"),
                         .sender.by = WHO_HUMAN,
                         .sender.actor = STR("agnes")};
    check(world_signal(&world, say) == ERROR_NONE, "not taken");
    world_end(&world);
    struct document two = exported(copy, &report);
    check(strstr(two.at, "is anybody there?"), "it was not decided here");
    free(one.at);
    free(two.at);
}

/* ---- stores that an import refuses ---- */

static void test_only_empty(void **state) {
    (void)state;
    struct export_world world;
    struct export_report report = {0};
    struct import_report back;
    char error[1024] = "";
    const char *home = fresh("home", false);
    world_begin(&world, home, 2);
    world_live(&world, 10);
    world_end(&world);
    struct document one = exported(home, &report);
    check(!imported(home, (struct str){one.at, one.len}, MOVE, &back, error, sizeof error) &&
              strstr(error, "not empty"),
          "%s", error);
    struct document two = exported(home, &report);
    documents_equal(&one, &two, "a refused import changed the store");
    free(one.at);
    free(two.at);
}

static bool few_rows(void *with, const struct table_row *row) {
    struct load **load = with;
    static int count;
    return load_row(*load, row) && ++count < 12;
}

static void half_filled(const char *home, const char *copy) {
    char error[1024] = "";
    struct export_report report;
    struct import_report back;
    struct document whole = exported(home, &report), again;
    struct store *from = store_open(str_of(home), error, sizeof error),
                 *to = store_open(str_of(copy), error, sizeof error);
    struct load *load = load_begin(to, error, sizeof error);
    check(load, "%s", error);
    store_dump(from, few_rows, &load, error, sizeof error);
    load->engine->flush(load);
    load_abandon(load);
    check(load_cut_off(to), "nobody would see that it is half filled");
    check(!load_begin(to, error, sizeof error) && strstr(error, "was interrupted"), "%s", error);
    struct walk *walk = walk_open(to, error, sizeof error);
    FILE *null = fopen("/dev/null", "w");
    check(!export_write(walk, null, &report, error, sizeof error) && strstr(error, "incomplete"),
          "%s", error);
    fclose(null);
    walk_close(walk);
    check(load_undo(to, error, sizeof error), "%s", error);
    check(!load_undo(to, error, sizeof error) && !load_cut_off(to), "undone twice");
    store_close(from);
    store_close(to);
    import_well(copy, whole, MOVE, &back);
    again = exported(copy, &report);
    documents_equal(&whole, &again, "after an import that was cut off");
    free(whole.at);
    free(again.at);
}

static void test_half_filled(void **state) {
    (void)state;
    struct export_world world;
    const char *home = fresh("home", false);
    world_begin(&world, home, 8);
    world_live(&world, 30);
    world_end(&world);
    half_filled(home, fresh("away", server()));
}

/* ---- the fixture of version 1 ---- */

static struct document document_of(const char *text) {
    return (struct document){strdup(text), strlen(text)};
}

static char *file_read(const char *name) {
    const char *tests = getenv("OVERSEER_TESTS");
    char path[512];
    snprintf(path, sizeof path, "%s/%s", tests ? tests : "tests", name);
    FILE *file = fopen(path, "r");
    check(file, "%s is not there", path);
    char *text = NULL;
    size_t len = 0;
    ssize_t read = getdelim(&text, &len, 0, file);
    check(read >= 0, "%s is empty", path);
    fclose(file);
    return text;
}

/* A store gets a new instance id whenever it is migrated. */
static void instance_hide(struct document *document) {
    char *at = strstr(document->at, "\"instance\":\"");
    check(at, "there is no instance");
    memset(at + strlen("\"instance\":\""), '0', ID_TEXT);
}

static void test_fixture(void **state) {
    (void)state;
    struct export_report report = {0};
    const char *where = fresh("home", false);
    char *fixture = file_read("fixtures/store-1.sqlite.sql");
    sqlite_run(where, fixture);
    struct document document = exported(where, &report);
    instance_hide(&document);
    golden_check("export-1.json", (struct str){document.at, document.len});
    free(fixture);
    free(document.at);
}

/* An export of tables version 4 does not contain when a goal ended: the time of its last change is used instead. */
static void test_without_ends(void **state) {
    (void)state;
    struct import_report report;
    struct arena arena = {0};
    char *text = file_read("golden/export-4.json"), error[256];
    const char *where = fresh("home", server());
    struct document document = document_of(text);
    import_well(where, document, MOVE, &report);
    free(document.at);
    struct store *store = store_open(str_of(where), error, sizeof error);
    check(store, "%s", error);
    struct store_request request = {.verb = STORE_LIST, .limit = 10, .filter = {.ended_since = 1}};
    struct store_answer answer;
    store_perform(store, &request, &answer, &arena);
    check(answer.outcome == STORE_DONE && answer.list_count == 2 && answer.view_count == 2,
          "%lld ended", (long long)answer.list_count);
    for (uint32_t i = 0; i < answer.view_count; i++)
        check(answer.views[i].ended_at == answer.views[i].updated_at, "another end");
    store_close(store);
    arena_free(&arena);
    free(text);
}

/* ---- plain documents ---- */

/* Reduces a document to what a reader of the seed's format sees: without hashes, numbers and the log, which other tests
 * check. */
static void seed_only(json_t *json) {
    size_t index;
    const char *name;
    json_t *value;
    json_object_del(json, "overseer");
    json_object_del(json, "events");
    json_object_del(json, "planRevisionHistory");
    json_object_foreach(json, name, value) {
        seed_only(value);
    }
    json_array_foreach(json, index, value) {
        seed_only(value);
    }
}

static void plain_case(const char *name, int flags, const char *golden) {
    struct import_report report;
    struct export_report out = {0};
    char *text = file_read(name);
    struct document plain = document_of(text);
    const char *where = fresh("home", server());
    char *all = NULL;
    size_t len = 0;
    import_well(where, plain, flags, &report);
    check(report.plain, "it was not plain");
    FILE *to = open_memstream(&all, &len);
    fprintf(to, "%s", warnings);
    struct document made = exported(where, &out);
    json_t *json = json_loadb(made.at, made.len, 0, NULL);
    seed_only(json);
    json_dumpf(json, to, JSON_INDENT(1));
    json_decref(json);
    fputc('\n', to);
    fclose(to);
    golden_check(golden, (struct str){all, len});
    chains_hold(where, out.events);
    if (!server())
        store_judge(where + 7);
    free(all);
    free(made.at);
    free(plain.at);
    free(text);
}

/* EVENT-02: each event has the common fields and, where it is about something, its subject; the rest is short. */
static void events_have_shape(const json_t *events) {
    size_t i, nodes = 0;
    json_t *event;
    json_array_foreach(events, i, event) {
        const json_t *data = json_object_get(event, "data");
        const char *type = json_string_value(json_object_get(event, "type"));
        char *text = json_dumps(data ? data : event, JSON_COMPACT);
        check(json_is_integer(json_object_get(event, "ts")) && type && strchr(type, '.') &&
                  json_is_string(json_object_get(event, "goalId")),
              "event %zu", i);
        check(text && strlen(text) <= 3 * LIMIT_RECORD_BODY, "event %zu is long", i);
        free(text);
        nodes += json_is_string(json_object_get(event, "workNodeId"));
    }
    check(i > 10 && nodes > 0, "%zu events, %zu of nodes", i, nodes);
    proof_passed("unit",
                 server() ? "events have their fields [postgres]"
                          : "events have their fields [sqlite]",
                 "EVENT-02");
}

/* STORE-03: the root has the seed's shape, and the prefix of an id says what it names. */
static void root_has_shape(void) {
    static const char *const COLLECTIONS[][2] = {{"goals", "goal_"},
                                                 {"assignments", "A_"},
                                                 {"crystallizations", "C_"},
                                                 {"dispatchIndex", "D_"}};
    struct export_report report;
    char where[128];
    snprintf(where, sizeof where, "sqlite:%s/home.db", folder);
    struct document document = exported(server() ? server() : where, &report);
    json_t *root = json_loadb(document.at, document.len, JSON_REJECT_DUPLICATES, NULL);
    check(json_integer_value(json_object_get(root, "version")) == EXPORT_VERSION, "its version");
    for (size_t i = 0; i < count_of(COLLECTIONS); i++) {
        const char *name;
        json_t *item, *all = json_object_get(root, COLLECTIONS[i][0]);
        check(json_object_size(all) > 0, "%s is empty", COLLECTIONS[i][0]);
        json_object_foreach(all, name, item) {
            check(strncmp(name, COLLECTIONS[i][1], strlen(COLLECTIONS[i][1])) == 0, "%s", name);
        }
    }
    check(json_array_size(json_object_get(root, "events")) == report.events, "events");
    const json_t *event = json_array_get(json_object_get(root, "events"), 0);
    check(json_is_integer(json_object_get(event, "ts")) &&
              json_is_string(json_object_get(event, "type")) &&
              json_is_string(json_object_get(event, "goalId")) &&
              json_is_object(json_object_get(event, "data")),
          "an event");
    events_have_shape(json_object_get(root, "events"));
    json_decref(root);
    free(document.at);
    proof_passed("unit", server() ? "export_root [postgres]" : "export_root [sqlite]",
                 "STORE-03.b");
}

static void test_seed(void **state) {
    (void)state;
    plain_case("golden/export-seed.json", 0, "export-seed.out");
    root_has_shape();
}

static void test_tasks(void **state) {
    (void)state;
    plain_case("golden/export-tasks.md", TASKS, "export-tasks.out");
}

/* STORE-14: imported text is redacted on the way in. */
static void test_secrets(void **state) {
    (void)state;
    struct import_report report;
    struct export_report out = {0};
    const char *where = fresh("home", false);
    struct document tasks = document_of("- [ ] use ghp_"
                                        "0123456789abcdefghijABCDEFGHIJ012345 to push\n");
    import_well(where, tasks, TASKS, &report);
    struct document made = exported(where, &out);
    check(!strstr(made.at, "0123456789abcdefghij") && strstr(made.at, "[redacted:"), "%s", made.at);
    free(made.at);
    free(tasks.at);
}

/* ---- broken documents ---- */

#define GOAL "goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN"
#define SEED(goal) "{\"version\": 1, \"goals\": {\"" GOAL "\": " goal "}}"
#define PLAN(nodes) SEED("{\"title\": \"x\", \"plan\": {\"phases\": [" nodes "]}}")
#define NODE_P1 "{\"phaseId\": \"P1\", \"name\": \"n\", \"acceptanceCriteria\": [\"c\"]"

#define STORE_ROW "{\"level\": 2, \"era\": 0, \"instance\": \"01JC7Q4T9ZJ5X0M2K8W3R6VYHN\"}"

static const char *const BROKEN[][2] = {
    {" ", "line 1, column 2: the document is truncated."},
    {"[]", "line 1, column 1: '{' is expected here."},
    {"{\"version\": 2", "line 1, column 14: the document is truncated."},
    {"{\"version\": 3}", "reads versions 1 and 2"},
    {"{\"version\": \"2\"}", "reads versions 1 and 2"},
    {"{\"version\": 1,}", "the name of a member is expected here"},
    {"{\"version\": 1 \"goals\": {}}", "',' is expected here"},
    {"{\"version\": 1, \"version\": 1}", "occurs twice"},
    {"{\"version\": 1, \"goals\": []}", "line 1, column 25: '{' is expected here."},
    {"{\"version\": 1, \"goals\": {}} x", "there is text after the end of the document"},
    {"{\"version\": 1, \"goals\": {\"" GOAL "\": ", "a value is expected here"},
    {"{\"version\": 1,\n\"goals\": {\n\"" GOAL "\": {\"title\": tru}\n}}", "line 3, column"},
    {"{\"version\": 1, \"goals\": {\"" GOAL "\": {\"title\": \"x", "ends inside a text"},
    {"{\"version\": 1, \"goals\": {\"" GOAL "\": {\"title\": \"x\"", "ends inside an item"},
    {SEED("[]"), "goals." GOAL ": it must be an object."},
    {SEED("{}"), "goals." GOAL ".title: it is missing."},
    {SEED("{\"title\": 7}"), ".title: it must be a string."},
    {SEED("{\"title\": \"a\\u0000b\"}"), ".title: it contains a NUL character"},
    {SEED("{\"title\": \"x\", \"title\": \"y\"}"), "duplicate object key"},
    {SEED("{\"title\": \"x\", \"status\": \"sleeping\"}"),
     ".status: \"sleeping\" is not one of its values."},
    {SEED("{\"title\": \"x\", \"priority\": 3}"), ".priority:"},
    {SEED("{\"title\": \"x\", \"createdAt\": \"yesterday\"}"), ".createdAt: it must be a time"},
    {SEED("{\"title\": \"x\", \"createdAt\": 1e3}"), ".createdAt: it must be a time"},
    {SEED("{\"title\": \"x\", \"tags\": \"one\"}"), ".tags: it must be a list."},
    {SEED("{\"title\": \"x\", \"tags\": [\"\"]}"), "a tag is empty or too long"},
    {SEED("{\"title\": \"x\", \"risks\": [{\"risk\": \"r\"}]}"),
     "the definition's impact is missing"},
    {SEED("{\"title\": \"x\"}, \"" GOAL "\": {\"title\": \"y\"}"), "this goal occurs twice."},
    {"{\"version\": 1, \"goals\": {}, \"assignments\": {\"A_1\": {\"goalId\": \"" GOAL "\"}}}",
     "assignments.A_1: its goalId names a goal that is not in this document."},
    {PLAN("7"), "plan.phases[0]: it must be an object"},
    {PLAN("{}"), "plan.phases[0].phaseId: it is missing."},
    {PLAN("{\"phaseId\": \"P1\"}"), "node P1: name is missing"},
    {PLAN("{\"phaseId\": \"P1\", \"name\": \"n\"}"), "node P1: acceptanceCriteria is missing"},
    {PLAN(NODE_P1 "}, " NODE_P1 "}"), "node P1: another node has the same id"},
    {PLAN(NODE_P1 ", \"dependsOn\": [\"P9\"]}"), "it depends on P9, which is not in this plan"},
    {PLAN(NODE_P1 ", \"dependsOn\": [\"P1\"]}"), "it depends on itself"},
    {PLAN(NODE_P1 ", \"status\": \"paused\"}"),
     "plan.phases[0].status: \"paused\" is not one of its values."},
    {PLAN(NODE_P1 ", \"tasks\": {}}"), "plan.phases[0].tasks: it must be a list."},
    {"{\"version\": 2, \"overseer\": {}}", "\"overseer\" has no \"store\""},
    {"{\"version\": 2, \"overseer\": {\"format\": 9}}", "a newer build wrote this document"},
    {"{\"version\": 2, \"goals\": {\"" GOAL "\": {\"goalId\": \"" GOAL
     "\"}}, \"overseer\": {\"store\": {}}}",
     "goals." GOAL ": it must be an object with the member \"overseer\"."},
    {"{\"version\": 2, \"goals\": {\"x\": {\"goalId\": \"" GOAL
     "\"}}, \"overseer\": {\"store\": {}}}",
     "its goalId differs from its key"},
    {"{\"version\": 2, \"events\": [{\"type\": \"goal.eaten\", \"goalId\": \"" GOAL
     "\"}], \"overseer\": {\"store\": {}}}",
     "events[0].type: there is no such type of event."},
    {"{\"version\": 2, \"goals\": {}, \"overseer\": {\"store\": {}, \"seen\": [{\"goalId\": \"" GOAL
     "\", \"source\": \"01JC7Q4T9ZJ5X0M2K8W3R6VYHN\", \"at\": 1}]}}",
     "overseer.seen[0]: it names a goal that is not in this document."},
    {"{\"version\": 2, \"goals\": {}, \"overseer\": {\"store\": " STORE_ROW
     ", \"hosts\": [{\"drop table\": 1}]}}",
     "an unknown column"},
    {"{\"version\": 2, \"goals\": {}, \"overseer\": {\"store\": " STORE_ROW
     ", \"hosts\": [{\"hostId\": 1, \"colour\": 1}]}}",
     "colour"},
    {"{\"version\": 2, \"goals\": {}, \"overseer\": {\"store\": {}}}", "does not give the level"},
    {"{\"version\": 2, \"events\": [{\"type\": \"goal.created\", \"goalId\": \"" GOAL
     "\", \"overseer\": {\"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1, \"e\": 1, \"f\": 1, \"g\": 1, \"h\": 1,"
     " \"i\": 1, \"j\": 1, \"k\": 1, \"l\": 1, \"m\": 1, \"n\": 1, \"o\": 1, \"p\": 1, \"q\": 1, \"r\": 1,"
     " \"s\": 1, \"t\": 1, \"u\": 1, \"c24\": 1}}], \"overseer\": {\"store\": {}}}",
     "too many members"},
    {"{\"version\": 2, \"goals\": {}, \"overseer\": {\"store\": {\"level\": 99, \"instance\": "
     "\"01JC7Q4T9ZJ5X0M2K8W3R6VYHN\"}}}",
     "level 99"},
};

static void test_broken(void **state) {
    (void)state;
    const char *where = fresh("home", server());
    struct export_report report = {0};
    struct import_report back;
    char error[1024];
    store_close(store_open(str_of(where), error, sizeof error));
    struct document before = exported(where, &report), after;
    unsigned wrong = 0;
    for (size_t i = 0; i < count_of(BROKEN); i++) {
        char *text = strdup(BROKEN[i][0]);
        error[0] = 0;
        check(!imported(where, str_of(text), 0, &back, error, sizeof error), "accepted: %s", text);
        bool found = strstr(error, BROKEN[i][1]);
        if (!found)
            print_error("%s\nsays: %s\nand not: %s\n", text, error, BROKEN[i][1]);
        wrong += !found;
        free(text);
    }
    check(wrong == 0, "%u sentences are not what they were", wrong);
    after = exported(where, &report);
    documents_equal(&before, &after, "a broken document left something");
    free(before.at);
    free(after.at);
    print_message("import: %zu broken documents refused\n", count_of(BROKEN));
}

/* With one byte of a valid document changed, the import is refused or makes a consistent store. */
static void test_altered(void **state) {
    (void)state;
    struct export_world world;
    struct export_report report = {0};
    struct import_report back;
    struct chance chance = {.state = 99};
    const char *home = fresh("home", false);
    world_begin(&world, home, 21);
    world_live(&world, 30);
    world_end(&world);
    struct document whole = exported(home, &report);
    unsigned refused = 0;
    for (int i = 0; i < 60; i++) {
        struct document bent = {malloc(whole.len), whole.len};
        char error[1024] = "";
        memcpy(bent.at, whole.at, whole.len);
        for (uint32_t k = 0; k <= chance_below(&chance, 3); k++)
            bent.at[chance_below(&chance, (uint32_t)whole.len)] ^=
                (char)(1 << chance_below(&chance, 7));
        const char *copy = fresh("away", false);
        bool done =
            imported(copy, (struct str){bent.at, bent.len}, MOVE, &back, error, sizeof error);
        refused += !done;
        check(done || error[0], "refused without a word");
        if (done)
            chains_hold(copy, back.events);
        free(bent.at);
    }
    check(refused > 30, "%u of 60 altered documents were refused", refused);
    free(whole.at);
}

/* ---- deleting goals ---- */

static bool file_has(const char *path, const char *words) {
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    size_t len = (size_t)ftell(file);
    char *bytes = malloc(len + 1);
    rewind(file);
    len = fread(bytes, 1, len, file);
    fclose(file);
    bool has = memmem(bytes, len, words, strlen(words)) != NULL;
    free(bytes);
    return has;
}

static struct signal signal_of(struct export_world *world, enum signal_kind kind, struct id goal) {
    return (struct signal){.kind = kind,
                           .goal = goal,
                           .source = dice_id(&world->gen.dice),
                           .sender.by = WHO_HUMAN,
                           .sender.actor = STR("Zacharias")};
}

static struct id secret_goal(struct export_world *world) {
    struct signal create = signal_of(world, SIGNAL_GOAL_CREATE, dice_id(&world->gen.dice));
    struct goal_text words = {.problem = STR("Zacharias lost his umbrella")};
    struct str tag = STR("Zacharias-tag");
    struct tags tags = {{&tag, 1}};
    create.describe.title = STR("umbrella of Zacharias");
    create.body = shape_encode(&GOAL_TEXT, &words, &world->arena);
    create.describe.tags = shape_encode(&TAGS, &tags, &world->arena);
    check(world_signal(world, create) == ERROR_NONE, "not created");
    struct signal say = signal_of(world, SIGNAL_GOAL_REPORT, create.goal);
    say.text = STR("Zacharias says that it is black");
    check(world_signal(world, say) == ERROR_NONE, "not said");
    struct handoff handoff = {.id = STR("C_1"), .summary = STR("Zacharias was asked")};
    struct signal part = signal_of(world, SIGNAL_PART_PUT, create.goal);
    part.to = PART_HANDOFF;
    part.body = shape_encode(&HANDOFF, &handoff, &world->arena);
    check(world_signal(world, part) == ERROR_NONE, "not put");
    return create.goal;
}

static void forgotten(const char *where) {
    struct export_world world;
    struct export_report report = {0};
    char error[512] = "";
    world_begin(&world, where, 31);
    world_live(&world, 20);
    struct id goal = secret_goal(&world);
    struct store *store = store_open(str_of(where), error, sizeof error);
    check(!store_forget(store, goal, error, sizeof error) && strstr(error, "still open"), "%s",
          error);
    struct signal cancel = signal_of(&world, SIGNAL_GOAL_MOVE, goal);
    cancel.to = GOAL_CANCELLED;
    check(world_signal(&world, cancel) == ERROR_NONE, "not cancelled");
    world_end(&world);
    struct document before = exported(where, &report), after;
    check(strstr(before.at, "Zacharias"), "nothing to forget");
    check(store_forget(store, goal, error, sizeof error), "%s", error);
    check(!store_forget(store, dice_id(&world.gen.dice), error, sizeof error) &&
              strstr(error, "no goal with that id"),
          "%s", error);
    store_close(store);
    uint64_t events = report.events;
    after = exported(where, &report);
    check(!strstr(after.at, "Zacharias"), "it still knows");
    check(report.events == events, "an event is gone");
    chains_hold(where, events);
    if (where != server())
        check(!file_has(where + 7, "Zacharias") && !file_has(where + 7, "zacharias"),
              "the file knows");
    struct import_report back;
    struct export_report again;
    const char *copy = fresh("away", false);
    import_well(copy, after, MOVE, &back);
    struct document third = exported(copy, &again);
    documents_equal(&after, &third, "what is forgotten comes back as such");
    free(before.at);
    free(after.at);
    free(third.at);
}

static void test_forget(void **state) {
    (void)state;
    forgotten(fresh("home", false));
    if (server())
        forgotten(fresh("", true));
}

/* ---- the documentation ---- */

/* The tables of docs/export.md are generated from the tables of fields; OVERSEER_GOLDEN=write updates them. */
static void test_described(void **state) {
    (void)state;
    static const char FROM[] = "<!-- tables -->\n", TO[] = "<!-- /tables -->";
    const char *tests = getenv("OVERSEER_TESTS"), *mode = getenv("OVERSEER_GOLDEN");
    char path[512], *tables = NULL, *text = file_read("../docs/export.md");
    size_t len;
    FILE *to = open_memstream(&tables, &len);
    export_describe(to);
    fclose(to);
    char *from = strstr(text, FROM), *end = strstr(text, TO);
    check(from && end, "docs/export.md has no place for the tables");
    from += strlen(FROM);
    if (mode && strcmp(mode, "write") == 0) {
        snprintf(path, sizeof path, "%s/../docs/export.md", tests ? tests : "tests");
        FILE *file = fopen(path, "w");
        check(file, "%s", path);
        fprintf(file, "%.*s%s%s", (int)(from - text), text, tables, end);
        fclose(file);
    } else
        check((size_t)(end - from) == len && memcmp(from, tables, len) == 0,
              "docs/export.md does not say what the fields are now");
    free(tables);
    free(text);
}

int main(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--worlds") == 0)
            world_count = (unsigned)atoi(argv[i + 1]);
    snprintf(folder, sizeof folder, "%s/export-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_table), cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_worlds),      cmocka_unit_test(test_unknown_bytes),
        cmocka_unit_test(test_effects),     cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_only_empty),  cmocka_unit_test(test_half_filled),
        cmocka_unit_test(test_fixture),     cmocka_unit_test(test_without_ends),
        cmocka_unit_test(test_seed),        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_secrets),     cmocka_unit_test(test_broken),
        cmocka_unit_test(test_altered),     cmocka_unit_test(test_forget),
        cmocka_unit_test(test_described),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? failed : 1;
}
