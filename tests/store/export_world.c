/* SPDX-License-Identifier: Apache-2.0 */
/* How do the tests of export and import come by a store in which a lot has happened? */
#include "store/export_world.h"

enum { HOST = 1 };

void world_begin(struct export_world *world, const char *where, uint64_t seed) {
    char error[512] = "";
    *world = (struct export_world){
        .store = store_open(str_of(where), error, sizeof error),
        .gen = {.dice = {.state = seed * 2 + 1}, .max_nodes = 12},
        .now = {.wall = 1790000000000000 + (int64_t)seed * 7, .boot = 1000000, .pulse = 1}};
    check(world->store, "%s", error);
    struct ledger_config config = {.host = HOST,
                                   .instance = seed + 1,
                                   .poll_every = SECONDS(1000),
                                   .retry_every = SECONDS(1),
                                   .policy = policy_of(MINUTES(60)),
                                   .build = STR("test"),
                                   .addr = STR("")};
    world->ledger = ledger_create(&config);
    check(world->ledger, "no memory");
}

void world_end(struct export_world *world) {
    ledger_free(world->ledger);
    store_close(world->store);
    arena_free(&world->arena);
}

/* Until it wants nothing more. */
static void settle(struct export_world *world) {
    struct store_answer answer, *last = NULL;
    const struct store_request *request;
    struct arena arena = {0};
    while ((request = ledger_turn(world->ledger, last, world->now))) {
        store_perform(world->store, request, &answer, &arena);
        check(answer.outcome == STORE_DONE, "%s: %.*s", STORE_VERB_NAMES[request->verb],
              STR_ARG(answer.error));
        last = &answer;
    }
    arena_free(&arena);
}

/* Some are never heard of again: they stay running. */
static void acts_take(struct export_world *world) {
    struct act *act;
    while ((act = ledger_take_act(world->ledger))) {
        struct signal ended = {.kind = SIGNAL_EFFECT_ENDED,
                               .source = dice_id(&world->gen.dice),
                               .goal = act->effect.goal,
                               .effect = act->effect.n,
                               .exit = dice_pick(&world->gen.dice, 2),
                               .actor = STR("overseer"),
                               .by = WHO_OVERSEER,
                               .text = STR("its output, größer")};
        world->acts++;
        if (dice_chance(&world->gen.dice, 600))
            world_signal(world, ended);
        free(act);
    }
}

enum error world_signal(struct export_world *world, struct signal signal) {
    signal.at = world->now.wall += 1 + (int64_t)dice_pick(&world->gen.dice, 5000000);
    world->now.boot += 1000;
    struct input *input = input_make(&signal, NULL);
    check(input && ledger_offer(world->ledger, input), "not taken");
    settle(world);
    enum error error = ERROR_NONE;
    while ((input = ledger_take_answered(world->ledger))) {
        if (id_equal(input->signal.source, signal.source))
            error = input->error;
        input_free(input);
    }
    acts_take(world);
    return error;
}

static struct knowledge know(struct export_world *world, struct id id) {
    struct store_request request = {
        .verb = STORE_SHOW, .at = world->now.wall, .ids = &id, .id_count = 1, .limit = 1};
    struct store_answer answer;
    store_perform(world->store, &request, &answer, &world->arena);
    check(answer.outcome == STORE_DONE, "%.*s", STR_ARG(answer.error));
    struct knowledge known = {.exists = answer.loaded[0].exists,
                              .goal = answer.loaded[0].goal,
                              .plan = answer.loaded[0].plan};
    for (uint32_t i = 0; i < answer.shown.text_count; i++)
        if (hash_equal(&answer.shown.texts[i].hash, &known.goal.proposal))
            known.proposal = answer.shown.texts[i].body;
    return known;
}

void world_live(struct export_world *world, uint32_t operations) {
    for (uint32_t i = 0; i < operations; i++) {
        bool fresh = world->goal_count == 0 ||
                     (world->goal_count < WORLD_GOALS && dice_chance(&world->gen.dice, 100));
        struct op op;
        if (fresh) {
            op = gen_create(&world->gen, &world->arena);
            world->goals[world->goal_count++] = op.signal.goal;
        } else {
            struct id id = world->goals[dice_pick(&world->gen.dice, world->goal_count)];
            struct knowledge known = know(world, id);
            op = gen_op(&world->gen, &known, &world->arena);
            op.signal.goal = id;
        }
        world_signal(world, op.signal);
        arena_reset(&world->arena);
    }
}
