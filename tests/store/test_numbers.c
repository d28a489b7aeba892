/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how hosts take numbers for the names of goals (P15): each once, whichever host asks and whatever was restored.
 * On SQLite, and on PostgreSQL where OVERSEER_TEST_PG names one. */
#include "store/rows.h"
#include "unit/ledger_turns.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

static char folder[64], where[512];

/* ---- a store ---- */

static void sql(const char *text) {
    if (strncmp(where, "sqlite:", 7) == 0) {
        sqlite3 *db;
        assert_int_equal(sqlite3_open(where + 7, &db), SQLITE_OK);
        check(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", text,
              sqlite3_errmsg(db));
        sqlite3_close(db);
        return;
    }
    PGconn *connection = PQconnectdb(where);
    PGresult *result = PQexec(connection, text);
    check(PQresultStatus(result) == PGRES_COMMAND_OK, "%s: %s", text, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

static int world_make(void **state) {
    (void)state;
    const char *pg = getenv("OVERSEER_TEST_PG");
    if (pg) {
        snprintf(where, sizeof where, "%s", pg);
        sql("SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    } else {
        snprintf(folder, sizeof folder, "/tmp/overseer-numbers.XXXXXX");
        assert_non_null(mkdtemp(folder));
        snprintf(where, sizeof where, "sqlite:%s/store.db", folder);
    }
    return 0;
}

static int world_end(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return folder[0] ? system(command) : 0;
}

static struct store *store_of_test(void) {
    char error[512] = "";
    struct store *store = store_open(str_of(where), error, sizeof error);
    check(store, "%s", error);
    return store;
}

/* ---- hosts that ask for numbers ---- */

struct host {
    struct store *store;
    struct store_self self;
    struct arena arena;
    struct store_answer answer;
};

static void ask(struct host *host, struct store_request request) {
    arena_reset(&host->arena);
    request.self = host->self;
    request.at = 1794713191000000;
    request.speaks = SCHEMA_LEVEL;
    store_perform(host->store, &request, &host->answer, &host->arena);
    check(host->answer.outcome == STORE_DONE, "%.*s", STR_ARG(host->answer.error));
}

static void join(struct host *host) {
    ask(host,
        (struct store_request){.verb = STORE_JOIN, .build = STR("test"), .addr = STR("here")});
    host->self.epoch = host->answer.epoch;
}

static struct host host_make(uint32_t number) {
    struct host host = {.store = store_of_test(), .self = {number, number + 100, 0}};
    join(&host);
    return host;
}

static void host_end(struct host *host) {
    store_close(host->store);
    arena_free(&host->arena);
}

static struct number_block numbers(struct host *host, uint64_t from, uint32_t count) {
    ask(host,
        (struct store_request){.verb = STORE_NUMBERS, .number_from = from, .number_count = count});
    return host->answer.numbers;
}

static void check_block(struct number_block block, uint64_t next, uint64_t end) {
    check(block.next == next && block.end == end, "[%llu, %llu) instead of [%llu, %llu)",
          (unsigned long long)block.next, (unsigned long long)block.end, (unsigned long long)next,
          (unsigned long long)end);
}

static void a_block_grows_until_another_host_takes_one(void **state) {
    (void)state;
    struct host a = host_make(1), b = host_make(2);
    check_block(numbers(&a, 0, 16), 1, 17);
    check_block(numbers(&a, 5, 16), 1, 33);
    check_block(numbers(&b, 0, 16), 33, 49);
    check_block(numbers(&a, 5, 16), 49, 65); /* [5, 33) is given up */
    check_block(numbers(&b, 0, 20), 65, 85);
    host_end(&a);
    host_end(&b);
}

static void a_host_that_joins_again_goes_on(void **state) {
    (void)state;
    struct host a = host_make(1);
    check_block(a.answer.numbers, 0, 0);
    check_block(numbers(&a, 0, 16), 1, 17);
    join(&a);
    check_block(a.answer.numbers, 1, 17);
    check_block(numbers(&a, 100, 16), 100, 116); /* it knows that it gave those below 100 */
    host_end(&a);
}

static void a_host_without_its_row_gets_none(void **state) {
    (void)state;
    struct host a = host_make(1), again = host_make(1);
    numbers(&a, 0, 16);
    check(!a.answer.held, "the row belongs to the second");
    check_block(numbers(&again, 0, 16), 1, 17);
    host_end(&a);
    host_end(&again);
}

static void each_restore_leaves_numbers_out(void **state) {
    (void)state;
    struct host a = host_make(1);
    check_block(numbers(&a, 0, 16), 1, 17);
    sql("UPDATE store SET era = era + 1");
    check_block(numbers(&a, 0, 16), 1017, 1033);
    sql("UPDATE store SET era = era + 2");
    join(&a);
    check_block(a.answer.numbers, 0, 0);
    check_block(numbers(&a, 0, 16), 3033, 3049);
    host_end(&a);
}

/* ---- a ledger that asks ---- */

static void create(struct ledger *ledger, int64_t at, uint32_t n) {
    struct id id = {.bytes = {1}};
    memcpy(id.bytes + 12, &n, sizeof n);
    offer(ledger, at,
          (struct signal){.kind = SIGNAL_GOAL_CREATE,
                          .goal = id,
                          .source = id,
                          .host = 1,
                          .describe.title = STR("a goal")});
}

/* The numbers of a store that has gone back cannot be used. The goals are created all the same, without a number. */
static void a_batch_asks_once(void **state) {
    (void)state;
    int64_t now = SECONDS(1700000000);
    struct store *store = store_of_test();
    struct ledger *ledger = ledger_of_test();
    sql("UPDATE store SET era = 5");
    turn_until_quiet(ledger, store, &now);
    sql("UPDATE store SET era = era - 1");
    for (uint32_t i = 1; i <= 3; i++)
        create(ledger, now, i);
    turn_until_quiet(ledger, store, &now);
    sql("UPDATE store SET era = era + 1");
    create(ledger, now, 4);
    turn_until_quiet(ledger, store, &now);
    ledger_free(ledger);

    struct host reader = host_make(2);
    uint32_t named = 0;
    ask(&reader, (struct store_request){.verb = STORE_LIST, .limit = 10});
    for (uint32_t i = 0; i < reader.answer.view_count; i++)
        named += reader.answer.views[i].number > 0;
    assert_int_equal(reader.answer.view_count, 4);
    assert_int_equal(named, 1);
    host_end(&reader);
    store_close(store);
}

#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, world_make, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(a_block_grows_until_another_host_takes_one),
        IN_A_WORLD(a_host_that_joins_again_goes_on),
        IN_A_WORLD(a_host_without_its_row_gets_none),
        IN_A_WORLD(each_restore_leaves_numbers_out),
        IN_A_WORLD(a_batch_asks_once),
    };
    return cmocka_run_group_tests_name(getenv("OVERSEER_TEST_PG") ? "numbers on PostgreSQL"
                                                                  : "numbers on SQLite",
                                       tests, NULL, NULL);
}
