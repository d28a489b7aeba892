/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a store keeps the rows of an aggregate: open assignments, questions, messages, and the admission of a
 * host; that history is returned page by page; and that dispatches are never changed. On each available engine. */
#include "store/shop.h"

#include "store/sqlite/sqlite_mend.h"
#include "store/sqlite/sqlite_state.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

enum { HISTORY = 25, PAGE = 10, DISPATCHES = 100000, AT_ONCE = 1000 };
static const int64_t BEGAN = 1794713191000000;

static const char *engines[2];
static int engine_count;

static bool is_sqlite(const char *where) {
    return store_address_file(where);
}

static void say(const char *where, const char *sql) {
    PGconn *connection = PQconnectdb(where);
    PGresult *result = PQexec(connection, sql);
    check(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

static const char *const BESIDE[] = {"", "-wal", "-shm"};

static const char *place_new(const char *where) {
    char name[128];
    if (!is_sqlite(where)) {
        say(where, "SET client_min_messages = error; DROP SCHEMA public CASCADE;"
                   "CREATE SCHEMA public");
        return where;
    }
    for (size_t i = 0; i < count_of(BESIDE); i++) {
        snprintf(name, sizeof name, "%s%s", where + 7, BESIDE[i]);
        unlink(name);
    }
    return where;
}

static void proven(const char *name, const char *where, const char *rows) {
    char text[96];
    snprintf(text, sizeof text, "%s [%s]", name, is_sqlite(where) ? "sqlite" : "postgres");
    proof_passed("store", text, rows);
}

/* ---- one goal ---- */

static struct ware ware_new(uint8_t first) {
    struct ware ware = {.goal = {.id = {{first, 2, 3}},
                                 .owner = SHOP_HOST,
                                 .fence = 1,
                                 .times.created_at = BEGAN,
                                 .times.updated_at = BEGAN,
                                 .due_at = TIME_NEVER},
                        .title = "a goal with rows"};
    return ware;
}

/* Makes its next commit, with one record. */
static struct goal_commit ware_next(struct ware *ware, struct arena *arena) {
    struct record *record =
        ware_record(ware, ware->goal.version ? RECORD_GOAL_UPDATED : RECORD_GOAL_CREATED, arena);
    ware->goal.version++;
    struct goal_commit commit = ware_commit(ware, arena);
    commit.view_changed = !ware->goal.kind.admission;
    commit.title = ware->goal.kind.admission ? (struct str){0} : str_of(ware->title);
    commit.records = record;
    commit.record_count = 1;
    return commit;
}

static struct part_change part_of(const struct ware *ware, enum part_kind kind, uint32_t n,
                                  const void *row, struct arena *arena) {
    struct part_change part = {
        .kind = kind, .n = n, .name = arena_format(arena, "%s%u", PART[kind].prefix, n)};
    part.body = row_seal(ROW_PART + kind, ware->goal.id, n,
                         shape_encode(PART[kind].shape, row, arena), arena);
    return part;
}

static struct text_row text_of(const char *words) {
    return (struct text_row){sha256(str_of(words)), str_of(words)};
}

static const struct goal_loaded *load(struct shop *shop, const struct id *id,
                                      enum store_verb verb) {
    shop->request.ids = id;
    shop->request.id_count = 1;
    shop_ask(shop, verb);
    check(shop->answer.loaded[0].exists && shop->answer.loaded[0].whole, "it is not whole");
    return &shop->answer.loaded[0];
}

static bool text_is_shown(const struct goal_shown *shown, const char *words) {
    for (uint32_t i = 0; i < shown->text_count; i++)
        if (str_equal(shown->texts[i].body, str_of(words)))
            return true;
    return false;
}

/* ---- live rows ---- */

static const char *const NAMED[] = {"handoff", "said", "question", "answer", "letter"};

static void rows_write(struct shop *shop, struct ware *ware) {
    struct text_row texts[] = {text_of(NAMED[0]),   text_of(NAMED[1]), text_of(NAMED[2]),
                               text_of(NAMED[3]),   text_of(NAMED[4]), text_of("of nobody"),
                               text_of("asked for")};
    struct assignment assignment = {.n = 3,
                                    .node = 1,
                                    .status = ASSIGNMENT_STALLED,
                                    .agent = "auto-1",
                                    .delivery.handoff = texts[0].hash,
                                    .outgoing.text = texts[1].hash,
                                    .usage.tokens = UINT64_MAX};
    struct question question = {.n = 4,
                                .cause = "idle.T1",
                                .text = texts[2].hash,
                                .answer.text = texts[3].hash,
                                .sending.rounds = 2};
    struct agent_message agent_message = {.n = 5, .to = 4, .text = texts[4].hash};
    struct assignment other = {.n = 6, .node = 2};
    struct part_change parts[] = {
        part_of(ware, PART_ASSIGNMENT, 3, &assignment, &shop->arena),
        part_of(ware, PART_ASSIGNMENT, 6, &other, &shop->arena),
        part_of(ware, PART_QUESTION, 4, &question, &shop->arena),
        part_of(ware, PART_AGENT_MESSAGE, 5, &agent_message, &shop->arena)};
    struct goal_commit commit = ware_next(ware, &shop->arena);
    commit.parts = parts;
    commit.part_count = count_of(parts);
    commit.texts = texts;
    commit.text_count = count_of(texts);
    shop_commit(shop, &commit, 1);
}

static void rows_check(const struct live *live) {
    check(live->assignments.count == 2 && live->questions.count == 1 &&
              live->agent_messages.count == 1,
          "%u charges, %u questions, %u letters", live->assignments.count, live->questions.count,
          live->agent_messages.count);
    check(live->assignments.at[0].n == 3 && live->assignments.at[1].n == 6, "not in order");
    check(live->assignments.at[0].status == ASSIGNMENT_STALLED &&
              strcmp(live->assignments.at[0].agent, "auto-1") == 0 &&
              live->assignments.at[0].usage.tokens == UINT64_MAX,
          "a charge is another");
    check(strcmp(live->questions.at[0].cause, "idle.T1") == 0 &&
              live->questions.at[0].sending.rounds == 2,
          "a question is another");
    check(live->agent_messages.at[0].to == 4, "a letter is another");
}

static void texts_check(struct shop *shop, const struct ware *ware) {
    struct hash wanted = sha256(STR("asked for"));
    load(shop, &ware->goal.id, STORE_SHOW);
    for (size_t i = 0; i < count_of(NAMED); i++)
        check(text_is_shown(&shop->answer.shown, NAMED[i]), "%s is not shown", NAMED[i]);
    check(shop->answer.shown.text_count == count_of(NAMED), "%u texts",
          shop->answer.shown.text_count);
    shop->request.texts = &wanted;
    shop->request.text_count = 1;
    load(shop, &ware->goal.id, STORE_SHOW);
    check(text_is_shown(&shop->answer.shown, "asked for") &&
              !text_is_shown(&shop->answer.shown, "of nobody"),
          "what was asked for");
    shop->request.text_count = 0;
}

static void live_rows_come_back(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct shop shop;
        struct ware ware = ware_new(1);
        shop_open(&shop, place_new(engines[e]));
        rows_write(&shop, &ware);
        rows_check(&load(&shop, &ware.goal.id, STORE_LOAD)->live);
        rows_check(&load(&shop, &ware.goal.id, STORE_SHOW)->live);
        texts_check(&shop, &ware);
        struct part_change gone[] = {{.kind = PART_ASSIGNMENT, .gone = true, .n = 3},
                                     {.kind = PART_QUESTION, .gone = true, .n = 4}};
        struct goal_commit commit = ware_next(&ware, &shop.arena);
        commit.parts = gone;
        commit.part_count = count_of(gone);
        shop_commit(&shop, &commit, 1);
        const struct live *live = &load(&shop, &ware.goal.id, STORE_SHOW)->live;
        check(live->assignments.count == 1 && live->assignments.at[0].n == 6 &&
                  live->questions.count == 0,
              "what is over is still there");
        check(shop.answer.shown.text_count == 1, "%u texts", shop.answer.shown.text_count);
        shop_close(&shop);
        proven("live_rows_come_back", engines[e], "STORE-01 STORE-20");
    }
}

/* ---- admissions ---- */

static void admission_write(struct shop *shop, struct ware *admission) {
    struct permit permit = {.n = 1, .assignment = 3, .turn = 1, .state = PERMIT_GRANTED};
    struct account account = {.n = 2, .name = "someone", .limited_until = 9};
    struct budget budget = {.n = 3, .scope = "fleet", .spent = 5, .reserved = 7};
    struct part_change parts[] = {part_of(admission, PART_PERMIT, 1, &permit, &shop->arena),
                                  part_of(admission, PART_ACCOUNT, 2, &account, &shop->arena),
                                  part_of(admission, PART_BUDGET, 3, &budget, &shop->arena)};
    struct goal_commit commit = ware_next(admission, &shop->arena);
    commit.parts = parts;
    commit.part_count = count_of(parts);
    shop_commit(shop, &commit, 1);
}

static void lists_have_one(struct shop *shop, struct id only) {
    shop->request.filter = (struct list_filter){0};
    shop->request.limit = 10;
    shop_ask(shop, STORE_LIST);
    check(shop->answer.view_count == 1 && id_equal(shop->answer.views[0].id, only), "%u in a list",
          shop->answer.view_count);
    shop_ask(shop, STORE_TALLY);
    int64_t sum = 0;
    for (uint32_t display_state = 0; display_state < DISPLAY_STATES; display_state++)
        sum += shop->answer.tally[display_state];
    check(sum == 1, "%lld are counted", (long long)sum);
    memset(&shop->request.first_id, 0, sizeof(struct id));
    memset(&shop->request.last_id, 0xff, sizeof(struct id));
    shop_ask(shop, STORE_NAMED);
    check(shop->answer.found_count == 1 && id_equal(shop->answer.found[0], only), "found by name");
}

/* An admission is examined like any other row. */
static void examined(const char *where, enum examine_verdict verdict) {
    static struct examination it;
    struct examine_options options = {.host = SHOP_HOST};
    store_examine(str_of(where), &options, &it);
    check(it.verdict == verdict, "%s: %s", EXAMINE_NAMES[it.verdict], it.why);
}

static void tampered(const char *where, const char *sql, enum examine_verdict verdict) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(where + 7, &db), SQLITE_OK);
    check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    examined(where, verdict);
}

