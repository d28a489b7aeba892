/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the PostgreSQL driver stores what it is given, and nothing that it must not store. Runs inside
 * tests/lib/with-postgres; each test begins with an empty database. */
#include "store/postgres/postgres_state.h"
#include "unit/unit.h"

enum { HOST = 1 };

struct world {
    struct store *store;
    PGconn *sql;
    struct arena arena;
    struct store_self self;
    uint64_t batch;
};

static PGresult *ask(struct world *w, const char *text) {
    PGresult *result = PQexec(w->sql, text);
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", text, PQerrorMessage(w->sql));
    return result;
}

static void run(struct world *w, const char *text) {
    PQclear(ask(w, text));
}

static long number(struct world *w, const char *text) {
    PGresult *result = ask(w, text);
    long value = PQntuples(result) ? atol(PQgetvalue(result, 0, 0)) : -1;
    PQclear(result);
    return value;
}

static struct store_answer perform(struct world *w, struct store_request request) {
    struct store_answer answer;
    request.self = request.self.host ? request.self : w->self;
    request.at = 1760000000000000;
    store_perform(w->store, &request, &answer, &w->arena);
    return answer;
}

static void join(struct world *w) {
    struct store_answer answer = perform(
        w, (struct store_request){.verb = STORE_JOIN, .build = STR("test"), .addr = STR("here")});
    if (answer.outcome != STORE_DONE)
        fail_msg("%.*s", STR_ARG(answer.error));
    w->self.epoch = answer.epoch;
    w->batch = answer.batch;
}

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    char error[512];
    w->sql = PQconnectdb(getenv("OVERSEER_TEST_PG"));
    w->self = (struct store_self){HOST, 7, 0};
    run(w, "SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    w->store = store_open(str_of(getenv("OVERSEER_TEST_PG")), error, sizeof error);
    if (!w->store)
        fail_msg("%s", error);
    join(w);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    store_close(w->store);
    PQfinish(w->sql);
    arena_free(&w->arena);
    free(w);
    return 0;
}

/* ---- goals ---- */

static struct id goal_id(uint32_t i) {
    return id_make(1760000000000 + i, (const uint8_t *)"0123456789");
}

/* A new goal with one record, a title and tags. */
static struct goal_commit goal_made(struct world *w, uint32_t i, const char *title,
                                    const struct tags *tags) {
    struct goal_commit commit = {.goal = {.id = goal_id(i),
                                          .owner = HOST,
                                          .fence = 1,
                                          .version = 1,
                                          .times.created_at = 1760000000000000 + i,
                                          .times.updated_at = 1760000000000000 + i,
                                          .due_at = TIME_NEVER},
                                 .view_changed = true,

                                 .title = str_of(title),
                                 .tags = tags};
    commit.records = arena_new(&w->arena, struct record, 1);
    commit.record_count = 1;
    commit.records[0] = (struct record){.type = RECORD_GOAL_CREATED,
                                        .at = commit.goal.times.created_at,
                                        .core = 1,
                                        .body = STR("\1")};
    record_seal(&commit.records[0], commit.goal.id, 0, &commit.goal.records.head);
    commit.goal.records.seq = 1;
    commit.goal.records.head = commit.records[0].hash;
    return commit;
}

static void commit_seal(struct world *w, struct goal_commit *commit) {
    commit->hot = row_seal(ROW_GOAL, commit->goal.id, 0,
                           shape_encode(&GOAL_HOT, &commit->goal, &w->arena), &w->arena);
}

static struct store_answer commit_all(struct world *w, struct goal_commit *commits,
                                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        commit_seal(w, &commits[i]);
    struct store_answer answer = perform(w, (struct store_request){.verb = STORE_COMMIT,
                                                                   .commits = commits,
                                                                   .commit_count = count,
                                                                   .batch = w->batch + 1});
    if (answer.outcome != STORE_DONE)
        fail_msg("%.*s", STR_ARG(answer.error));
    w->batch += answer.held;
    return answer;
}

static struct str node_body(struct world *w, struct id goal, uint32_t n, const char *name,
                            const struct hash *text) {
    struct node node = {.n = n, .status = NODE_QUEUED};
    if (text)
        node.text = *text;
    snprintf(node.id, sizeof node.id, "%s", name);
    return row_seal(ROW_PART + PART_NODE, goal, n, shape_encode(&NODE, &node, &w->arena),
                    &w->arena);
}

