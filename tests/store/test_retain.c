/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that retention deletes what it should and nothing else, and that every chain is still valid. On each engine. */
#include "store/shop.h"

#include "store/dump.h"
#include "store/examine.h"
#include "store/retain.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

enum { GOALS = 48, MOST_RECORDS = 60, TEXTS = 3 };
static const int64_t DAY = 86400 * (int64_t)1000000;
static const int32_t FIRST_DAY = 20000; /* 2024-10-04 */

static const char *engines[2];
static int engine_count;

/* ---- the store under test ---- */

static bool is_sqlite(const char *where) {
    return store_address_file(where);
}

/* Executes a statement that does not come from Overseer. True: it succeeded. */
static bool tamper(const char *where, const char *sql) {
    if (is_sqlite(where)) {
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open(where + 7, &db), SQLITE_OK);
        bool done = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
        sqlite3_close(db);
        return done;
    }
    PGconn *connection = PQconnectdb(where);
    PGresult *result = PQexec(connection, sql);
    bool done =
        PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    PQfinish(connection);
    return done;
}

/* The number of partitions for days before this one. */
static int64_t days_before(const char *where, int32_t day) {
    char sql[256];
    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'record'::regclass"
        " AND relname ~ '^record_[0-9]+$' AND substr(relname, 8)::int < %d",
        day);
    PGconn *connection = PQconnectdb(where);
    PGresult *result = PQexec(connection, sql);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    int64_t count = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    PQfinish(connection);
    return count;
}

static const char *place_new(const char *where) {
    char name[128];
    if (!is_sqlite(where)) {
        assert_true(tamper(
            where,
            "SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public"));
        return where;
    }
    static const char *const BESIDE[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < count_of(BESIDE); i++) {
        snprintf(name, sizeof name, "%s%s", where + 7, BESIDE[i]);
        unlink(name);
    }
    return where;
}

/* ---- a world with a long past ---- */

struct past {
    struct ware ware;
    bool closed; /* or an admission, which is treated as closed */
    struct part_change part;
    struct record records[MOST_RECORDS];
    struct str bodies[MOST_RECORDS];
    struct hash named, unnamed,
        dropped; /* texts: referenced by the goal or its question; not referenced; referenced by the body of a report */
    struct id source; /* seen since the first day */
};

struct world {
    struct past of[GOALS];
    struct arena arena;
    const char *where;
    int64_t last; /* the time of the newest record */
};

static bool all_closed; /* in the next world no goal is open */

static enum record_type type_any(struct chance *chance, uint32_t seq) {
    static const enum record_type MOSTLY[] = {
        RECORD_GOAL_REPORTED, RECORD_EFFECT_DECIDED, RECORD_WORK_TODO,   RECORD_GOAL_UPDATED,
        RECORD_GOAL_PAUSED,   RECORD_WORK_DONE,      RECORD_PLAN_UPDATED};
    return seq == 1               ? RECORD_GOAL_CREATED
           : chance_in(chance, 3) ? RECORD_GOAL_REPORTED
                                  : MOSTLY[chance_below(chance, count_of(MOSTLY))];
}

static struct text_row text_make(struct chance *chance, struct arena *arena) {
    char words[40];
    snprintf(words, sizeof words, "text %llu", (unsigned long long)chance_next(chance));
    struct str body = arena_copy(arena, str_of(words));
    return (struct text_row){.hash = sha256(body), .body = body};
}

/* The third record is a report whose text is stored separately. Clocks sometimes go backwards. */
static void records_make(struct world *world, struct past *past, struct chance *chance) {
    struct goal *goal = &past->ware.goal;
    uint32_t count = 4 + chance_below(chance, MOST_RECORDS - 4);
    int64_t at = (FIRST_DAY + (int64_t)chance_below(chance, 20)) * DAY + chance_below(chance, 1000);
    for (uint32_t i = 0; i < count; i++) {
        struct evidence evidence = {.rule = STR("test"), .text = str_of(past->ware.title)};
        if (i == 2)
            *(chance_in(chance, 2) ? &evidence.more : &evidence.replay.input_apart) = past->dropped;
        struct record *record = &past->records[i];
        *record = (struct record){
            .type = i == 2 ? RECORD_GOAL_REPORTED : type_any(chance, i + 1), .at = at, .core = 1};
        record->body = shape_encode(&EVIDENCE, &evidence, &world->arena);
        record_seal(record, goal->id, goal->records.seq, &goal->records.head);
        goal->records.seq = record->seq;
        goal->records.head = record->hash;
        world->last = at > world->last ? at : world->last;
        at += chance_in(chance, 9) ? -(int64_t)chance_below(chance, 9) * DAY
                                   : chance_below(chance, 8) * DAY;
    }
}

