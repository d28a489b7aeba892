/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the log is read in commit order, with nothing missed and nothing twice, while other hosts write; and that
 * goals are found by an id prefix. On each available engine. */
#include "store/shop.h"

#include "store/retain.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

enum { GOALS = 24, TURNS = 150, WRITERS = 4, WRITES = 150, MANY = 20000 };
static const int64_t DAY = 86400 * (int64_t)1000000;
static const int64_t BEGAN = 20000 * (86400 * (int64_t)1000000);

static const char *engines[2];
static int engine_count;

static bool is_sqlite(const char *where) {
    return store_address_file(where);
}

static void say(const char *where, const char *sql) {
    if (is_sqlite(where)) {
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open(where + 7, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        return;
    }
    PGconn *connection = PQconnectdb(where);
    PGresult *result = PQexec(connection, sql);
    check(PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK,
          "%s", PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

static const char *place_new(const char *where) {
    char name[128];
    if (!is_sqlite(where)) {
        say(where, "SET client_min_messages = error; DROP SCHEMA public CASCADE;"
                   "CREATE SCHEMA public");
        return where;
    }
    static const char *const BESIDE[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < count_of(BESIDE); i++) {
        snprintf(name, sizeof name, "%s%s", where + 7, BESIDE[i]);
        unlink(name);
    }
    return where;
}

/* ---- a log, and the test's own account of it ---- */

struct entry {
    struct id goal;
    uint64_t seq;
    enum record_type type;
    int64_t at;
};

struct world {
    struct shop shop;
    struct ware wares[GOALS];
    struct chance chance;
    struct entry log[MANY];
    uint32_t count;
};

static const enum record_type TYPES[] = {RECORD_GOAL_REPORTED, RECORD_WORK_DONE,
                                         RECORD_PLAN_UPDATED, RECORD_GOAL_UPDATED};

/* One commit of some goals, in key order, with some records each. Clocks jump between days. */
static void turn(struct world *world, int64_t at) {
    struct goal_commit commits[GOALS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < GOALS; i++) {
        struct ware *ware = &world->wares[i];
        if (!chance_in(&world->chance, 4))
            continue;
        uint32_t records = 1 + chance_below(&world->chance, 3);
        struct record *rows = arena_new(&world->shop.arena, struct record, records);
        ware->goal.version++;
        ware->goal.times.updated_at = at;
        for (uint32_t r = 0; r < records; r++) {
            enum record_type type = ware->goal.records.seq == 0
                                        ? RECORD_GOAL_CREATED
                                        : TYPES[chance_below(&world->chance, count_of(TYPES))];
            rows[r] = *ware_record(ware, type, &world->shop.arena);
            world->log[world->count++] =
                (struct entry){ware->goal.id, rows[r].seq, rows[r].type, rows[r].at};
        }
        commits[count] = ware_commit(ware, &world->shop.arena);
        commits[count].records = rows;
        commits[count++].record_count = records;
    }
    if (count > 0)
        shop_commit(&world->shop, commits, count);
    arena_reset(&world->shop.arena);
}

/* Cancels all goals. */
static void goals_end(struct world *world, int64_t at) {
    for (uint32_t i = 0; i < GOALS; i++) {
        world->wares[i].goal.status = GOAL_CANCELLED;
        world->wares[i].goal.times.ended_at = at;
    }
    for (int i = 0; i < 40; i++)
        turn(world, at);
}

static void wares_make(struct world *world) {
    for (uint32_t i = 0; i < GOALS; i++) {
        world->wares[i] =
            (struct ware){.goal = {.owner = SHOP_HOST, .fence = 1, .due_at = TIME_NEVER}};
        world->wares[i].goal.times.created_at = BEGAN;
        chance_fill(&world->chance, world->wares[i].goal.id.bytes, sizeof(struct id));
        world->wares[i].goal.id.bytes[0] = (uint8_t)(i * 8);
    }
}

static struct world *world_new(const char *where, uint64_t seed, int turns) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->chance.state = seed;
    shop_open(&world->shop, place_new(where));
    wares_make(world);
    for (int i = 0; i < turns; i++)
        turn(world,
             BEGAN + chance_below(&world->chance, 5) * DAY + chance_below(&world->chance, 1000000));
    return world;
}

static void world_free(struct world *world) {
    shop_close(&world->shop);
    free(world);
}

/* ---- reading ---- */

static void page(struct shop *shop, struct cursor cursor, uint32_t limit) {
    shop->request.cursor = cursor;
    shop->request.limit = limit;
    shop_ask(shop, STORE_FOLLOW);
}

static bool fits(const struct world *world, const struct entry *entry) {
    const struct store_request *request = &world->shop.request;
    return entry->at >= request->since && (!request->types || request->types[entry->type]) &&
           (request->id_count == 0 || id_equal(entry->goal, request->ids[0]));
}

/* Reads from the cursor after `next` entries to the end and checks that it gets exactly the matching entries, in order.
 * Returns the last cursor. */
static struct cursor read_on(struct world *world, struct cursor from, uint32_t next,
                             uint32_t limit) {
    struct shop *shop = &world->shop;
    for (bool more = true; more; from = shop->answer.reached) {
        arena_reset(&shop->arena);
        page(shop, from, limit);
        assert_false(shop->answer.gone);
        assert_true(shop->answer.log_count <= limit);
        for (uint32_t i = 0; i < shop->answer.log_count; i++, next++) {
            const struct logged *row = &shop->answer.log[i];
            while (next < world->count && !fits(world, &world->log[next]))
                next++;
            check(next < world->count, "more than there is");
            const struct entry *want = &world->log[next];
            check(id_equal(row->goal, want->goal) && row->record.seq == want->seq &&
                      row->record.type == want->type && row->record.at == want->at,
                  "entry %u of %u is another one", next, world->count);
            check(row->record.body.len > 0, "without a body");
        }
        more = shop->answer.more;
    }
    for (; next < world->count; next++)
        check(!fits(world, &world->log[next]), "entry %u is missing", next);
    return from;
}

/* EVENT-01: one log, in one order; clocks that go backwards do not affect it. */
static void the_log_is_in_order(void **state) {
    (void)state;
    static const uint32_t LIMITS[] = {1, 7, 100, LIMIT_EVENTS_PAGE, LIMIT_EVENTS_PAGE + 1};
    for (int e = 0; e < engine_count; e++) {
        struct world *world = world_new(engines[e], 77, TURNS);
        struct cursor start = {.from_start = true};
        check(world->count > 500, "hardly anything was written");
        for (size_t i = 0; i < count_of(LIMITS); i++)
            if (LIMITS[i] > 1 || is_sqlite(engines[e]))
                read_on(world, start, 0, LIMITS[i]);
        struct cursor end = read_on(world, start, 0, 50);
        page(&world->shop, end, 10);
        assert_int_equal(world->shop.answer.log_count, 0);
        assert_false(world->shop.answer.more);
        uint32_t before = world->count;
        for (int i = 0; i < 10; i++)
            turn(world, BEGAN + i % 3 * DAY);
        end.held = true;
        read_on(world, end, before, 9);
        world_free(world);
    }
    proof_passed("store", "the log is in order", "EVENT-01");
}

/* A cursor names a record: a reader that resumes from it gets the next record first. */
static void anybody_can_come_back(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct world *world = world_new(engines[e], 5, 40);
        struct cursor places[200];
        uint32_t count = 0;
        page(&world->shop, (struct cursor){.from_start = true}, 200);
        for (; count < world->shop.answer.log_count; count++)
            places[count] = world->shop.answer.log[count].place;
        for (uint32_t i = 0; i < count; i += 13)
            read_on(world, places[i], i + 1, 100);
        world_free(world);
    }
}

static void filters_leave_out(void **state) {
    (void)state;
    static bool types[RECORD_TYPES];
    types[RECORD_WORK_DONE] = types[RECORD_GOAL_CREATED] = true;
    struct cursor start = {.from_start = true};
    for (int e = 0; e < engine_count; e++) {
        struct world *world = world_new(engines[e], 9, TURNS);
        struct store_request *request = &world->shop.request;
        struct cursor end = read_on(world, start, 0, 20);
        request->types = types;
        struct cursor of_types = read_on(world, start, 0, 20);
        assert_true(of_types.tx == end.tx &&
                    of_types.n == end.n); /* the cursor advances all the same */
        request->since = BEGAN + 2 * DAY + 500000;
        read_on(world, start, 0, 20);
        request->types = NULL;
        read_on(world, start, 0, 20);
        request->ids = &world->wares[3].goal.id;
        request->id_count = 1;
        read_on(world, start, 0, 4);
        request->since = 0;
        request->types = types;
        read_on(world, start, 0, 4);
        world_free(world);
    }
}

static void now_is_the_end(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct world *world = world_new(engines[e], 3, 20);
        page(&world->shop, (struct cursor){.from_now = true}, 10);
        assert_int_equal(world->shop.answer.log_count, 0);
        assert_false(world->shop.answer.more || world->shop.answer.gone);
        struct cursor now = world->shop.answer.reached;
        uint32_t before = world->count;
        turn(world, BEGAN);
        turn(world, BEGAN + DAY);
        read_on(world, now, before, 10);
        world_free(world);
    }
}