/* A goal with all kinds of rows: nodes, a run, a text, an effect, tags. */
static const struct str TWO_TAGS[] = {{"api", 3}, {"slow", 4}};
static const struct tags TAGGED = {.tags = {TWO_TAGS, 2}};

static struct goal_commit goal_rich(struct world *w, uint32_t i) {
    struct goal_commit commit = goal_made(w, i, "Parse trailing commas", &TAGGED);
    struct id id = commit.goal.id;
    struct text_row *text = arena_new(&w->arena, struct text_row, 1);
    struct part_change *parts = arena_new(&w->arena, struct part_change, 3);
    struct effect_change *effect = arena_new(&w->arena, struct effect_change, 1);
    *text = (struct text_row){sha256(STR("words")), STR("words")};
    parts[0] = (struct part_change){PART_NODE, false, 0, STR("S1"),
                                    node_body(w, id, 0, "S1", &text->hash)};
    parts[1] =
        (struct part_change){PART_NODE, false, 1, STR("S1.1"), node_body(w, id, 1, "S1.1", NULL)};
    parts[2] = (struct part_change){PART_RUN, false, 4, STR("R_1"),
                                    row_seal(ROW_PART + PART_RUN, id, 4, STR("\1run"), &w->arena)};
    *effect = (struct effect_change){.op = EFFECT_OP_MAKE,
                                     .slot = {.n = 0, .kind = EFFECT_COMMAND},
                                     .sealed = row_seal(ROW_EFFECT, id, 0, STR("\1do"), &w->arena)};
    commit.goal.plan.nodes_made = 2;
    commit.goal.plan.version = 1;
    commit.goal.effects.made = 1;
    commit.parts = parts;
    commit.part_count = 3;
    commit.texts = text;
    commit.text_count = 1;
    commit.effects = effect;
    commit.effect_count = 1;
    return commit;
}

static void move_on(struct goal_commit *commit) {
    commit->expected = commit->goal.version++;
    commit->record_count = 0;
    commit->effect_count = commit->part_count = commit->text_count = 0;
    commit->title = (struct str){0};
    commit->tags = NULL;
}

static const char EVERYTHING[] =
    "SELECT (SELECT count(*) FROM goal) + (SELECT count(*) FROM record) + (SELECT count(*) FROM node)"
    " + (SELECT count(*) FROM run) + (SELECT count(*) FROM text) + (SELECT count(*) FROM effect)"
    " + (SELECT count(*) FROM goal_view) + (SELECT count(*) FROM goal_tag) + (SELECT count(*) FROM tally)";

/* ---- tests ---- */

static void everything_is_kept(void **state) {
    struct world *w = *state;
    struct goal_commit commit = goal_rich(w, 1);
    assert_true(commit_all(w, &commit, 1).held);
    assert_true(commit.ok);
    struct store_answer answer =
        perform(w, (struct store_request){
                       .verb = STORE_SHOW, .ids = &commit.goal.id, .id_count = 1, .limit = 10});
    assert_int_equal(answer.outcome, STORE_DONE);
    struct goal_loaded *loaded = &answer.loaded[0];
    assert_true(loaded->exists && loaded->whole && loaded->owner_lives);
    assert_int_equal(loaded->plan.count, 2);
    assert_string_equal(loaded->plan.nodes[1].id, "S1.1");
    assert_int_equal(loaded->goal.effects.open_count, 1);
    struct goal_shown *shown = &answer.shown;
    assert_true(str_equal(shown->title, STR("Parse trailing commas")));
    assert_int_equal(shown->tags.count, 2);
    assert_true(str_equal(shown->tags.at[1], STR("slow")));
    assert_int_equal(shown->record_count, 1);
    assert_int_equal(shown->text_count, 1);
    assert_true(str_equal(shown->texts[0].body, STR("words")));
    assert_int_equal(shown->part_count, 1);
    assert_true(str_equal(shown->parts[0].body, STR("\1run")));
    answer =
        perform(w, (struct store_request){
                       .verb = STORE_FIND, .part = PART_NODE, .name = STR("S1.1"), .limit = 5});
    assert_int_equal(answer.found_count, 1);
    assert_true(id_equal(answer.found[0], commit.goal.id));
}

