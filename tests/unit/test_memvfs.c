/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the in-memory disk keeps what SQLite relies on, and loses what it may lose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memvfs.h"

enum { SEEDS = 200, ROWS = 12, FIRST_EXTRA_ROW = 100 };

#define SETUP \
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;" \
    "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body TEXT);"

static sqlite3 *connection_open(struct memdisk *disk, int owner) {
    sqlite3 *connection;
    memdisk_owner(disk, owner);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int result = sqlite3_open_v2("shared.db", &connection, flags, memdisk_vfs(disk));
    assert_int_equal(result, SQLITE_OK);
    memdisk_owner(disk, -1); /* files that it opens later must find their owner without help */
    return connection;
}

static int connection_run(sqlite3 *connection, const char *sql) {
    return sqlite3_exec(connection, sql, NULL, NULL, NULL);
}

static void connection_must(sqlite3 *connection, const char *sql) {
    int result = connection_run(connection, sql);
    if (result != SQLITE_OK)
        print_error("%s: %s\n", sql, sqlite3_errmsg(connection));
    assert_int_equal(result, SQLITE_OK);
}

static sqlite3 *connection_begin(struct memdisk *disk, int owner) {
    sqlite3 *connection = connection_open(disk, owner);
    connection_must(connection, SETUP);
    return connection;
}

static void connection_close(sqlite3 *connection) {
    assert_int_equal(sqlite3_close(connection), SQLITE_OK);
}

/* Rows are wide, so that one takes several pages. */
static int row_insert(sqlite3 *connection, int id) {
    char sql[128];
    snprintf(sql, sizeof sql, "INSERT INTO rows VALUES (%d, hex(zeroblob(3000)))", id);
    return connection_run(connection, sql);
}

