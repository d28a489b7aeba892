/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a PostgreSQL store of the first version is migrated completely or not at all. STORE-04, STORE-18. Runs
 * inside tests/lib/with-postgres. The fixture is a dump of a store that the first version wrote. */
#include "store/postgres/postgres_state.h"
#include "store/words.h"
#include "unit/unit.h"

#include <pthread.h>

static const char *where(void) {
    return getenv("OVERSEER_TEST_PG");
}

/* ---- the database from outside ---- */

static void sql(const char *text) {
    PGconn *connection = PQconnectdb(where());
    PGresult *result = PQexec(connection, text);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", text, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

/* Returns the output of a shell command; the caller frees it. */
static char *output_of(const char *format, ...) {
    char command[2048];
    va_list rest;
    va_start(rest, format);
    vsnprintf(command, sizeof command, format, rest);
    va_end(rest);
    FILE *pipe = popen(command, "r");
    size_t size = 1 << 20, len = 0;
    char *text = malloc(size);
    assert_non_null(pipe);
    for (size_t got; (got = fread(text + len, 1, size - len - 1, pipe)) > 0;)
        len += got;
    text[len] = 0;
    assert_true(len < size - 1);
    if (pclose(pipe) != 0)
        fail_msg("%s failed", command);
    return text;
}

/* The dump, without comments and without the key that pg_dump generates anew each time. */
static char *dump(const char *options) {
    return output_of("%s/pg_dump %s '%s' | grep -v -e '^--' -e '^\\\\' -e '^$'", getenv("PGBIN"),
                     options, where());
}

static void empty(void) {
    sql("SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}

static void fixture_of(uint32_t version) {
    empty();
    free(output_of("%s/psql -q -v ON_ERROR_STOP=1 -d '%s' -f %s/fixtures/store-%u.postgres.sql"
                   " > /dev/null",
                   getenv("PGBIN"), where(), getenv("OVERSEER_TESTS"), version));
}

static void fixture_load(void) {
    fixture_of(1);
}

/* The partitions of days vary, and are created on demand. */
static void days_drop(void) {
    sql("DO $$ DECLARE t text; BEGIN FOR t IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent ="
        " 'record'::regclass AND inhrelid::regclass::text ~ '^record_[0-9]+$' LOOP"
        " EXECUTE 'DROP TABLE ' || t; END LOOP; END $$");
}

static struct store *opened(void) {
    char error[512];
    struct store *store = store_open(str_of(where()), error, sizeof error);
    if (!store)
        fail_msg("%s", error);
    return store;
}

/* ---- a store as text ---- */

struct words {
    FILE *to;
    struct store *store;
    struct arena arena;
};

static void rows_print(struct words *words, PGconn *connection, const char *table,
                       const char *query) {
    PGresult *result = PQexec(connection, query);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", query, PQerrorMessage(connection));
    for (int i = 0; i < PQntuples(result); i++) {
        fprintf(words->to, "%s:", table);
        for (int c = 0; c < PQnfields(result); c++)
            fprintf(words->to, " %s=%s", PQfname(result, c), PQgetvalue(result, i, c));
        fputc('\n', words->to);
    }
    PQclear(result);
}

/* Prints a goal as the ledger would see it. */
static void goal_print(struct words *words, struct id id) {
    struct store_answer answer;
    struct store_request request = {
        .verb = STORE_SHOW, .ids = &id, .id_count = 1, .limit = 50, .at = 1794713195606036};
    store_perform(words->store, &request, &answer, &words->arena);
    assert_int_equal(answer.outcome, STORE_DONE);
    const struct goal *goal = &answer.loaded[0].goal;
    char text[ID_TEXT + 1];
    id_format(id, text);
    fprintf(words->to, "goal %s: \"%.*s\" %s, %s, %s, whole %d, broken: %s\n", text,
            STR_ARG(answer.shown.title), name_of(&GOAL_STATUS_NAMES, goal->status),
            name_of(&NEED_NAMES, goal->need),
            name_of(&DISPLAY_STATE_NAMES, goal_display_state(goal)), answer.loaded[0].whole,
            goal_broken(goal) ? goal_broken(goal) : "nothing");
    fprintf(words->to,
            "  created %lld, updated %lld, ended %lld, reports %u, effects %u, exit %lld\n",
            (long long)goal->times.created_at, (long long)goal->times.updated_at,
            (long long)goal->times.ended_at, goal->progress.reports, goal->effects.made,
            (long long)goal->progress.last_exit);
    for (uint32_t i = answer.shown.record_count; i-- > 0;)
        fprintf(words->to, "  record %llu %s\n", (unsigned long long)answer.shown.records[i].seq,
                name_of(&RECORD_NAMES, answer.shown.records[i].type));
}

static void goals_print(struct words *words, PGconn *connection) {
    PGresult *result = PQexecParams(connection, "SELECT goal_id FROM goal ORDER BY goal_id", 0,
                                    NULL, NULL, NULL, NULL, 1);
    for (int i = 0; i < PQntuples(result); i++)
        goal_print(words, pg_id(result, i, 0));
    PQclear(result);
}

static void effects_print(struct words *words) {
    struct store_answer answer;
    struct store_request request = {
        .verb = STORE_OWNED, .self = {1, 1, 1}, .limit = 100, .at = 1794713195606036};
    store_perform(words->store, &request, &answer, &words->arena);
    for (uint32_t i = 0; i < answer.effect_count; i++) {
        struct effect effect;
        assert_false(answer.effects[i].damaged);
        assert_true(effect_decode(EFFECT_COMMAND, answer.effects[i].body, &effect));
        fprintf(words->to, "effect %u: %s, runs \"%.*s\"\n", answer.effects[i].slot.n,
                name_of(&EFFECT_STATE_NAMES, answer.effects[i].slot.state),
                STR_ARG(effect.command));
    }
}

static char *store_in_words(void) {
    char *text;
    size_t size;
    struct words words = {.to = open_memstream(&text, &size), .store = opened()};
    PGconn *connection = PQconnectdb(where());
    goals_print(&words, connection);
    effects_print(&words);
    static const char *const QUERIES[][2] = {
        {"store",
         "SELECT one, least(version, 6) AS version, oldest, level, era, safe IS NULL AS sound FROM store"},
        {"host", "SELECT * FROM host ORDER BY host_id"},
        {"view",
         "SELECT goal_id, status, face, priority, percent, created_at, updated_at, title, words, ended_at"
         " FROM goal_view ORDER BY goal_id"},
        {"tally", "SELECT * FROM tally ORDER BY host_id, face"},
        {"seen", "SELECT * FROM seen ORDER BY goal_id, source"},
        {"rows",
         "SELECT (SELECT count(*) FROM record) AS record, (SELECT count(*) FROM inbox) AS inbox,"
         " (SELECT count(*) FROM aside) AS aside, (SELECT count(*) FROM node) AS node,"
         " (SELECT count(*) FROM text) AS text, (SELECT count(*) FROM goal_tag) AS tag,"
         " (SELECT count(*) FROM milestone) AS milestone"}};
    for (size_t i = 0; i < count_of(QUERIES); i++)
        rows_print(&words, connection, QUERIES[i][0], QUERIES[i][1]);
    PQfinish(connection);
    store_close(words.store);
    arena_free(&words.arena);
    fclose(words.to);
    return text;
}

/* ---- tests ---- */

static void the_fixture_becomes_a_store_of_today(void **state) {
    (void)state;
    fixture_load();
    store_close(opened());
    char *words = store_in_words();
    golden_check("store-10.from-1.postgres.txt", str_of(words));
    free(words);
}

static void a_second_open_changes_nothing(void **state) {
    (void)state;
    fixture_load();
    store_close(opened());
    char *before = dump("--inserts");
    store_close(opened());
    char *after = dump("--inserts");
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void upgraded_and_new_tables_are_the_same(void **state) {
    (void)state;
    static const uint32_t VERSIONS[] = {1, 3};
    empty();
    store_close(opened());
    days_drop();
    char *fresh = dump("--schema-only");
    assert_non_null(strstr(fresh, "goal_tag"));
    for (size_t i = 0; i < count_of(VERSIONS); i++) {
        fixture_of(VERSIONS[i]);
        store_close(opened());
        days_drop();
        char *upgraded = dump("--schema-only");
        assert_string_equal(upgraded, fresh);
        free(upgraded);
    }
    free(fresh);
}

/* The columns of the live tables are those of STORED; SQLite: test_migrate.c. */
static void tables_are_as_declared(void **state) {
    (void)state;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    empty();
    store_close(opened());
    PGconn *connection = PQconnectdb(where());
    PGresult *rows = PQexec(
        connection,
        "SELECT c.relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)"
        " || CASE WHEN attnotnull THEN '' ELSE ' null' END FROM pg_attribute a JOIN pg_class c"
        " ON c.oid = attrelid WHERE relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0"
        " AND NOT attisdropped AND relnamespace = 'public'::regnamespace");
    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(connection));
    fputc('\n', out);
    for (int i = 0; i < PQntuples(rows); i++)
        fprintf(out, "%s\n", PQgetvalue(rows, i, 0));
    PQclear(rows);
    PQfinish(connection);
    fclose(out);
    schema_check(text, true);
    free(text);
}

/* Only the version differs; the new tables are empty. */
static void version_3_keeps_what_it_has(void **state) {
    (void)state;
    fixture_of(3);
    sql("ALTER TABLE goal_view ADD ended_at bigint NOT NULL DEFAULT 0");
    sql("UPDATE goal_view SET ended_at = updated_at WHERE face = 3;"
        "ALTER TABLE goal_view ADD asked_at bigint NOT NULL DEFAULT 0;"
        "UPDATE goal_view SET asked_at = updated_at WHERE face = 2;"
        "ALTER TABLE goal_view ADD repository bigint NOT NULL DEFAULT 0;"
        "ALTER TABLE goal_view ADD number bigint NOT NULL DEFAULT 0;"
        "ALTER TABLE store ADD numbered bigint NOT NULL DEFAULT 0;"
        "ALTER TABLE store ADD numbered_era bigint NOT NULL DEFAULT 0;"
        "UPDATE store SET numbered = (SELECT count(*) FROM goal_view);"
        "ALTER TABLE host ADD number_next bigint NOT NULL DEFAULT 0;"
        "ALTER TABLE host ADD number_end bigint NOT NULL DEFAULT 0;"
        "ALTER TABLE host ADD number_era bigint NOT NULL DEFAULT -1");
    char version[64];
    snprintf(version, sizeof version, "UPDATE store SET version = %d", SCHEMA_VERSION);
    sql(version);
    char *before = dump("--inserts --data-only");
    fixture_of(3);
    store_close(opened());
    char *after = dump("--inserts --data-only");
    assert_string_equal(before, after);
    assert_non_null(strstr(after, "for the night"));
    free(before);
    free(after);
}

static void sql_refused(const char *text, const char *words) {
    PGconn *connection = PQconnectdb(where());
    PGresult *result = PQexec(connection, text);
    assert_int_equal(PQresultStatus(result), PGRES_FATAL_ERROR);
    assert_non_null(strstr(PQerrorMessage(connection), words));
    PQclear(result);
    PQfinish(connection);
}

/* ASSIGN-12: dispatches that an older build wrote are append-only as well. */
static void dispatches_stay(void **state) {
    (void)state;
    fixture_of(3);
    store_close(opened());
    char *before = dump("--inserts -t dispatch");
    sql_refused("UPDATE dispatch SET body = ''", "append-only");
    sql_refused("DELETE FROM dispatch", "append-only");
    sql("INSERT INTO dispatch SELECT goal_id, n + 1, 'D_2', body FROM dispatch");
    sql("BEGIN; SET LOCAL overseer.retaining = 'on'; DELETE FROM dispatch WHERE name = 'D_2'; COMMIT");
    char *after = dump("--inserts -t dispatch");
    assert_string_equal(before, after);
    assert_non_null(strstr(after, "D_1"));
    free(before);
    free(after);
    proof_passed("store", "dispatches_stay [postgres]", "ASSIGN-12");
}

/* The last statement fails: nothing of the earlier ones remains. */
static void a_migration_that_fails_changes_nothing(void **state) {
    (void)state;
    fixture_load();
    sql("CREATE TABLE tally (something int)");
    char *before = dump("--inserts");
    struct store *store = opened(); /* opening succeeds, but requests fail */
    struct store_answer answer;
    struct arena arena = {0};
    struct store_request request = {.verb = STORE_TALLY, .at = 1794713195606036};
    store_perform(store, &request, &answer, &arena);
    assert_int_equal(answer.outcome, STORE_FAILED);
    assert_non_null(strstr(answer.error.at, "could not be migrated"));
    char *after = dump("--inserts");
    assert_string_equal(before, after);
    sql("DROP TABLE tally"); /* once the cause is gone, the next request succeeds */
    store_perform(store, &request, &answer, &arena);
    assert_int_equal(answer.outcome, STORE_DONE);
    assert_int_equal(answer.tally[DISPLAY_QUEUED] + answer.tally[DISPLAY_WORKING], 3);
    store_close(store);
    arena_free(&arena);
    free(before);
    free(after);
}

static void refused(const char *because, const char *sentence) {
    char error[512] = "";
    empty();
    store_close(opened());
    sql(because);
    char *before = dump("--inserts");
    struct store *store = store_open(str_of(where()), error, sizeof error);
    assert_null(store);
    assert_non_null(strstr(error, sentence));
    assert_non_null(strstr(error, "Update this build; nothing was changed."));
    char *after = dump("--inserts");
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void a_newer_store_is_refused(void **state) {
    (void)state;
    refused("UPDATE store SET version = 99, oldest = 99", "tables 99; this build knows");
    refused("UPDATE store SET level = 99", "level 99; this build supports");
    empty(); /* newer tables that this build may still use */
    store_close(opened());
    sql("UPDATE store SET version = 99");
    store_close(opened());
}

/* ---- several hosts at once ---- */

enum { AT_ONCE = 8 };

static void *open_and_join(void *with) {
    uint32_t host = *(uint32_t *)with;
    char error[512];
    struct arena arena = {0};
    struct store_answer answer = {.outcome = STORE_FAILED};
    struct store_request request = {.verb = STORE_JOIN,
                                    .self = {host, host, 0},
                                    .at = 1794713195606036,
                                    .build = STR("test"),
                                    .addr = STR("")};
    struct store *store = store_open(str_of(where()), error, sizeof error);
    for (int i = 0; store && i < 10 && answer.outcome == STORE_FAILED; i++) /* as a daemon does */
        store_perform(store, &request, &answer, &arena);
    store_close(store);
    arena_free(&arena);
    return answer.outcome == STORE_DONE ? with : NULL;
}

static void all_open_and_join(void) {
    pthread_t threads[AT_ONCE];
    uint32_t hosts[AT_ONCE];
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        hosts[i] = i + 1;
        pthread_create(&threads[i], NULL, open_and_join, &hosts[i]);
    }
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        void *joined;
        pthread_join(threads[i], &joined);
        assert_non_null(joined);
    }
    sql("DO $$ BEGIN ASSERT (SELECT count(*) = 8 FROM host), 'hosts'; END $$");
}

static void of_several_daemons_one_migrates(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        fixture_load();
        all_open_and_join();
        sql("DO $$ BEGIN ASSERT (SELECT sum(n) = 6 FROM tally), 'tally'; END $$");
        empty();
        all_open_and_join();
    }
}

/* The current build could not read what the first version would write now: its sessions are terminated. */
static void sessions_of_the_first_version_end(void **state) {
    (void)state;
    char uri[1024];
    fixture_load();
    snprintf(uri, sizeof uri, "%s&application_name=overseer", where());
    PGconn *old = PQconnectdb(uri), *other = PQconnectdb(where());
    PQclear(PQexec(old, "SELECT 1"));
    PQclear(PQexec(other, "SELECT 1"));
    assert_int_equal(PQstatus(old), CONNECTION_OK);
    store_close(opened());
    PQclear(PQexec(old, "SELECT 1"));
    PQclear(PQexec(other, "SELECT 1"));
    assert_int_equal(PQstatus(old), CONNECTION_BAD);
    assert_int_equal(PQstatus(other), CONNECTION_OK);
    PQfinish(old);
    PQfinish(other);
}

int main(void) {
    if (!where() || !getenv("PGBIN")) {
        fputs("run this inside tests/lib/with-postgres\n", stderr);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixture_becomes_a_store_of_today),
        cmocka_unit_test(a_second_open_changes_nothing),
        cmocka_unit_test(upgraded_and_new_tables_are_the_same),
        cmocka_unit_test(tables_are_as_declared),
        cmocka_unit_test(version_3_keeps_what_it_has),
        cmocka_unit_test(dispatches_stay),
        cmocka_unit_test(a_migration_that_fails_changes_nothing),
        cmocka_unit_test(a_newer_store_is_refused),
        cmocka_unit_test(of_several_daemons_one_migrates),
        cmocka_unit_test(sessions_of_the_first_version_end),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed == 0)
        proof_passed("store", "migrate [postgres]", "STORE-04 STORE-18 TEST-01");
    return failed;
}
