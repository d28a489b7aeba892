/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a landing lane grants one slot at a time, in the order of the requests, and answers each request once. */
#include "steps.h"

#include "core/step.h"
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
    bool exists;
} lane;

static struct id goal_of(uint8_t number) {
    return (struct id){{[0] = 9, [15] = number}};
}

static int lane_begin(void **state) {
    (void)state;
    arena_free(&lane.arena);
    memset(&lane, 0, sizeof lane);
    lane.policy = policy_seal(policy_default());
    lane.now = 1000000;
    return 0;
}

static enum verdict lane_step(struct signal signal) {
    struct world world = {.goal = lane.exists ? &lane.goal : NULL,
                          .live = lane.exists ? &lane.live : NULL,
                          .level = LEVEL_LANE};
    struct goal *before = arena_new(&lane.arena, struct goal, 1);
    *before = lane.goal;
    if (lane.exists)
        world.goal = before;
    signal.goal = workspace_id(&lane.policy, 0, HOST);
    signal.source = id_derive(
        STR("test lane"), arena_format(&lane.arena, "%llu", (unsigned long long)lane.sources++));
    signal.at = lane.now;
    lane.did = step(&world, &signal, &lane.policy, &lane.arena);
    if (lane.did.verdict == VERDICT_CHANGE) {
        lane.goal = lane.did.goal;
        lane.live = lane.did.live;
        lane.exists = true;
    }
    return lane.did.verdict;
}

static struct str permit_of(uint8_t goal, uint32_t turn) {
    struct permit permit = {.goal = goal_of(goal), .assignment = 0, .turn = turn};
    snprintf(permit.agent, sizeof permit.agent, "auto-%u", goal);
    return shape_encode(&PERMIT, &permit, &lane.arena);
}

static enum verdict ask(uint8_t goal, uint32_t turn) {
    return lane_step((struct signal){.kind = SIGNAL_LANE_ASK,
                                     .admission = HOST,
                                     .about.assignment = 1,
                                     .sender.by = WHO_OVERSEER,
                                     .body = permit_of(goal, turn)});
}

static enum verdict give_back(uint8_t goal, uint32_t turn) {
    return lane_step((struct signal){.kind = SIGNAL_LANE_RETURN,
                                     .admission = HOST,
                                     .about.assignment = 1,
                                     .sender.by = WHO_OVERSEER,
                                     .body = permit_of(goal, turn)});
}

static enum verdict hold(uint32_t to, enum who by) {
    return lane_step(
        (struct signal){.kind = SIGNAL_LANE_HOLD, .admission = HOST, .to = to, .sender.by = by});
}

static uint8_t holder(void) {
    const struct permit *permit = lane_holder(&lane.live.permits);
    return permit ? permit->goal.bytes[15] : 0;
}

/* The goal that the newest step sends a message to; 0: none. */
static uint8_t recorded(void) {
    for (uint32_t i = 0; i < lane.did.effect_count; i++) {
        const struct effect_change *change = &lane.did.effects[i];
        struct effect effect = {0};
        if (change->op == EFFECT_OP_MAKE && change->slot.kind == EFFECT_TELL &&
            effect_decode(EFFECT_TELL, change->body, &effect))
            return effect.to.bytes[15];
    }
    return 0;
}

static void effects_end(void) {
    while (lane.goal.effects.open_count > 0) {
        struct signal ended = {.kind = SIGNAL_EFFECT_ENDED, .effect = lane.goal.effects.open[0].n};
        check(lane_step(ended) == VERDICT_CHANGE, "an effect ends");
    }
}

static void test_one_slot_in_order(void **state) {
    (void)state;
    check(ask(1, 5) == VERDICT_CHANGE && holder() == 1 && recorded() == 1,
          "the first has it at once");
    check(ask(2, 7) == VERDICT_CHANGE && holder() == 1 && recorded() == 0, "the second waits");
    check(ask(3, 9) == VERDICT_CHANGE && lane_before(&lane.live.permits, goal_of(3), 0) == 1, "");
    check(give_back(3, 9) == VERDICT_CHANGE && lane.live.permits.count == 2, "the third gives up");
    check(give_back(1, 5) == VERDICT_CHANGE && holder() == 2 && recorded() == 2, "the next one");
    check(give_back(2, 7) == VERDICT_CHANGE && holder() == 0 && lane.live.permits.count == 0, "");
    check(lane_before(&lane.live.permits, goal_of(3), 0) == 0, "nothing waits");
}