/* At start PostgreSQL examines only goals with open effects. */
static void admission_tampered(const char *where) {
    tampered(where, "UPDATE permit SET n = n + 1", EXAMINE_DAMAGED);
    tampered(where, "UPDATE permit SET n = n - 1", EXAMINE_SOUND);
    tampered(where, "INSERT INTO goal_view (row, goal_id) SELECT 1, goal_id FROM permit",
             EXAMINE_DAMAGED);
}

static void a_admission_is_nobodys_goal(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct shop shop;
        struct ware ware = ware_new(1), admission = ware_new(2);
        admission.goal.id = admission_id(SHOP_HOST);
        admission.goal.kind.admission = SHOP_HOST;
        shop_open(&shop, place_new(engines[e]));
        rows_write(&shop, &ware);
        admission_write(&shop, &admission);
        lists_have_one(&shop, ware.goal.id);
        shop_ask(&shop, STORE_OWNED);
        check(shop.answer.owned_count == 2, "%u are owned", shop.answer.owned_count);
        const struct live *live = &load(&shop, &admission.goal.id, STORE_LOAD)->live;
        check(live->permits.count == 1 && live->permits.at[0].state == PERMIT_GRANTED &&
                  live->accounts.count == 1 && live->accounts.at[0].limited_until == 9 &&
                  live->budgets.count == 1 && live->budgets.at[0].reserved == 7,
              "the desk is another");
        live = &load(&shop, &ware.goal.id, STORE_LOAD)->live;
        check(live->permits.count == 0 && live->assignments.count == 2, "rows of somebody else");
        shop_close(&shop);
        examined(engines[e], EXAMINE_SOUND);
        if (is_sqlite(engines[e]))
            admission_tampered(engines[e]);
        proven("a_desk_is_nobodys_goal", engines[e], "STORE-20");
    }
}

