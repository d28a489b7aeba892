/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that cursors, types and times are read back as they were written, and that every record type has a text. */
#include "ops/place.h"
#include "ops/why/explain.h"
#include "unit/unit.h"

/* ---- cursors ---- */

static void places_come_back(void **state) {
    (void)state;
    static const struct cursor PLACES[] = {{.era = 0, .tx = 1, .n = 1},
                                           {.era = 3, .tx = 0, .n = 0},
                                           {.era = 7, .tx = -123456, .n = 9},
                                           {.era = 1, .tx = INT64_MAX / 100, .n = UINT32_MAX}};
    for (size_t i = 0; i < count_of(PLACES); i++) {
        char text[PLACE_TEXT];
        struct cursor back;
        place_format(&PLACES[i], text);
        assert_true(place_parse(str_of(text), &back));
        assert_true(back.era == PLACES[i].era && back.tx == PLACES[i].tx && back.n == PLACES[i].n);
        assert_false(back.from_start || back.from_now || back.held);
    }
    struct cursor cursor;
    assert_true(place_parse(STR(""), &cursor) && cursor.from_start && !cursor.from_now);
    assert_true(place_parse(STR("now"), &cursor) && cursor.from_now && !cursor.from_start);
}

static void no_place_is_made_up(void **state) {
    (void)state;
    static const char *const WRONG[] = {
        "0",
        "0.1",
        "0.1.",
        ".1.1",
        "0..1",
        "0.1.1.",
        "0.1.1 ",
        " 0.1.1",
        "0.1.-1",
        "-1.1.1",
        "0.1.x",
        "0.+1.1",
        "0.1.4294967296",
        "99999999999999999999.1.1",
        "0.99999999999999999999.1",
        "later",
        "0.1.1\n",
        "0x1.1.1",
        "0.--1.1",
        "00000000000000000000000000000000000000000000000000000000000000000000000.1.1"};
    struct cursor cursor;
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(!place_parse(str_of(WRONG[i]), &cursor), "%s", WRONG[i]);
}

static void places_are_in_order(void **state) {
    (void)state;
    static const struct cursor ORDER[] = {
        {.tx = -5, .n = 9}, {.tx = 1}, {.tx = 1, .n = 1}, {.tx = 1, .n = 2}, {.tx = 2}};
    for (size_t a = 0; a < count_of(ORDER); a++)
        for (size_t b = 0; b < count_of(ORDER); b++)
            assert_int_equal(place_is_before(&ORDER[a], &ORDER[b]), a < b);
}

/* ---- types and times ---- */

static uint32_t types_in(const char *text) {
    bool types[RECORD_TYPES];
    uint32_t count = 0;
    if (!types_parse(str_of(text), types))
        return 0;
    for (uint32_t i = 0; i < RECORD_TYPES; i++)
        count += types[i];
    assert_false(types[RECORD_NONE]);
    return count;
}

static void types_are_named(void **state) {
    (void)state;
    assert_int_equal(types_in("goal.created"), 1);
    assert_int_equal(types_in("goal.created,goal.paused"), 2);
    assert_int_equal(types_in(" goal.created, goal.paused  goal.created "), 2);
    assert_int_equal(types_in("plan.*"), 5);
    assert_int_equal(types_in("*"), RECORD_TYPES - 1);
    assert_int_equal(types_in("plan.*,goal.created"), 6);
    static const char *const WRONG[] = {
        "", ",", "goal", "goal.create", "plan.*x", "x*", "goal.created,nothing"};
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(types_in(WRONG[i]) == 0, "%s", WRONG[i]);
}

static void times_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t at;
    } CASES[] = {{"2h", 100000 - 7200},
                 {"90s", 100000 - 90},
                 {"1h30m", 100000 - 5400},
                 {"1970-01-01T00:01:40Z", 100},
                 {"1d", 100000 - 86400}};
    int64_t at;
    for (size_t i = 0; i < count_of(CASES); i++) {
        check(since_parse(str_of(CASES[i].text), SECONDS(100000), &at), "%s", CASES[i].text);
        assert_int_equal(at, SECONDS(CASES[i].at));
    }
    static const char *const WRONG[] = {"", "h", "2", "yesterday", "-2h", "2h ago"};
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(!since_parse(str_of(WRONG[i]), SECONDS(100000), &at), "%s", WRONG[i]);
}

/* ---- records as text ---- */

static struct record record_of(enum record_type type, const struct evidence *evidence,
                               struct arena *arena) {
    return (struct record){
        .type = type, .seq = 1, .body = shape_encode(&EVIDENCE, evidence, arena)};
}

