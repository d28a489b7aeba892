/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that hosts which runs were denied are asked about once, and that each answer allows what it says and no more. */
#include "steps.h"

#include "core/step.h"
#include "model/cause.h"
#include "model/part.h"
#include "model/repository.h"

enum { HOST = 3 };

static struct {
    struct goal goal;
    struct live live;
    struct arena arena;
    struct policy policy;
    struct decision did;
    int64_t now;
    uint64_t sources;
    uint32_t level;
    bool exists;
} space;

static struct id goal_of(uint8_t number) {
    return (struct id){{[0] = 9, [15] = number}};
}

static int space_begin(void **state) {
    (void)state;
    arena_free(&space.arena);
    memset(&space, 0, sizeof space);
    space.policy = policy_default();
    space.policy.people.undo_for = 0;
    space.policy = policy_seal(space.policy);
    space.now = 1000000;
    space.level = LEVEL_HOST_ACCESS;
    return 0;
}

static enum verdict space_step(struct signal signal) {
    struct world world = {.level = space.level};
    struct goal *before = arena_new(&space.arena, struct goal, 1);
    *before = space.goal;
    if (space.exists) {
        world.goal = before;
        world.live = &space.live;
    }
    signal.goal = workspace_id(&space.policy, 0, HOST);
    signal.source = id_derive(
        STR("test hosts"), arena_format(&space.arena, "%llu", (unsigned long long)space.sources++));
    signal.at = space.now++;
    space.did = step(&world, &signal, &space.policy, &space.arena);
    if (space.did.verdict == VERDICT_CHANGE) {
        space.goal = space.did.goal;
        space.live = space.did.live;
        space.exists = true;
    }
    return space.did.verdict;
}

static struct str access_of(uint8_t goal, const char *host, uint64_t tries) {
    struct host_access access = {.number = goal, .tries = tries};
    if (goal)
        access.goal = goal_of(goal);
    snprintf(access.host, sizeof access.host, "%s", host);
    return shape_encode(&HOST_ACCESS, &access, &space.arena);
}

static enum verdict denied(uint8_t goal, const char *host, uint64_t tries) {
    return space_step((struct signal){.kind = SIGNAL_HOST_DENIED,
                                      .admission = HOST,
                                      .describe.title = STR("core"),
                                      .sender.by = WHO_OVERSEER,
                                      .body = access_of(goal, host, tries)});
}

static enum verdict want(const char *host, enum host_order order, enum who by) {
    return space_step((struct signal){.kind = SIGNAL_HOST_DENIED,
                                      .admission = HOST,
                                      .to = order,
                                      .sender.by = by,
                                      .body = access_of(0, host, 0)});
}

static enum verdict forget(const char *host, enum who by) {
    return want(host, HOST_FORGET, by);
}

/* The question about a host that is open; NULL: none. */
static const struct question *asked(const char *host) {
    struct str cause = cause_text(CAUSE_NETWORK, host, &space.arena);
    return questions_about(&space.live.questions, cause);
}

static enum verdict answer(const char *host, uint32_t option, const char *text) {
    const struct question *question = asked(host);
    check(question != NULL, "%s is asked about", host);
    return space_step((struct signal){.kind = SIGNAL_QUESTION_ANSWER,
                                      .about.question = question->n + 1,
                                      .to = option,
                                      .text = str_of(text),
                                      .sender = {.by = WHO_HUMAN, .actor = STR("human:anna")}});
}

static bool reaches(uint8_t goal, const char *host, bool is_check) {
    const struct host_accesses *all = &space.live.host_accesses;
    bool allowed = false;
    for (uint32_t i = 0; i < all->count; i++)
        allowed |= strcmp(all->at[i].host, host) == 0 &&
                   host_access_allows(&all->at[i], goal_of(goal), is_check);
    return allowed;
}

static uint32_t questions_open(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < space.live.questions.count; i++)
        count += space.live.questions.at[i].state == QUESTION_OPEN;
    return count;
}

#define STRIPE "api.stripe.com:443"