/* ---- salvaging a damaged store ---- */

static struct effect_change effect_of(const struct ware *ware, uint32_t n, enum effect_kind kind,
                                      struct arena *arena) {
    struct effect effect = {.goal = ware->goal.id, .kind = kind, .n = n, .command = STR("true")};
    struct effect_change change = {.op = EFFECT_OP_MAKE, .slot = {.n = n, .kind = kind}};
    change.sealed = row_seal(ROW_EFFECT, ware->goal.id, n, effect_encode(&effect, arena), arena);
    return change;
}

static struct record decided(struct ware *ware, uint32_t n, struct str rule, struct arena *arena) {
    struct evidence evidence = {.rule = rule, .effect = n + 1};
    struct record record = {.type = RECORD_EFFECT_DECIDED,
                            .at = BEGAN,
                            .core = 1,
                            .body = shape_encode(&EVIDENCE, &evidence, arena)};
    record_seal(&record, ware->goal.id, ware->goal.records.seq, &ware->goal.records.head);
    ware->goal.records.seq = record.seq;
    ware->goal.records.head = record.hash;
    return record;
}

/* A command, which is never repeated, and an effect that may be repeated. */
static void effects_write(struct shop *shop, struct ware *ware) {
    struct effect_change effects[] = {effect_of(ware, 0, EFFECT_COMMAND, &shop->arena),
                                      effect_of(ware, 1, EFFECT_TELL, &shop->arena)};
    struct record records[] = {decided(ware, 0, STR("command.run"), &shop->arena),
                               decided(ware, 1, str_of(EFFECTS[EFFECT_TELL].name), &shop->arena)};
    ware->goal.version++;
    ware->goal.effects.made = 2;
    struct goal_commit commit = ware_commit(ware, &shop->arena);
    commit.records = records;
    commit.record_count = count_of(records);
    commit.effects = effects;
    commit.effect_count = count_of(effects);
    shop_commit(shop, &commit, 1);
}