/* EVENT-05: every record has a one-line text; also one that a newer build wrote. */
static void every_record_is_told(void **state) {
    (void)state;
    struct arena arena = {0};
    char text[EXPLAIN_TEXT];
    static char much[2000];
    memset(much, 'x', sizeof much);
    struct evidence some = {.rule = STR("a.rule"),
                            .actor = STR("human:1"),
                            .text = STR("a text\nwith lines"),
                            .node = STR("S1.1.1"),
                            .from = STR("todo"),
                            .to = STR("queued"),
                            .reason = STR("a reason"),
                            .exit = 3,
                            .host = 2,
                            .plan.version = 4},
                    none = {0}, full = some;
    full.text = (struct str){much, sizeof much};
    full.reason = (struct str){much, LIMIT_REASON};
    for (uint32_t type = 1; type <= RECORD_TYPES; type++) {
        struct record record = record_of((enum record_type)type, &some, &arena);
        record_tell(&record, &some, text);
        check(text[0] && !strchr(text, '\n') && !strchr(text, '%') && !strchr(text, '['), "%u: %s",
              type, text);
        record_tell(&record, &full, text);
        check(strlen(text) < EXPLAIN_TEXT && str_is_text(str_of(text)), "%u: %s", type, text);
        record_tell(&record, &none, text);
        check(!strchr(text, '[') && !strchr(text, '('), "%u: %s", type, text);
        json_t *line = record_line(&record);
        assert_string_equal(json_string_value(json_object_get(line, "rule")), "a.rule");
        assert_non_null(json_object_get(line, "kind"));
        json_decref(line);
    }
    struct record dropped = {.type = RECORD_EFFECT_DECIDED, .seq = 1};
    json_t *line = record_line(&dropped);
    assert_string_equal(json_string_value(json_object_get(line, "what")),
                        "(its evidence is no longer kept)");
    json_decref(line);
    arena_free(&arena);
}

/* Promise 3: a statement of an agent is shown as reported, whatever follows from it. */
static void what_agents_say_is_said(void **state) {
    (void)state;
    static const struct {
        enum record_type type;
        const char *rule;
        enum who by;
        enum record_kind kind;
    } CASES[] = {
        {RECORD_GOAL_REPORTED, "report.said", WHO_AGENT, RECORD_KIND_REPORTED},
        {RECORD_GOAL_REPORTED, "report.said", WHO_HUMAN, RECORD_KIND_REPORTED},
        {RECORD_WORK_STARTED, "work.start", WHO_AGENT, RECORD_KIND_REPORTED},
        {RECORD_WORK_STARTED, "work.start", WHO_HUMAN, RECORD_KIND_DECIDED},
        {RECORD_WORK_BLOCKED, "work.block", WHO_AGENT, RECORD_KIND_REPORTED},
        {RECORD_WORK_STARTED, "plan.rollup", WHO_AGENT, RECORD_KIND_DECIDED},
        {RECORD_PLAN_REVIEW_NEEDED, "plan.review", WHO_AGENT, RECORD_KIND_REPORTED},
        {RECORD_EFFECT_CLAIMED, "effect.claim", WHO_OVERSEER, RECORD_KIND_ACTED},
        {RECORD_EFFECT_ENDED, "effect.outcome", WHO_OVERSEER, RECORD_KIND_MEASURED},
        {RECORD_GOAL_NEEDS_PERSON, "command.failed", WHO_OVERSEER, RECORD_KIND_DECIDED},
    };
    for (size_t i = 0; i < count_of(CASES); i++) {
        struct evidence evidence = {.rule = str_of(CASES[i].rule), .by = CASES[i].by};
        struct record record = {.type = CASES[i].type};
        check(record_kind_of(&record, &evidence) == CASES[i].kind, "%s by %s", CASES[i].rule,
              name_of(&WHO_NAMES, CASES[i].by));
    }
}

/* A goal waits for a person exactly when its display state says so. */
static void whoever_waits_asks(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 1u << 6; bits++) {
        struct goal goal = {.status = (enum goal_status)(
                                bits & 3 ? bits & 1 ? GOAL_ACTIVE : GOAL_PAUSED : GOAL_CANCELLED),
                            .need =
                                bits & 4 ? bits & 8 ? NEED_FAILED : NEED_UNCONFIRMED : NEED_NOTHING,
                            .plan.review = bits & 16 ? 1 : 0,
                            .quarantined = bits & 32};
        if (bits & 8 && !(bits & 4))
            goal.plan.proposal.bytes[0] = 1;
        enum asks asks = goal_asks(&goal);
        check((asks != ASKS_NOTHING) == (goal_display_state(&goal) == DISPLAY_NEEDS_YOU), "bits %u",
              bits);
        json_t *todo = asks_do(asks, &goal);
        check((json_array_size(todo) > 0) == (asks != ASKS_NOTHING), "what can be done: bits %u",
              bits);
        json_decref(todo);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_come_back),        cmocka_unit_test(no_place_is_made_up),
        cmocka_unit_test(places_are_in_order),     cmocka_unit_test(types_are_named),
        cmocka_unit_test(times_are_read),          cmocka_unit_test(every_record_is_told),
        cmocka_unit_test(what_agents_say_is_said), cmocka_unit_test(whoever_waits_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