static void a_conflict_leaves_nothing(void **state) {
    struct world *w = *state;
    struct goal_commit commits[2] = {goal_rich(w, 1), goal_rich(w, 2)};
    assert_true(commit_all(w, commits, 1).held);
    long before = number(w, EVERYTHING);
    commits[0].goal.status = GOAL_COMPLETED; /* created a second time, with another display state */
    commit_all(w, commits, 1);
    assert_false(commits[0].ok);
    assert_int_equal(number(w, EVERYTHING), before);
    assert_int_equal(number(w, "SELECT sum(n) FROM tally WHERE face = 0"), 1);
    assert_int_equal(number(w, "SELECT face FROM goal_view"), DISPLAY_QUEUED);
    commits[0] = goal_rich(w, 1);
    move_on(&commits[0]);
    commits[0].expected = 17; /* another writer changed it */
    commits[0].goal.priority = PRIORITY_URGENT;
    commit_all(w, commits, 2);
    assert_false(commits[0].ok);
    assert_true(commits[1].ok);
    assert_int_equal(number(w, "SELECT max(priority) FROM goal_view"), 0);
    assert_int_equal(number(w, "SELECT sum(n) FROM tally WHERE face = 0"), 2);
}

/* P6: a batch number is accepted once, also under the same epoch. */
static void a_batch_counts_once(void **state) {
    struct world *w = *state;
    struct goal_commit commits[2] = {goal_rich(w, 1), goal_rich(w, 2)};
    assert_true(commit_all(w, commits, 1).held);
    long before = number(w, EVERYTHING);
    w->batch--;
    assert_false(commit_all(w, &commits[1], 1).held);
    assert_false(commits[1].ok);
    move_on(&commits[0]);
    assert_false(commit_all(w, commits, 1).held);
    assert_false(commits[0].ok);
    assert_int_equal(number(w, EVERYTHING), before);
    assert_int_equal(number(w, "SELECT max(version) FROM goal"), 1);
}

static void display_states_are_tallied(void **state) {
    struct world *w = *state;
    struct goal_commit commits[3] = {goal_made(w, 1, "one", NULL), goal_made(w, 2, "two", &TAGGED),
                                     goal_made(w, 3, "three", NULL)};
    commit_all(w, commits, 3);
    for (int i = 0; i < 3; i++)
        move_on(&commits[i]);
    commits[1].goal.status = GOAL_COMPLETED;
    commits[1].goal.times.ended_at = 1;
    commits[2].view_changed = false;
    commit_all(w, commits, 3);
    struct store_answer answer = perform(w, (struct store_request){.verb = STORE_TALLY});
    assert_int_equal(answer.tally[DISPLAY_QUEUED], 2);
    assert_int_equal(answer.tally[DISPLAY_DONE], 1);
    assert_int_equal(number(w, "SELECT count(*) FROM goal_view v JOIN goal_tag t USING (goal_id)"
                               " WHERE v.face = t.face AND v.face = 3 AND v.title = 'two'"),
                     2);
}

static void tags_are_replaced(void **state) {
    struct world *w = *state;
    static const struct str OTHERS[] = {{"slow", 4}, {"ui", 2}};
    static const struct tags REPLACED = {.tags = {OTHERS, 2}}, NONE = {0};
    struct goal_commit commit = goal_made(w, 1, "one", &TAGGED);
    commit_all(w, &commit, 1);
    move_on(&commit);
    commit.tags = &REPLACED;
    commit_all(w, &commit, 1);
    assert_int_equal(number(w, "SELECT count(*) FROM goal_tag WHERE tag IN ('slow', 'ui')"), 2);
    assert_int_equal(number(w, "SELECT count(*) FROM goal_tag"), 2);
    move_on(&commit);
    commit.tags = &NONE;
    commit_all(w, &commit, 1);
    assert_int_equal(number(w, "SELECT count(*) FROM goal_tag"), 0);
    assert_int_equal(number(w, "SELECT count(*) FROM goal_view WHERE title = 'one'"), 1);
}

