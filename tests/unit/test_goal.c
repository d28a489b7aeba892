/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the rules of goals: who may pause, complete, cancel and archive them, and their definition. */
#include "model/repository.h"
#include "play.h"

static struct play game;

static int game_begin(void **state) {
    (void)state;
    play_begin(&game);
    return 0;
}

static int game_end(void **state) {
    (void)state;
    play_end(&game);
    return 0;
}

static void create_with_command(struct play *p) {
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_CREATE,
                                             .sender.by = WHO_HUMAN,
                                             .describe.title = STR("title"),
                                             .describe.command = STR("make"),
                                             .host = 7}),
                     ERROR_NONE);
}

static enum error claim(struct play *p) {
    return play(p,
                (struct signal){.kind = SIGNAL_EFFECT_CLAIM, .sender.by = WHO_OVERSEER, .host = 7});
}

static enum error ended(struct play *p, int64_t status) {
    return play(
        p, (struct signal){.kind = SIGNAL_EFFECT_ENDED, .sender.by = WHO_OVERSEER, .exit = status});
}

/* ---- G-17: all 25 pairs ---- */

/* The result of a request: o done, n nothing to do, c conflict, u not allowed; a column for each requested status:
 * active paused completed cancelled archived. */
static const struct transition {
    const char *name;
    enum who by;
    const char *reason;
    const char *pairs[GOAL_STATUSES];
} TRANSITIONS[] = {
    {"person", WHO_HUMAN, "because", {"noooc", "oncoc", "ocnco", "cccno", "ccccn"}},
    {"person without a reason", WHO_HUMAN, NULL, {"nococ", "oncoc", "ccnco", "cccno", "ccccn"}},
    {"overseer", WHO_OVERSEER, "because", {"nococ", "oncoc", "ccnco", "cccno", "ccccn"}},
    {"agent", WHO_AGENT, "because", {"uuuuu", "uuuuu", "uuuuu", "uuuuu", "uuuuu"}},
};

static void goal_in(struct play *p, enum goal_status status) {
    play_begin(p);
    assert_int_equal(play_create(p), ERROR_NONE);
    if (status == GOAL_ARCHIVED)
        assert_int_equal(play_goal(p, GOAL_COMPLETED, WHO_HUMAN, "by hand"), ERROR_NONE);
    if (status != GOAL_ACTIVE)
        assert_int_equal(play_goal(p, status, WHO_HUMAN, "by hand"), ERROR_NONE);
    assert_int_equal(p->goal.status, status);
}

static void pair_holds(const struct transition *transition, enum goal_status from,
                       enum goal_status to, char expected) {
    struct play *p = &game;
    goal_in(p, from);
    enum error error = play_goal(p, to, transition->by, transition->reason);
    enum error wanted = expected == 'c'   ? ERROR_CONFLICT
                        : expected == 'u' ? ERROR_UNAUTHORIZED
                                          : ERROR_NONE;
    const char *a = GOAL_STATUS[from].name, *b = GOAL_STATUS[to].name;
    check(error == wanted, "%s, %s to %s: %s", transition->name, a, b, ERRORS[error].code);
    check((p->did.verdict == VERDICT_CHANGE) == (expected == 'o'), "%s, %s to %s", transition->name,
          a, b);
    check(p->goal.status == (expected == 'o' ? to : from), "%s, %s to %s", transition->name, a, b);
    if (expected != 'o')
        return;
    struct evidence evidence = evidence_of(&p->did.records[0]);
    check(str_equal(evidence.from, str_of(a)) && str_equal(evidence.to, str_of(b)), "%s, %s to %s",
          transition->name, a, b);
    check(str_equal(evidence.reason, str_of(transition->reason)), "%s, %s to %s", transition->name,
          a, b);
    check(evidence.override == (to == GOAL_COMPLETED), "%s, %s to %s", transition->name, a, b);
    check((p->goal.times.ended_at != 0) == (to >= GOAL_COMPLETED), "%s, %s to %s: its end",
          transition->name, a, b);
}