static void test_equal_denials_are_asked_once(void **state) {
    (void)state;
    check(denied(1, STRIPE, 3) == VERDICT_CHANGE, "the first one");
    check(denied(2, STRIPE, 4) == VERDICT_CHANGE, "another task");
    check(denied(1, STRIPE, 3) == VERDICT_NOTHING, "the same once more");
    check(denied(1, STRIPE, 5) == VERDICT_CHANGE, "more tries of the first task");
    assert_int_equal(questions_open(), 1);
    assert_int_equal(space.live.host_accesses.count, 2);
    assert_int_equal(space.live.host_accesses.at[0].tries, 5);
    assert_int_equal(space.live.host_accesses.at[1].number, 2);
    assert_int_equal(asked(STRIPE)->options, 4);
    assert_int_equal(asked(STRIPE)->holds, 0);
    assert_string_equal(space.goal.kind.subject, "core");
    check(!reaches(1, STRIPE, false) && !reaches(1, STRIPE, true), "nothing is allowed yet");
}

static void test_each_answer_allows_what_it_says(void **state) {
    static const struct {
        uint32_t option;
        bool task, task_check, other, other_check;
    } ROWS[] = {{NETWORK_DENY, false, false, false, false},
                {NETWORK_TASKS, true, true, false, false},
                {NETWORK_CHECKS, false, true, false, true},
                {NETWORK_ALWAYS, true, true, true, true}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        space_begin(state);
        denied(1, STRIPE, 3);
        denied(2, STRIPE, 4);
        denied(1, "other.example.org:443", 1);
        check(answer(STRIPE, ROWS[i].option, "") == VERDICT_CHANGE, "option %u", ROWS[i].option);
        check(reaches(1, STRIPE, false) == ROWS[i].task, "%u: its run", ROWS[i].option);
        check(reaches(2, STRIPE, false) == ROWS[i].task, "%u: the run of both", ROWS[i].option);
        check(reaches(1, STRIPE, true) == ROWS[i].task_check, "%u: its check", ROWS[i].option);
        check(reaches(7, STRIPE, false) == ROWS[i].other, "%u: another task", ROWS[i].option);
        check(reaches(7, STRIPE, true) == ROWS[i].other_check, "%u: its check", ROWS[i].option);
        check(!reaches(1, "other.example.org:443", true), "the other host is not allowed");
        assert_int_equal(questions_open(), 1);
    }
}

/* A person who has decided is not asked again; one who allowed it for some tasks is asked for the next task. */
static void test_what_is_decided_is_not_asked_again(void **state) {
    static const struct {
        uint32_t option;
        bool asks; /* for another task */
    } ROWS[] = {{NETWORK_DENY, false},
                {NETWORK_TASKS, true},
                {NETWORK_CHECKS, false},
                {NETWORK_ALWAYS, false}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        space_begin(state);
        denied(1, STRIPE, 1);
        answer(STRIPE, ROWS[i].option, "");
        check(denied(1, STRIPE, 1) == VERDICT_NOTHING && !asked(STRIPE), "the same task");
        check((denied(2, STRIPE, 1) == VERDICT_CHANGE) == ROWS[i].asks &&
                  (asked(STRIPE) != NULL) == ROWS[i].asks,
              "another task after option %u", ROWS[i].option);
    }
}

/* Words without an option decide nothing, and so does a question that is withdrawn: the next denial asks again. */
static void test_without_an_option_nothing_is_decided(void **state) {
    (void)state;
    denied(1, STRIPE, 1);
    answer(STRIPE, 0, "what is it for?");
    assert_int_equal(space.live.host_accesses.count, 0);
    check(denied(1, STRIPE, 1) == VERDICT_CHANGE && asked(STRIPE), "asked again");
    check(space_step((struct signal){.kind = SIGNAL_QUESTION_MOVE,
                                     .about.question = asked(STRIPE)->n + 1,
                                     .to = QUESTION_WITHDRAW,
                                     .sender.by = WHO_HUMAN}) == VERDICT_CHANGE,
          "withdrawn");
    assert_int_equal(space.live.host_accesses.count, 0);
}