/* ---- positions that no longer exist ---- */

static void retain_all(const char *where, int64_t now) {
    char error[512] = "";
    struct retain_rules rules = {.bodies_days = 1, .records_days = 3, .seen_days = 1};
    struct retain *retain = retain_open(str_of(where), true, error, sizeof error);
    check(retain, "%s", error);
    retain_begin(retain, &rules, now, true);
    while (retain_step(retain)) {
    }
    check(!retain_failed(retain), "%s", retain_failed(retain));
    check(retain_report(retain)->records > 0, "nothing was dropped");
    retain_close(retain);
}

/* A restore or retention removed it; the answer says so, and gives the current position of the log. */
static void what_is_gone_is_said(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct world *world = world_new(engines[e], 11, 60);
        struct shop *shop = &world->shop;
        page(shop, (struct cursor){.from_start = true}, 3);
        struct cursor early = shop->answer.reached;
        page(shop, early, 3);
        assert_false(shop->answer.gone);
        struct cursor other = early;
        other.era++;
        page(shop, other, 3);
        assert_true(shop->answer.gone && shop->answer.log_count == 0);
        assert_int_equal(shop->answer.reached.era, early.era);
        goals_end(world, BEGAN + 50 * DAY); /* the records of open goals are kept */
        turn(world, BEGAN + 100 * DAY);
        retain_all(engines[e], BEGAN + 100 * DAY);
        page(shop, early, 3);
        assert_true(shop->answer.gone && shop->answer.log_count == 0);
        struct cursor now = shop->answer.reached;
        page(shop, (struct cursor){.from_start = true}, 3);
        assert_false(shop->answer.gone);
        assert_int_equal(shop->answer.log_count, 3);
        uint32_t before = world->count;
        turn(world, BEGAN + 100 * DAY);
        read_on(world, now, before, 100);
        say(engines[e], "UPDATE store SET era = era + 1");
        page(shop, now, 3);
        assert_true(shop->answer.gone);
        assert_int_equal(shop->answer.reached.era, now.era + 1);
        world_free(world);
    }
}

