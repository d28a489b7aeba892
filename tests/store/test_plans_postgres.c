/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the query plans that PostgreSQL chooses for our statements with the expected ones. A changed plan has to be
 * reviewed by a person. Runs inside tests/lib/with-postgres, on tables large enough that their plans are not those of
 * small tables, and with the settings of our sessions. */
#include "store/postgres/postgres_state.h"
#include "store/words.h"
#include "unit/unit.h"

enum { GOALS = 20000 };

static PGresult *ask(PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    check(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, "%s: %s", sql,
          PQerrorMessage(connection));
    return result;
}

static const char FILL[] =
    "INSERT INTO goal SELECT md5(i::text)::uuid, 1 + i % 3, 1, 1, 1, '\\x00', 9, i % 10 < 2, false, '\\x00'"
    "  FROM generate_series(1, 20000) i;"
    "INSERT INTO goal_view (goal_id, status, face, priority, percent, created_at, updated_at, title, ended_at)"
    "  SELECT goal_id, i % 5, i % 7, 0, 0, 1700000000000000 + i, 0, 'word' || i % 200, 1700000000000000 + i"
    "  FROM (SELECT goal_id, row_number() OVER () AS i FROM goal) g;"
    "INSERT INTO goal_tag SELECT 'tag' || created_at % 50, face, created_at, goal_id FROM goal_view;"
    "INSERT INTO node SELECT goal_id, n, 'S' || n, '\\x00' FROM goal, generate_series(0, 2) n;"
    "INSERT INTO record SELECT 20000, 1, i, goal_id, 1, 0, 1, 1, '\\x00', '\\x00', NULL, '\\x00'"
    "  FROM (SELECT goal_id, row_number() OVER () AS i FROM goal) g;"
    "INSERT INTO effect SELECT goal_id, 0, 1, 1, 1, 0, '\\x00' FROM goal WHERE open;"
    "INSERT INTO seen SELECT goal_id, goal_id, 0 FROM goal;"
    "INSERT INTO inbox SELECT goal_id, 1, goal_id, '\\x00' FROM goal LIMIT 100;"
    "INSERT INTO dispatch SELECT goal_id, n, 'D_' || goal_id || n,"
    "  convert_to('x' || encode(sha256(convert_to(goal_id::text || n, 'UTF8')), 'hex') || 'seal', 'UTF8')"
    "  FROM goal, generate_series(1, 5) n;"
    "INSERT INTO text SELECT goal_id, '\\x00', '\\x00' FROM goal;"
    "INSERT INTO host SELECT i, 1, 1, 1, 0, 0, '', '', 2 FROM generate_series(1, 3) i;"
    "INSERT INTO tally SELECT i, f, 1 FROM generate_series(1, 3) i, generate_series(0, 6) f";

/* A private store, filled, and a session with the driver's settings. */
static PGconn *world_make(struct store **ret_store) {
    char error[512];
    const char *uri = getenv("OVERSEER_TEST_PG");
    PGconn *connection = PQconnectdb(uri);
    PQclear(ask(connection, "SET client_min_messages = error; DROP SCHEMA public CASCADE;"
                            "CREATE SCHEMA public"));
    *ret_store = store_open(str_of(uri), error, sizeof error);
    check(*ret_store, "%s", error);
    PQclear(ask(connection, FILL));
    PQclear(ask(connection, "VACUUM ANALYZE"));
    PQclear(ask(connection, PG_SETTINGS));
    return connection;
}

static const char *type_of(char letter) {
    return letter == 'u'   ? "uuid"
           : letter == 't' ? "text"
           : letter == 'a' ? "int8[]"
           : letter == 'v' ? "uuid[]"
                           : "int8";
}

/* PREPARE with the declared types; the other parameters are arrays, whose casts give the type. */
static int prepare(PGconn *connection, enum pg_sql sql, struct arena *arena) {
    const struct pg_statement *statement = &PG_STATEMENTS[sql];
    struct writer text = {.arena = arena};
    write_raw(&text, STR("PREPARE p"));
    for (size_t i = 0; statement->types[i]; i++) {
        write_raw(&text, i == 0 ? STR("(") : STR(", "));
        write_raw(&text, str_of(type_of(statement->types[i])));
    }
    if (statement->types[0])
        write_raw(&text, STR(")"));
    write_raw(&text, STR(" AS "));
    write_raw(&text, str_of(pg_text(sql, arena)));
    write_byte(&text, 0);
    PQclear(ask(connection, text.at));
    PGresult *result =
        ask(connection, "SELECT cardinality(parameter_types) FROM pg_prepared_statements"
                        " WHERE name = 'p'");
    int count = atoi(PQgetvalue(result, 0, 0));
    PQclear(result);
    return count;
}