static void test_all_pairs_of_goal_statuses(void **state) {
    (void)state;
    for (size_t w = 0; w < count_of(TRANSITIONS); w++)
        for (uint32_t from = 0; from < GOAL_STATUSES; from++)
            for (uint32_t to = 0; to < GOAL_STATUSES; to++)
                pair_holds(&TRANSITIONS[w], from, to, TRANSITIONS[w].pairs[from][to]);
    goal_in(&game, GOAL_ACTIVE);
    assert_int_equal(play_goal(&game, GOAL_STATUSES, WHO_HUMAN, "because"), ERROR_INVALID);
    assert_int_equal(game.goal.status, GOAL_ACTIVE);
    uint32_t value;
    static const char *const NAMES[] = {"active", "paused", "completed", "cancelled", "archived"};
    for (uint32_t i = 0; i < count_of(NAMES); i++)
        assert_true(names_find(&GOAL_STATUS_NAMES, str_of(NAMES[i]), &value) && value == i);
    assert_false(names_find(&GOAL_STATUS_NAMES, STR("done"), &value));
    assert_int_equal(GOAL_STATUSES, count_of(NAMES));
    proof_passed("unit", "all 25 pairs of goal statuses, for each who", "GOAL-03");
}

static void test_a_goal_keeps_its_end_and_its_record(void **state) {
    (void)state;
    struct play *p = &game;
    goal_in(p, GOAL_CANCELLED);
    expect_records(p, "goal.cancelled:goal.move");
    int64_t end = p->goal.times.ended_at;
    assert_int_equal(play_goal(p, GOAL_ARCHIVED, WHO_OVERSEER, NULL), ERROR_NONE);
    expect_records(p, "goal.archived:goal.move");
    assert_true(p->goal.times.ended_at == end);
    goal_in(p, GOAL_COMPLETED);
    assert_int_equal(play_goal(p, GOAL_ACTIVE, WHO_HUMAN, "it came back"), ERROR_NONE);
    expect_records(p, "goal.reopened:goal.move");
    assert_true(p->goal.times.ended_at == 0);
    assert_int_equal(play_goal(p, GOAL_PAUSED, WHO_OVERSEER, NULL), ERROR_NONE);
    expect_records(p, "goal.paused:goal.move");
    assert_int_equal(play_goal(p, GOAL_ACTIVE, WHO_OVERSEER, NULL), ERROR_NONE);
    expect_records(p, "goal.resumed:goal.move");
}

/* ---- G-17: effects in progress ---- */

static void test_a_paused_goal_claims_nothing(void **state) {
    (void)state;
    struct play *p = &game;
    create_with_command(p);
    assert_int_equal(play_goal(p, GOAL_PAUSED, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(p->did.verdict, VERDICT_NOTHING);
    assert_int_equal(p->goal.effects.open[0].state, EFFECT_READY);
    assert_int_equal(play_goal(p, GOAL_ACTIVE, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(p->goal.effects.open[0].state, EFFECT_RUNNING);
}

/* A success is not forgotten because it came while the goal was paused or a person was asked. */
static void test_a_success_counts_when_the_goal_goes_on(void **state) {
    (void)state;
    struct play *p = &game;
    create_with_command(p);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(play_goal(p, GOAL_PAUSED, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(ended(p, 0), ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_PAUSED);
    assert_int_equal(play_goal(p, GOAL_ACTIVE, WHO_HUMAN, NULL), ERROR_NONE);
    expect_records(p, "goal.resumed:goal.move goal.completed:command.succeeded");
    assert_int_equal(p->goal.status, GOAL_COMPLETED);
    assert_int_equal(play_goal(p, GOAL_ACTIVE, WHO_HUMAN, "it came back"), ERROR_NONE);
    assert_int_equal(play_goal(p, GOAL_PAUSED, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(play_goal(p, GOAL_ACTIVE, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_ACTIVE); /* the old success does not count again */
    play_begin(p);
    create_with_command(p);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_PLAN_REVIEW, .sender.by = WHO_AGENT}),
                     ERROR_NONE);
    assert_int_equal(ended(p, 0), ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_ACTIVE);
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_PLAN_REJECT, .sender.by = WHO_HUMAN}),
                     ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_COMPLETED);
}

static void test_cancelling_withdraws_what_nobody_claimed(void **state) {
    (void)state;
    struct play *p = &game;
    create_with_command(p);
    assert_int_equal(play_goal(p, GOAL_CANCELLED, WHO_HUMAN, NULL), ERROR_NONE);
    expect_records(p, "effect.withdrawn:goal.cancel goal.cancelled:goal.move");
    assert_int_equal(p->goal.effects.open_count, 0);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(p->did.verdict, VERDICT_NOTHING);
    play_begin(p);
    create_with_command(p);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(play_goal(p, GOAL_CANCELLED, WHO_HUMAN, NULL), ERROR_NONE);
    expect_records(p, "goal.cancelled:goal.move");
    assert_int_equal(p->goal.effects.open_count, 1); /* the command continues until its outcome */
    assert_int_equal(play_goal(p, GOAL_ARCHIVED, WHO_HUMAN, NULL), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "the goal still has open work: wait for it first");
    assert_int_equal(ended(p, 0), ERROR_NONE);
    expect_records(p, "effect.ended:effect.outcome");
    assert_int_equal(p->goal.status, GOAL_CANCELLED);
    assert_int_equal(play_goal(p, GOAL_ARCHIVED, WHO_HUMAN, NULL), ERROR_NONE);
}

static void test_completing_by_hand_needs_everything_closed(void **state) {
    (void)state;
    struct play *p = &game;
    create_with_command(p);
    assert_int_equal(play_goal(p, GOAL_COMPLETED, WHO_HUMAN, "good enough"), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "the goal still has open work: wait for it, or cancel the goal");
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(ended(p, 3), ERROR_NONE);
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_PLAN_REVIEW, .sender.by = WHO_AGENT}),
                     ERROR_NONE);
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_NEEDS_YOU);
    assert_int_equal(play_goal(p, GOAL_COMPLETED, WHO_OVERSEER, "good enough"), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "only a person completes a goal by hand");
    assert_int_equal(play_goal(p, GOAL_COMPLETED, WHO_HUMAN, "good enough"), ERROR_NONE);
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_DONE); /* every question is answered */
    assert_false(goal_needs_person(&p->goal));
}

