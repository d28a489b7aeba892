/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that damage is found, and only damage. A real ledger fills a store, then one thing in it is changed. */
#include "ledger_turns.h"

#include "store/examine.h"
#include "store/sqlite/sqlite_mend.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

/* ---- a filled store ---- */

enum { GOALS = 24 };

struct world {
    char where[512], folder[64];
    const char *path; /* NULL: PostgreSQL */
    struct id goals[GOALS];
    int64_t now;
};

static struct id id_of(uint32_t n) {
    struct id id = {.bytes = {1}};
    memcpy(id.bytes + 12, &n, sizeof n);
    return id;
}

/* Goals without a command, and with a command that has ended, is running, or is still ready. */
static void fill(struct world *world, struct ledger *ledger, struct store *store) {
    for (uint32_t i = 0; i < GOALS; i++) {
        world->goals[i] = id_of(i + 1);
        offer(ledger, world->now,
              (struct signal){.kind = SIGNAL_GOAL_CREATE,
                              .goal = world->goals[i],
                              .source = world->goals[i],
                              .host = 1,
                              .describe.title = STR("a goal"),
                              .describe.command = i % 4 ? STR("true") : (struct str){0}});
        if (i == GOALS * 3 / 4) {
            turn_until_quiet(ledger, store, &world->now);
            ledger_hold_acts(ledger, true);
        }
    }
    turn_until_quiet(ledger, store, &world->now);
    for (struct act *act; (act = ledger_take_act(ledger)); free(act))
        if (act->effect.goal.bytes[12] % 2)
            offer(ledger, world->now,
                  (struct signal){.kind = SIGNAL_EFFECT_ENDED,
                                  .goal = act->effect.goal,
                                  .source = effect_id(act->effect.goal, act->effect.n),
                                  .effect = act->effect.n});
    offer(ledger, world->now,
          (struct signal){.kind = SIGNAL_GOAL_REPORT,
                          .goal = world->goals[0],
                          .source = id_of(1000),
                          .text = STR("half of it")});
    turn_until_quiet(ledger, store, &world->now);
}

static void world_fill(struct world *world) {
    char error[512];
    struct store *store = store_open(str_of(world->where), error, sizeof error);
    check(store != NULL, "%s", error);
    struct ledger *ledger = ledger_of_test();
    world->now = SECONDS(1700000000);
    fill(world, ledger, store);
    ledger_free(ledger);
    store_close(store);
}

static void world_make(struct world *world) {
    const char *pg = getenv("OVERSEER_TEST_PG");
    *world = (struct world){0};
    if (pg) {
        snprintf(world->where, sizeof world->where, "%s", pg);
        PGconn *connection = PQconnectdb(pg);
        PQclear(PQexec(connection, "SET client_min_messages = error; DROP SCHEMA public CASCADE;"
                                   " CREATE SCHEMA public"));
        PQfinish(connection);
    } else {
        snprintf(world->folder, sizeof world->folder, "/tmp/overseer-examine.XXXXXX");
        assert_non_null(mkdtemp(world->folder));
        snprintf(world->where, sizeof world->where, "sqlite:%s/store.db", world->folder);
        world->path = world->where + strlen("sqlite:");
    }
    world_fill(world);
}

static void world_end(struct world *world) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", world->folder);
    if (world->path)
        assert_int_equal(system(command), 0);
}

/* PostgreSQL has it built in. */
static void sql_sha256(sqlite3_context *context, int count, sqlite3_value **values) {
    assert_int_equal(count, 1);
    struct hash hash =
        sha256((struct str){sqlite3_value_blob(values[0]), (size_t)sqlite3_value_bytes(values[0])});
    sqlite3_result_blob(context, hash.bytes, sizeof hash.bytes, SQLITE_TRANSIENT);
}

/* Executes a statement that both engines understand; @N is the id of a goal. */
static void change(struct world *world, const char *form) {
    char sql[1024];
    size_t length = 0;
    for (; *form; form++) {
        if (*form != '@') {
            sql[length++] = *form;
            continue;
        }
        struct id id = world->goals[strtol(form + 1, (char **)(uintptr_t)&form, 10)];
        form--;
        char hex[40] = "";
        for (int i = 0; i < 16; i++)
            snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
        length += (size_t)snprintf(sql + length, sizeof sql - length,
                                   world->path ? "x'%s'" : "'%s'::uuid", hex);
    }
    sql[length] = 0;
    if (world->path) {
        sqlite3 *db;
        char *error = NULL;
        assert_int_equal(sqlite3_open(world->path, &db), SQLITE_OK);
        sqlite3_exec(db, "UPDATE store SET retaining = 1", NULL, NULL,
                     NULL); /* otherwise records cannot be changed */
        sqlite3_create_function(db, "sha256", 1, SQLITE_UTF8, NULL, sql_sha256, NULL, NULL);
        sqlite3_exec(db, sql, NULL, NULL, &error);
        check(!error, "%s: %s", sql, error);
        sqlite3_exec(db, "UPDATE store SET retaining = 0", NULL, NULL, NULL);
        sqlite3_close(db);
    } else {
        PGconn *connection = PQconnectdb(world->where);
        PQclear(PQexec(connection, "SET session_replication_role = replica"));
        PGresult *result = PQexec(connection, sql);
        check(PQresultStatus(result) == PGRES_COMMAND_OK, "%s: %s", sql,
              PQerrorMessage(connection));
        PQclear(result);
        PQfinish(connection);
    }
}