static void test_a_person_forgets_a_decision(void **state) {
    (void)state;
    denied(1, STRIPE, 1);
    check(forget(STRIPE, WHO_HUMAN) == VERDICT_REFUSE, "it is not decided");
    answer(STRIPE, NETWORK_ALWAYS, "");
    check(forget(STRIPE, WHO_AGENT) == VERDICT_REFUSE, "an agent may not");
    check(forget("x.org:443", WHO_HUMAN) == VERDICT_REFUSE, "another host");
    check(forget(STRIPE, WHO_HUMAN) == VERDICT_CHANGE && !reaches(1, STRIPE, false), "forgotten");
    check(denied(1, STRIPE, 1) == VERDICT_CHANGE && asked(STRIPE), "asked again");
}

/* A name that is too long for a cause, when no more questions may be asked: nothing is decided, and nothing is stored. */
static void test_long_names_are_bounded_too(void **state) {
    (void)state;
    char host[LIMIT_HOST_ENTRY], label[61];
    memset(label, 'a', sizeof label);
    label[60] = 0;
    for (unsigned i = 0; i < LIMIT_HOST_QUESTIONS + 20; i++) {
        snprintf(host, sizeof host, "%s.%s.h%u.org:443", label, label, i);
        check(denied(1, host, 1) == (i < LIMIT_HOST_QUESTIONS ? VERDICT_CHANGE : VERDICT_NOTHING),
              "%u", i);
    }
    assert_int_equal(questions_open(), LIMIT_HOST_QUESTIONS);
}

/* The repository has got another name since: an order that changes nothing changes nothing. */
static void test_another_name_alone_changes_nothing(void **state) {
    (void)state;
    denied(1, STRIPE, 1);
    answer(STRIPE, NETWORK_ALWAYS, "");
    check(space_step((struct signal){.kind = SIGNAL_HOST_DENIED,
                                     .admission = HOST,
                                     .to = HOST_ALLOW,
                                     .describe.title = STR("another"),
                                     .sender.by = WHO_HUMAN,
                                     .body = access_of(0, STRIPE, 0)}) == VERDICT_NOTHING,
          "it is allowed already");
    assert_string_equal(space.goal.kind.subject, "core");
}

/* While the answer can still be undone, a task that the person did not see is not added to it. */
static void test_an_answer_is_for_the_tasks_that_were_shown(void **state) {
    (void)state;
    space.policy.people.undo_for = SECONDS(30);
    space.policy = policy_seal(space.policy);
    denied(1, STRIPE, 1);
    answer(STRIPE, NETWORK_TASKS, "");
    check(denied(2, STRIPE, 1) == VERDICT_REFUSE, "it is to report it again later");
    space.now += SECONDS(31);
    check(space_step((struct signal){.kind = SIGNAL_GOAL_DUE}) == VERDICT_CHANGE, "in effect");
    check(reaches(1, STRIPE, false) && !reaches(2, STRIPE, false), "the task that was shown");
    check(denied(2, STRIPE, 1) == VERDICT_CHANGE && asked(STRIPE), "the other one is asked about");
}

/* Nobody answers in time: the rows go, and the next denial asks again. */
static void test_an_expired_question_leaves_no_rows(void **state) {
    (void)state;
    space.policy.people.expires_after = SECONDS(60);
    space.policy = policy_seal(space.policy);
    denied(1, STRIPE, 1);
    space.now += SECONDS(61);
    check(space_step((struct signal){.kind = SIGNAL_GOAL_DUE}) == VERDICT_CHANGE, "expired");
    check(!asked(STRIPE) && space.live.host_accesses.count == 0, "%u rows",
          space.live.host_accesses.count);
    check(denied(1, STRIPE, 1) == VERDICT_CHANGE && asked(STRIPE), "asked again");
}