static void test_a_proposal_does_not_outlive_its_goal(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_create(p), ERROR_NONE);
    p->policy.plans.approve = 1;
    p->policy = policy_seal(p->policy);
    assert_int_equal(play_plan_by(p, "P1", WHO_OVERSEER, 0), ERROR_NONE);
    assert_int_equal(play_goal(p, GOAL_COMPLETED, WHO_HUMAN, "done elsewhere"), ERROR_NONE);
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_DONE);
}

/* ---- repositories ---- */

static void test_a_goal_keeps_its_batch(void **state) {
    (void)state;
    struct play *p = &game;
    struct signal create = {.kind = SIGNAL_GOAL_CREATE,
                            .sender.by = WHO_HUMAN,
                            .goal = {{1, 2, 3}},
                            .at = p->now,
                            .host = 7,
                            .describe = {.title = STR("t"), .batch = {9, 70}}};
    struct decision did =
        step(&(struct world){.level = LEVEL_TASK_BATCHES}, &create, &p->policy, &p->arena);
    check(did.verdict == VERDICT_CHANGE && did.goal.kind.batch.key == 9 &&
              did.goal.kind.batch.until == 70,
          "it is kept");
    did = step(&(struct world){.level = LEVEL_TASK_BATCHES - 1}, &create, &p->policy, &p->arena);
    check(did.verdict == VERDICT_REFUSE && did.error == ERROR_CONFLICT,
          "an older host would lose it");
    create.describe.batch.key = 0;
    did = step(&(struct world){.level = LEVEL_TASK_BATCHES - 1}, &create, &p->policy, &p->arena);
    check(did.verdict == VERDICT_CHANGE && did.goal.kind.batch.until == 0, "without a batch");
}

/* A goal of the fleet's level, in the repository with this key. */
static struct decision create_in(struct play *p, uint32_t level, uint64_t repository) {
    struct signal create = {.kind = SIGNAL_GOAL_CREATE,
                            .at = p->now,
                            .goal = id_derive(STR("goal"), STR("in a repository")),
                            .sender.by = WHO_HUMAN,
                            .describe.title = STR("title"),
                            .describe.repository = repository,
                            .host = 7};
    return step(&(struct world){.level = level}, &create, &p->policy, &p->arena);
}

/* An older host would lose the key: until it is updated, only work in [repo], or in none, is taken. */
static void test_a_fleet_with_an_older_host_has_one_repository(void **state) {
    (void)state;
    struct play *p = &game;
    uint64_t web = repository_key(STR("web"));
    struct decision decision = create_in(p, LEVEL_REPOSITORIES, web);
    assert_int_equal(decision.verdict, VERDICT_CHANGE);
    assert_true(decision.goal.repository == web);
    decision = create_in(p, LEVEL_REPOSITORIES - 1, web);
    assert_int_equal(decision.verdict, VERDICT_REFUSE);
    assert_int_equal(decision.error, ERROR_CONFLICT);
    assert_non_null(strstr(decision.why.at, "update it first"));
    const uint64_t plain[] = {0, REPOSITORY_NONE};
    for (size_t i = 0; i < count_of(plain); i++) {
        decision = create_in(p, LEVEL_REPOSITORIES - 1, plain[i]);
        assert_int_equal(decision.verdict, VERDICT_CHANGE);
        assert_true(decision.goal.repository == 0);
    }
}

