/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that answers are cached only while they are valid, and within the limits of the cache. */
#include "engine/answer_cache.h"
#include "ops/all.h"
#include "unit/unit.h"

static struct id goal_of(uint32_t n) {
    struct id id = {{1}};
    memcpy(id.bytes + 12, &n, sizeof n);
    return id;
}

static bool found(uint32_t n, const char *expected) {
    struct answer_cache_found it;
    bool there = answer_cache_find(&OP_GOAL_SHOW, goal_of(n), STR("<"), STR(">"), NULL, &it);
    if (there)
        check(it.len == strlen(expected) && memcmp(it.at, expected, it.len) == 0, "%.*s",
              (int)it.len, it.at);
    free(it.at);
    return there;
}

static void put(uint32_t n, uint64_t mark, const char *text) {
    answer_cache_put(&OP_GOAL_SHOW, goal_of(n), mark, str_of(text));
}

static void a_write_drops_what_is_kept(void **state) {
    (void)state;
    answer_cache_enable(true, 7);
    put(1, answer_cache_mark(goal_of(1)), "one");
    put(2, answer_cache_mark(goal_of(2)), "two");
    check(found(1, "<one>") && found(2, "<two>"), "not kept");
    answer_cache_changed(goal_of(1));
    check(!found(1, "") && found(2, "<two>"), "of one goal");
    answer_cache_all_changed();
    check(!found(2, ""), "of all goals");
}

/* The read began before the commit and finished after it. */
static void a_read_that_was_overtaken_is_not_kept(void **state) {
    (void)state;
    uint64_t mark = answer_cache_mark(goal_of(3));
    answer_cache_changed(goal_of(3));
    put(3, mark, "old");
    check(!found(3, ""), "what is old was kept");
}

static void a_tag_names_the_bytes(void **state) {
    (void)state;
    struct answer_cache_found first, again, other;
    put(4, answer_cache_mark(goal_of(4)), "four");
    check(answer_cache_find(&OP_GOAL_SHOW, goal_of(4), STR(""), STR(""), NULL, &first), "kept");
    check(answer_cache_find(&OP_GOAL_SHOW, goal_of(4), STR(""), STR(""), first.tag, &again),
          "same");
    check(again.is_same && !again.at && strlen(again.tag) == ANSWER_TAG, "%s", again.tag);
    put(4, answer_cache_mark(goal_of(4)), "five");
    check(answer_cache_find(&OP_GOAL_SHOW, goal_of(4), STR(""), STR(""), first.tag, &other),
          "kept");
    check(!other.is_same && strcmp(other.tag, first.tag) != 0, "another tag");
    free(first.at);
    free(other.at);
}

static void what_is_kept_is_bounded(void **state) {
    (void)state;
    char *large = calloc(1, LIMIT_CACHE_ANSWER + 2);
    assert_non_null(large);
    memset(large, 'x', LIMIT_CACHE_ANSWER);
    uint32_t count = 2 * LIMIT_CACHE_BYTES / LIMIT_CACHE_ANSWER;
    for (uint32_t n = 0; n < count; n++) {
        put(100 + n, answer_cache_mark(goal_of(100 + n)), large);
        check(answer_cache_bytes() <= LIMIT_CACHE_BYTES, "%zu bytes", answer_cache_bytes());
    }
    check(answer_cache_bytes() > LIMIT_CACHE_BYTES / 2, "hardly anything is kept: %zu",
          answer_cache_bytes());
    large[LIMIT_CACHE_ANSWER] = 'x';
    put(5, answer_cache_mark(goal_of(5)), large);
    check(!found(5, ""), "one byte too many was kept");
    free(large);
}

static bool may(enum role role, const char *params) {
    struct caller caller = {.role = role};
    struct id goal;
    json_t *json = json_loads(params, 0, NULL);
    bool may = answer_cache_may_answer(&OP_GOAL_SHOW, &caller, json, &goal);
    json_decref(json);
    return may;
}

static void runs_are_never_answered_so(void **state) {
    (void)state;
    static const char WHOLE[] = "{\"goal\": \"goal_01JC7Q4T9Z0000000000000000\"}";
    check(may(ROLE_HUMAN, WHOLE) && may(ROLE_READER, WHOLE), "people");
    check(!may(ROLE_RUN, WHOLE) && !may(ROLE_NOBODY, WHOLE), "neither runs nor unknown callers");
    check(!may(ROLE_HUMAN, "{\"goal\": \"01JC7Q\"}"), "a beginning of an id");
    check(!may(ROLE_HUMAN, "{\"goal\": \"goal_01JC7Q4T9Z0000000000000000\", \"x\": 1}"), "more");
    check(!may(ROLE_HUMAN, "{}") && !may(ROLE_HUMAN, "[]"), "less");
    answer_cache_enable(false, 7);
    check(!may(ROLE_HUMAN, WHOLE), "it is off");
    answer_cache_enable(true, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_drops_what_is_kept),
        cmocka_unit_test(a_read_that_was_overtaken_is_not_kept),
        cmocka_unit_test(a_tag_names_the_bytes),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(runs_are_never_answered_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