static void rebuilt(const char *where) {
    static struct examination it = {.why = "somebody said so"};
    static struct rebuild_report report;
    static char place[MEND_PATH];
    struct mend mend = {.path = where + 7, .at = BEGAN};
    bool good = mend_set_aside(&mend, place) && mend_make_safe(&mend, place, &it) &&
                mend_rebuild(&mend, place, &report);
    check(good, "%s", mend.error);
    check(report.lost == 0 && report.goals == 2, "%llu lost", (unsigned long long)report.lost);
    for (size_t i = 0; i < count_of(BESIDE); i++) {
        char name[MEND_PATH + 8];
        snprintf(name, sizeof name, "%s%s", place, BESIDE[i]);
        unlink(name);
    }
    examined(where, EXAMINE_SOUND);
}

static void what_is_rebuilt_is_the_same(void **state) {
    (void)state;
    struct shop shop;
    struct ware ware = ware_new(1), admission = ware_new(2);
    admission.goal.id = admission_id(SHOP_HOST);
    admission.goal.kind.admission = SHOP_HOST;
    shop_open(&shop, place_new(engines[0]));
    rows_write(&shop, &ware);
    effects_write(&shop, &ware);
    admission_write(&shop, &admission);
    shop_close(&shop);
    rebuilt(engines[0]);
    shop_open(&shop, engines[0]);
    lists_have_one(&shop, ware.goal.id);
    const struct goal_loaded *loaded = load(&shop, &ware.goal.id, STORE_LOAD);
    rows_check(&loaded->live);
    check(loaded->goal.effects.open_count == 2 &&
              loaded->goal.effects.open[0].state == EFFECT_UNCONFIRMED,
          "a command may be done twice");
    check(loaded->goal.effects.open[1].state == EFFECT_READY, "what may be repeated is not");
    check(load(&shop, &admission.goal.id, STORE_LOAD)->live.permits.count == 1, "a permit is lost");
    shop_close(&shop);
    proven("what_is_rebuilt_is_the_same", engines[0], "STORE-11");
}

/* ---- history ---- */

/* Every third signal is stored separately, as a text. */
static void record_write(struct shop *shop, struct ware *ware, uint32_t i) {
    char words[32];
    snprintf(words, sizeof words, "a long signal %u", i);
    struct text_row text = {sha256(str_of(words)), str_of(words)};
    struct goal_commit commit = ware_next(ware, &shop->arena);
    struct evidence evidence = {.rule = STR("test"), .count = i};
    if (i % 3 == 0) {
        evidence.replay.input_apart = text.hash;
        commit.texts = &text;
        commit.text_count = 1;
    }
    commit.records->body = shape_encode(&EVIDENCE, &evidence, &shop->arena);
    shop_commit(shop, &commit, 1);
}