/* An admission is open, in no list, and has a question to a person. */
static void admission_make(struct world *world, struct past *past, struct goal_commit *commit) {
    struct goal *goal = &past->ware.goal;
    struct question question = {.text = past->named};
    goal->kind.admission = SHOP_HOST;
    goal->status = GOAL_ACTIVE;
    goal->times.ended_at = 0;
    goal->text = (struct hash){0};
    *commit = ware_commit(&past->ware, &world->arena);
    struct str body = shape_encode(&QUESTION, &question, &world->arena);
    past->part = (struct part_change){
        .kind = PART_QUESTION,
        .name = STR("Q_0"),
        .body = row_seal((uint32_t)ROW_PART + PART_QUESTION, goal->id, 0, body, &world->arena)};
    commit->parts = &past->part;
    commit->part_count = 1;
}

static void past_make(struct world *world, struct past *past, struct chance *chance,
                      struct goal_commit *commit) {
    struct goal *goal = &past->ware.goal;
    *past = (struct past){
        .ware = {.goal = {.owner = SHOP_HOST, .fence = 1, .version = 1}, .title = "old"},
        .closed = chance_in(chance, 2) || all_closed};
    chance_fill(chance, goal->id.bytes, sizeof goal->id.bytes);
    chance_fill(chance, past->source.bytes, sizeof past->source.bytes);
    struct text_row *texts = arena_new(&world->arena, struct text_row, TEXTS);
    for (int i = 0; i < TEXTS; i++)
        texts[i] = text_make(chance, &world->arena);
    past->named = goal->text = texts[0].hash;
    past->unnamed = texts[1].hash;
    past->dropped = texts[2].hash;
    goal->status = past->closed ? GOAL_COMPLETED : GOAL_ACTIVE;
    goal->times.created_at = goal->times.updated_at = FIRST_DAY * DAY;
    goal->times.ended_at = past->closed ? FIRST_DAY * DAY : 0;
    goal->due_at = TIME_NEVER;
    records_make(world, past, chance);
    *commit = ware_commit(&past->ware, &world->arena);
    if (past->closed && chance_in(chance, 3))
        admission_make(world, past, commit);
    else
        commit->title = str_of(past->ware.title);
    commit->records = past->records;
    commit->record_count = (uint32_t)goal->records.seq;
    commit->texts = texts;
    commit->text_count = TEXTS;
    commit->seen = &past->source;
    commit->seen_count = 1;
}

static int by_id(const void *a, const void *b) {
    const struct goal_commit *left = a, *right = b;
    return id_compare(left->goal.id, right->goal.id);
}

static int by_hash(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct hash));
}

/* Creates the partitions of days on engines that have them. */
static void days_make(struct shop *shop) {
    for (int32_t day = FIRST_DAY; day < FIRST_DAY + 40; day += 2) {
        struct store_request request = {
            .verb = STORE_POLL, .self = shop->request.self, .at = day * DAY, .limit = 1};
        store_perform(shop->store, &request, &shop->answer, &shop->arena);
    }
}

static void world_make(struct world *world, const char *where, uint64_t seed) {
    struct chance chance = {seed};
    struct shop shop;
    *world = (struct world){.where = place_new(where)};
    struct store *first = store_open(str_of(where), (char[512]){0}, 512);
    assert_non_null(first);
    shop = (struct shop){.store = first};
    days_make(&shop);
    store_close(first);
    arena_free(&shop.arena);
    shop_open(&shop, where);
    struct goal_commit commits[GOALS];
    for (uint32_t i = 0; i < GOALS; i++) {
        past_make(world, &world->of[i], &chance, &commits[i]);
        qsort(commits[i].texts, TEXTS, sizeof commits[i].texts[0], by_hash);
    }
    qsort(commits, GOALS, sizeof commits[0], by_id);
    shop_commit(&shop, commits, GOALS);
    shop_close(&shop);
}

