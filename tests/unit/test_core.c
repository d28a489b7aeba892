/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that each rule decides what it says, deterministically, and leaves every goal consistent. */
#include "steps.h"

enum { HOST = 7, OTHER_HOST = 8, WITHIN = 1000, FENCE = 3 };

/* ---- goals and decisions as text ---- */

static struct arena scratch;

static int scratch_reset(void **state) {
    (void)state;
    arena_reset(&scratch);
    return 0;
}

static int scratch_free(void **state) {
    (void)state;
    arena_free(&scratch);
    return 0;
}

/* Each letter is an open effect: r ready, R running, U unconfirmed. Ordinal 0 has already ended; the others follow. The
 * nth of them, if it runs, runs until 10 * n. */
static struct goal goal_with(const char *open, enum goal_status status, enum need need) {
    struct goal goal = {.id = {{1, 2, 3}},
                        .owner = HOST,
                        .fence = FENCE,
                        .version = 5,
                        .records.seq = 9,
                        .records.head = {{9, 9}},
                        .status = status,
                        .need = need,
                        .times.created_at = T0 - 50,
                        .times.updated_at = T0 - 5,
                        .progress.reports = 2,
                        .progress.last_exit = 77,
                        .effects.made = 1,
                        .times.ended_at = status >= GOAL_COMPLETED ? T0 - 5 : 0};
    for (; *open; open++) {
        uint32_t n = goal.effects.made++;
        struct effect_slot *slot = &goal.effects.open[goal.effects.open_count++];
        *slot = (struct effect_slot){
            .n = n, .kind = EFFECT_COMMAND, .run_host = *open == 'r' ? 0 : HOST};
        slot->state = *open == 'r'   ? EFFECT_READY
                      : *open == 'R' ? EFFECT_RUNNING
                                     : EFFECT_UNCONFIRMED;
        slot->until = *open == 'R' ? T0 + 10 * (int64_t)n : 0;
    }
    goal.due_at = goal_due(&goal);
    return goal;
}

static const char *text_of_time(int64_t at) {
    return at == TIME_NEVER ? "never" : arena_format(&scratch, "%lld", (long long)(at - T0)).at;
}

static const char *goal_text(const struct goal *goal) {
    struct str text =
        arena_format(&scratch, "%s/%s due %s", name_of(&GOAL_STATUS_NAMES, goal->status),
                     name_of(&NEED_NAMES, goal->need), text_of_time(goal->due_at));
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        text = arena_format(&scratch, "%s, %u %s", text.at, goal->effects.open[i].n,
                            name_of(&EFFECT_STATE_NAMES, goal->effects.open[i].state));
    return text.at;
}

static const char *effects_text(const struct decision *decision) {
    static const char *const OP[] = {"make", "move", "end"};
    const char *text = "";
    for (uint32_t i = 0; i < decision->effect_count; i++) {
        const struct effect_change *change = &decision->effects[i];
        text = arena_format(&scratch, "%s%s%s %u %s", text, i ? ", " : "", OP[change->op],
                            change->slot.n, name_of(&EFFECT_STATE_NAMES, change->slot.state))
                   .at;
    }
    return text;
}

/* ---- the table ---- */

enum expect { EXPECT_NOTHING, EXPECT_CHANGE, EXPECT_REFUSAL, EXPECT_BREAK };

#define NOTHING .expect = EXPECT_NOTHING
#define BREAKS .expect = EXPECT_BREAK
#define REFUSES(e) .expect = EXPECT_REFUSAL, .error = ERROR_##e
#define CHANGES(g, r, e) .expect = EXPECT_CHANGE, .goal = (g), .records = (r), .effects = (e)

#define NO_GOAL NULL
#define CREATE .kind = SIGNAL_GOAL_CREATE, .describe.title = STR("title")
#define REPORT .kind = SIGNAL_GOAL_REPORT, .text = STR("half")
#define DUE .kind = SIGNAL_GOAL_DUE, .at = T0 +
#define CLAIM .kind = SIGNAL_EFFECT_CLAIM, .effect =
#define ENDED .kind = SIGNAL_EFFECT_ENDED, .text = STR("tail"), .effect =
#define LOST .kind = SIGNAL_EFFECT_LOST, .effect =