static void parts_come_and_go(void **state) {
    struct world *w = *state;
    struct goal_commit commit = goal_rich(w, 1);
    commit_all(w, &commit, 1);
    struct part_change changes[2] = {
        {PART_NODE, false, 0, STR("S9"), node_body(w, commit.goal.id, 0, "S9", NULL)},
        {PART_NODE, true, 1, STR("S1.1"), {NULL, 0}}};
    move_on(&commit);
    commit.parts = changes;
    commit.part_count = 2;
    commit.goal.plan.nodes_made = 2;
    commit_all(w, &commit, 1);
    struct store_answer answer = perform(
        w, (struct store_request){.verb = STORE_LOAD, .ids = &commit.goal.id, .id_count = 1});
    assert_int_equal(answer.loaded[0].plan.count, 1);
    assert_string_equal(answer.loaded[0].plan.nodes[0].id, "S9");
}

/* Altered bytes are noticed before anything acts on them. */
static void damage_is_noticed(void **state) {
    struct world *w = *state;
    static const char *const HURT[] = {"UPDATE effect SET body = set_byte(body, 1, 0)",
                                       "UPDATE node SET body = set_byte(body, 2, 99) WHERE n = 1",
                                       "UPDATE goal SET hot = set_byte(hot, 1, 77)"};
    for (size_t i = 0; i < count_of(HURT); i++) {
        struct goal_commit commit = goal_rich(w, (uint32_t)i + 1);
        commit_all(w, &commit, 1);
        run(w, HURT[i]);
        struct store_answer answer = perform(
            w, (struct store_request){.verb = STORE_LOAD, .ids = &commit.goal.id, .id_count = 1});
        assert_true(answer.loaded[0].exists);
        assert_false(answer.loaded[0].whole);
        answer = perform(w, (struct store_request){.verb = STORE_OWNED, .limit = 10});
        assert_int_equal(answer.effect_count, i + 1);
        assert_true(answer.effects[0].damaged && answer.effects[0].body.len == 0);
    }
}

static void owned_can_be_asked_for(void **state) {
    struct world *w = *state;
    struct goal_commit commits[3] = {goal_rich(w, 1), goal_rich(w, 2), goal_rich(w, 3)};
    commit_all(w, commits, 3);
    run(w, "UPDATE goal SET owner = 2 WHERE goal_id = (SELECT max(goal_id::text)::uuid FROM goal)");
    struct id only[] = {goal_id(2), goal_id(3)};
    struct store_answer answer =
        perform(w, (struct store_request){.verb = STORE_OWNED, .only = only, .only_count = 2});
    assert_int_equal(answer.owned_count, 1);
    assert_int_equal(answer.effect_count, 1);
    assert_true(id_equal(answer.effects[0].goal, goal_id(2)));
    assert_true(str_equal(answer.effects[0].body, STR("\1do")));
    assert_false(answer.more);
}

/* EVENT-01 */
static void records_stay(void **state) {
    struct world *w = *state;
    struct goal_commit commit = goal_rich(w, 1);
    commit_all(w, &commit, 1);
    static const char *const TRIES[] = {"UPDATE record SET at = 0", "DELETE FROM record"};
    for (size_t i = 0; i < count_of(TRIES); i++) {
        PGresult *result = PQexec(w->sql, TRIES[i]);
        assert_int_equal(PQresultStatus(result), PGRES_FATAL_ERROR);
        assert_non_null(strstr(PQresultErrorMessage(result), "append-only"));
        PQclear(result);
    }
    run(w, "BEGIN; SET LOCAL overseer.retaining = 'on'; UPDATE record SET body = NULL; COMMIT");
    assert_int_equal(number(w, "SELECT count(*) FROM record WHERE body IS NULL"), 1);
}

/* ---- lists ---- */

static void list_fill(struct world *w) {
    static const char *const TITLES[] = {"Fix the parser", "Parser: accept commas", "Fix a typo",
                                         "Draw the owl"};
    struct goal_commit commits[40];
    for (uint32_t i = 0; i < 40; i++) {
        commits[i] = goal_made(w, i, TITLES[i % 4], i % 5 == 0 ? &TAGGED : NULL);
        commits[i].goal.status = i % 8 == 3 ? GOAL_PAUSED : GOAL_ACTIVE;
        commits[i].goal.need = i % 10 == 0 ? NEED_FAILED : NEED_NOTHING;
        commits[i].goal.quarantined = i == 35;
    }
    commit_all(w, commits, 40);
}