static struct past *past_of(struct world *world, struct id goal) {
    for (uint32_t i = 0; i < GOALS; i++)
        if (id_equal(world->of[i].ware.goal.id, goal))
            return &world->of[i];
    return NULL;
}

/* ---- what remains ---- */

struct left {
    struct world *world;
    uint64_t rows[GOALS], stood_in[GOALS];
    uint64_t counts[RECORD_TYPES]; /* covered by milestones */
    uint64_t last_to[GOALS];       /* to_seq of the previous milestone; they come in order */
    bool named[GOALS], unnamed[GOALS], dropped[GOALS], seen[GOALS];
    uint64_t bodies;
    int32_t records_before, bodies_before;
};

static bool is_kept(const struct past *past, const struct record *record) {
    return !past->closed || RECORDS[record->type].kept ||
           record->seq == past->ware.goal.records.seq;
}

static void record_check(struct left *left, const struct table_row *row, uint32_t place) {
    const struct past *past = &left->world->of[place];
    const struct record *was = &past->records[cell_int(row, "seq") - 1];
    int32_t day = (int32_t)cell_int(row, "day"), own = time_day(was->at);
    bool body = row_cell(row, "body").type != CELL_NULL;
    left->rows[place]++;
    left->bodies += body;
    if (own < left->records_before && past->closed)
        check(is_kept(past, was) && day == 0, "a record of day %d is still there", own);
    else
        check(day == own, "a record of day %d stands on day %d", own, day);
    if (!body) {
        struct hash hash = cell_hash(row, "body_hash"), right = sha256(was->body);
        check(hash_equal(&hash, &right), "another hash than that of the body");
        check(past->closed && !is_kept(past, was) && own < left->bodies_before,
              "a body went too early");
    } else
        check(!past->closed || is_kept(past, was) || own >= left->bodies_before,
              "a body is still there");
}

static void milestone_check(struct left *left, const struct table_row *row, uint32_t place) {
    const struct past *past = &left->world->of[place];
    uint64_t from = (uint64_t)cell_int(row, "from_seq"), to = (uint64_t)cell_int(row, "to_seq");
    struct milestone it = {.from = from, .to = to};
    struct hash last = cell_hash(row, "last_hash");
    check(to >= from && to < past->ware.goal.records.seq &&
              (uint64_t)cell_int(row, "n") == to - from + 1,
          "a milestone");
    check(hash_equal(&last, &past->records[to - 1].hash),
          "another hash than that of its last record");
    check(left->last_to[place] == 0 || from > left->last_to[place] + 1, "two milestones touch");
    left->last_to[place] = to;
    left->stood_in[place] += to - from + 1;
    milestone_decode(&it, cell_str(row, "body"));
    for (uint32_t type = 0; type < RECORD_TYPES; type++)
        left->counts[type] += it.counts[type];
    for (uint64_t seq = from; seq <= to; seq++)
        check(!is_kept(past, &past->records[seq - 1]) &&
                  time_day(past->records[seq - 1].at) < left->records_before,
              "a record that had to stay is gone");
}

static bool row_look(void *with, const struct table_row *row) {
    struct left *left = with;
    struct past *past = past_of(left->world, cell_id(row, "goal_id"));
    uint32_t place = past ? (uint32_t)(past - left->world->of) : 0;
    struct hash hash = cell_hash(row, "hash");
    if (row->table == TABLE_RECORD && past)
        record_check(left, row, place);
    if (row->table == TABLE_MILESTONE)
        milestone_check(left, row, place);
    if (row->table == TABLE_SEEN)
        left->seen[place] = true;
    if (row->table == TABLE_TEXT) {
        left->named[place] |= hash_equal(&hash, &past->named);
        left->unnamed[place] |= hash_equal(&hash, &past->unnamed);
        left->dropped[place] |= hash_equal(&hash, &past->dropped);
    }
    return true;
}

static void met(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    (void)with, (void)goal, (void)seq, (void)hash;
}

static void judged(void *with, const struct audit *audit, const char *wrong) {
    (void)with;
    check(!wrong, "the chain is broken at %llu: %s", (unsigned long long)audit->broken_at, wrong);
}