static const struct row {
    const char *name;
    const char *open; /* see goal_with() */
    struct signal signal;
    enum expect expect;
    enum error error;
    const char *goal, *records, *effects; /* expected afterwards */
    enum goal_status status;
    enum need need;
    bool seen, key_used;
} ROWS[] = {
    {"create",
     NO_GOAL,
     {CREATE},
     CHANGES("active/nothing due never", "goal.created:goal.create", "")},
    {"create with a key",
     NO_GOAL,
     {CREATE, .once.keyed = 1},
     CHANGES("active/nothing due never", "goal.created:goal.create", "")},
    {"create with a command",
     NO_GOAL,
     {CREATE, .describe.command = STR("make")},
     CHANGES("active/nothing due never, 0 ready",
             "goal.created:goal.create effect.decided:command.run", "make 0 ready")},
    {"create again with its key",
     "R",
     {CREATE, .once.keyed = 1, .describe.command = STR("make")},
     NOTHING},
    {"create again when it is finished",
     "",
     {CREATE, .once.keyed = 1},
     NOTHING,
     .status = GOAL_COMPLETED},
    {"create another under one id", "R", {CREATE}, REFUSES(CONFLICT)},
    {"create, applied before", NO_GOAL, {CREATE}, NOTHING, .seen = true},

    {"report about no goal", NO_GOAL, {REPORT}, REFUSES(NOT_FOUND)},
    {"report",
     "R",
     {REPORT},
     CHANGES("active/nothing due 10, 1 running", "goal.reported:report.said", "")},
    {"report changes no need",
     "U",
     {REPORT},
     CHANGES("active/unconfirmed due never, 1 unconfirmed", "goal.reported:report.said", ""),
     .need = NEED_UNCONFIRMED},
    {"report about a finished goal",
     "",
     {REPORT},
     CHANGES("completed/nothing due never", "goal.reported:report.said", ""),
     .status = GOAL_COMPLETED},
    {"report of nothing",
     "",
     {.kind = SIGNAL_GOAL_REPORT},
     CHANGES("active/nothing due never", "goal.reported:report.said", "")},
    {"report, applied before", "R", {REPORT, .once.keyed = 1}, NOTHING, .seen = true},
    {"report about no goal, applied before", NO_GOAL, {REPORT}, NOTHING, .seen = true},
    {"report with a key of another",
     "R",
     {REPORT, .once.keyed = 1},
     REFUSES(CONFLICT),
     .key_used = true},
    {"report, applied before, with its key",
     "R",
     {REPORT, .once.keyed = 1},
     NOTHING,
     .seen = true,
     .key_used = true},
    {"create with a key of another",
     "R",
     {CREATE, .once.keyed = 1},
     REFUSES(CONFLICT),
     .key_used = true},

    {"claim for no goal", NO_GOAL, {CLAIM 1}, REFUSES(NOT_FOUND)},
    {"claim",
     "r",
     {CLAIM 1, .at = T0 + 5},
     CHANGES("active/nothing due 1005, 1 running", "effect.claimed:effect.claim",
             "move 1 running")},
    {"claim the second of three",
     "Rrr",
     {CLAIM 2},
     CHANGES("active/nothing due 10, 1 running, 2 running, 3 ready", "effect.claimed:effect.claim",
             "move 2 running")},
    {"claim at the end of time",
     "r",
     {CLAIM 1, .at = TIME_NEVER - 5},
     CHANGES("active/nothing due never, 1 running", "effect.claimed:effect.claim",
             "move 1 running")},
    {"claim by another host", "r", {CLAIM 1, .host = OTHER_HOST}, NOTHING},
    {"claim of an effect that was never made", "r", {CLAIM 2}, NOTHING},
    {"claim of an effect that has ended", "r", {CLAIM 0}, NOTHING},
    {"claim of a running effect", "R", {CLAIM 1}, NOTHING},
    {"claim of an unconfirmed effect", "U", {CLAIM 1}, NOTHING},
    {"claim, applied before", "r", {CLAIM 1}, NOTHING, .seen = true},

    {"ended of no goal", NO_GOAL, {ENDED 1}, REFUSES(NOT_FOUND)},
    {"ended with 0",
     "R",
     {ENDED 1},
     CHANGES("completed/nothing due never",
             "effect.ended:effect.outcome goal.completed:command.succeeded", "end 1 ended")},
    {"ended with 3",
     "R",
     {ENDED 1, .exit = 3},
     CHANGES("active/failed due never",
             "effect.ended:effect.outcome goal.needs_person:command.failed", "end 1 ended")},
    {"ended before it began",
     "R",
     {ENDED 1, .exit = -1},
     CHANGES("active/failed due never",
             "effect.ended:effect.outcome goal.needs_person:command.failed", "end 1 ended")},
    {"ended again", "", {ENDED 0}, NOTHING},
    {"ended again when it is finished", "", {ENDED 0}, NOTHING, .status = GOAL_COMPLETED},
    {"ended of an effect that was never made", "R", {ENDED 2}, NOTHING},
    {"ended late with 0 settles the doubt",
     "U",
     {ENDED 1},
     CHANGES("completed/nothing due never",
             "effect.ended:effect.outcome goal.completed:command.succeeded", "end 1 ended"),
     .need = NEED_UNCONFIRMED},
    {"ended late with 9",
     "U",
     {ENDED 1, .exit = 9},
     CHANGES("active/failed due never",
             "effect.ended:effect.outcome goal.needs_person:command.failed", "end 1 ended"),
     .need = NEED_UNCONFIRMED},
    {"ended, the first of three",
     "RRr",
     {ENDED 1, .exit = 1},
     CHANGES("active/failed due 20, 2 running, 3 ready",
             "effect.ended:effect.outcome goal.needs_person:command.failed", "end 1 ended")},
    {"ended, the second of three",
     "RRR",
     {ENDED 2, .exit = 1},
     CHANGES("active/failed due 10, 1 running, 3 running",
             "effect.ended:effect.outcome goal.needs_person:command.failed", "end 2 ended")},
    {"ended, the last of eight",
     "rrrrrrrR",
     {ENDED 8, .exit = 1},
     CHANGES(
         "active/failed due never, 1 ready, 2 ready, 3 ready, 4 ready, 5 ready, 6 ready, 7 ready",
         "effect.ended:effect.outcome goal.needs_person:command.failed", "end 8 ended")},
    {"ended without a claim", "r", {ENDED 1}, BREAKS},
    {"ended, applied before", "R", {ENDED 1}, NOTHING, .seen = true},

    {"lost of no goal", NO_GOAL, {LOST 1}, REFUSES(NOT_FOUND)},
    {"lost while it ran",
     "R",
     {LOST 1},
     CHANGES("active/unconfirmed due never, 1 unconfirmed", "effect.unconfirmed:effect.host-lost",
             "move 1 unconfirmed")},
    {"lost, the second of three",
     "RRR",
     {LOST 2},
     CHANGES("active/unconfirmed due 10, 1 running, 2 unconfirmed, 3 running",
             "effect.unconfirmed:effect.host-lost", "move 2 unconfirmed")},
    {"lost, taken over before",
     "U",
     {LOST 1},
     CHANGES("active/unconfirmed due never, 1 unconfirmed", "effect.unconfirmed:effect.host-lost",
             "")},
    {"lost, said once", "U", {LOST 1}, NOTHING, .need = NEED_UNCONFIRMED},
    {"lost while one is in doubt and another runs",
     "UR",
     {LOST 2},
     CHANGES("active/unconfirmed due never, 1 unconfirmed, 2 unconfirmed",
             "effect.unconfirmed:effect.host-lost", "move 2 unconfirmed"),
     .need = NEED_UNCONFIRMED},
    {"lost while it was ready", "r", {LOST 1}, NOTHING},
    {"lost after it ended", "R", {LOST 0}, NOTHING},
    {"lost, applied before", "R", {LOST 1}, NOTHING, .seen = true},

    {"due of no goal", NO_GOAL, {DUE 0}, REFUSES(NOT_FOUND)},
    {"due too early", "R", {DUE 9}, NOTHING},
    {"due with nothing open", "", {DUE 9}, NOTHING},
    {"due with nothing running", "rU", {DUE 1000000}, NOTHING, .need = NEED_UNCONFIRMED},
    {"due on time",
     "R",
     {DUE 10},
     CHANGES("active/unconfirmed due never, 1 unconfirmed", "effect.unconfirmed:effect.deadline",
             "move 1 unconfirmed")},
    {"due late",
     "R",
     {DUE 1000000},
     CHANGES("active/unconfirmed due never, 1 unconfirmed", "effect.unconfirmed:effect.deadline",
             "move 1 unconfirmed")},
    {"due, two of three at once",
     "RRR",
     {DUE 20},
     CHANGES("active/unconfirmed due 30, 1 unconfirmed, 2 unconfirmed, 3 running",
             "effect.unconfirmed:effect.deadline effect.unconfirmed:effect.deadline",
             "move 1 unconfirmed, move 2 unconfirmed")},
    {"due among others",
     "rRUR",
     {DUE 40},
     CHANGES("active/unconfirmed due never, 1 ready, 2 unconfirmed, 3 unconfirmed, 4 unconfirmed",
             "effect.unconfirmed:effect.deadline effect.unconfirmed:effect.deadline",
             "move 2 unconfirmed, move 4 unconfirmed"),
     .need = NEED_UNCONFIRMED},
    {"due, six at once",
     "RRRRRR",
     {DUE 60},
     CHANGES(
         "active/unconfirmed due never, 1 unconfirmed, 2 unconfirmed, 3 unconfirmed, 4 unconfirmed, "
         "5 unconfirmed, 6 unconfirmed",
         "effect.unconfirmed:effect.deadline effect.unconfirmed:effect.deadline "
         "effect.unconfirmed:effect.deadline effect.unconfirmed:effect.deadline "
         "effect.unconfirmed:effect.deadline effect.unconfirmed:effect.deadline",
         "move 1 unconfirmed, move 2 unconfirmed, move 3 unconfirmed, move 4 unconfirmed, "
         "move 5 unconfirmed, move 6 unconfirmed")},
    {"due, applied before", "R", {DUE 10}, NOTHING, .seen = true},

    {"nothing happened", "R", {.kind = SIGNAL_NONE}, BREAKS},
    {"what no build knows", "R", {.kind = SIGNAL_KINDS}, BREAKS},
    {"a goal that is not whole", "R", {REPORT}, BREAKS, .status = GOAL_COMPLETED},
};

