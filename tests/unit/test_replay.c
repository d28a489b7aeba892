/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a replay finds what is the same, what differs, and what is missing. Goals are run signal by signal; the
 * replay gets only their records and texts. tests/replayed.c does the same with agents, by the thousand. */
#include "play.h"

#include "core/replay.h"

enum { MOST_RECORDS = 4096, MOST_TEXTS = 256 };

/* Everything that is stored of one goal. */
struct log {
    struct arena arena;
    struct record records[MOST_RECORDS];
    uint32_t count;
    struct text_row texts[MOST_TEXTS];
    uint32_t text_count;
    struct policy policies[4];
    uint32_t policy_count;
};

static struct play p;
static struct log kept;

static void log_begin(void) {
    arena_free(&kept.arena);
    memset(&kept, 0, sizeof kept);
    play_begin(&p);
}

static void log_take(void) {
    if (p.did.verdict != VERDICT_CHANGE)
        return;
    for (uint32_t i = 0; i < p.did.record_count; i++) {
        check(kept.count < MOST_RECORDS, "too many records");
        struct record *record = &kept.records[kept.count++];
        *record = p.did.records[i];
        record->body = arena_copy(&kept.arena, record->body);
    }
    for (uint32_t i = 0; i < p.did.text_count; i++) {
        check(kept.text_count < MOST_TEXTS, "too many texts");
        kept.texts[kept.text_count++] =
            (struct text_row){p.did.texts[i].hash, arena_copy(&kept.arena, p.did.texts[i].body)};
    }
}

static void policy_in_force(struct policy policy) {
    p.policy = policy;
    kept.policies[kept.policy_count++] = policy;
}

static bool policy_find(void *with, const struct hash *hash, const struct policy **ret) {
    (void)with;
    for (uint32_t i = 0; i < kept.policy_count; i++)
        if (hash_equal(&kept.policies[i].hash, hash)) {
            *ret = &kept.policies[i];
            return true;
        }
    return false;
}

static bool text_find(void *with, const struct hash *hash, struct str *ret) {
    (void)with;
    for (uint32_t i = 0; i < kept.text_count; i++)
        if (hash_equal(&kept.texts[i].hash, hash)) {
            *ret = kept.texts[i].body;
            return true;
        }
    return false;
}

static struct replay *replay_new(void) {
    static struct replay replay;
    replay_end(&replay);
    replay = (struct replay){.from = {policy_find, text_find, NULL}};
    replay_begin(&replay, p.goal.id);
    return &replay;
}

/* Replays all records and returns the verdict. */
static enum replayed replay_all(struct replay *replay) {
    for (uint32_t i = 0; i < kept.count; i++)
        if (!replay_take(replay, &kept.records[i]))
            return replay->verdict;
    return replay_conclude(replay);
}