static void history_page(struct shop *shop, uint32_t from, uint32_t count, bool more) {
    const struct goal_shown *shown = &shop->answer.shown;
    uint32_t texts = 0;
    check(shown->record_count == count && shop->answer.more == more, "behind %u: %u records", from,
          shown->record_count);
    for (uint32_t i = 0; i < count; i++) {
        struct evidence evidence = {0};
        char words[32];
        uint32_t n = from + i;
        snprintf(words, sizeof words, "a long signal %u", n);
        check(shown->records[i].seq == n + 1, "out of order");
        check(shape_decode(&EVIDENCE, shown->records[i].body, &evidence) && evidence.count == n,
              "a body is another");
        check(text_is_shown(shown, words) == (n % 3 == 0), "%s", words);
        texts += n % 3 == 0;
    }
    check(shown->text_count == texts, "%u texts, expected %u", shown->text_count, texts);
}

static void history_comes_in_pages(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct shop shop;
        struct ware ware = ware_new(1), other = ware_new(2);
        shop_open(&shop, place_new(engines[e]));
        for (uint32_t i = 0; i < HISTORY; i++) {
            record_write(&shop, &ware, i);
            record_write(&shop, &other, i + 100);
        }
        shop.request.ids = &ware.goal.id;
        shop.request.id_count = 1;
        shop.request.limit = PAGE;
        for (uint32_t from = 0; from < HISTORY; from += PAGE) {
            bool more = HISTORY - from > PAGE;
            shop.request.after_seq = from;
            shop_ask(&shop, STORE_HISTORY);
            history_page(&shop, from, more ? PAGE : HISTORY - from, more);
        }
        shop.request.after_seq = HISTORY;
        shop_ask(&shop, STORE_HISTORY);
        history_page(&shop, HISTORY, 0, false);
        shop_close(&shop);
        proven("history_comes_in_pages", engines[e], "STORE-20 EVENT-05");
    }
}

/* ---- dispatches ---- */

static struct dispatch dispatch_of(uint32_t i, struct arena *arena) {
    struct hash hash = sha256(arena_format(arena, "instruction %u", i / 2));
    struct writer digits = {.arena = arena};
    for (size_t k = 0; k < sizeof hash.bytes; k++)
        write_raw(&digits, arena_format(arena, "%02x", hash.bytes[k]));
    return (struct dispatch){.id = arena_format(arena, "D_%u", i),
                             .at = BEGAN + i,
                             .assignment = STR("A_1"),
                             .mode = STR("sessions_send"),
                             .result = STR("accepted"),
                             .notes = STR("anything"),
                             .instruction_hash = {digits.at, digits.len}};
}

static void put_is_refused(struct shop *shop, struct ware ware, struct part_change part) {
    struct goal_commit commit = ware_next(&ware, &shop->arena);
    commit.parts = &part;
    commit.part_count = 1;
    shop->request.verb = STORE_COMMIT;
    shop->request.commits = &commit;
    shop->request.commit_count = 1;
    shop->request.batch = shop->batch + 1;
    store_perform(shop->store, &shop->request, &shop->answer, &shop->arena);
    check(shop->answer.outcome == STORE_REFUSED, "it was taken: %.*s", STR_ARG(shop->answer.error));
    check(strstr(shop->answer.error.at, "append-only"), "%.*s", STR_ARG(shop->answer.error));
}

static void a_dispatch_is_written_once(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct shop shop;
        struct ware ware = ware_new(1);
        shop_open(&shop, place_new(engines[e]));
        struct dispatch dispatch = dispatch_of(7, &shop.arena), other = dispatch_of(9, &shop.arena);
        struct part_change part = part_of(&ware, PART_DISPATCH, 7, &dispatch, &shop.arena);
        struct goal_commit commit = ware_next(&ware, &shop.arena);
        commit.parts = &part;
        commit.part_count = 1;
        shop_commit(&shop, &commit, 1);
        put_is_refused(&shop, ware, part_of(&ware, PART_DISPATCH, 7, &other, &shop.arena));
        put_is_refused(&shop, ware,
                       (struct part_change){.kind = PART_DISPATCH, .gone = true, .n = 7});
        load(&shop, &ware.goal.id, STORE_SHOW);
        const struct goal_shown *shown = &shop.answer.shown;
        struct dispatch back = {0};
        check(shown->part_count == 1 && shape_decode(&DISPATCH, shown->parts[0].body, &back) &&
                  str_equal(back.instruction_hash, dispatch.instruction_hash) &&
                  str_equal(back.notes, dispatch.notes) && back.at == dispatch.at,
              "it was changed");
        shop_close(&shop);
        proven("a_dispatch_is_written_once", engines[e], "ASSIGN-12");
    }
}