/* The inputs for a row; what the table leaves open is the same for all rows. */
struct scene {
    struct goal goal;
    struct signal signal;
    struct stepping stepping;
};

static void scene_set(struct scene *scene, const struct row *row) {
    memset(scene, 0, sizeof *scene);
    if (row->open)
        scene->goal = goal_with(row->open, row->status, row->need);
    scene->signal = row->signal;
    scene->signal.at = row->signal.at ? row->signal.at : T0;
    scene->signal.source = (struct id){{0x50, 0x51}};
    scene->signal.goal = (struct id){{1, 2, 3}};
    scene->signal.sender.actor = STR("agnes");
    scene->signal.host = row->signal.host ? row->signal.host : HOST;
    scene->stepping = (struct stepping){.world = {.goal = row->open ? &scene->goal : NULL,
                                                  .seen = row->seen,
                                                  .key_used = row->key_used},
                                        .signal = &scene->signal,
                                        .policy = policy_of(WITHIN),
                                        .arena = &scratch};
}

static void verdict_is(const struct row *row, enum verdict verdict,
                       const struct decision *decision) {
    check(decision->verdict == verdict, "%s: verdict %d", row->name, (int)decision->verdict);
    check(decision->error == row->error, "%s: %s", row->name, ERRORS[decision->error].code);
}

static void row_holds(const struct row *row) {
    static struct scene scene;
    scene_set(&scene, row);
    const struct decision *decision = &scene.stepping.decision;
    const struct goal *before = scene.stepping.world.goal;
    enum crash_guard_result result = step_guarded(&scene.stepping);
    check((result == CRASH_GUARD_BROKEN) == (row->expect == EXPECT_BREAK), "%s: %s", row->name,
          scene.stepping.report.why);
    switch (row->expect) {
    case EXPECT_NOTHING: verdict_is(row, VERDICT_NOTHING, decision); break;
    case EXPECT_CHANGE: verdict_is(row, VERDICT_CHANGE, decision); break;
    case EXPECT_REFUSAL: verdict_is(row, VERDICT_REFUSE, decision); break;
    case EXPECT_BREAK: return;
    }
    if (row->expect != EXPECT_CHANGE) {
        nothing_is_changed(row->name, before, decision);
        return;
    }
    change_is_whole(row->name, before, &scene.signal, &scene.stepping.policy, decision);
    text_is(row->name, goal_text(&decision->goal), row->goal);
    text_is(row->name, records_text(decision, &scratch), row->records);
    text_is(row->name, effects_text(decision), row->effects);
}