/* The first column of the first row, or -1. */
static int number_query(sqlite3 *connection, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int number = -1;
    if (sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static int row_count(sqlite3 *connection) {
    return number_query(connection, "SELECT count(*) FROM rows WHERE length(body) = 6000");
}

static bool row_exists(sqlite3 *connection, int id) {
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM rows WHERE id = %d", id);
    return number_query(connection, sql) == 1;
}

static bool connection_sound(sqlite3 *connection) {
    const char *sql = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'";
    return number_query(connection, sql) == 1;
}

/* Inserts rows in a transaction that spills into the wal before it is committed. */
static void transaction_begin(sqlite3 *connection, int first, int count) {
    connection_must(connection, "PRAGMA cache_size = 2; BEGIN IMMEDIATE");
    for (int i = 0; i < count; i++)
        assert_int_equal(row_insert(connection, first + i), SQLITE_OK);
}

static void test_connections_share(void **state) {
    (void)state;
    struct memdisk *disk = memdisk_create(1);
    sqlite3 *connections[3];
    for (int i = 0; i < 3; i++)
        connections[i] = connection_begin(disk, i);
    for (int id = 0; id < 30; id++) {
        assert_int_equal(row_insert(connections[id % 3], id), SQLITE_OK);
        for (int i = 0; i < 3; i++)
            assert_int_equal(row_count(connections[i]), id + 1);
        if (id % 10 == 9)
            connection_must(connections[(id + 1) % 3], "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    for (int i = 0; i < 3; i++)
        connection_close(connections[i]);
    memdisk_free(disk);
}

static void test_reader_keeps_its_snapshot(void **state) {
    (void)state;
    struct memdisk *disk = memdisk_create(1);
    sqlite3 *reader = connection_begin(disk, 1), *writer = connection_begin(disk, 2);
    connection_must(reader, "BEGIN");
    assert_int_equal(row_count(reader), 0);
    assert_int_equal(row_insert(writer, 1), SQLITE_OK);
    assert_int_equal(row_count(reader), 0);
    assert_int_equal(number_query(writer, "PRAGMA wal_checkpoint(TRUNCATE)"), 1); /* busy */
    connection_must(reader, "COMMIT");
    assert_int_equal(row_count(reader), 1);
    assert_int_equal(number_query(writer, "PRAGMA wal_checkpoint(TRUNCATE)"), 0);
    connection_close(reader);
    connection_close(writer);
    memdisk_free(disk);
}

static void writers_exclude(struct memdisk *disk, const char *journal_mode) {
    sqlite3 *one = connection_open(disk, 1), *two = connection_open(disk, 2);
    connection_must(one, journal_mode);
    connection_must(one, "CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)");
    sqlite3_busy_timeout(two, 1000);
    transaction_begin(one, 1, 1);
    assert_int_equal(connection_run(two, "BEGIN IMMEDIATE"), SQLITE_BUSY);
    assert_int_equal(row_insert(two, 2), SQLITE_BUSY);
    connection_must(one, "COMMIT");
    assert_int_equal(row_insert(two, 2), SQLITE_OK);
    assert_int_equal(row_count(one), 2);
    connection_close(one);
    connection_close(two);
}

static void test_writers_exclude_each_other(void **state) {
    (void)state;
    const char *modes[] = {"PRAGMA journal_mode = WAL", "PRAGMA journal_mode = DELETE",
                           "PRAGMA journal_mode = TRUNCATE"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct memdisk *disk = memdisk_create(i);
        writers_exclude(disk, modes[i]);
        memdisk_free(disk);
    }
}

/* Cuts the power and returns the number of rows; -1: the database is damaged. */
static int cut_count(struct memdisk *disk) {
    memdisk_power_cut(disk);
    sqlite3 *connection = connection_open(disk, 9);
    int rows = connection_sound(connection) ? row_count(connection) : -1;
    connection_close(connection);
    return rows;
}

/* Commits rows, checkpointing on the way, then cuts the power. Returns the result of cut_count(). */
static int commit_and_cut(uint64_t seed, bool lies, int rows) {
    struct memdisk *disk = memdisk_create(seed);
    memdisk_lies(disk, lies);
    sqlite3 *connections[2] = {connection_begin(disk, 1), connection_begin(disk, 2)};
    for (int id = 0; id < rows; id++) {
        assert_int_equal(row_insert(connections[id % 2], id), SQLITE_OK);
        if (id % 5 == 4)
            connection_must(connections[0], "PRAGMA wal_checkpoint(RESTART)");
    }
    int found = cut_count(disk);
    connection_close(connections[0]);
    connection_close(connections[1]);
    memdisk_free(disk);
    return found;
}

static void test_power_cut_keeps_commits(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int rows = 1 + (int)seed % 17;
        assert_int_equal(commit_and_cut(seed, false, rows), rows);
    }
}

static void test_lying_disk_loses_commits(void **state) {
    (void)state;
    int losses = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        losses += commit_and_cut(seed, true, 7) != 7;
    assert_in_range(losses, SEEDS / 2, SEEDS);
}

static void test_power_cut_loses_open_transaction(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct memdisk *disk = memdisk_create(seed);
        sqlite3 *connection = connection_begin(disk, 1);
        assert_int_equal(row_insert(connection, 1), SQLITE_OK);
        uint64_t writes = memdisk_count(disk, MEMDISK_WRITE);
        transaction_begin(connection, FIRST_EXTRA_ROW, 20);
        assert_true(memdisk_count(disk, MEMDISK_WRITE) > writes);
        assert_int_equal(cut_count(disk), 1);
        assert_int_not_equal(connection_run(connection, "COMMIT"), SQLITE_OK);
        connection_close(connection);
        memdisk_free(disk);
    }
}

static void test_kill_releases_locks(void **state) {
    (void)state;
    struct memdisk *disk = memdisk_create(3);
    sqlite3 *victim = connection_begin(disk, 1), *survivor = connection_begin(disk, 2);
    assert_int_equal(row_insert(victim, 1), SQLITE_OK);
    transaction_begin(victim, FIRST_EXTRA_ROW, 20);
    assert_int_equal(row_insert(survivor, 2), SQLITE_BUSY);
    memdisk_kill(disk, 1);
    assert_int_equal(row_insert(survivor, 2), SQLITE_OK);
    assert_int_not_equal(connection_run(victim, "COMMIT"), SQLITE_OK);
    assert_int_equal(row_count(survivor), 2);
    connection_close(victim);
    assert_int_equal(row_insert(survivor, 3), SQLITE_OK);
    assert_int_equal(row_count(survivor), 3);
    assert_true(connection_sound(survivor));
    connection_close(survivor);
    memdisk_free(disk);
}

/* SQLite rolls back the dead transaction in memory that it takes for shared. */
static void test_closing_the_dead_disturbs_nobody(void **state) {
    (void)state;
    struct memdisk *disk = memdisk_create(4);
    sqlite3 *victim = connection_begin(disk, 1), *survivor = connection_begin(disk, 2);
    transaction_begin(victim, FIRST_EXTRA_ROW, 20);
    memdisk_kill(disk, 1);
    transaction_begin(survivor, 1, 30);
    connection_close(victim);
    assert_int_equal(row_count(survivor), 30);
    connection_must(survivor, "COMMIT");
    sqlite3 *reborn = connection_begin(disk, 1);
    assert_int_equal(row_count(reborn), 30);
    assert_true(connection_sound(reborn));
    connection_close(survivor);
    connection_close(reborn);
    assert_int_equal(cut_count(disk), 30);
    memdisk_free(disk);
}

/* The results that a workload got for its rows. */
struct ledger {
    bool acknowledged[ROWS];
    int errors;
};

static void workload_run(sqlite3 *connection, struct ledger *ledger) {
    ledger->errors += connection_run(connection, SETUP) != SQLITE_OK;
    for (int id = 0; id < ROWS; id++) {
        ledger->acknowledged[id] = row_insert(connection, id) == SQLITE_OK;
        ledger->errors += !ledger->acknowledged[id];
        if (id % 4 == 3)
            ledger->errors += connection_run(connection, "PRAGMA wal_checkpoint(RESTART)") != 0;
    }
}

static void ledger_check(const struct ledger *ledger, sqlite3 *connection) {
    assert_true(connection_sound(connection));
    for (int id = 0; id < ROWS; id++)
        if (ledger->acknowledged[id])
            assert_true(row_exists(connection, id));
}

static void disk_check(struct memdisk *disk, const struct ledger *ledger) {
    sqlite3 *connection = connection_open(disk, 9);
    ledger_check(ledger, connection);
    connection_close(connection);
}

/* A connection that could not switch to WAL must be closed: a second request returns "wal", although the file still
 * uses a rollback journal, whose deletion is not durable under synchronous = FULL. */
static sqlite3 *connection_begin_stubbornly(struct memdisk *disk, enum memdisk_fault kind,
                                            uint64_t nth, struct ledger *ledger) {
    sqlite3 *connection = connection_open(disk, 1);
    memdisk_fail(disk, kind, nth);
    if (connection_run(connection, SETUP) == SQLITE_OK)
        return connection;
    ledger->errors++;
    connection_close(connection);
    return connection_begin(disk, 1);
}

/* Runs the workload with one fault. Returns whether the fault happened. */
static bool fault_run(enum memdisk_fault kind, uint64_t nth, uint64_t seed) {
    struct memdisk *disk = memdisk_create(seed);
    struct ledger ledger = {.errors = 0};
    sqlite3 *connection = connection_begin_stubbornly(disk, kind, nth, &ledger);
    workload_run(connection, &ledger);
    bool struck = !memdisk_armed(disk, kind);
    assert_int_equal(ledger.errors > 0, struck);
    memdisk_fail(disk, MEMDISK_NONE, 0);
    ledger_check(&ledger, connection);
    disk_check(disk, &ledger);
    memdisk_power_cut(disk);
    disk_check(disk, &ledger);
    connection_close(connection);
    memdisk_free(disk);
    return struck;
}

static void faults_enumerate(enum memdisk_fault kind, uint64_t at_least) {
    for (uint64_t seed = 0; seed < 5; seed++) {
        uint64_t nth = 1;
        while (fault_run(kind, nth, seed))
            nth++;
        assert_true(nth > at_least);
    }
}

static void test_each_write_fails(void **state) {
    (void)state;
    faults_enumerate(MEMDISK_WRITE, 50);
    faults_enumerate(MEMDISK_FULL, 50);
}

static void test_each_sync_fails(void **state) {
    (void)state;
    faults_enumerate(MEMDISK_SYNC, ROWS);
}

static void test_each_read_fails(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth < 40; nth++) {
        struct memdisk *disk = memdisk_create(nth);
        struct ledger ledger = {.errors = 0};
        sqlite3 *connection = connection_begin_stubbornly(disk, MEMDISK_READ, nth, &ledger);
        workload_run(connection, &ledger);
        memdisk_fail(disk, MEMDISK_NONE, 0);
        ledger_check(&ledger, connection);
        connection_close(connection);
        disk_check(disk, &ledger);
        memdisk_free(disk);
    }
}

/* A surviving connection continues after the death of the other, and the rows of both survive a power cut. */
static void survivor_run(struct memdisk *disk, sqlite3 *survivor, const struct ledger *ledger) {
    connection_must(survivor, SETUP);
    ledger_check(ledger, survivor);
    assert_int_equal(row_insert(survivor, FIRST_EXTRA_ROW), SQLITE_OK);
    memdisk_power_cut(disk);
    sqlite3 *later = connection_open(disk, 9);
    ledger_check(ledger, later);
    assert_true(row_exists(later, FIRST_EXTRA_ROW));
    connection_close(later);
}

enum aftermath { CUT_AT_ONCE, SURVIVOR_FROM_BEFORE, SURVIVOR_FROM_AFTER, AFTERMATHS };

/* Dies at the nth operation. Returns whether there were that many. */
static bool death_run(uint64_t nth, uint64_t seed, enum aftermath aftermath) {
    struct memdisk *disk = memdisk_create(seed);
    struct ledger ledger = {.errors = 0};
    sqlite3 *survivor = aftermath == SURVIVOR_FROM_BEFORE ? connection_begin(disk, 2) : NULL;
    sqlite3 *victim = connection_open(disk, 1);
    memdisk_fail(disk, MEMDISK_DIE, nth);
    workload_run(victim, &ledger);
    bool died = !memdisk_armed(disk, MEMDISK_DIE);
    assert_int_equal(ledger.errors > 0, died);
    memdisk_fail(disk, MEMDISK_NONE, 0);
    if (aftermath == SURVIVOR_FROM_AFTER)
        survivor = connection_open(disk, 2);
    if (survivor)
        survivor_run(disk, survivor, &ledger);
    memdisk_power_cut(disk);
    disk_check(disk, &ledger);
    connection_close(victim);
    sqlite3_close(survivor);
    memdisk_free(disk);
    return died;
}

static void test_death_at_each_operation(void **state) {
    (void)state;
    for (enum aftermath aftermath = 0; aftermath < AFTERMATHS; aftermath++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            uint64_t nth = 1;
            while (death_run(nth, seed, aftermath))
                nth++;
            assert_true(nth > 70);
        }
}

/* The power is cut, and then the recovering process dies at each of its operations. */
static void test_death_in_recovery(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth < 60; nth++) {
        struct memdisk *disk = memdisk_create(nth);
        sqlite3 *first = connection_begin(disk, 1);
        for (int id = 0; id < 5; id++)
            assert_int_equal(row_insert(first, id), SQLITE_OK);
        memdisk_power_cut(disk);
        sqlite3 *second = connection_open(disk, 1);
        memdisk_fail(disk, MEMDISK_DIE, nth);
        connection_run(second, SETUP "PRAGMA wal_checkpoint(TRUNCATE)");
        connection_close(second);
        memdisk_fail(disk, MEMDISK_NONE, 0);
        assert_int_equal(cut_count(disk), 5);
        connection_close(first);
        memdisk_free(disk);
    }
}