/* ---- release by a person ---- */

static void test_a_release_says_what_was_found(void **state) {
    (void)state;
    struct play *p = &game;
    struct signal release = {.kind = SIGNAL_GOAL_RELEASE, .sender.by = WHO_HUMAN};
    create_with_command(p);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(play(p, release), ERROR_NONE);
    assert_int_equal(p->did.verdict, VERDICT_NOTHING); /* no question was open */
    assert_int_equal(
        play(p, (struct signal){.kind = SIGNAL_EFFECT_LOST, .sender.by = WHO_OVERSEER}),
        ERROR_NONE);
    assert_int_equal(play(p, release), ERROR_INVALID);
    refused(p, ERROR_INVALID,
            "a reason is missing: say what you found; it is stored with the goal");
    release.reason = STR("it had been done");
    release.sender.by = WHO_OVERSEER;
    assert_int_equal(play(p, release), ERROR_UNAUTHORIZED);
    release.sender.by = WHO_HUMAN;
    assert_int_equal(play(p, release), ERROR_NONE);
    expect_records(p, "effect.ended:goal.release goal.released:goal.release");
    assert_int_equal(p->goal.effects.open_count, 0);
    assert_int_equal(p->goal.status, GOAL_ACTIVE); /* the release does not say that it succeeded */
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_QUEUED);
    assert_int_equal(play_goal(p, GOAL_PAUSED, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(play_goal(p, GOAL_ACTIVE, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_ACTIVE);
    assert_int_equal(ended(p, 0), ERROR_NONE); /* too late: it changes nothing */
    assert_int_equal(p->did.verdict, VERDICT_NOTHING);
}

/* A goal with a plan continues after a failed command, and its plan completes it. */
static void test_a_planned_goal_is_completed_by_its_plan(void **state) {
    (void)state;
    struct play *p = &game;
    create_with_command(p);
    assert_int_equal(play_plan(p, "P1"), ERROR_NONE);
    assert_int_equal(claim(p), ERROR_NONE);
    play_finish(p, "P1");
    assert_int_equal(p->goal.status, GOAL_ACTIVE); /* its command still runs */
    assert_int_equal(ended(p, 1), ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_ACTIVE);
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_RELEASE,
                                             .sender.by = WHO_HUMAN,
                                             .reason = STR("known")}),
                     ERROR_NONE);
    expect_records(p, "goal.released:goal.release goal.completed:plan.completed");
    play_begin(p);
    create_with_command(p);
    assert_int_equal(play_plan(p, "P1"), ERROR_NONE);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(ended(p, 0), ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_ACTIVE); /* its plan is not done */
    play_finish(p, "P1");
    assert_int_equal(p->goal.status, GOAL_COMPLETED);
}

/* ---- GOAL-05 to GOAL-09: the definition of a goal ---- */

static const struct str LINES[] = {{"it is seen", 10}, {"and heard", 9}};
static const struct risk_row RISKS_OF[] = {{{"rain", 4}, {"wet", 3}, {"a roof", 6}}};

static struct goal_text words_whole(void) {
    return (struct goal_text){.problem = STR("nobody sees it"),
                              .success_criteria = {LINES, 2},
                              .non_goals = {LINES, 1},
                              .source_session = STR("main"),
                              .channel = STR("chat"),
                              .to = STR("room 7"),
                              .thread = STR("t1"),
                              .account = STR("a1"),
                              .owner = STR("agnes"),
                              .stakeholders = {LINES, 1},
                              .repo_snapshot = STR("one branch"),
                              .constraints = {LINES, 1},
                              .assumptions = {LINES, 2},
                              .risks = {RISKS_OF, 1}};
}

static enum error create_saying(struct play *p, const struct goal_text *words) {
    struct arena arena = {0};
    enum error error = play(p, (struct signal){.kind = SIGNAL_GOAL_CREATE,
                                               .sender.by = WHO_HUMAN,
                                               .describe.title = STR("title"),
                                               .describe.priority = PRIORITY_HIGH,
                                               .host = 7,
                                               .body = shape_encode(&GOAL_TEXT, words, &arena)});
    p->given = (struct signal){0};
    arena_free(&arena);
    return error;
}

