/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a tool is allowed, denied, or put to a person, and that no waiting question is lost. */
#include "lib/proof.h"
#include "runs/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

enum { PERSON = -1 };

static void test_policy(void **state) {
    static const struct str ALLOW[] = {STR("Write"), STR("Bash")}, DENY[] = {STR("Bash")};
    static const struct {
        const char *tool;
        bool named;
        int answer;
    } ROWS[] = {
        {"Write", true, DRIVE_ALLOW},
        {"Write", false, PERSON},     /* only a title: a command may have that name */
        {"Bash", true, DRIVE_REJECT}, /* SCOPE-02: both lists name it */
        {"Edit", true, PERSON},
        {"Writer", true, PERSON},
        {"mcp__overseer__overseer_update", true, DRIVE_ALLOW},
        {"overseer__goal_report", true, DRIVE_ALLOW},
        {"overseer__goal_report", false, PERSON},
        {"mcp__overseer2__x", true, PERSON},
        {"", true, PERSON},
    };
    const struct drive_spec spec = {.allow = ALLOW,
                                    .allow_count = 2,
                                    .deny = DENY,
                                    .deny_count = 1,
                                    .allow_given = true,
                                    .person = true};
    (void)state;
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct drive_event event = {
            .kind = DRIVE_ASKS_FOR, .text = str_of(ROWS[i].tool), .named = ROWS[i].named};
        enum drive_answer answer = DRIVE_CANCEL;
        event.tool = true;
        bool decided = ask_by_policy(&spec, &event, &answer);
        assert_int_equal(decided ? (int)answer : PERSON, ROWS[i].answer);
        assert_true(decided || answer == DRIVE_CANCEL); /* nothing is decided silently */
    }
    proof_passed("unit", "ask policy", "SCOPE-02 TEST-15");
}

/* Without a person each request for a tool has an answer at once; a dialog about something else has none. */
static void test_without_a_person(void **state) {
    static const struct str ALLOW[] = {STR("Write")}, DENY[] = {STR("Bash")};
    static const struct {
        const char *tool;
        bool named, allow, deny,
            dialog; /* allow, deny: there is a list; dialog: it is not about a tool */
        int answer;
    } ROWS[] = {
        {"Edit", true, false, false, false, DRIVE_ALLOW},
        {"drop the table", false, false, false, false, DRIVE_ALLOW},
        {"Write", true, true, false, false, DRIVE_ALLOW},
        {"Edit", true, true, false, false, DRIVE_REJECT},
        {"overseer__goal_report", true, true, false, false, DRIVE_ALLOW},
        {"write it", false, true, false, false, DRIVE_REJECT},
        {"Edit", true, false, true, false, DRIVE_ALLOW},
        {"Bash", true, false, true, false, DRIVE_REJECT},
        {"run it", false, false, true, false, DRIVE_REJECT}, /* it may be the denied one */
        {"AskUserQuestion", true, false, false, false, DRIVE_REJECT},
        {"Use extra usage?", false, false, false, true, PERSON},
    };
    (void)state;
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct drive_spec spec = {.allow = ALLOW,
                                  .allow_count = ROWS[i].allow,
                                  .allow_given = ROWS[i].allow,
                                  .deny = DENY,
                                  .deny_count = ROWS[i].deny};
        struct drive_event event = {.kind = DRIVE_ASKS_FOR,
                                    .text = str_of(ROWS[i].tool),
                                    .named = ROWS[i].named,
                                    .tool = !ROWS[i].dialog};
        enum drive_answer answer = DRIVE_CANCEL;
        bool decided = ask_by_policy(&spec, &event, &answer);
        assert_int_equal(decided ? (int)answer : PERSON, ROWS[i].answer);
    }
}

static void test_in_order(void **state) {
    struct run_asks asks = {0};
    char id[16];
    (void)state;
    for (uint32_t i = 0; i < DRIVE_ASKS; i++) {
        snprintf(id, sizeof id, "q%u", i);
        struct drive_event event = {.ask = str_of(id), .text = STR("Write"), .offset = i};
        assert_true(asks_add(&asks, &event));
    }
    struct drive_event more = {.ask = STR("one more"), .text = STR("Write")};
    assert_false(asks_add(&asks, &more)); /* more than that are refused */
    for (uint32_t i = 0; i < DRIVE_ASKS; i++) {
        snprintf(id, sizeof id, "q%u", i);
        assert_string_equal(asks_first(&asks)->id, id);
        assert_int_equal(asks_first(&asks)->offset, i);
        asks_drop_first(&asks);
    }
    assert_null(asks_first(&asks));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_policy),
                                       cmocka_unit_test(test_without_a_person),
                                       cmocka_unit_test(test_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
