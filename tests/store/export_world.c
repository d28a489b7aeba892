/* SPDX-License-Identifier: Apache-2.0 */
/* Creates stores with a rich history for the tests of export and import. */
#include "store/export_world.h"

#include "store/rows.h"

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

/* Runs the ledger until it has no further request. */
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

/* Some effects get no outcome: they stay running. */
static void acts_take(struct export_world *world) {
    struct act *act;
    while ((act = ledger_take_act(world->ledger))) {
        struct signal ended = {.kind = SIGNAL_EFFECT_ENDED,
                               .source = dice_id(&world->gen.dice),
                               .goal = act->effect.goal,
                               .effect = act->effect.n,
                               .exit = dice_pick(&world->gen.dice, 2),
                               .sender.actor = STR("overseer"),
                               .sender.by = WHO_OVERSEER,
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
        if (hash_equal(&answer.shown.texts[i].hash, &known.goal.plan.proposal))
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

/* ---- live rows and an admission, with all of their fields ---- */

static void field_fill(struct dice *dice, const struct field *field, void *row) {
    static const char *const NAMES[] = {"", "auto-1", "größer", "agent:auto-1:main", "\"x\" 東京"};
    void *at = (char *)row + field->offset;
    switch (field->type) {
    case FIELD_TIME: *(int64_t *)at = (int64_t)(dice_next(dice) >> 13); break; /* up to 2041 */
    case FIELD_INT:
    case FIELD_UINT:
        *(int64_t *)at = (int64_t)(dice_next(dice) >> (2 + dice_pick(dice, 60)));
        break;
    case FIELD_U32: *(uint32_t *)at = dice_pick(dice, 5); break;
    case FIELD_FLAG: *(uint32_t *)at = dice_pick(dice, 2); break;
    case FIELD_ENUM: *(uint32_t *)at = dice_pick(dice, (uint32_t)field->names->count); break;
    case FIELD_ID: *(struct id *)at = dice_id(dice); break;
    case FIELD_NAME:
        snprintf(at, field->cap + 1, "%s", NAMES[dice_pick(dice, count_of(NAMES))]);
        break;
    case FIELD_U32S:
        *(uint32_t *)(void *)((char *)row + field->cap) = field->most;
        for (uint32_t i = 0; i < field->most; i++)
            ((uint32_t *)at)[i] = 1 + dice_pick(dice, 9);
        break;
    default: break; /* texts are stored separately, under hashes that the test chooses */
    }
}

static void row_fill(struct dice *dice, enum part_kind kind, uint32_t n, void *row) {
    for (size_t i = 0; i < PART[kind].shape->count; i++)
        field_fill(dice, &PART[kind].shape->fields[i], row);
    *(uint32_t *)row = n;
}

struct furnishing {
    struct export_world *world;
    struct goal_commit commit;
    struct part_change parts[16];
    struct text_row texts[16];
    struct record record;
};

static void part_add(struct furnishing *f, enum part_kind kind, uint32_t n, const void *row) {
    struct arena *arena = &f->world->arena;
    struct str body = shape_encode(PART[kind].shape, row, arena);
    f->parts[f->commit.part_count++] =
        (struct part_change){.kind = kind,
                             .n = n,
                             .name = arena_format(arena, "%s%u", PART[kind].prefix, n),
                             .body = row_seal(ROW_PART + kind, f->commit.goal.id, n, body, arena)};
}

static struct hash text_add(struct furnishing *f, struct str body) {
    struct text_row *text = &f->texts[f->commit.text_count++];
    *text = (struct text_row){sha256(body), body};
    return text->hash;
}

static void assignment_add(struct furnishing *f, const struct node *node, uint32_t n) {
    struct assignment assignment = {0};
    struct handoff handoff = {.id = STR("C_1"), .summary = STR("what happened")};
    row_fill(&f->world->gen.dice, PART_ASSIGNMENT, n, &assignment);
    assignment.node = node->n;
    assignment.status = ASSIGNMENT_STALLED;
    assignment.wait.question = 0;
    assignment.usage.tokens = assignment.usage.cost = INT64_MAX;
    assignment.recovery.rung = RUNG_ASK;
    assignment.delivery.words = WORDS_TASK;
    assignment.delivery.dispatch = 1;
    snprintf(assignment.check.commit, sizeof assignment.check.commit, "%040u", n);
    assignment.slot.state = SLOT_HELD;
    assignment.progress.percent %= 101;
    snprintf(assignment.agent, sizeof assignment.agent, "auto-1");
    assignment.delivery.handoff = text_add(f, shape_encode(&HANDOFF, &handoff, &f->world->arena));
    assignment.outgoing.text = text_add(f, STR("it said so"));
    part_add(f, PART_ASSIGNMENT, n, &assignment);
}

static void question_add(struct furnishing *f, uint32_t n) {
    struct question question = {0};
    struct question_text text = {.title = STR("which colour?"), .text = STR("rot oder grün")};
    row_fill(&f->world->gen.dice, PART_QUESTION, n, &question);
    question.text = text_add(f, shape_encode(&QUESTION_TEXT, &text, &f->world->arena));
    question.answer.text = text_add(f, STR("grün"));
    f->commit.goal.people.questions += question_counts(&question);
    part_add(f, PART_QUESTION, n, &question);
}

static void agent_message_add(struct furnishing *f, uint32_t n) {
    struct agent_message agent_message = {0};
    struct agent_message_text text = {.subject = STR("on the colour"), .body = STR("grün")};
    row_fill(&f->world->gen.dice, PART_AGENT_MESSAGE, n, &agent_message);
    agent_message.text = text_add(f, shape_encode(&AGENT_MESSAGE_TEXT, &text, &f->world->arena));
    part_add(f, PART_AGENT_MESSAGE, n, &agent_message);
}

static void admission_rows(struct furnishing *f) {
    struct dice *dice = &f->world->gen.dice;
    struct permit permit = {0};
    struct account account = {0}, window = {0};
    struct budget budget = {0};
    row_fill(dice, PART_PERMIT, 1, &permit);
    row_fill(dice, PART_ACCOUNT, 2, &account);
    row_fill(dice, PART_BUDGET, 3, &budget);
    row_fill(dice, PART_ACCOUNT, 4, &window);
    account.window[0] = 0; /* one row of each kind */
    account.overage_until = 1;
    window.limited_until = window.probe = 0;
    window.overage = OVERAGE_NONE;
    snprintf(account.name, sizeof account.name, "max");
    snprintf(window.name, sizeof window.name, "max");
    snprintf(window.window, sizeof window.window, "5h");
    permit.state = PERMIT_GRANTED;
    permit.wants = PERMIT_NONE;
    snprintf(permit.agent, sizeof permit.agent, "auto-1");
    part_add(f, PART_PERMIT, 1, &permit);
    part_add(f, PART_ACCOUNT, 2, &account);
    part_add(f, PART_BUDGET, 3, &budget);
    part_add(f, PART_ACCOUNT, 4, &window);
    text_add(f, STR("of a desk"));
}

/* Commits the next version of the goal, with one record, as a ledger would. */
static void furnish(struct furnishing *f, struct store_self *self, uint64_t batch) {
    struct goal *goal = &f->commit.goal;
    struct arena *arena = &f->world->arena;
    struct evidence evidence = {.rule = STR("test"), .replay.input_apart = f->texts[0].hash};
    f->commit.expected = goal->version++;
    f->commit.view_changed = !goal->kind.admission;
    goal->shown = goal->kind.admission ? 0 : goal_display_state(goal) + 1;
    f->record =
        (struct record){.type = f->commit.expected ? RECORD_GOAL_UPDATED : RECORD_GOAL_CREATED,
                        .at = goal->times.updated_at,
                        .core = 1,
                        .body = shape_encode(&EVIDENCE, &evidence, arena)};
    record_seal(&f->record, goal->id, goal->records.seq, &goal->records.head);
    goal->records.seq = f->record.seq;
    goal->records.head = f->record.hash;
    f->commit.hot = row_seal(ROW_GOAL, goal->id, 0, shape_encode(&GOAL_HOT, goal, arena), arena);
    f->commit.parts = f->parts;
    f->commit.texts = f->texts;
    f->commit.records = &f->record;
    f->commit.record_count = 1;
    struct store_request request = {.verb = STORE_COMMIT,
                                    .self = *self,
                                    .at = f->world->now.wall,
                                    .batch = batch,
                                    .commits = &f->commit,
                                    .commit_count = 1};
    struct store_answer answer;
    store_perform(f->world->store, &request, &answer, arena);
    check(answer.outcome == STORE_DONE && answer.held && f->commit.ok, "%.*s",
          STR_ARG(answer.error));
}

static bool goal_find(struct export_world *world, struct goal_loaded *ret) {
    for (uint32_t i = 0; i < world->goal_count; i++) {
        struct store_request request = {
            .verb = STORE_LOAD, .at = world->now.wall, .ids = &world->goals[i], .id_count = 1};
        struct store_answer answer;
        store_perform(world->store, &request, &answer, &world->arena);
        *ret = answer.loaded[0];
        if (ret->exists && ret->whole && !ret->goal.quarantined &&
            ret->goal.status == GOAL_ACTIVE && ret->plan.count > 0 &&
            ret->live.assignments.count + ret->live.questions.count == 0)
            return true;
    }
    return false;
}

bool world_furnish(struct export_world *world) {
    struct goal_loaded loaded = {0};
    struct store_request request = {.verb = STORE_JOIN,
                                    .self = {.host = HOST, .instance = 99},
                                    .at = world->now.wall,
                                    .build = STR("test"),
                                    .addr = STR("")};
    struct store_answer joined;
    store_perform(world->store, &request, &joined, &world->arena);
    check(joined.outcome == STORE_DONE, "%.*s", STR_ARG(joined.error));
    request.self.epoch = joined.epoch;
    struct goal admission = {.id = admission_id(HOST),
                             .owner = HOST,
                             .fence = 1,
                             .due_at = TIME_NEVER,
                             .times.created_at = world->now.wall,
                             .times.updated_at = world->now.wall,
                             .era = joined.mark.era,
                             .kind.admission = HOST};
    request.ids = &admission.id;
    request.id_count = 1;
    request.verb = STORE_LOAD;
    struct store_answer before;
    store_perform(world->store, &request, &before, &world->arena);
    uint64_t batch = joined.batch;
    if (!before.loaded[0].exists) {
        struct furnishing f = {.world = world, .commit = {.goal = admission}};
        admission_rows(&f);
        furnish(&f, &request.self, ++batch);
    }
    if (!goal_find(world, &loaded))
        return false;
    struct furnishing f = {.world = world, .commit = {.goal = loaded.goal}};
    uint32_t n = f.commit.goal.parts_made;
    assignment_add(&f, &loaded.plan.nodes[0], n);
    question_add(&f, n + 1);
    question_add(&f, n + 2);
    agent_message_add(&f, n + 3);
    f.commit.goal.parts_made = n + 4;
    furnish(&f, &request.self, ++batch);
    return true;
}