static void test_each_rule_decides_as_in_the_table(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(ROWS); i++)
        row_holds(&ROWS[i]);
}

/* ---- the content of a decision ---- */

/* Sets up the row with this name and performs its step. */
static struct decision *row_step(struct scene *scene, const char *name) {
    size_t i = 0;
    while (i < count_of(ROWS) && strcmp(ROWS[i].name, name) != 0)
        i++;
    check(i < count_of(ROWS), "no row %s", name);
    scene_set(scene, &ROWS[i]);
    assert_int_equal(step_guarded(&scene->stepping), CRASH_GUARD_WHOLE);
    return &scene->stepping.decision;
}

/* The first line of a title is the subject of commits: no other line of it, and nothing that is not text. */
static void test_a_subject_is_one_line(void **state) {
    (void)state;
    static const char *const TITLES[][2] = {
        {"Fix login", "Fix login"},
        {"Fix\n\nReviewed-by: Boss <b@x>", "Fix"},
        {"Fix\rmore", "Fix"},
        {"a\tb\x1b[1m\x7f"
         "c",
         "a b [1m c"},
        {"\nbehind", ""},
        {"seventy-two bytes and no more than that, whatever comes behind it, at the end",
         "seventy-two bytes and no more than that, whatever comes behind it, at th"}};
    for (size_t i = 0; i < count_of(TITLES); i++) {
        struct scene scene;
        row_step(&scene, "create with a command");
        scene.signal.describe.title = str_of(TITLES[i][0]);
        assert_int_equal(step_guarded(&scene.stepping), CRASH_GUARD_WHOLE);
        assert_string_equal(scene.stepping.decision.goal.kind.subject, TITLES[i][1]);
    }
}

static void test_a_new_goal_is_what_was_asked_for(void **state) {
    (void)state;
    struct scene scene;
    struct decision *decision = row_step(&scene, "create with a command");
    struct goal expected = {.id = {{1, 2, 3}},
                            .owner = HOST,
                            .fence = 1,
                            .version = 1,
                            .records.seq = 2,
                            .records.head = decision->records[1].hash,
                            .due_at = TIME_NEVER,
                            .times.created_at = T0,
                            .times.updated_at = T0,
                            .kind.subject = "title",
                            .effects.made = 1,
                            .effects.open_count = 1,
                            .effects.open = {{.kind = EFFECT_COMMAND}}};
    assert_true(goal_same(&decision->goal, &expected));
    assert_true(str_equal(decision->title, STR("title")));
    assert_true(str_equal(evidence_of(&decision->records[0]).text, STR("title")));
    assert_true(str_equal(evidence_of(&decision->records[1]).text, STR("make")));
    assert_int_equal(evidence_of(&decision->records[0]).effect, 0);
    assert_int_equal(evidence_of(&decision->records[1]).effect, 1);
    struct effect effect = {0};
    assert_true(effect_decode(EFFECT_COMMAND, decision->effects[0].body, &effect));
    assert_true(str_equal(effect.command, STR("make")));
    assert_int_equal(effect.within, WITHIN);
    assert_true(slot_same(&decision->effects[0].slot, &decision->goal.effects.open[0]));
}

static void test_a_claim_says_who_until_when_and_under_which_fence(void **state) {
    (void)state;
    struct scene scene;
    struct decision *decision = row_step(&scene, "claim");
    struct effect_slot expected = {1, EFFECT_COMMAND, EFFECT_RUNNING, HOST, T0 + 5 + WITHIN};
    assert_true(slot_same(&decision->goal.effects.open[0], &expected));
    assert_true(slot_same(&decision->effects[0].slot, &expected));
    struct evidence evidence = evidence_of(&decision->records[0]);
    assert_int_equal(evidence.effect, 2);
    assert_int_equal(evidence.host, HOST);
    assert_int_equal(evidence.fence, FENCE);
    assert_int_equal(evidence.threshold, WITHIN);
}

static void test_an_outcome_is_kept_as_evidence(void **state) {
    (void)state;
    struct scene scene;
    struct decision *decision = row_step(&scene, "ended with 3");
    assert_int_equal(decision->goal.progress.last_exit, 3);
    for (int i = 0; i < 2; i++) {
        struct evidence evidence = evidence_of(&decision->records[i]);
        assert_int_equal(evidence.effect, 2);
        assert_int_equal(evidence.host, HOST);
        assert_int_equal(evidence.fence, FENCE);
        assert_int_equal(evidence.exit, 3);
        assert_true(str_equal(evidence.text, i == 0 ? STR("tail") : STR("")));
    }
    decision = row_step(&scene, "ended with 0");
    assert_int_equal(decision->goal.progress.last_exit, 0);
    decision = row_step(&scene, "ended before it began");
    assert_true(decision->goal.progress.last_exit == -1);
    assert_true(evidence_of(&decision->records[0]).exit == -1);
}