static void test_a_definition_is_kept_by_its_hash(void **state) {
    (void)state;
    struct play *p = &game;
    struct goal_text words = words_whole(), back = {0};
    assert_int_equal(create_saying(p, &words), ERROR_NONE);
    assert_int_equal(p->goal.priority, PRIORITY_HIGH);
    assert_int_equal(p->did.text_count, 1);
    assert_true(hash_equal(&p->did.texts[0].hash, &p->goal.text));
    struct hash recorded = recorded_of(p, RECORD_GOAL_CREATED).more;
    assert_true(hash_equal(&recorded, &p->goal.text));
    assert_true(shape_decode_in(&GOAL_TEXT, p->did.texts[0].body, &p->arena, &back));
    assert_true(str_equal(shape_encode(&GOAL_TEXT, &words, &p->arena),
                          shape_encode(&GOAL_TEXT, &back, &p->arena)));
    const struct risk_row *risk = back.risks.at;
    assert_true(back.risks.count == 1 && str_equal(risk->mitigation, STR("a roof")) &&
                str_equal(risk->impact, STR("wet")));
    assert_true(str_equal(back.thread, STR("t1")) &&
                str_equal(back.assumptions.at[1], STR("and heard")));
}

static void test_a_risk_without_mitigation_is_refused(void **state) {
    (void)state;
    struct play *p = &game;
    static const char *const FIELDS[] = {"risk", "impact", "mitigation"};
    for (size_t i = 0; i < count_of(FIELDS); i++) {
        struct risk_row rows[2] = {RISKS_OF[0], RISKS_OF[0]};
        ((struct str *)&rows[1])[i] = (struct str){0};
        struct goal_text words = words_whole();
        words.risks = (struct rows){rows, 2};
        assert_int_equal(create_saying(p, &words), ERROR_INVALID);
        refused(
            p, ERROR_INVALID,
            arena_format(&p->arena, "the definition's %s is missing or too long", FIELDS[i]).at);
        assert_false(p->exists);
    }
    proof_passed("unit", "constraints, assumptions and risks come back as given", "GOAL-09.a");
    proof_passed("unit", "a risk that lacks a part is refused", "GOAL-09.b");
}

/* Tests each text and list at its cap, and one past it. */
static void test_a_definition_ends_at_its_caps(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    for (size_t f = 0; f < GOAL_TEXT.count; f++)
        for (uint32_t more = 0; more <= 1; more++) {
            const struct field *field = &GOAL_TEXT.fields[f];
            struct goal_text words = {0};
            void *at = (char *)&words + field->offset;
            uint32_t cap = field->cap + more, most = field->most + more;
            struct str *lines = arena_new(&arena, struct str, most);
            struct risk_row *risks = arena_new(&arena, struct risk_row, most);
            for (uint32_t i = 0; i < most; i++) {
                lines[i] = STR("line");
                risks[i] = RISKS_OF[0];
            }
            if (field->type == FIELD_TEXT)
                *(struct str *)at =
                    (struct str){memset(arena_new(&arena, char, cap), 'x', cap), cap};
            else if (field->type == FIELD_TEXTS)
                *(struct texts *)at = (struct texts){lines, most};
            else
                *(struct rows *)at = (struct rows){risks, most};
            play_begin(p);
            enum error error = create_saying(p, &words);
            check(error == (more ? ERROR_INVALID : ERROR_NONE), "%s, %u past its cap: %s",
                  field->name, more, ERRORS[error].code);
        }
    struct goal_text empty_line = {.constraints = {(struct str[]){{"", 0}}, 1}};
    play_begin(p);
    assert_int_equal(create_saying(p, &empty_line), ERROR_INVALID);
    assert_int_equal(
        play(p, (struct signal){.kind = SIGNAL_GOAL_CREATE, .host = 7, .body = STR("\x01\x03")}),
        ERROR_INVALID);
    refused(p, ERROR_INVALID, "the definition's encoding is missing or too long");
    arena_free(&arena);
}

static void test_priorities_are_four(void **state) {
    (void)state;
    struct play *p = &game;
    uint32_t value;
    static const char *const NAMES[] = {"low", "normal", "high", "urgent"};
    assert_int_equal(PRIORITY_NAMES.count, count_of(NAMES));
    for (size_t i = 0; i < count_of(NAMES); i++) {
        assert_true(names_find(&PRIORITY_NAMES, str_of(NAMES[i]), &value));
        play_begin(p);
        assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_CREATE,
                                                 .host = 7,
                                                 .describe.priority = value}),
                         ERROR_NONE);
        assert_int_equal(p->goal.priority, value);
    }
    assert_false(names_find(&PRIORITY_NAMES, STR("medium"), &value));
    struct signal wrong = {.kind = SIGNAL_GOAL_CREATE, .describe.priority = PRIORITIES}, back;
    assert_false(signal_decode(signal_encode(&wrong, &p->arena), &back));
    assert_int_equal(PRIORITY_NORMAL, 0); /* the default */
    proof_passed("unit", "each priority, and one that there is not", "GOAL-04");
}