static void test_an_ask_is_answered_once(void **state) {
    (void)state;
    ask(1, 5);
    ask(2, 6);
    check(ask(2, 6) == VERDICT_NOTHING && ask(2, 4) == VERDICT_NOTHING, "again, and an older one");
    check(give_back(1, 4) == VERDICT_NOTHING && holder() == 1, "what an older ask gives back");
    check(give_back(8, 4) == VERDICT_NOTHING, "what nobody has");
    check(ask(1, 11) == VERDICT_CHANGE && holder() == 2, "who asks anew goes to the end");
    check(lane_before(&lane.live.permits, goal_of(1), 0) == 0 && lane.live.permits.count == 2, "");
}

static void test_a_person_holds_it(void **state) {
    (void)state;
    check(hold(1, WHO_AGENT) == VERDICT_REFUSE, "an agent may not");
    check(hold(1, WHO_HUMAN) == VERDICT_CHANGE && hold(1, WHO_HUMAN) == VERDICT_NOTHING, "once");
    check(ask(1, 5) == VERDICT_CHANGE && holder() == 0 && recorded() == 0, "nothing begins");
    check(hold(0, WHO_HUMAN) == VERDICT_CHANGE && holder() == 1 && recorded() == 1, "it goes on");
}

static void test_a_slot_is_not_kept_for_ever(void **state) {
    (void)state;
    ask(1, 5);
    ask(2, 6);
    effects_end();
    int64_t within = lane_slot_within(&lane.policy, 0);
    check(lane.goal.due_at == lane.now + within, "it is due then");
    lane.now += within - 1;
    check(lane_step((struct signal){.kind = SIGNAL_GOAL_DUE}) == VERDICT_NOTHING, "not yet");
    lane.now++;
    check(lane_step((struct signal){.kind = SIGNAL_GOAL_DUE}) == VERDICT_CHANGE, "now");
    check(holder() == 2 && recorded() == 2, "the next one has it");
    check(give_back(1, 5) == VERDICT_NOTHING && holder() == 2, "too late");
}

static void test_what_is_no_ask_is_refused(void **state) {
    (void)state;
    struct signal bare = {.kind = SIGNAL_LANE_ASK, .admission = HOST, .body = STR("")};
    check(lane_step(bare) == VERDICT_REFUSE, "without a permit");
    bare.body = permit_of(1, 5);
    bare.admission = 0;
    check(lane_step(bare) == VERDICT_REFUSE, "of no host");
    ask(1, 5);
    bare = (struct signal){.kind = SIGNAL_LANE_RETURN, .admission = HOST, .body = STR("x")};
    check(lane_step(bare) == VERDICT_NOTHING && holder() == 1, "a return of nothing");
}

static void test_answers_wait_for_room(void **state) {
    (void)state;
    ask(1, 5);
    for (uint8_t i = 2; i < 40;
         i++) /* the answers are not delivered: the lane's open effects fill up */
        if (ask(i, 10u + i) == VERDICT_CHANGE)
            give_back(holder(), holder() == 1 ? 5 : 10u + holder());
    uint32_t open = lane.goal.effects.open_count;
    check(open <= LIMIT_OPEN_EFFECTS && !lane_broken(&lane.live), "within its limit");
    effects_end();
    check(lane.live.permits.count == 0 || holder() != 0, "what waited for room has it now");
}

static void test_workspaces_have_ids_of_their_own(void **state) {
    (void)state;
    struct policy one = {.landing.workspace = 1}, other = {.landing.workspace = 2}, local = one;
    local.landing.workspace_local = 1;
    check(id_equal(workspace_id(&one, 0, 1), workspace_id(&one, 0, 2)),
          "a URL is the same everywhere");
    check(!id_equal(workspace_id(&one, 0, 1), workspace_id(&other, 0, 1)), "two repositories");
    check(!id_equal(workspace_id(&local, 0, 1), workspace_id(&local, 0, 2)),
          "a path belongs to its host");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_slot_in_order, lane_begin),
        cmocka_unit_test_setup(test_an_ask_is_answered_once, lane_begin),
        cmocka_unit_test_setup(test_a_person_holds_it, lane_begin),
        cmocka_unit_test_setup(test_a_slot_is_not_kept_for_ever, lane_begin),
        cmocka_unit_test_setup(test_what_is_no_ask_is_refused, lane_begin),
        cmocka_unit_test_setup(test_answers_wait_for_room, lane_begin),
        cmocka_unit_test_setup(test_workspaces_have_ids_of_their_own, lane_begin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