static void dispatches_write(struct shop *shop, struct ware *ware) {
    struct part_change *parts = calloc(AT_ONCE, sizeof *parts);
    for (uint32_t i = 0; i < DISPATCHES; i += AT_ONCE) {
        arena_reset(&shop->arena);
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            struct dispatch dispatch = dispatch_of(i + k, &shop->arena);
            parts[k] = part_of(ware, PART_DISPATCH, i + k, &dispatch, &shop->arena);
        }
        struct goal_commit commit = ware_next(ware, &shop->arena);
        commit.parts = parts;
        commit.part_count = AT_ONCE;
        shop_commit(shop, &commit, 1);
    }
    free(parts);
}

static void found(struct shop *shop, struct str name, bool instruction, uint32_t count) {
    shop->request.part = PART_DISPATCH;
    shop->request.name = name;
    shop->request.instruction = instruction;
    shop->request.limit = LIMIT_FOUND;
    shop_ask(shop, STORE_FIND);
    check(shop->answer.found_count == count, "%.*s: %u found", STR_ARG(name),
          shop->answer.found_count);
}

/* SQLite gathers no statistics, but the stored data is realistic. PostgreSQL: test_plans_postgres.c. */
static void plan_uses(struct store *store, enum sql sql, const char *index) {
    struct sqlite_store *lite = (struct sqlite_store *)store;
    char text[SQL_TEXT], explain[SQL_TEXT + 32];
    sqlite3_stmt *rows;
    snprintf(explain, sizeof explain, "EXPLAIN QUERY PLAN %s", sqlite_text(sql, text));
    assert_int_equal(sqlite3_prepare_v2(lite->db, explain, -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    const char *plan = (const char *)sqlite3_column_text(rows, 3);
    check(strstr(plan, "SEARCH") && strstr(plan, index), "%s: %s", text, plan);
    assert_int_equal(sqlite3_step(rows), SQLITE_DONE);
    sqlite3_finalize(rows);
}

static void a_dispatch_is_found(void **state) {
    (void)state;
    for (int e = 0; e < engine_count; e++) {
        struct shop shop;
        struct ware ware = ware_new(1);
        shop_open(&shop, place_new(engines[e]));
        dispatches_write(&shop, &ware);
        struct dispatch some = dispatch_of(4711, &shop.arena),
                        none = dispatch_of(DISPATCHES + 2, &shop.arena);
        found(&shop, some.id, false, 1);
        check(id_equal(shop.answer.found[0], ware.goal.id), "another goal");
        found(&shop, some.instruction_hash, true, 1);
        check(id_equal(shop.answer.found[0], ware.goal.id), "another goal");
        found(&shop, none.id, false, 0);
        found(&shop, none.instruction_hash, true, 0);
        if (is_sqlite(engines[e])) {
            plan_uses(shop.store, sql_of_part(SQL_PART_FIND, PART_DISPATCH), "dispatch_name");
            plan_uses(shop.store, SQL_FIND_INSTRUCTION, "dispatch_instruction");
            proven("a_dispatch_is_found", engines[e], "ASSIGN-15");
        }
        shop_close(&shop);
    }
}

int main(void) {
    static char file[64];
    snprintf(file, sizeof file, "sqlite:/tmp/overseer-live-%d.db", (int)getpid());
    engines[engine_count++] = file;
    if (getenv("OVERSEER_TEST_PG"))
        engines[engine_count++] = getenv("OVERSEER_TEST_PG");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_rows_come_back),
        cmocka_unit_test(what_is_rebuilt_is_the_same),
        cmocka_unit_test(a_admission_is_nobodys_goal),
        cmocka_unit_test(history_comes_in_pages),
        cmocka_unit_test(a_dispatch_is_written_once),
        cmocka_unit_test(a_dispatch_is_found),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    place_new(file);
    return failed;
}