/* Without a question, or instead of its answer. */
static void test_a_person_decides_unasked(void **state) {
    (void)state;
    check(want(STRIPE, HOST_ALLOW, WHO_AGENT) == VERDICT_REFUSE, "an agent may not");
    check(want(STRIPE, HOST_ORDERS, WHO_HUMAN) == VERDICT_REFUSE, "no such order");
    check(want(STRIPE, HOST_ALLOW_CHECKS, WHO_HUMAN) == VERDICT_CHANGE, "before any denial");
    check(reaches(1, STRIPE, true) && !reaches(1, STRIPE, false), "for checks");
    check(denied(1, STRIPE, 1) == VERDICT_NOTHING, "it is decided");
    check(want(STRIPE, HOST_ALLOW, WHO_HUMAN) == VERDICT_CHANGE && reaches(1, STRIPE, false),
          "for all");
    assert_int_equal(space.live.host_accesses.count, 1);
    check(want(STRIPE, HOST_ALLOW, WHO_HUMAN) == VERDICT_NOTHING, "the same again");
    denied(1, "other.example.org:443", 1);
    denied(2, "other.example.org:443", 1);
    check(want("other.example.org:443", HOST_DENY, WHO_HUMAN) == VERDICT_CHANGE, "it was asked");
    check(questions_open() == 0 && space.live.host_accesses.count == 2, "the question is settled");
    char host[64];
    for (unsigned i = 0; i < LIMIT_HOST_ACCESSES - 1; i++) {
        snprintf(host, sizeof host, "h%u.example.org:443", i);
        want(host, HOST_ALLOW, WHO_HUMAN);
    }
    check(space.live.host_accesses.count == LIMIT_HOST_ACCESSES &&
              !reaches(1, "other.example.org:443", false) && reaches(1, host, false),
          "a refusal made room");
    check(want("x.example.org:443", HOST_ALLOW, WHO_HUMAN) == VERDICT_REFUSE, "no room");
}

/* A pattern, or a host without a port, would allow more than a person reads; a denial without a task is none. */
static void test_only_one_host_can_be_asked_for(void **state) {
    (void)state;
    static const char *const WRONG[] = {"*.com:443",
                                        "*.example.org",
                                        "example.org:*",
                                        "",
                                        "ex ample.org:443",
                                        "example.org\n:443",
                                        "127.0.0.1:5432",
                                        "127.0.0.1:80",
                                        "127.1:5432",
                                        "2130706433:5432",
                                        "0x7f000001:5432",
                                        "0.0.0.0:5432",
                                        "[::ffff:127.0.0.1]:5432",
                                        "[0:0:0:0:0:0:0:1]:5432",
                                        "[::1]:443",
                                        "169.254.169.254:80",
                                        "010.0.0.1:80",
                                        "224.0.0.1:80",
                                        "localhost:443",
                                        "db.localhost:443",
                                        "example.org"};
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(denied(1, WRONG[i], 1) == VERDICT_REFUSE, "\"%s\"", WRONG[i]);
    check(denied(0, STRIPE, 1) == VERDICT_REFUSE, "without a task");
    struct signal signal = {.kind = SIGNAL_HOST_DENIED, .admission = HOST, .body = STR("x")};
    check(space_step(signal) == VERDICT_REFUSE, "no row");
    signal.body = access_of(1, STRIPE, 1);
    signal.admission = 0;
    check(space_step(signal) == VERDICT_REFUSE, "a workspace without a host");
    assert_false(space.exists);
    check(denied(1, "10.1.2.3:5432", 1) == VERDICT_CHANGE, "an address of another machine");
    space.level = LEVEL_HOST_ACCESS - 1;
    check(want(STRIPE, HOST_ALLOW, WHO_HUMAN) == VERDICT_REFUSE, "a person hears of it");
    check(denied(1, STRIPE, 1) == VERDICT_NOTHING, "a host of the fleet does not know it yet");
}

/* ---- a target that fails its own check: target.c ---- */

static enum verdict target(enum target_state to, const char *why) {
    return space_step((struct signal){.kind = SIGNAL_TARGET_CHECKED,
                                      .admission = HOST,
                                      .describe.title = STR("core"),
                                      .sender.by = WHO_OVERSEER,
                                      .to = to,
                                      .reason = str_of(why),
                                      .text = STR("1 test failed")});
}