/* Reads every page of a filter, in pages of 7, and compares the goals with the expected ones. */
static void list_check(struct world *w, struct list_filter filter, bool (*fits)(uint32_t i)) {
    uint32_t expected = 40, pages = 0;
    for (bool more = true; more; pages++) {
        struct store_answer answer =
            perform(w, (struct store_request){.verb = STORE_LIST, .filter = filter, .limit = 7});
        if (answer.outcome != STORE_DONE)
            fail_msg("%.*s", STR_ARG(answer.error));
        for (uint32_t i = 0; i < answer.view_count; i++) {
            do
                must(expected-- > 0);
            while (!fits(expected));
            assert_true(id_equal(answer.views[i].id, goal_id(expected)));
            assert_int_equal(answer.views[i].created_at, 1760000000000000 + expected);
        }
        if (answer.view_count > 0) {
            filter.before = answer.views[answer.view_count - 1].created_at;
            filter.before_id = answer.views[answer.view_count - 1].id;
        }
        more = answer.more;
    }
    while (expected > 0)
        assert_false(fits(--expected));
    assert_true(pages > 0);
}

static bool fits_all(uint32_t i) {
    return i < 40;
}
static bool fits_paused(uint32_t i) {
    return i % 8 == 3;
}
static bool fits_needy(uint32_t i) {
    return i % 10 == 0 || i == 35;
}
static bool fits_tagged(uint32_t i) {
    return i % 5 == 0;
}
static bool fits_tagged_queued(uint32_t i) {
    return i % 5 == 0 && i % 8 != 3 && i % 10 != 0 && i != 35;
}
static bool fits_tagged_paused(uint32_t i) {
    return i == 35;
}
static bool fits_tagged_active(uint32_t i) {
    return i % 5 == 0 && i != 35;
}
static bool fits_parser(uint32_t i) {
    return i % 4 < 2;
}
static bool fits_fix_parser(uint32_t i) {
    return i % 4 == 0;
}
static bool fits_parser_tagged(uint32_t i) {
    return i % 4 < 2 && i % 5 == 0;
}
static bool fits_owl_paused(uint32_t i) {
    return i % 8 == 3;
}
static bool fits_none(uint32_t i) {
    return i > 40;
}

static void lists_are_filtered(void **state) {
    struct world *w = *state;
    list_fill(w);
    list_check(w, (struct list_filter){0}, fits_all);
    list_check(w, (struct list_filter){.by_status = true, .status = GOAL_PAUSED}, fits_paused);
    list_check(w,
               (struct list_filter){.by_display_state = true, .display_state = DISPLAY_NEEDS_YOU},
               fits_needy);
    list_check(w, (struct list_filter){.tag = STR("api")}, fits_tagged);
    list_check(w,
               (struct list_filter){
                   .tag = STR("api"), .by_display_state = true, .display_state = DISPLAY_QUEUED},
               fits_tagged_queued);
    list_check(w, (struct list_filter){.tag = STR("api"), .by_status = true, .status = GOAL_PAUSED},
               fits_tagged_paused); /* paused, and quarantined */
    list_check(w, (struct list_filter){.tag = STR("api"), .by_status = true, .status = GOAL_ACTIVE},
               fits_tagged_active);
    list_check(w,
               (struct list_filter){.by_status = true,
                                    .status = GOAL_COMPLETED,
                                    .by_display_state = true,
                                    .display_state = DISPLAY_QUEUED},
               fits_none);
    list_check(w, (struct list_filter){.search = STR("parser")}, fits_parser);
    list_check(w, (struct list_filter){.search = STR("PARSER fix")}, fits_fix_parser);
    list_check(w, (struct list_filter){.search = STR("parser"), .tag = STR("slow")},
               fits_parser_tagged);
    list_check(w,
               (struct list_filter){.search = STR("owl"), .by_status = true, .status = GOAL_PAUSED},
               fits_owl_paused);
    list_check(w, (struct list_filter){.search = STR("parser owl")}, fits_none);
    list_check(w, (struct list_filter){.search = STR("' & !(")}, fits_none);
}