static void test_a_doubt_says_why(void **state) {
    (void)state;
    static const char *const ROW[] = {"lost, taken over before", "lost while it ran",
                                      "due on time"};
    for (size_t i = 0; i < count_of(ROW); i++) {
        struct scene scene;
        struct decision *decision = row_step(&scene, ROW[i]);
        struct evidence evidence = evidence_of(&decision->records[0]);
        assert_int_equal(evidence.effect, 2);
        assert_int_equal(evidence.host, HOST);
        assert_int_equal(evidence.fence, FENCE);
        assert_int_equal(evidence.threshold, WITHIN);
        assert_non_null(
            strstr(arena_cstr(&scratch, evidence.text), i < 2 ? "host was lost" : "no outcome"));
    }
}

static void test_a_report_is_kept_as_said(void **state) {
    (void)state;
    struct scene scene;
    struct decision *decision = row_step(&scene, "report");
    assert_int_equal(decision->goal.progress.reports, 3);
    assert_true(str_equal(evidence_of(&decision->records[0]).text, STR("half")));
    struct goal expected = goal_with("R", GOAL_ACTIVE, NEED_NOTHING);
    expected.progress.reports = 3;
    expected.version++;
    expected.records.seq++;
    expected.records.head = decision->records[0].hash;
    expected.times.updated_at = T0;
    assert_true(goal_same(&decision->goal, &expected));
}

/* A success does not silently complete a paused goal. */
static void test_a_paused_goal_is_not_completed(void **state) {
    (void)state;
    static const struct row ROW = {"ended while paused", "R", {ENDED 1}, .status = GOAL_PAUSED};
    struct scene scene;
    scene_set(&scene, &ROW);
    assert_int_equal(step_guarded(&scene.stepping), CRASH_GUARD_WHOLE);
    assert_int_equal(scene.stepping.decision.goal.status, GOAL_PAUSED);
    assert_int_equal(scene.stepping.decision.goal.effects.open_count, 0);
    change_is_whole(ROW.name, &scene.goal, &scene.signal, &scene.stepping.policy,
                    &scene.stepping.decision);
}

static void test_a_broken_promise_says_which(void **state) {
    (void)state;
    static const struct row ROW = {"ended without a claim", "r", {ENDED 1}, BREAKS};
    struct scene scene;
    scene_set(&scene, &ROW);
    assert_int_equal(step_guarded(&scene.stepping), CRASH_GUARD_BROKEN);
    assert_non_null(strstr(scene.stepping.report.why, "slot->state != EFFECT_READY"));
}

/* ---- long texts ---- */

static struct str text_long(size_t len, const char *then) {
    char *at = arena_new(&scratch, char, len + strlen(then) + 1);
    memset(at, 'x', len);
    memcpy(at + len, then, strlen(then));
    return (struct str){at, len + strlen(then)};
}

static struct decision signal_step(const struct goal *goal, const struct signal *signal) {
    struct stepping stepping = {
        .world = {.goal = goal}, .signal = signal, .policy = policy_of(WITHIN), .arena = &scratch};
    check(step_guarded(&stepping) == CRASH_GUARD_WHOLE, "%s", stepping.report.why);
    change_is_whole("a long text", goal, signal, &stepping.policy, &stepping.decision);
    return stepping.decision;
}

static void test_a_long_title_is_cut_at_a_character(void **state) {
    (void)state;
    for (size_t len = LIMIT_TITLE - 4; len <= LIMIT_TITLE + 4; len++) {
        struct signal signal = {CREATE, .at = T0, .host = HOST};
        signal.describe.title = text_long(len, "\xF0\x9F\x92\xA9");
        struct decision decision = signal_step(NULL, &signal);
        size_t kept = len + 4 <= LIMIT_TITLE ? len + 4 : len < LIMIT_TITLE ? len : LIMIT_TITLE;
        check(decision.title.len == kept, "%zu and a character of four: %zu", len,
              decision.title.len);
        assert_true(str_is_text(decision.title));
        assert_true(str_equal(evidence_of(&decision.records[0]).text, decision.title));
    }
}

static void test_a_long_command_is_cut_at_a_character(void **state) {
    (void)state;
    struct signal signal = {CREATE, .at = T0, .host = HOST};
    signal.describe.command = text_long(LIMIT_COMMAND - 1, "\xE2\x82\xAC");
    struct decision decision = signal_step(NULL, &signal);
    struct effect effect = {0};
    assert_true(effect_decode(EFFECT_COMMAND, decision.effects[0].body, &effect));
    assert_int_equal(effect.command.len, LIMIT_COMMAND - 1);
    struct str kept = evidence_of(&decision.records[1]).text;
    assert_int_equal(kept.len, LIMIT_RECORD_BODY - 1024);
    assert_memory_equal(kept.at, signal.describe.command.at, kept.len);
}

static void test_long_reports_outputs_and_actors_are_cut(void **state) {
    (void)state;
    struct goal goal = goal_with("R", GOAL_ACTIVE, NEED_NOTHING);
    struct signal report = {.kind = SIGNAL_GOAL_REPORT, .at = T0};
    report.text = text_long(LIMIT_REPORT - 1, "\xC3\xA4zz");
    report.sender.actor = text_long(LIMIT_ACTOR - 2, "\xE2\x82\xAC");
    struct decision decision = signal_step(&goal, &report);
    assert_int_equal(evidence_of(&decision.records[0]).text.len, LIMIT_REPORT - 1);
    assert_int_equal(evidence_of(&decision.records[0]).actor.len, LIMIT_ACTOR - 2);
    struct signal ended = {.kind = SIGNAL_EFFECT_ENDED, .at = T0, .effect = 1, .exit = INT64_MIN};
    ended.text = text_long(LIMIT_OUTPUT - 1, "\xC3\xA4zz");
    decision = signal_step(&goal, &ended);
    assert_int_equal(evidence_of(&decision.records[0]).text.len, LIMIT_OUTPUT - 1);
    assert_true(decision.goal.progress.last_exit == INT64_MIN);
}