static struct str tags_of(uint32_t count, size_t len, struct arena *arena) {
    struct str *at = arena_new(arena, struct str, count);
    for (uint32_t i = 0; i < count; i++)
        at[i] = (struct str){memset(arena_new(arena, char, len), 'a' + (int)i, len), len};
    struct tags tags = {{at, count}};
    return shape_encode(&TAGS, &tags, arena);
}

static void test_tags_are_few_and_short(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    static const struct {
        uint32_t count;
        size_t len;
        enum error error;
    } ROWS[] = {{LIMIT_TAGS, LIMIT_TAG, ERROR_NONE},
                {LIMIT_TAGS + 1, 1, ERROR_INVALID},
                {1, LIMIT_TAG + 1, ERROR_INVALID},
                {1, 0, ERROR_INVALID},
                {0, 0, ERROR_NONE}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        play_begin(p);
        enum error error =
            play(p, (struct signal){.kind = SIGNAL_GOAL_CREATE,
                                    .host = 7,
                                    .describe.tags = tags_of(ROWS[i].count, ROWS[i].len, &arena)});
        check(error == ROWS[i].error, "row %zu: %s", i, ERRORS[error].code);
        check(error || (p->did.tags && p->did.tags->tags.count == ROWS[i].count), "row %zu", i);
    }
    arena_free(&arena);
}

/* GOAL-12: fields that are not given stay unchanged; a caller that changes the definition must have seen the newest
 * one. */
static void test_an_update_changes_what_it_names(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    struct goal_text words = words_whole();
    assert_int_equal(create_saying(p, &words), ERROR_NONE);
    struct hash first = p->goal.text;
    struct signal update = {.kind = SIGNAL_GOAL_UPDATE,
                            .sender.by = WHO_HUMAN,
                            .describe.title = STR("new"),
                            .describe.priority = PRIORITY_LOW,
                            .reason = STR("less urgent")};
    assert_int_equal(play(p, update), ERROR_NONE);
    expect_records(p, "goal.updated:goal.update");
    assert_true(str_equal(recorded_of(p, RECORD_GOAL_UPDATED).reason, STR("less urgent")));
    assert_true(str_equal(p->did.title, STR("new")) && p->did.tags == NULL);
    assert_int_equal(p->goal.priority, PRIORITY_LOW);
    assert_true(hash_equal(&p->goal.text, &first));
    words.problem = STR("another");
    update.body = shape_encode(&GOAL_TEXT, &words, &arena);
    assert_int_equal(play(p, update), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "the definition has changed since it was read");
    update.describe.base = first;
    assert_int_equal(play(p, update), ERROR_NONE);
    assert_false(hash_equal(&p->goal.text, &first));
    assert_int_equal(play(p, update), ERROR_CONFLICT);
    update.body = (struct str){0};
    update.describe.tags = STR("\x01\x03");
    assert_int_equal(play(p, update), ERROR_INVALID);
    update.sender.by = WHO_AGENT;
    assert_int_equal(play(p, update), ERROR_UNAUTHORIZED);
    arena_free(&arena);
}

/* ---- G-05: the store was restored ---- */

static void test_after_a_restore_nothing_is_done_by_itself(void **state) {
    (void)state;
    struct play *p = &game;
    create_with_command(p);
    uint32_t made = p->goal.effects.made;
    p->era = 1;
    assert_int_equal(claim(p), ERROR_NONE);
    expect_records(p, "effect.unconfirmed:store.restored");
    assert_int_equal(p->goal.effects.open[0].state, EFFECT_UNCONFIRMED);
    assert_int_equal(p->goal.era, 1);
    assert_int_equal(p->goal.effects.made, made + LIMIT_ERA_GAP);
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_NEEDS_YOU);
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(p->did.verdict, VERDICT_NOTHING);
    p->era = 2;
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_REPORT, .text = STR("half")}),
                     ERROR_NONE);
    expect_records(p, "goal.restored:store.restored goal.reported:report.said");
    p->era = 3;
    assert_int_equal(play_goal(p, GOAL_STATUSES, WHO_HUMAN, NULL),
                     ERROR_INVALID); /* a refusal leaves nothing behind */
    assert_int_equal(p->goal.era, 2);
    assert_int_equal(ended(p, 0), ERROR_NONE);
    expect_records(
        p,
        "goal.restored:store.restored effect.ended:effect.outcome goal.completed:command.succeeded");
    play_begin(p);
    create_with_command(p);
    assert_int_equal(claim(p), ERROR_NONE);
    p->era = 1;
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_DUE}), ERROR_NONE);
    expect_records(p, "effect.unconfirmed:store.restored");
    play_begin(p);
    create_with_command(p);
    p->era = 3; /* restored three times since: each time ordinals may have been used */
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_REPORT}), ERROR_NONE);
    assert_int_equal(p->goal.effects.made, 1 + 3 * LIMIT_ERA_GAP);
    p->era = 2;
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_REPORT}), ERROR_NONE);
    assert_int_equal(p->goal.effects.made, 1 + 4 * LIMIT_ERA_GAP);
}