static const struct question *target_asked(void) {
    return questions_about(&space.live.questions, STR("target"));
}

static void test_a_target_that_fails_is_one_question(void **state) {
    (void)state;
    check(target(TARGET_PASSES, "") == VERDICT_NOTHING, "nothing was wrong");
    assert_false(space.exists);
    check(target(TARGET_UNKNOWN, "") == VERDICT_REFUSE, "no state");
    check(target(TARGET_STATES, "") == VERDICT_REFUSE, "no such state");
    space.level = LEVEL_HOST_ACCESS - 1;
    check(target(TARGET_FAILS, "main fails") == VERDICT_NOTHING, "an older host would not know it");
    space.level = LEVEL_HOST_ACCESS;
    check(target(TARGET_FAILS, "main fails") == VERDICT_CHANGE, "it is asked");
    check(target(TARGET_FAILS, "main fails still") == VERDICT_NOTHING, "it is asked already");
    assert_int_equal(questions_open(), 1);
    denied(1, STRIPE, 1);
    assert_int_equal(questions_open(), 2);
    check(target(TARGET_PASSES, "") == VERDICT_CHANGE, "it is settled");
    check(target_asked() == NULL && asked(STRIPE) != NULL, "and no other question is");
    check(target(TARGET_FAILS, "main fails again") == VERDICT_CHANGE, "another failure");
    const struct question *question = target_asked();
    check(question != NULL, "it is asked again");
    check(space_step((struct signal){.kind = SIGNAL_QUESTION_ANSWER,
                                     .about.question = question->n + 1,
                                     .to = 1,
                                     .sender = {.by = WHO_HUMAN, .actor = STR("human:anna")}}) ==
              VERDICT_CHANGE,
          "a person answers");
    assert_int_equal(space.live.host_accesses.count, 1);
}

/* A question about a target takes no place of those about hosts, and none is asked below the level of the fleet. */
static void test_a_target_is_no_host(void **state) {
    (void)state;
    char host[64];
    target(TARGET_FAILS, "main fails");
    for (unsigned i = 0; i < LIMIT_HOST_QUESTIONS; i++) {
        snprintf(host, sizeof host, "h%u.example.org:443", i);
        check(denied(1, host, 1) == VERDICT_CHANGE, "%s", host);
    }
    assert_int_equal(questions_open(), LIMIT_HOST_QUESTIONS + 1);
    target(TARGET_PASSES, "");
    space.level = LEVEL_HOST_ACCESS - 1;
    check(target(TARGET_FAILS, "main fails") == VERDICT_NOTHING, "a host does not know it yet");
}

/* A hostile agent asks for any number of hosts: a person gets a few questions, and decisions are not lost. */
static void test_a_flood_of_hosts_is_bounded(void **state) {
    (void)state;
    char host[64];
    denied(1, STRIPE, 1);
    answer(STRIPE, NETWORK_ALWAYS, "");
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(host, sizeof host, "h%u.example.org:443", i);
        denied(1, host, 1);
    }
    assert_int_equal(questions_open(), LIMIT_HOST_QUESTIONS);
    assert_int_equal(space.live.host_accesses.count, LIMIT_HOST_QUESTIONS + 1);
    for (unsigned i = 0; i < 1000; i++) { /* a person says no to each of them */
        snprintf(host, sizeof host, "h%u.example.org:443", i);
        denied(1, host, 1);
        if (asked(host))
            answer(host, NETWORK_DENY, "");
    }
    check(space.live.host_accesses.count == LIMIT_HOST_ACCESSES, "%u rows",
          space.live.host_accesses.count);
    check(reaches(1, STRIPE, false), "what was allowed for the repository stays");
}