/* ---- quarantine ---- */

static void test_a_goal_is_set_aside_with_its_reason(void **state) {
    (void)state;
    struct goal goal = goal_with("RrU", GOAL_ACTIVE, NEED_UNCONFIRMED);
    struct signal signal = {.kind = SIGNAL_EFFECT_ENDED,
                            .source = {{5}},
                            .at = T0 + 3,
                            .effect = 2,
                            .sender.actor = STR("host")};
    struct policy policy = policy_of(WITHIN);
    struct decision decision = step_quarantine(&goal, &signal, &policy, STR("why so"), &scratch);
    assert_int_equal(decision.verdict, VERDICT_CHANGE);
    records_follow("quarantine", &goal, &signal, &policy, &decision);
    assert_string_equal(records_text(&decision, &scratch), "goal.quarantined:poison");
    assert_true(str_equal(evidence_of(&decision.records[0]).text, STR("why so")));
    assert_int_equal(decision.effect_count, 0);
    struct goal expected = goal;
    expected.quarantined = true;
    expected.version++;
    expected.records.seq++;
    expected.records.head = decision.records[0].hash;
    expected.times.updated_at = T0 + 3;
    expected.due_at = TIME_NEVER; /* it is not stepped, so it needs no due time either */
    assert_true(goal_same(&decision.goal, &expected));
    assert_int_equal(goal_display_state(&decision.goal), DISPLAY_NEEDS_YOU);
}

static void test_a_broken_goal_can_be_set_aside(void **state) {
    (void)state;
    struct goal goal = goal_with("Rr", GOAL_COMPLETED, NEED_NOTHING);
    assert_non_null(goal_broken(&goal));
    struct signal signal = {.kind = SIGNAL_GOAL_REPORT, .at = T0};
    struct policy policy = policy_of(WITHIN);
    struct str why = text_long(LIMIT_RECORD_BODY - 1024 - 1, "\xC3\xA4 and much more");
    struct decision decision = step_quarantine(&goal, &signal, &policy, why, &scratch);
    records_follow("quarantine", &goal, &signal, &policy, &decision);
    assert_true(decision.goal.quarantined);
    assert_int_equal(evidence_of(&decision.records[0]).text.len, LIMIT_RECORD_BODY - 1024 - 1);
}

/* ---- determinism ---- */

/* Changes the memory that a step could read by mistake: its stack and its arena. */
static __attribute__((noinline)) void leave_dirt(struct arena *arena, int with) {
    char stack[8192];
    memset(stack, with, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory"); /* prevents optimising it away */
    memset(arena_take(arena, 8192, 1), with, 8192);
    arena_reset(arena);
}

static void test_the_same_inputs_give_the_same_bytes_a_thousand_times(void **state) {
    (void)state;
    static struct scene scene, before;
    struct arena arena = {0};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        if (ROWS[i].expect == EXPECT_BREAK)
            continue;
        struct str first = {0};
        scene_set(&scene, &ROWS[i]);
        memcpy(&before, &scene, sizeof scene);
        scene.stepping.arena = &arena;
        for (int round = 0; round < 1000; round++) {
            leave_dirt(&arena, round);
            assert_int_equal(step_guarded(&scene.stepping), CRASH_GUARD_WHOLE);
            struct str bytes = decision_bytes(&scene.stepping.decision, &arena);
            if (round == 0)
                first = arena_copy(&scratch, bytes);
            check(str_equal(bytes, first), "%s, round %d", ROWS[i].name, round);
        }
        assert_memory_equal(&scene.goal, &before.goal,
                            sizeof scene.goal); /* the inputs are only read */
        assert_memory_equal(&scene.signal, &before.signal, sizeof scene.signal);
    }
    arena_free(&arena);
}

/* ---- random signals ---- */

enum { SIGNALS_SENT = 200000, POPULATION = 64, HOSTS = 3 };

struct being {
    bool exists;
    struct goal goal;
    uint64_t made, ended; /* bit sets of ordinals */
};

struct life {
    struct chance chance;
    struct being beings[POPULATION];
    int64_t now;
    uint64_t names;
    struct policy policy;
    uint32_t written[RECORD_TYPES],
        happened[RECORD_TYPES]; /* number of records; number of transitions */
    uint32_t nothing, refused, broken;
};

static const struct effect_slot *slot_in(const struct goal *goal, uint32_t n) {
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        if (goal->effects.open[i].n == n)
            return &goal->effects.open[i];
    return NULL;
}

/* Derives what happened to the effects from the goal before and after. */
static void effects_compare(const struct goal *before, const struct goal *after,
                            uint32_t *happened) {
    for (uint32_t i = 0; i < before->effects.open_count; i++) {
        const struct effect_slot *was = &before->effects.open[i], *is = slot_in(after, was->n);
        if (!is)
            happened[RECORD_EFFECT_ENDED]++;
        else if (was->state == EFFECT_READY && is->state == EFFECT_RUNNING)
            happened[RECORD_EFFECT_CLAIMED]++;
        else if (was->state == EFFECT_RUNNING && is->state == EFFECT_UNCONFIRMED)
            happened[RECORD_EFFECT_UNCONFIRMED]++;
        else
            check(was->state == is->state, "%s became %s", EFFECT_STATE[was->state].name,
                  EFFECT_STATE[is->state].name);
    }
    happened[RECORD_EFFECT_DECIDED] += after->effects.made - before->effects.made;
}