/* A store that is restored twice from one backup skips eras, and with each era the ordinals that were used in it. */
static void test_each_era_has_ordinals_of_its_own(void **state) {
    (void)state;
    struct play *p = &game;
    create_with_command(p);
    uint32_t made = p->goal.effects.made;
    p->era = 3;
    assert_int_equal(claim(p), ERROR_NONE);
    assert_int_equal(p->goal.effects.made, made + 3 * LIMIT_ERA_GAP);
}

/* A change made only by the restore does not count as a task finished now. */
static void test_a_restore_finishes_no_task_again(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_create(p), ERROR_NONE);
    assert_int_equal(play_plan(p, "P1 T1/P1 T2/P1"), ERROR_NONE);
    play_finish(p, "T1");
    uint64_t version = p->goal.plan.version;
    p->era = 1;
    assert_int_equal(play_work(p, "T1", NODE_DONE), ERROR_NONE);
    expect_records(p, "goal.restored:store.restored");
    assert_int_equal(p->goal.plan.version, version);
}

/* ---- STORE-12, STORE-22: parts ---- */

static enum error put(struct play *p, uint32_t kind, uint32_t which, struct str body) {
    return play(p, (struct signal){.kind = SIGNAL_PART_PUT,
                                   .sender.by = WHO_OVERSEER,
                                   .to = kind,
                                   .effect = which,
                                   .body = body});
}

static void test_parts_are_put_down_whole(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    assert_int_equal(play_create(p), ERROR_NONE);
    struct run_row run = {.id = STR("R_1"), .status = STR("running"), .exit = -1};
    struct str body = shape_encode(&RUN_ROW, &run, &arena);
    assert_int_equal(put(p, PART_RUN, 0, body), ERROR_NONE);
    expect_records(p, "part.put:part.put");
    assert_int_equal(p->did.part_count, 1);
    const struct part_change *part = &p->did.parts[0];
    assert_int_equal(part->kind, PART_RUN);
    assert_int_equal(part->n, 0);
    assert_true(str_equal(part->name, STR("R_1")) && str_equal(part->body, body));
    assert_true(str_equal(recorded_of(p, RECORD_PART_PUT).text, STR("R_1")));
    struct handoff handoff = {.id = STR("C_1"), .summary = STR("what happened")};
    assert_int_equal(put(p, PART_HANDOFF, 0, shape_encode(&HANDOFF, &handoff, &arena)), ERROR_NONE);
    assert_int_equal(p->did.parts[0].n, 1);
    run.status = STR("ended");
    assert_int_equal(put(p, PART_RUN, 1, shape_encode(&RUN_ROW, &run, &arena)),
                     ERROR_NONE); /* replaces the first one */
    assert_int_equal(p->did.parts[0].n, 0);
    assert_int_equal(p->goal.parts_made, 2);
    arena_free(&arena);
}

