/* SPDX-License-Identifier: Apache-2.0 */
/* Tests where a handoff is stored, and who may write one. CRYSTAL-01 to CRYSTAL-06. */
#include "steps.h"

#include "core/step.h"
#include "model/part.h"

static struct {
    struct goal goal;
    struct live live;
    struct node node;
    struct assignment assignment;
    struct arena arena;
    struct policy policy;
    struct decision did;
    uint64_t sources;
} at;

static int at_begin(void **state) {
    (void)state;
    arena_free(&at.arena);
    memset(&at, 0, sizeof at);
    at.policy = policy_seal(policy_default());
    struct world world = {.level = LEVEL_LANE};
    struct signal create = {.kind = SIGNAL_GOAL_CREATE,
                            .goal = {{1, 2, 3}},
                            .at = 1000000,
                            .host = 1,
                            .sender.by = WHO_HUMAN,
                            .describe.title = STR("to see")};
    at.did = step(&world, &create, &at.policy, &at.arena);
    check(at.did.verdict == VERDICT_CHANGE, "a goal");
    at.goal = at.did.goal;
    return 0;
}

/* Adds one task, with an agent working on it. */
static void task_add(bool retired) {
    at.node =
        (struct node){.n = 0, .tier = TIER_TASK, .status = NODE_IN_PROGRESS, .retired = retired};
    snprintf(at.node.id, sizeof at.node.id, "T1");
    at.assignment = (struct assignment){.n = 0, .node = 0, .status = ASSIGNMENT_ACTIVE, .run = 1};
    snprintf(at.assignment.agent, sizeof at.assignment.agent, "auto-1");
    at.live.plan.nodes = &at.node;
    at.live.plan.count = 1;
    at.live.assignments = (struct assignments){&at.assignment, 1};
    at.goal.plan.version = 1;
    at.goal.plan.nodes_made = at.goal.parts_made = 1;
    at.goal.progress.working = !retired;
}

static enum error handed(const char *node, enum who by, uint32_t assignment, struct str body) {
    struct world world = {.goal = &at.goal, .live = &at.live, .level = LEVEL_LANE};
    struct handoff handoff = {.node = str_of(node), .summary = STR("half of it")};
    struct signal signal = {.kind = SIGNAL_HANDOFF,
                            .goal = at.goal.id,
                            .at = 2000000,
                            .sender.by = by,
                            .about.assignment = assignment,
                            .body = body.len ? body : shape_encode(&HANDOFF, &handoff, &at.arena)};
    memcpy(signal.source.bytes, &(uint64_t){++at.sources}, 8);
    at.did = step(&world, &signal, &at.policy, &at.arena);
    return at.did.verdict == VERDICT_REFUSE ? at.did.error : ERROR_NONE;
}

static void test_of_a_goal(void **state) {
    (void)state;
    assert_int_equal(handed("", WHO_HUMAN, 0, STR("")), ERROR_NONE);
    check(at.did.part_count == 1 && at.did.parts[0].kind == PART_HANDOFF, "it is kept");
    assert_int_equal(handed("T9", WHO_HUMAN, 0, STR("")), ERROR_NOT_FOUND);
    assert_int_equal(handed("", WHO_AGENT, 0, STR("")), ERROR_UNAUTHORIZED);
    assert_int_equal(handed("", WHO_HUMAN, 0, STR("\x01\x03\x7f")), ERROR_INVALID);
    static char words[LIMIT_BODY / 2];
    memset(words, 'x', sizeof words);
    struct handoff long_one = {.summary = {words, sizeof words}};
    assert_int_equal(handed("", WHO_HUMAN, 0, shape_encode(&HANDOFF, &long_one, &at.arena)),
                     ERROR_INVALID);
}

static void test_of_a_task(void **state) {
    (void)state;
    task_add(false);
    assert_int_equal(handed("T1", WHO_AGENT, 1, STR("")), ERROR_NONE);
    check(at.did.live.assignments.count == 1 &&
              at.did.live.assignments.at[0].delivery.newest_handoff > 0,
          "it goes with the next instruction");
    assert_int_equal(handed("T1", WHO_AGENT, 5, STR("")), ERROR_UNAUTHORIZED);
    assert_int_equal(handed("T1", WHO_OVERSEER, 0, STR("")), ERROR_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_of_a_goal, at_begin),
                                       cmocka_unit_test_setup(test_of_a_task, at_begin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