static void goals_check(struct left *left, uint64_t counts[RECORD_TYPES]) {
    for (uint32_t i = 0; i < GOALS; i++) {
        const struct past *past = &left->world->of[i];
        bool report_gone = time_day(past->records[2].at) <
                               (past->closed ? left->bodies_before : left->records_before) &&
                           !is_kept(past, &past->records[2]);
        check(left->rows[i] + left->stood_in[i] == past->ware.goal.records.seq,
              "records are neither there nor stood in for");
        check(left->named[i], "a text that is named is gone");
        check(left->unnamed[i] == !past->closed,
              "texts of open goals stay, others go when nothing names them");
        check(left->dropped[i] == !(past->closed && report_gone), "a text of a record");
        check(left->seen[i] == !past->closed, "sources of open goals stay");
        for (uint64_t seq = 1; seq <= past->ware.goal.records.seq; seq++)
            if (time_day(past->records[seq - 1].at) < left->records_before &&
                !is_kept(past, &past->records[seq - 1]))
                counts[past->records[seq - 1].type]++;
    }
}

static struct left world_look(struct world *world, int32_t records_before, int32_t bodies_before) {
    struct left left = {
        .world = world, .records_before = records_before, .bodies_before = bodies_before};
    uint64_t counts[RECORD_TYPES] = {0};
    char error[512] = "";
    struct log_visitor visitor = {NULL, met, judged};
    struct log_report report = {0};
    struct store *store = store_open(str_of(world->where), error, sizeof error);
    check(store_dump(store, row_look, &left, error, sizeof error), "%s", error);
    store_close(store);
    goals_check(&left, counts);
    check(memcmp(counts, left.counts, sizeof counts) == 0,
          "the counts of the milestones are not right");
    store_verify_log(str_of(world->where), &visitor, &report);
    check(!report.failed && report.broken == 0 && report.goals == GOALS, "%s", report.why);
    return left;
}

/* ---- scenarios ---- */

static struct retain_report retain_all(struct world *world, const struct retain_rules *rules,
                                       int64_t now) {
    char error[512] = "";
    struct retain *retain = retain_open(str_of(world->where), true, error, sizeof error);
    check(retain, "%s", error);
    retain_begin(retain, rules, now, true);
    while (retain_step(retain)) {
    }
    check(!retain_failed(retain), "%s", retain_failed(retain));
    struct retain_report report = *retain_report(retain);
    retain_close(retain);
    return report;
}

/* Day after day, over a year: everything is deleted at its time, and a second pass finds nothing more to do. */
static void the_past_becomes_shorter(void **state) {
    (void)state;
    static struct world world;
    struct retain_rules rules = {.bodies_days = 30, .records_days = 90, .seen_days = 1};
    for (int e = 0; e < engine_count; e++)
        for (uint64_t seed = 1; seed <= (is_sqlite(engines[e]) ? 5 : 1); seed++) {
            world_make(&world, engines[e], seed * 77);
            uint64_t records = 0, milestones = 0;
            for (int32_t day = FIRST_DAY + 60; day < time_day(world.last) + 100;
                 day += is_sqlite(engines[e]) ? 17 : 41) {
                struct retain_report did = retain_all(&world, &rules, day * DAY + 5);
                records += did.records;
                milestones += did.milestones;
                world_look(&world, day - 90, day - 30);
                did = retain_all(&world, &rules, day * DAY + 5);
                check(did.records + did.bodies + did.kept + did.seen + did.texts == 0,
                      "not all at once");
            }
            check(records > 100 && milestones > GOALS, "nothing happened");
            arena_free(&world.arena);
        }
    for (int e = 0; e < engine_count; e++)
        proof_passed("store",
                     is_sqlite(engines[e]) ? "the_past_becomes_shorter [sqlite]"
                                           : "the_past_becomes_shorter [postgres]",
                     "EVENT-06.a EVENT-06.b");
}