static void test_parts_that_are_not_whole_are_refused(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    assert_int_equal(play_create(p), ERROR_NONE);
    struct run_row run = {.id = STR("R_1")}, nameless = {.status = STR("running")};
    struct str empty = {"", 0}, good = shape_encode(&RUN_ROW, &run, &arena);
    struct assignment_row spacious = {
        .id = STR("A_1"),
        .instruction = {
            memset(arena_new(&arena, char, LIMIT_INSTRUCTION + 1), 'x', LIMIT_INSTRUCTION + 1),
            LIMIT_INSTRUCTION + 1}};
    struct handoff gap = {.id = STR("C_1"), .commits = {&empty, 1}};
    assert_int_equal(put(p, PART_RUN, 0, shape_encode(&RUN_ROW, &nameless, &arena)), ERROR_INVALID);
    assert_int_equal(put(p, PART_RUN, 1, good), ERROR_INVALID);  /* there is none yet */
    assert_int_equal(put(p, PART_NODE, 0, good), ERROR_INVALID); /* only plans change nodes */
    assert_int_equal(put(p, PARTS, 0, good), ERROR_INVALID);
    assert_int_equal(put(p, PART_RUN, 0, STR("\x01\x03")), ERROR_INVALID);
    assert_int_equal(
        put(p, PART_ASSIGNMENT_ROW, 0, shape_encode(&ASSIGNMENT_ROW, &spacious, &arena)),
        ERROR_INVALID);
    assert_int_equal(put(p, PART_HANDOFF, 0, shape_encode(&HANDOFF, &gap, &arena)), ERROR_INVALID);
    refused(p, ERROR_INVALID, "a field is missing, too long or not text");
    spacious.instruction.len--;
    assert_int_equal(
        put(p, PART_ASSIGNMENT_ROW, 0, shape_encode(&ASSIGNMENT_ROW, &spacious, &arena)),
        ERROR_NONE);
    assert_int_equal(
        play(p, (struct signal){.kind = SIGNAL_PART_PUT, .to = PART_RUN, .body = good}),
        ERROR_UNAUTHORIZED);
    struct signal stale = {.kind = SIGNAL_PART_PUT,
                           .sender.by = WHO_OVERSEER,
                           .to = PART_RUN,
                           .body = good,
                           .plan.expected = 1};
    assert_int_equal(play(p, stale), ERROR_CONFLICT);
    stale.plan.expected = p->goal.version;
    assert_int_equal(play(p, stale), ERROR_NONE);
    arena_free(&arena);
}

/* ---- EVENT-02, EVENT-05, EVENT-08, PLAN-20: actor, reason and trace ---- */

static void test_records_say_who_and_pass_the_trace_on(void **state) {
    (void)state;
    struct play *p = &game;
    static const enum who EACH[] = {WHO_HUMAN, WHO_OVERSEER};
    assert_int_equal(play_create(p), ERROR_NONE);
    assert_int_equal(play_plan(p, "P1"), ERROR_NONE);
    for (size_t i = 0; i < count_of(EACH); i++) {
        assert_int_equal(play(p, (struct signal){.kind = SIGNAL_WORK_MOVE,
                                                 .sender.by = EACH[i],
                                                 .sender.actor = STR("agnes@desk"),
                                                 .sender.trace = STR("trace-7"),
                                                 .work.node = STR("P1"),
                                                 .to = i ? NODE_BLOCKED : NODE_IN_PROGRESS,
                                                 .reason = STR("why not")}),
                         ERROR_NONE);
        for (uint32_t k = 0; k < p->did.record_count; k++) {
            struct evidence evidence = evidence_of(&p->did.records[k]);
            assert_true(str_equal(evidence.actor, STR("agnes@desk")) &&
                        str_equal(evidence.trace, STR("trace-7")));
            assert_int_equal(evidence.by, EACH[i]);
            assert_true(str_equal(evidence.node, STR("P1")) && evidence.rule.len > 0);
        }
    }
    proof_passed("unit", "records carry who did it, and the trace", "EVENT-08 PLAN-20");
}

#define GAME(test) cmocka_unit_test_setup_teardown(test, game_begin, game_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        GAME(test_all_pairs_of_goal_statuses),
        GAME(test_a_goal_keeps_its_end_and_its_record),
        GAME(test_a_paused_goal_claims_nothing),
        GAME(test_a_success_counts_when_the_goal_goes_on),
        GAME(test_cancelling_withdraws_what_nobody_claimed),
        GAME(test_completing_by_hand_needs_everything_closed),
        GAME(test_a_proposal_does_not_outlive_its_goal),
        GAME(test_a_goal_keeps_its_batch),
        GAME(test_a_fleet_with_an_older_host_has_one_repository),
        GAME(test_a_release_says_what_was_found),
        GAME(test_a_planned_goal_is_completed_by_its_plan),
        GAME(test_a_definition_is_kept_by_its_hash),
        GAME(test_a_risk_without_mitigation_is_refused),
        GAME(test_a_definition_ends_at_its_caps),
        GAME(test_priorities_are_four),
        GAME(test_tags_are_few_and_short),
        GAME(test_an_update_changes_what_it_names),
        GAME(test_each_era_has_ordinals_of_its_own),
        GAME(test_after_a_restore_nothing_is_done_by_itself),
        GAME(test_a_restore_finishes_no_task_again),
        GAME(test_parts_are_put_down_whole),
        GAME(test_parts_that_are_not_whole_are_refused),
        GAME(test_records_say_who_and_pass_the_trace_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