/* Only the seed decides: the same seed gives the same disk. */
static void test_same_seed_same_outcome(void **state) {
    (void)state;
    int outcomes[2][20];
    for (int round = 0; round < 2; round++)
        for (uint64_t seed = 0; seed < 20; seed++)
            outcomes[round][seed] = commit_and_cut(seed, true, 7);
    assert_memory_equal(outcomes[0], outcomes[1], sizeof outcomes[0]);
}

static void test_clock_is_handed_in(void **state) {
    (void)state;
    struct memdisk *disk = memdisk_create(1);
    sqlite3 *connection = connection_open(disk, 1);
    assert_int_equal(number_query(connection, "SELECT strftime('%s', 'now')"), 0);
    memdisk_clock(disk, 1700000000000);
    assert_int_equal(number_query(connection, "SELECT strftime('%s', 'now')"), 1700000000);
    connection_close(connection);
    memdisk_free(disk);
}

/* Sorting and VACUUM use temporary files; a kill in between must leave none behind. */
static void test_temporary_files(void **state) {
    (void)state;
    struct memdisk *disk = memdisk_create(1);
    sqlite3 *connection = connection_begin(disk, 1);
    connection_must(connection, "PRAGMA temp_store = FILE; PRAGMA cache_size = 2");
    for (int id = 0; id < 60; id++)
        assert_int_equal(row_insert(connection, id), SQLITE_OK);
    connection_must(connection, "CREATE TEMP TABLE copy AS SELECT * FROM rows; VACUUM");
    assert_int_equal(number_query(connection, "SELECT count(*) FROM copy"), 60);
    assert_int_equal(cut_count(disk), 60);
    connection_close(connection);
    memdisk_free(disk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections_share),
        cmocka_unit_test(test_reader_keeps_its_snapshot),
        cmocka_unit_test(test_writers_exclude_each_other),
        cmocka_unit_test(test_power_cut_keeps_commits),
        cmocka_unit_test(test_lying_disk_loses_commits),
        cmocka_unit_test(test_power_cut_loses_open_transaction),
        cmocka_unit_test(test_kill_releases_locks),
        cmocka_unit_test(test_closing_the_dead_disturbs_nobody),
        cmocka_unit_test(test_each_write_fails),
        cmocka_unit_test(test_each_sync_fails),
        cmocka_unit_test(test_each_read_fails),
        cmocka_unit_test(test_death_at_each_operation),
        cmocka_unit_test(test_death_in_recovery),
        cmocka_unit_test(test_same_seed_same_outcome),
        cmocka_unit_test(test_clock_is_handed_in),
        cmocka_unit_test(test_temporary_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