/* H9: a pass with a clock one year ahead drops a part, not everything; records of open goals stay. */
static void a_pass_is_capped(void **state) {
    (void)state;
    static struct world world;
    struct retain_rules rules = {.bodies_days = 30, .records_days = 90, .seen_days = 1};
    for (int e = 0; e < engine_count; e++) {
        world_make(&world, engines[e], 13);
        char error[512] = "";
        struct retain *retain = retain_open(str_of(world.where), true, error, sizeof error);
        check(retain, "%s", error);
        retain_begin(retain, &rules, world.last + 365 * DAY, true);
        retain_cap(retain, 1, 10);
        while (retain_step(retain)) {
        }
        const struct retain_report *did = retain_report(retain);
        uint64_t capped = did->records + did->bodies + did->seen + did->texts;
        retain_close(retain);
        struct retain_report all = retain_all(&world, &rules, world.last + 365 * DAY);
        uint64_t rest = all.records + all.bodies + all.seen + all.texts;
        check(capped >= 10 && capped < 200 && rest > 2 * capped, "%llu rows, %llu were left",
              (unsigned long long)capped, (unsigned long long)rest);
        world_look(&world, time_day(world.last) + 365 - 90, time_day(world.last) + 365 - 30);
        arena_free(&world.arena);
    }
}

static void days_go_whole(void **state) {
    (void)state;
    static struct world world;
    struct retain_rules rules = {.bodies_days = 30, .records_days = 90, .seen_days = 1};
    for (int e = 0; e < engine_count; e++) {
        if (is_sqlite(engines[e]))
            continue;
        all_closed = true; /* a record of an open goal keeps its day's partition */
        world_make(&world, engines[e], 5);
        all_closed = false;
        int32_t over = time_day(world.last) + 110;
        int64_t before = days_before(engines[e], over);
        struct retain_report did = retain_all(&world, &rules, world.last + 200 * DAY);
        int64_t after = days_before(engines[e], over);
        check(before >= 40 && after == 0 && (int64_t)did.days == before,
              "%lld of %lld days are left", (long long)after, (long long)before);
        world_look(&world, time_day(world.last) + 110, time_day(world.last) + 170);
        arena_free(&world.arena);
    }
}

/* EVENT-01: retention may change the log; all others are refused before, between and after its passes. */
static void nobody_else_may(void **state) {
    (void)state;
    static struct world world;
    static const char *const TRIES[] = {"DELETE FROM record", "UPDATE record SET body = NULL",
                                        "UPDATE record SET at = at + 1 WHERE seq = 1"};
    for (int e = 0; e < engine_count; e++) {
        world_make(&world, engines[e], 9);
        for (int round = 0; round < 2; round++) {
            for (size_t i = 0; i < count_of(TRIES); i++)
                check(!tamper(engines[e], TRIES[i]), "%s was allowed", TRIES[i]);
            retain_all(&world, &RETAIN_DEFAULT, world.last);
        }
        arena_free(&world.arena);
    }
    proof_passed("store", "nobody_else_may", "EVENT-01");
}

/* A retention that is interrupted anywhere leaves a consistent store, and the next one finishes. */
static void it_may_be_cut_off(void **state) {
    (void)state;
    static struct world world;
    struct retain_rules rules = {.bodies_days = 30, .records_days = 90, .seen_days = 1};
    for (int e = 0; e < engine_count; e++) {
        world_make(&world, engines[e], 21);
        int64_t now = world.last + 40 * DAY;
        for (int steps = 1; steps < 6; steps++) {
            char error[512] = "";
            struct retain *retain = retain_open(str_of(world.where), true, error, sizeof error);
            retain_begin(retain, &rules, now, true);
            for (int i = 0; i < steps && retain_step(retain); i++) {
            }
            retain_close(retain);
            struct log_visitor visitor = {NULL, met, judged};
            struct log_report report = {0};
            store_verify_log(str_of(world.where), &visitor, &report);
            check(!report.failed && report.broken == 0, "%s", report.why);
        }
        retain_all(&world, &rules, now);
        world_look(&world, time_day(now) - 90, time_day(now) - 30);
        arena_free(&world.arena);
    }
}

int main(void) {
    static char file[64];
    snprintf(file, sizeof file, "sqlite:/tmp/overseer-retain-%d.db", (int)getpid());
    engines[engine_count++] = file;
    if (getenv("OVERSEER_TEST_PG"))
        engines[engine_count++] = getenv("OVERSEER_TEST_PG");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_past_becomes_shorter),
        cmocka_unit_test(a_pass_is_capped),
        cmocka_unit_test(days_go_whole),
        cmocka_unit_test(nobody_else_may),
        cmocka_unit_test(it_may_be_cut_off),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    place_new(file);
    return failed;
}