static void goals_compare(const struct goal *before, const struct goal *after, uint32_t *happened) {
    effects_compare(before, after, happened);
    happened[RECORD_GOAL_CREATED] += before->version == 0;
    happened[RECORD_GOAL_REPORTED] += after->progress.reports - before->progress.reports;
    happened[RECORD_GOAL_QUARANTINED] += after->quarantined && !before->quarantined;
    if (after->status != before->status) {
        assert_int_equal(before->status, GOAL_ACTIVE);
        assert_int_equal(after->status, GOAL_COMPLETED);
        happened[RECORD_GOAL_COMPLETED]++;
    } else if (happened[RECORD_EFFECT_ENDED] && after->progress.last_exit != 0) {
        happened[RECORD_GOAL_NEEDS_PERSON]++;
    }
    bool doubted = after->need == NEED_UNCONFIRMED && before->need != NEED_UNCONFIRMED;
    if (doubted && !happened[RECORD_EFFECT_UNCONFIRMED] && !happened[RECORD_EFFECT_ENDED])
        happened[RECORD_EFFECT_UNCONFIRMED]++; /* changed at the take-over, recorded now */
}

/* EVENT-04: there are as many records of each type as transitions that an observer sees. */
static void transitions_have_records(struct life *life, const struct being *being,
                                     const struct decision *decision) {
    static const struct goal EMPTY;
    uint32_t written[RECORD_TYPES] = {0}, happened[RECORD_TYPES] = {0};
    for (uint32_t i = 0; i < decision->record_count; i++)
        written[decision->records[i].type]++;
    goals_compare(being->exists ? &being->goal : &EMPTY, &decision->goal, happened);
    for (uint32_t type = 0; type < RECORD_TYPES; type++) {
        check(written[type] == happened[type], "%u records %s, %u transitions", written[type],
              name_of(&RECORD_NAMES, type), happened[type]);
        life->written[type] += written[type];
        life->happened[type] += happened[type];
    }
}

/* PROTOCOL: an ordinal names one effect for ever, and an effect ends at most once. */
static void effects_are_new(struct being *being, const struct decision *decision) {
    for (uint32_t i = 0; i < decision->effect_count; i++) {
        const struct effect_change *change = &decision->effects[i];
        uint64_t bit = 1ull << change->slot.n;
        assert_true(change->slot.n < 64);
        if (change->op == EFFECT_OP_MAKE) {
            check(!(being->made & bit), "ordinal %u is used twice", change->slot.n);
            being->made |= bit;
        }
        assert_true(being->made & bit);
        check(!(being->ended & bit), "effect %u changes after its end", change->slot.n);
        if (change->op == EFFECT_OP_END)
            being->ended |= bit;
        const struct effect_slot *slot = slot_in(&decision->goal, change->slot.n);
        assert_true((slot == NULL) == (change->op == EFFECT_OP_END));
        assert_true(!slot || slot_same(slot, &change->slot));
    }
}

/* No rule makes goals with more than one effect yet, so some are created by hand. */
static void being_put(struct life *life, struct being *being) {
    *being = (struct being){.exists = true};
    static const char READY[] = "rrrrrrrr";
    uint32_t count = 2 + chance_below(&life->chance, sizeof READY - 2);
    being->goal = goal_with(&READY[sizeof READY - 1 - count], GOAL_ACTIVE, NEED_NOTHING);
    being->goal.id = (struct id){{0xFF}};
    memcpy(being->goal.id.bytes + 8, &life->names, sizeof life->names);
    life->names++;
    being->goal.owner = 1 + chance_below(&life->chance, HOSTS);
    being->made = (1ull << being->goal.effects.made) - 1;
    being->ended = 1;
}

/* P4, as the store performs it. */
static void being_take_over(struct life *life, struct being *being) {
    struct goal *goal = &being->goal;
    goal->owner = 1 + chance_below(&life->chance, HOSTS);
    goal->fence++;
    goal->version++;
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        if (goal->effects.open[i].state == EFFECT_RUNNING)
            goal->effects.open[i].state = EFFECT_UNCONFIRMED;
}

static uint32_t effect_pick(struct life *life, const struct goal *goal) {
    if (goal->effects.open_count > 0 && !chance_in(&life->chance, 8))
        return goal->effects.open[chance_below(&life->chance, goal->effects.open_count)].n;
    return chance_below(&life->chance, goal->effects.made + 2);
}

static struct signal signal_pick(struct life *life, const struct being *being) {
    static const enum signal_kind OFTEN[] = {
        SIGNAL_GOAL_CREATE,  SIGNAL_GOAL_REPORT,  SIGNAL_GOAL_DUE,     SIGNAL_GOAL_DUE,
        SIGNAL_EFFECT_CLAIM, SIGNAL_EFFECT_CLAIM, SIGNAL_EFFECT_CLAIM, SIGNAL_EFFECT_ENDED,
        SIGNAL_EFFECT_ENDED, SIGNAL_EFFECT_LOST};
    struct chance *chance = &life->chance;
    const struct goal *goal = &being->goal;
    struct signal signal = {.kind = OFTEN[chance_below(chance, count_of(OFTEN))],
                            .at = life->now,
                            .once.keyed = chance_below(chance, 2),
                            .sender.actor = STR("agnes"),
                            .text = STR("said"),
                            .goal = goal->id};
    if (!being->exists && !chance_in(chance, 10))
        signal.kind = SIGNAL_GOAL_CREATE;
    if (!being->exists)
        memcpy(signal.goal.bytes, &life->names, sizeof life->names);
    chance_fill(chance, &signal.source, sizeof signal.source);
    if (signal.kind == SIGNAL_GOAL_CREATE && !chance_in(chance, 5))
        signal.describe.command = STR("make check");
    signal.effect = being->exists ? effect_pick(life, goal) : 0;
    signal.host =
        being->exists && !chance_in(chance, 6) ? goal->owner : 1 + chance_below(chance, HOSTS);
    signal.exit = chance_in(chance, 2) ? (int64_t)chance_below(chance, 300) - 1 : 0;
    return signal;
}