static struct examination *examined(struct world *world) {
    static struct examination it;
    struct examine_options options = {.host = 1};
    store_examine(str_of(world->where), &options, &it);
    return &it;
}

/* ---- findings ---- */

static void a_whole_store_is_sound(void **state) {
    (void)state;
    struct world world;
    world_make(&world);
    unlink(":memory:"); /* left by an older build */
    struct examination *it = examined(&world);
    check(it->verdict == EXAMINE_SOUND, "%s: %s", EXAMINE_NAMES[it->verdict], it->why);
    assert_true(it->effects >= 8);
    assert_true(it->goals >= (world.path ? GOALS : 8u));
    check(access(":memory:", F_OK) != 0, "examining leaves a file behind");
    world_end(&world);
}

/* Goals 23 and 21 have a ready effect; goal 2 has a running one. */
static const struct case_row {
    const char *change, *found;
    bool sqlite_only; /* PostgreSQL: only goals with open effects are examined */
} CASES[] = {
    {"UPDATE effect SET state = 0, run_host = 0 WHERE goal_id = @1", "claimed before", false},
    {"UPDATE effect SET state = 1, run_host = 1, until = 9223372036854775807 WHERE goal_id = @23",
     "never claimed", false},
    {"DELETE FROM record WHERE goal_id = @23 AND seq = 2", "missing", false},
    {"DELETE FROM record WHERE goal_id = @23 AND seq = 1", "missing", false},
    {"UPDATE record SET at = at + 1 WHERE goal_id = @23 AND seq = 1", "chain", false},
    {"UPDATE record SET type = 2 WHERE goal_id = @23 AND seq = 1", "chain", false},
    {"UPDATE goal SET seq = seq - 1 WHERE goal_id = @23", "older than its records", false},
    {"UPDATE goal SET head = hot WHERE goal_id = @23", "", false},
    {"UPDATE goal SET hot = head WHERE goal_id = @23", "cannot be read", false},
    {"UPDATE effect SET n = n + 1 WHERE goal_id = @23", "", false},
    {"UPDATE effect SET body = (SELECT body FROM effect WHERE goal_id = @22) WHERE goal_id = @23",
     "check", true},
    {"DELETE FROM effect WHERE goal_id = @23", "decided is missing", true},
    {"UPDATE effect SET kind = 77 WHERE goal_id = @23", "kind is out of range", true},
    {"DELETE FROM goal WHERE goal_id = @5", "no row", true},
    {"UPDATE goal SET owner = 9 WHERE goal_id = @5", "owner is unknown", true},
    {"UPDATE goal SET open = 0 WHERE goal_id = @5", "open", true},
    {"UPDATE goal SET version = 'x' WHERE goal_id = @5", "not a number", true},
    {"UPDATE goal_view SET title = 'another' WHERE goal_id = @5", "title", true},
    {"UPDATE goal_view SET number = 0 WHERE goal_id = @5", "another number", true},
    {"UPDATE goal_view SET face = 77 WHERE goal_id = @5", "out of range", true},
    {"DELETE FROM goal_view WHERE goal_id = @5", "list row", true},
    {"UPDATE record SET tx = 1000000 WHERE goal_id = @5 AND seq = 1", "newer than the store", true},
    {"UPDATE store SET version = 77", "version", true},
    {"UPDATE store SET tx = 0", "newer than the store", true},
    {"DROP INDEX goal_owner", "indexes", true},
    {"DROP TRIGGER record_delete", "differs from Overseer", true},
    {"DROP TABLE seen", "", true},
};

static void one_change_is_found(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(CASES); i++) {
        struct world world;
        world_make(&world);
        if (world.path || !CASES[i].sqlite_only) {
            change(&world, CASES[i].change);
            struct examination *it = examined(&world);
            bool named = strstr(it->why, CASES[i].found);
            for (uint32_t f = 0; f < it->found && f < LIMIT_FINDINGS; f++)
                named = named || strstr(it->findings[f].what, CASES[i].found);
            check(it->verdict == EXAMINE_DAMAGED && named, "%s: %s, %s", CASES[i].change,
                  EXAMINE_NAMES[it->verdict], it->why);
        }
        world_end(&world);
    }
}

static void a_newer_store_is_left_alone(void **state) {
    (void)state;
    struct world world;
    world_make(&world);
    change(&world, "UPDATE store SET version = 77, oldest = 77");
    if (world.path)
        change(&world, "ALTER TABLE goal ADD COLUMN later INTEGER");
    assert_int_equal(examined(&world)->verdict, EXAMINE_NEWER);
    world_end(&world);
}