/* With a generic plan the values do not matter. */
static void plan_print(FILE *out, PGconn *connection, enum pg_sql sql) {
    struct arena arena = {0};
    int count = prepare(connection, sql, &arena);
    struct writer text = {.arena = &arena};
    write_raw(&text, STR("EXPLAIN (COSTS OFF) EXECUTE p"));
    for (int i = 0; i < count; i++)
        write_raw(&text, i == 0 ? STR("(NULL") : STR(", NULL"));
    if (count > 0)
        write_raw(&text, STR(")"));
    write_byte(&text, 0);
    PGresult *result = ask(connection, text.at);
    const char *full = pg_text(sql, &arena);
    fprintf(out, "%s\n", full);
    for (int i = 0; i < PQntuples(result); i++)
        fprintf(out, "    %s\n", PQgetvalue(result, i, 0));
    PQclear(result);
    PQclear(ask(connection, "DEALLOCATE p"));
    arena_free(&arena);
}

static bool has_plan(enum pg_sql sql) {
    const char *text = PG_STATEMENTS[sql].sql;
    if (sql >= PG_ADD && sql <= PG_ADD_LAST)
        return STORED[sql - PG_ADD].added;
    bool other_part = sql >= PG_OF_PART && (sql - PG_OF_PART) % PARTS != 0;
    return !other_part && strncmp(text, "BEGIN", 5) != 0 && strcmp(text, "COMMIT") != 0 &&
           strcmp(text, "ROLLBACK") != 0;
}

/* The statement of a table that is created from its row follows from the row, too, as that of `text` does. */
static bool is_derived(enum pg_sql sql) {
    return sql >= PG_ADD && sql <= PG_ADD_LAST && STORED[sql - PG_ADD].since > 0;
}

static void plans_are_known(void **state) {
    (void)state;
    struct store *store;
    PGconn *connection = world_make(&store);
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    for (enum pg_sql sql = 0; sql < PG_SQL_COUNT; sql++)
        if (has_plan(sql) && !is_derived(sql))
            plan_print(out, connection, sql);
    fclose(out);
    golden_check("query-plans.postgres.txt", (struct str){text, len});
    free(text);
    PQfinish(connection);
    store_close(store);
}

/* No statement reads the whole of a table that grows. */
static void no_statement_reads_everything(void **state) {
    (void)state;
    static const char *const GROWING[] = {"goal", "goal_view",    "goal_tag",
                                          "node", "record_other", "effect",
                                          "seen", "text",         "dispatch"};
    struct store *store;
    PGconn *connection = world_make(&store);
    for (enum pg_sql sql = 0; sql < PG_SQL_COUNT; sql++) {
        char *text, scan[64];
        size_t len;
        if (!has_plan(sql))
            continue;
        FILE *out = open_memstream(&text, &len);
        plan_print(out, connection, sql);
        fclose(out);
        for (size_t i = 0; i < count_of(GROWING); i++) {
            snprintf(scan, sizeof scan, "Seq Scan on %s ", GROWING[i]);
            check(!strstr(text, scan), "%s", text);
            snprintf(scan, sizeof scan, "Seq Scan on %s\n", GROWING[i]);
            check(!strstr(text, scan), "%s", text);
        }
        free(text);
    }
    PQfinish(connection);
    store_close(store);
}

/* ASSIGN-15: with 100,000 dispatches. */
static void dispatches_are_found_by_index(void **state) {
    (void)state;
    static const struct {
        enum pg_sql sql;
        const char *index;
    } FOUND[] = {{PG_FIND + PART_DISPATCH, "dispatch_name"},
                 {PG_FIND_INSTRUCTION, "dispatch_instruction"}};
    struct store *store;
    PGconn *connection = world_make(&store);
    for (size_t i = 0; i < count_of(FOUND); i++) {
        char *text;
        size_t len;
        FILE *out = open_memstream(&text, &len);
        plan_print(out, connection, FOUND[i].sql);
        fclose(out);
        check(strstr(text, FOUND[i].index) && !strstr(text, "Seq Scan"), "%s", text);
        free(text);
    }
    PQfinish(connection);
    store_close(store);
    proof_passed("store", "dispatches_are_found_by_index [postgres]", "ASSIGN-15");
}

int main(void) {
    if (!getenv("OVERSEER_TEST_PG")) {
        fputs("run this inside tests/lib/with-postgres\n", stderr);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_known),
        cmocka_unit_test(no_statement_reads_everything),
        cmocka_unit_test(dispatches_are_found_by_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