/* ---- while other hosts write ---- */

struct writer_thread {
    pthread_t thread;
    const char *where;
    uint32_t host;
    atomic_bool *failed;
};

static void *write_much(void *with) {
    struct writer_thread *it = with;
    struct world *world = calloc(1, sizeof *world);
    char error[512];
    world->chance.state = it->host * 7919;
    struct shop *shop = &world->shop;
    shop->store = store_open(str_of(it->where), error, sizeof error);
    shop->request = (struct store_request){.self = {.host = it->host, .instance = it->host},
                                           .build = STR("test"),
                                           .addr = STR("test"),
                                           .speaks = SCHEMA_LEVEL};
    shop_ask(shop, STORE_JOIN);
    shop->request.self.epoch = shop->answer.epoch;
    shop->batch = shop->answer.batch;
    wares_make(world);
    for (uint32_t i = 0; i < GOALS; i++)
        world->wares[i].goal.owner = it->host;
    for (int i = 0; i < WRITES; i++)
        turn(world, BEGAN + chance_below(&world->chance, 3) * DAY);
    world_free(world);
    return NULL;
}

struct tail { /* what a follower has seen */
    struct {
        struct id goal;
        uint64_t seq;
    } goals[WRITERS * GOALS];
    uint32_t goal_count, count;
    struct cursor at, last;
};

/* For each goal the records follow without a gap, and positions only grow. */
static void tail_take(struct tail *tail, const struct logged *row) {
    uint32_t g = 0;
    while (g < tail->goal_count && !id_equal(tail->goals[g].goal, row->goal))
        g++;
    if (g == tail->goal_count)
        tail->goals[tail->goal_count++].goal = row->goal;
    check(row->record.seq == tail->goals[g].seq + 1, "record %llu follows %llu",
          (unsigned long long)row->record.seq, (unsigned long long)tail->goals[g].seq);
    tail->goals[g].seq = row->record.seq;
    check(row->place.tx > tail->last.tx ||
              (row->place.tx == tail->last.tx && row->place.n > tail->last.n),
          "the order goes back");
    tail->last = row->place;
    tail->count++;
}

static void tail_read(struct tail *tail, struct shop *shop) {
    do {
        arena_reset(&shop->arena);
        page(shop, tail->at, 64);
        assert_false(shop->answer.gone);
        for (uint32_t i = 0; i < shop->answer.log_count; i++)
            tail_take(tail, &shop->answer.log[i]);
        tail->at = shop->answer.reached;
        tail->at.held = true;
    } while (shop->answer.more);
}

static uint32_t records_in(struct shop *shop) {
    struct tail all = {.at = {.from_start = true}, .last = {.tx = INT64_MIN}};
    tail_read(&all, shop);
    return all.count;
}