/* Rows that are asked about, or allowed for the repository, make no room. */
static void test_a_full_table_keeps_what_counts(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2 * LIMIT_HOST_ACCESSES; i++)
        denied((uint8_t)(1 + i % 250), STRIPE, 1);
    assert_int_equal(space.live.host_accesses.count, LIMIT_HOST_ACCESSES);
    check(denied(1, "other.example.org:443", 1) == VERDICT_NOTHING, "no room");
    answer(STRIPE, NETWORK_TASKS, "");
    check(reaches(1, STRIPE, false), "allowed");
    check(denied(2, "other.example.org:443", 1) == VERDICT_CHANGE, "the oldest makes room");
}

/* A name that is longer than a cause has its own question. */
static void test_long_names_are_told_apart(void **state) {
    (void)state;
    char one[LIMIT_HOST_ENTRY], other[LIMIT_HOST_ENTRY];
    char label[61];
    memset(label, 'a', sizeof label);
    label[60] = 0;
    snprintf(one, sizeof one, "%s.%s.one.org:443", label, label);
    snprintf(other, sizeof other, "%s.%s.two.org:443", label, label);
    denied(1, one, 1);
    denied(1, other, 1);
    assert_int_equal(questions_open(), 2);
}

/* Whatever comes in any order: a decision allows no more than was answered last, and the questions stay bounded. step()
 * checks each change by itself. */
static void test_anything_in_any_order(void **state) {
    (void)state;
    uint32_t random = 1;
    uint8_t allowed[6] = {0}; /* for the repository, by host: 0: no; 1: checks; 2: all */
    char host[64];
    for (unsigned i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t at = random >> 8 & 0xffff, which = at % 6, option = at / 6 % 5;
        uint8_t goal = (uint8_t)(1 + at / 30 % 5);
        snprintf(host, sizeof host, "h%u.example.org:443", which);
        switch (random >> 24 & 3) {
        case 0:
            if (asked(host) && answer(host, option, option ? "" : "why?") == VERDICT_CHANGE &&
                option != NETWORK_TASKS && option > 0)
                allowed[which] = option == NETWORK_ALWAYS ? 2 : option == NETWORK_CHECKS ? 1 : 0;
            break;
        case 1:
            if (at % 7 == 0 && forget(host, WHO_HUMAN) == VERDICT_CHANGE)
                allowed[which] = 0;
            break;
        default: denied(goal, host, at % 9); break;
        }
        check(reaches(200, host, false) == (allowed[which] == 2), "%u: runs", i);
        check(reaches(200, host, true) == (allowed[which] > 0), "%u: checks", i);
        check(questions_open() <= 6 && space.live.host_accesses.count <= 36, "%u: bounds", i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_equal_denials_are_asked_once, space_begin),
        cmocka_unit_test_setup(test_each_answer_allows_what_it_says, space_begin),
        cmocka_unit_test_setup(test_what_is_decided_is_not_asked_again, space_begin),
        cmocka_unit_test_setup(test_without_an_option_nothing_is_decided, space_begin),
        cmocka_unit_test_setup(test_a_person_forgets_a_decision, space_begin),
        cmocka_unit_test_setup(test_long_names_are_bounded_too, space_begin),
        cmocka_unit_test_setup(test_another_name_alone_changes_nothing, space_begin),
        cmocka_unit_test_setup(test_an_answer_is_for_the_tasks_that_were_shown, space_begin),
        cmocka_unit_test_setup(test_an_expired_question_leaves_no_rows, space_begin),
        cmocka_unit_test_setup(test_a_person_decides_unasked, space_begin),
        cmocka_unit_test_setup(test_only_one_host_can_be_asked_for, space_begin),
        cmocka_unit_test_setup(test_a_flood_of_hosts_is_bounded, space_begin),
        cmocka_unit_test_setup(test_a_full_table_keeps_what_counts, space_begin),
        cmocka_unit_test_setup(test_long_names_are_told_apart, space_begin),
        cmocka_unit_test_setup(test_a_target_that_fails_is_one_question, space_begin),
        cmocka_unit_test_setup(test_a_target_is_no_host, space_begin),
        cmocka_unit_test_setup(test_anything_in_any_order, space_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