/* Words that occur only in old goals are found behind the newest ones. */
static void search_goes_far(void **state) {
    struct world *w = *state;
    list_fill(w);
    run(w,
        "INSERT INTO goal_view (goal_id, status, face, priority, percent, created_at, updated_at, title)"
        " SELECT gen_random_uuid(), 0, 0, 0, 0, 1770000000000000 + i, 0, 'later ' || (i % 100)"
        " FROM generate_series(1, 25000) i");
    list_check(w, (struct list_filter){.search = STR("parser")}, fits_parser);
    list_check(w, (struct list_filter){.search = STR("parser"), .tag = STR("slow")},
               fits_parser_tagged);
    struct store_answer answer =
        perform(w, (struct store_request){
                       .verb = STORE_LIST, .filter = {.search = STR("later 7")}, .limit = 200});
    assert_int_equal(answer.view_count, 200);
    assert_true(answer.more); /* of 250 */
}

/* ---- levels ---- */

static struct store_answer join_as(struct world *w, uint32_t host, uint32_t speaks) {
    return perform(w, (struct store_request){.verb = STORE_JOIN,
                                             .self = {host, host + 100, 0},
                                             .build = STR("test"),
                                             .addr = STR("here"),
                                             .speaks = speaks});
}

static uint32_t poll_level(struct world *w, uint32_t host) {
    struct store_answer answer =
        perform(w, (struct store_request){.verb = STORE_POLL, .self = {host, 0, 0}, .limit = 1});
    assert_int_equal(answer.outcome, STORE_DONE);
    return answer.mark.level;
}

/* STORE-18: the level rises when the last host supports it; from then on no host can join that does not. */
static void levels_rise_together(void **state) {
    struct world *w = *state;
    uint32_t now = SCHEMA_LEVEL, next = now + 1;
    assert_int_equal(poll_level(w, HOST), now);
    assert_int_equal(join_as(w, 2, now).outcome, STORE_DONE);
    assert_int_equal(join_as(w, HOST, next).outcome, STORE_DONE);
    assert_int_equal(poll_level(w, HOST), now);
    assert_int_equal(poll_level(w, 2), now);
    struct store_answer answer = join_as(w, 2, next);
    assert_int_equal(answer.mark.level, now);
    assert_int_equal(poll_level(w, 2), next);
    assert_int_equal(poll_level(w, HOST), next);
    long before = number(w, "SELECT epoch FROM host WHERE host_id = 2");
    answer = join_as(w, 2, now);
    assert_int_equal(answer.outcome, STORE_REFUSED);
    assert_non_null(strstr(answer.error.at, "newer version of Overseer"));
    assert_int_equal(number(w, "SELECT epoch FROM host WHERE host_id = 2"), before);
    assert_int_equal(join_as(w, 3, now).outcome, STORE_REFUSED);
    assert_int_equal(number(w, "SELECT count(*) FROM host"), 2);
}

static void a_host_that_is_gone_does_not_hold_the_level(void **state) {
    struct world *w = *state;
    assert_int_equal(join_as(w, 2, SCHEMA_LEVEL).outcome, STORE_DONE);
    assert_int_equal(join_as(w, HOST, SCHEMA_LEVEL + 1).outcome, STORE_DONE);
    run(w, "UPDATE host SET state = 1 WHERE host_id = 2");
    assert_int_equal(poll_level(w, HOST), SCHEMA_LEVEL);
    run(w, "UPDATE host SET state = 2 WHERE host_id = 2");
    assert_int_equal(poll_level(w, HOST), SCHEMA_LEVEL + 1);
}

int main(void) {
    if (!getenv("OVERSEER_TEST_PG")) {
        fputs("run this inside tests/lib/with-postgres\n", stderr);
        return 77;
    }
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(everything_is_kept),
        TEST(a_conflict_leaves_nothing),
        TEST(a_batch_counts_once),
        TEST(display_states_are_tallied),
        TEST(tags_are_replaced),
        TEST(parts_come_and_go),
        TEST(damage_is_noticed),
        TEST(owned_can_be_asked_for),
        TEST(records_stay),
        TEST(lists_are_filtered),
        TEST(search_goes_far),
        TEST(levels_rise_together),
        TEST(a_host_that_is_gone_does_not_hold_the_level),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed == 0)
        proof_passed("store", "driver [postgres]", "STORE-18 EVENT-01");
    return failed;
}