static void nothing_is_missed_meanwhile(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct shop shop;
        struct writer_thread writers[WRITERS];
        atomic_bool failed = false;
        uint32_t many = is_sqlite(engines[e]) ? 1 : WRITERS, ended = 0;
        shop_open(&shop, place_new(engines[e]));
        static struct tail tail;
        tail = (struct tail){.at = {.from_start = true}, .last = {.tx = INT64_MIN}};
        for (uint32_t i = 0; i < many; i++) {
            writers[i] = (struct writer_thread){0, engines[e], 10 + i, &failed};
            assert_int_equal(pthread_create(&writers[i].thread, NULL, write_much, &writers[i]), 0);
        }
        while (ended < many) {
            tail_read(&tail, &shop);
            if (pthread_tryjoin_np(writers[ended].thread, NULL) == 0)
                ended++;
        }
        tail_read(&tail, &shop);
        assert_int_equal(tail.count, records_in(&shop));
        check(tail.count > many * 1000, "hardly anything was written: %u", tail.count);
        shop_close(&shop);
    }
}

/* While a transaction has its number and is not committed, no reader sees anything after it. */
static void nothing_overtakes(void **state) {
    (void)state;
    const char *where = getenv("OVERSEER_TEST_PG");
    if (!where)
        skip();
    struct world *world = world_new(where, 21, 5);
    struct shop *shop = &world->shop;
    page(shop, (struct cursor){.from_now = true}, 10);
    struct cursor now = shop->answer.reached;
    PGconn *slow = PQconnectdb(where);
    PQclear(PQexec(slow, "BEGIN"));
    PGresult *put = PQexec(
        slow,
        "INSERT INTO record SELECT 20001, pg_current_xact_id()::text::int8, 0, gen_random_uuid(), 1,"
        " 1728000000000000, 2, 1, '\\x00', '\\x00', NULL, '\\x00'");
    assert_int_equal(PQresultStatus(put), PGRES_COMMAND_OK);
    PQclear(put);
    uint32_t before = world->count;
    turn(world, BEGAN);
    uint32_t written = world->count - before;
    assert_true(written > 0);
    page(shop, now, 100);
    assert_int_equal(shop->answer.log_count, 0);
    assert_false(shop->answer.more);
    struct cursor still = shop->answer.reached;
    PQclear(PQexec(slow, "COMMIT"));
    PQfinish(slow);
    page(shop, still, 100);
    assert_int_equal(shop->answer.log_count, written + 1);
    assert_int_equal(shop->answer.log[0].record.type, RECORD_GOAL_REPORTED);
    assert_int_equal(shop->answer.log[0].record.seq, 1);
    world_free(world);
}

/* ---- id prefixes ---- */

static void ids_are_found_by_their_beginning(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct world *world = world_new(engines[e], 31, TURNS);
        struct shop *shop = &world->shop;
        for (uint32_t i = 0; i < GOALS; i++) {
            shop->request.first_id = shop->request.last_id = world->wares[i].goal.id;
            memset(shop->request.first_id.bytes + 1, 0, sizeof(struct id) - 1);
            memset(shop->request.last_id.bytes + 1, 0xff, sizeof(struct id) - 1);
            shop->request.limit = 3;
            shop_ask(shop, STORE_NAMED);
            assert_int_equal(shop->answer.found_count, 1);
            assert_true(id_equal(shop->answer.found[0], world->wares[i].goal.id));
        }
        memset(&shop->request.first_id, 0, sizeof(struct id));
        shop_ask(shop, STORE_NAMED);
        assert_int_equal(shop->answer.found_count, 3);
        for (uint32_t i = 0; i < 3; i++)
            assert_true(id_equal(shop->answer.found[i], world->wares[i].goal.id));
        memset(&shop->request.first_id, 0xff, sizeof(struct id));
        memset(&shop->request.last_id, 0xff, sizeof(struct id));
        shop_ask(shop, STORE_NAMED);
        assert_int_equal(shop->answer.found_count, 0);
        world_free(world);
    }
}

int main(void) {
    static char file[64];
    snprintf(file, sizeof file, "sqlite:/tmp/overseer-follow-%d.db", (int)getpid());
    engines[engine_count++] = file;
    if (getenv("OVERSEER_TEST_PG"))
        engines[engine_count++] = getenv("OVERSEER_TEST_PG");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_is_in_order),  cmocka_unit_test(anybody_can_come_back),
        cmocka_unit_test(filters_leave_out),    cmocka_unit_test(now_is_the_end),
        cmocka_unit_test(what_is_gone_is_said), cmocka_unit_test(nothing_is_missed_meanwhile),
        cmocka_unit_test(nothing_overtakes),    cmocka_unit_test(ids_are_found_by_their_beginning),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    place_new(file);
    return failed;
}