/* Only an outcome without a claim breaks a step; then the goal is quarantined and leaves the population. */
static void being_breaks(struct life *life, struct being *being, const struct signal *signal,
                         struct arena *arena) {
    const struct effect_slot *slot = slot_in(&being->goal, signal->effect);
    check(signal->kind == SIGNAL_EFFECT_ENDED && slot && slot->state == EFFECT_READY, "kind %d",
          (int)signal->kind);
    struct decision decision =
        step_quarantine(&being->goal, signal, &life->policy, STR("broken"), arena);
    records_follow("chance", &being->goal, signal, &life->policy, &decision);
    transitions_have_records(life, being, &decision);
    life->broken++;
    being->exists = false;
}

static void decision_apply(struct life *life, struct being *being, const struct signal *signal,
                           const struct decision *decision) {
    const struct goal *before = being->exists ? &being->goal : NULL;
    if (decision->verdict != VERDICT_CHANGE) {
        nothing_is_changed("chance", before, decision);
        life->nothing += decision->verdict == VERDICT_NOTHING;
        life->refused += decision->verdict == VERDICT_REFUSE;
        return;
    }
    change_is_whole("chance", before, signal, &life->policy, decision);
    transitions_have_records(life, being, decision);
    if (!being->exists) {
        *being = (struct being){.exists = true};
        life->names++;
    }
    effects_are_new(being, decision);
    being->goal = decision->goal;
}

static void life_go_on(struct life *life, struct arena *arena) {
    struct chance *chance = &life->chance;
    struct being *being = &life->beings[chance_below(chance, POPULATION)];
    life->now += chance_below(chance, 60);
    if (chance_in(chance, 60))
        *being = (struct being){0};
    if (!being->exists && chance_in(chance, 4))
        being_put(life, being);
    if (being->exists && chance_in(chance, 25))
        being_take_over(life, being);
    struct signal signal = signal_pick(life, being);
    struct stepping stepping = {
        .world = {.goal = being->exists ? &being->goal : NULL, .seen = chance_in(chance, 20)},
        .signal = &signal,
        .policy = life->policy,
        .arena = arena};
    if (step_guarded(&stepping) != CRASH_GUARD_WHOLE) {
        being_breaks(life, being, &signal, arena);
        return;
    }
    check(!stepping.world.seen || stepping.decision.verdict == VERDICT_NOTHING, "applied twice");
    decision_apply(life, being, &signal, &stepping.decision);
}

static void test_every_transition_has_its_record_and_every_goal_stays_whole(void **state) {
    (void)state;
    static struct life life;
    struct arena arena = {0};
    life = (struct life){.chance = {2026}, .now = T0, .policy = policy_of(20000)};
    for (int i = 0; i < SIGNALS_SENT; i++) {
        life_go_on(&life, &arena);
        arena_reset(&arena);
    }
    arena_free(&arena);
    for (uint32_t type = RECORD_NONE + 1; type <= RECORD_EFFECT_UNCONFIRMED; type++) {
        assert_int_equal(life.written[type], life.happened[type]);
        check(life.written[type] > 500, "%s came only %u times", name_of(&RECORD_NAMES, type),
              life.written[type]);
    }
    assert_true(life.nothing > 1000 && life.refused > 100 && life.broken > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_rule_decides_as_in_the_table, scratch_reset),
        cmocka_unit_test_setup(test_a_subject_is_one_line, scratch_reset),
        cmocka_unit_test_setup(test_a_new_goal_is_what_was_asked_for, scratch_reset),
        cmocka_unit_test_setup(test_a_claim_says_who_until_when_and_under_which_fence,
                               scratch_reset),
        cmocka_unit_test_setup(test_an_outcome_is_kept_as_evidence, scratch_reset),
        cmocka_unit_test_setup(test_a_doubt_says_why, scratch_reset),
        cmocka_unit_test_setup(test_a_report_is_kept_as_said, scratch_reset),
        cmocka_unit_test_setup(test_a_paused_goal_is_not_completed, scratch_reset),
        cmocka_unit_test_setup(test_a_broken_promise_says_which, scratch_reset),
        cmocka_unit_test_setup(test_a_long_title_is_cut_at_a_character, scratch_reset),
        cmocka_unit_test_setup(test_a_long_command_is_cut_at_a_character, scratch_reset),
        cmocka_unit_test_setup(test_long_reports_outputs_and_actors_are_cut, scratch_reset),
        cmocka_unit_test_setup(test_a_goal_is_set_aside_with_its_reason, scratch_reset),
        cmocka_unit_test_setup(test_a_broken_goal_can_be_set_aside, scratch_reset),
        cmocka_unit_test_setup(test_the_same_inputs_give_the_same_bytes_a_thousand_times,
                               scratch_reset),
        cmocka_unit_test_setup(test_every_transition_has_its_record_and_every_goal_stays_whole,
                               scratch_reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, scratch_free);
    if (failed == 0)
        proof_passed("unit", "in 200,000 random steps every transition has its record", "EVENT-04");
    return failed;
}