#define DO(what) \
    do { \
        check((what) == ERROR_NONE, #what ": %.*s", STR_ARG(p.did.why)); \
        log_take(); \
    } while (0)

/* A life with a plan, separately stored texts, refusals, and changing owners. */
static void life(void) {
    log_begin();
    policy_in_force(policy_of(1000));
    DO(play_create(&p));
    DO(play_plan(&p, "P1 T1/P1 S1/T1 S2/T1:S1 T2/P1:T1 P2:P1 T3/P2 T4/P2 T5/P2 T6/P2 T7/P2 T8/P2 "
                     "T9/P2 T10/P2 T11/P2 T12/P2 T13/P2 T14/P2 T15/P2 T16/P2 T17/P2 T18/P2"));
    play_work(&p, "T3", NODE_DONE); /* refused: leaves no record */
    DO(play_work(&p, "S1", NODE_IN_PROGRESS));
    p.goal.owner = 9; /* taken over */
    p.goal.fence++;
    DO(play_work(&p, "S1", NODE_DONE));
    DO(play_override(&p, "T2", NODE_DONE));
    p.era++; /* the store was restored */
    DO(play_add(&p, "S9/T1", NULL));
    policy_in_force(policy_of(2000));
    DO(play_goal(&p, GOAL_PAUSED, WHO_HUMAN, "later"));
    DO(play_goal(&p, GOAL_ACTIVE, WHO_HUMAN, "now"));
    DO(play(&p, (struct signal){
                    .kind = SIGNAL_GOAL_REPORT, .sender.by = WHO_AGENT, .text = STR("fine")}));
}

static void test_what_was_decided_comes_out_the_same(void **state) {
    (void)state;
    life();
    struct replay *replay = replay_new();
    check(replay_all(replay) == REPLAYED_SAME, "%s at record %llu",
          name_of(&REPLAYED_NAMES, replay->verdict), (unsigned long long)replay->records);
    assert_int_equal(replay->records, kept.count);
    check(kept.text_count > 0, "nothing was kept apart: the case is too small");
    proof_passed("replay", "what was decided comes out the same", "TICK-28");
}

/* Any changed record is found, at its place. */
static void test_each_record_that_was_changed_is_found(void **state) {
    (void)state;
    life();
    for (uint32_t i = 0; i < kept.count; i++) {
        struct record whole = kept.records[i];
        kept.records[i].hash.bytes[7] ^= 1;
        struct replay *replay = replay_new();
        check(replay_all(replay) == REPLAYED_DIFFERS && replay->records == i, "record %u", i + 1);
        kept.records[i] = whole;
    }
}

static void differs_note(void *with, const struct replay_difference *difference) {
    *(uint64_t *)with = difference->record->seq;
}

/* A changed signal leads to another decision, and the replay reports that. */
static void test_another_happening_gives_another_decision(void **state) {
    (void)state;
    life();
    struct evidence evidence = {0};
    struct signal signal;
    struct record *last = &kept.records[kept.count - 1];
    uint64_t recorded = 0;
    assert_true(shape_decode(&EVIDENCE, last->body, &evidence) &&
                signal_decode(evidence.replay.input, &signal));
    signal.text = STR("bad");
    evidence.replay.input = signal_encode(&signal, &kept.arena);
    last->body = shape_encode(&EVIDENCE, &evidence, &kept.arena);
    struct replay *replay = replay_new();
    replay->differs = differs_note;
    replay->with = &recorded;
    assert_int_equal(replay_all(replay), REPLAYED_DIFFERS);
    assert_int_equal(recorded, last->seq);
}

static void test_what_is_missing_is_said(void **state) {
    (void)state;
    life();
    struct replay *replay = replay_new();
    check(!replay_take(replay, &kept.records[1]) && replay->verdict == REPLAYED_CUT,
          "no beginning");
    uint32_t texts = kept.text_count;
    kept.text_count = 0;
    assert_int_equal(replay_all(replay_new()), REPLAYED_NO_INPUT);
    kept.text_count = texts;
    struct record whole = kept.records[0];
    kept.records[0].body = (struct str){0};
    assert_int_equal(replay_all(replay_new()), REPLAYED_NO_INPUT);
    kept.records[0] = whole;
    kept.records[0].core++;
    assert_int_equal(replay_all(replay_new()), REPLAYED_OTHER_CORE);
    kept.records[0] = whole;
    assert_int_equal(replay_all(replay_new()), REPLAYED_SAME);
}

/* Once the policy is provided, the replay continues where it stopped. */
static void test_a_policy_can_be_handed_over_later(void **state) {
    (void)state;
    life();
    uint32_t asked = 0;
    struct replay *replay = replay_new();
    kept.policy_count = 0;
    for (uint32_t i = 0; i < kept.count;)
        if (replay_take(replay, &kept.records[i]))
            i++;
        else {
            check(replay->verdict == REPLAYED_NO_POLICY && asked < 2, "%s",
                  name_of(&REPLAYED_NAMES, replay->verdict));
            kept.policy_count = ++asked;
        }
    assert_int_equal(asked, 2);
    assert_int_equal(replay_conclude(replay), REPLAYED_SAME);
}

/* A quarantined goal, and a recorded refusal. */
static void test_what_is_no_step_is_replayed_too(void **state) {
    (void)state;
    life();
    struct signal signal = {.kind = SIGNAL_GOAL_REPORT,
                            .goal = p.goal.id,
                            .at = p.now + 5,
                            .sender.actor = STR("a"),
                            .text = STR("x")};
    struct world world = {.goal = &p.goal, .live = &p.live};
    p.did = step_refused(&world, &signal, &p.policy, ERROR_CONFLICT, STR("it moved on"), &p.arena);
    log_take();
    p.goal = p.did.goal;
    p.did = step_quarantine(&p.goal, &signal, &p.policy, STR("broken"), &p.arena);
    log_take();
    p.goal = p.did.goal;
    p.did = (struct decision){0};
    DO(play(&p, (struct signal){.kind = SIGNAL_GOAL_RELEASE,
                                .sender.by = WHO_HUMAN,
                                .reason = STR("looked at it")}));
    struct replay *replay = replay_new();
    check(replay_all(replay) == REPLAYED_SAME, "%s at record %llu",
          name_of(&REPLAYED_NAMES, replay->verdict), (unsigned long long)replay->records);
}

/* ---- replay under another policy ---- */

struct found {
    uint32_t count;
    uint64_t seq;
    enum record_type instead;
};

static void found_note(void *with, const struct replay_difference *difference) {
    struct found *found = with;
    found->count++;
    found->seq = difference->record->seq;
    found->instead = difference->instead ? difference->instead->type : RECORD_NONE;
}

static struct found what_if(const struct policy *other) {
    static struct found found;
    found = (struct found){0};
    struct replay *replay = replay_new();
    replay->other = other;
    replay->differs = found_note;
    replay->with = &found;
    assert_int_equal(replay_all(replay), REPLAYED_SAME);
    return found;
}

/* A plan of the overseer needs a person's approval under one policy, and does not under the other. */
static void test_another_policy_differs_where_it_decides(void **state) {
    (void)state;
    log_begin();
    policy_in_force(policy_of(1000));
    DO(play_create(&p));
    DO(play_plan(&p, "P1 T1/P1"));
    DO(play_plan_by(&p, "P1 T1/P1 T2/P1", WHO_OVERSEER, p.goal.plan.version));
    uint32_t third = kept.count;
    DO(play_work(&p, "T1", NODE_IN_PROGRESS));
    struct policy same = p.policy, approves = p.policy, slow = p.policy;
    approves.plans.approve = 1;
    slow.liveness.idle_after *= 7;
    assert_int_equal(what_if(&same).count, 0);
    assert_int_equal(what_if(&slow).count, 0);
    struct found found = what_if(&approves);
    check(found.count == 1 && found.seq <= third && found.instead == RECORD_PLAN_REVIEW_NEEDED,
          "%u differences, record %llu", found.count, (unsigned long long)found.seq);
}

/* Repeats only the last decision under another policy; the replay then continues unaffected. */
static void test_the_last_decision_can_be_asked_about(void **state) {
    (void)state;
    log_begin();
    policy_in_force(policy_of(1000));
    DO(play_create(&p));
    DO(play_plan(&p, "P1 T1/P1"));
    DO(play_plan_by(&p, "P1 T1/P1 T2/P1", WHO_OVERSEER, p.goal.plan.version));
    uint32_t until = kept.count;
    DO(play_work(&p, "T1", NODE_IN_PROGRESS));
    struct replay *replay = replay_new();
    struct policy approves = p.policy, same = p.policy;
    const struct decision *would;
    approves.plans.approve = 1;
    for (uint32_t i = 0; i < until; i++)
        assert_true(replay_take(replay, &kept.records[i]));
    check(!replay_would_differ(replay, &same, &would), "the same differs");
    check(replay_would_differ(replay, &approves, &would) && would->record_count > 0,
          "no difference");
    for (uint32_t i = until; i < kept.count; i++)
        assert_true(replay_take(replay, &kept.records[i]));
    assert_int_equal(replay_conclude(replay), REPLAYED_SAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_decided_comes_out_the_same),
        cmocka_unit_test(test_each_record_that_was_changed_is_found),
        cmocka_unit_test(test_another_happening_gives_another_decision),
        cmocka_unit_test(test_what_is_missing_is_said),
        cmocka_unit_test(test_a_policy_can_be_handed_over_later),
        cmocka_unit_test(test_what_is_no_step_is_replayed_too),
        cmocka_unit_test(test_another_policy_differs_where_it_decides),
        cmocka_unit_test(test_the_last_decision_can_be_asked_about),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    play_end(&p);
    arena_free(&kept.arena);
    replay_end(replay_new());
    return failed;
}