static void what_is_not_there_is_no_damage(void **state) {
    (void)state;
    static struct examination it;
    struct examine_options options = {0};
    store_examine(STR("sqlite:/tmp/there/is/no/such/store"), &options, &it);
    assert_int_equal(it.verdict, EXAMINE_SOUND);
    assert_true(it.missing);
    store_examine(STR("postgresql:///overseer?host=/there/is/no/such/folder"), &options, &it);
    assert_int_equal(it.verdict, EXAMINE_AWAY);
}

/* ---- the log alone ---- */

struct heads {
    struct {
        struct id goal;
        uint64_t seq;
        struct hash hash;
    } at[GOALS + 1];
    uint32_t count, met, wrong;
    uint64_t wrong_at;
};

static void head_meet(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    struct heads *heads = with;
    for (uint32_t i = 0; i < heads->count; i++)
        if (id_equal(heads->at[i].goal, goal) && heads->at[i].seq == seq)
            heads->met += hash_equal(&heads->at[i].hash, hash);
}

static void head_keep(void *with, const struct audit *audit, const char *wrong) {
    struct heads *heads = with;
    if (wrong) {
        heads->wrong++;
        heads->wrong_at = audit->broken_at;
    }
    for (uint32_t i = 0; i < heads->count; i++)
        if (id_equal(heads->at[i].goal, audit->goal))
            return;
    heads->at[heads->count].goal = audit->goal;
    heads->at[heads->count].seq = audit->seq;
    heads->at[heads->count++].hash = audit->head;
}

static struct log_report verified(struct world *world, struct heads *heads) {
    struct log_report report;
    struct log_visitor visitor = {heads, head_meet, head_keep};
    heads->met = heads->wrong = 0;
    store_verify_log(str_of(world->where), &visitor, &report);
    check(!report.failed, "%s", report.why);
    return report;
}

static void a_whole_log_verifies(void **state) {
    (void)state;
    struct world world;
    struct heads heads = {0};
    world_make(&world);
    struct log_report report = verified(&world, &heads);
    assert_int_equal(report.goals, GOALS);
    assert_int_equal(report.broken, 0);
    assert_int_equal(heads.count, GOALS);
    assert_true(report.records > 2 * GOALS);
    verified(&world, &heads);
    assert_int_equal(heads.met, GOALS); /* every recorded head is still there */
    world_end(&world);
}

static void an_altered_record_is_found(void **state) {
    (void)state;
    static const char *const CHANGES[] = {
        "UPDATE record SET body = hash WHERE goal_id = @3 AND seq = 2",
        "UPDATE record SET core = core + 1 WHERE goal_id = @3 AND seq = 2",
        "UPDATE record SET policy = hash WHERE goal_id = @3 AND seq = 2",
        "DELETE FROM record WHERE goal_id = @3 AND seq = 2",
    };
    for (size_t i = 0; i < count_of(CHANGES); i++) {
        struct world world;
        struct heads heads = {0};
        world_make(&world);
        change(&world, CHANGES[i]);
        assert_int_equal(verified(&world, &heads).broken, 1);
        assert_int_equal(heads.wrong_at, 2);
        world_end(&world);
    }
}

/* A body may be dropped if its hash stays; whole records may be dropped if a milestone replaces them. */
static void retention_keeps_the_chain(void **state) {
    (void)state;
    struct world world;
    struct heads heads = {0};
    world_make(&world);
    change(&world, "UPDATE record SET body_hash = sha256(body), body = NULL WHERE goal_id = @23");
    change(&world, "INSERT INTO milestone SELECT goal_id, 1, 2, 2, at, hash, hash FROM record"
                   " WHERE goal_id = @3 AND seq = 2");
    change(&world, "DELETE FROM record WHERE goal_id = @3 AND seq < 3");
    assert_int_equal(verified(&world, &heads).broken, 0);
    assert_int_equal(examined(&world)->verdict, EXAMINE_SOUND);
    change(
        &world,
        "UPDATE milestone SET last_hash = (SELECT policy FROM record WHERE goal_id = @4 AND seq = 1)");
    assert_int_equal(verified(&world, &heads).broken, 1);
    world_end(&world);
}

int main(void) {
    bool pg = getenv("OVERSEER_TEST_PG");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_store_is_sound),
        cmocka_unit_test(one_change_is_found),
        cmocka_unit_test(a_newer_store_is_left_alone),
        cmocka_unit_test(what_is_not_there_is_no_damage),
        cmocka_unit_test(a_whole_log_verifies),
        cmocka_unit_test(an_altered_record_is_found),
        cmocka_unit_test(retention_keeps_the_chain),
    };
    int failed = cmocka_run_group_tests_name(pg ? "examine on PostgreSQL" : "examine on SQLite",
                                             tests, NULL, NULL);
    return failed;
}
