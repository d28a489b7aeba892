/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a batch of tasks bounds how many of them work at once and until when they are started, and that nothing else
 * is touched by it. */
#include "steps.h"

#include "core/admission/admission.h"
#include "core/step.h"
#include "model/part.h"

enum { HOST = 3, HOUR = 3600 };

static struct {
    struct goal goal;
    struct live live;
    struct arena arena;
    struct policy policy;
    struct policy_agent agent;
    struct decision did;
    int64_t now;
    uint64_t sources;
    uint32_t level;
    bool exists;
} host;

static int host_begin(void **state) {
    (void)state;
    arena_free(&host.arena);
    memset(&host, 0, sizeof host);
    host.policy = policy_default();
    host.agent = (struct policy_agent){.id = "ada"};
    host.policy.dispatch.agents = &host.agent;
    host.policy.dispatch.agent_count = 1;
    host.policy.dispatch.most_at_once = 100;
    host.policy.pace.actions_per_minute = 0;
    host.policy = policy_seal(host.policy);
    host.now = SECONDS(1000);
    host.level = LEVEL_TASK_BATCHES;
    return 0;
}

static enum verdict host_step(struct signal signal) {
    struct world world = {.level = host.level};
    struct goal *before = arena_new(&host.arena, struct goal, 1);
    *before = host.goal;
    if (host.exists) {
        world.goal = before;
        world.live = &host.live;
    }
    signal.goal = admission_id(HOST);
    signal.admission = HOST;
    signal.source = id_derive(
        STR("test batch"), arena_format(&host.arena, "%llu", (unsigned long long)host.sources++));
    signal.at = host.now;
    host.did = step(&world, &signal, &host.policy, &host.arena);
    if (host.did.verdict == VERDICT_CHANGE) {
        host.goal = host.did.goal;
        host.live = host.did.live;
        host.exists = true;
    }
    return host.did.verdict;
}

static enum verdict batch_set_by(const char *name, uint32_t changes, struct task_batch row,
                                 enum who by) {
    snprintf(row.name, sizeof row.name, "%s", name);
    return host_step((struct signal){.kind = SIGNAL_BATCH_SET,
                                     .to = changes,
                                     .sender.by = by,
                                     .body = shape_encode(&TASK_BATCH, &row, &host.arena)});
}

static enum verdict batch_set(const char *name, uint32_t changes, struct task_batch row) {
    return batch_set_by(name, changes, row, WHO_HUMAN);
}

static struct id task_id(uint8_t number) {
    return (struct id){{[0] = 9, [15] = number}};
}

static struct permit permit_for(uint8_t number, const char *batch, int64_t until) {
    struct permit permit = {.goal = task_id(number),
                            .turn = 1,
                            .wants = PERMIT_BEGIN,
                            .agent = "ada",
                            .asked_at = host.now,
                            .batch = batch ? task_batch_key(str_of(batch)) : 0,
                            .batch_until = until};
    return permit;
}

static void asked(struct permit permit) {
    check(host_step((struct signal){.kind = SIGNAL_PERMIT_ASK,
                                    .body = shape_encode(&PERMIT, &permit, &host.arena)}) ==
              VERDICT_CHANGE,
          "the ask is taken");
}

static void task_asks(uint8_t number, const char *batch) {
    asked(permit_for(number, batch, 0));
}

static void task_ends(uint8_t number) {
    struct permit permit = permit_for(number, NULL, 0);
    host_step((struct signal){.kind = SIGNAL_PERMIT_SETTLE,
                              .to = 1,
                              .body = shape_encode(&PERMIT, &permit, &host.arena)});
}

/* The daemon wakes the admission when it wants to be woken. */
static void time_passes(int64_t span) {
    int64_t to = host.now + span;
    while (host.goal.due_at <= to && host.goal.due_at > host.now) {
        host.now = host.goal.due_at;
        host_step((struct signal){.kind = SIGNAL_GOAL_DUE});
    }
    host.now = to;
}

static bool works(uint8_t number) {
    const struct permit *permit = permits_find(&host.live.permits, task_id(number), 0);
    return permit && permit->state == PERMIT_GRANTED;
}

static uint32_t working(void) {
    uint32_t count = 0;
    for (uint8_t i = 1; i < 100; i++)
        count += works(i);
    return count;
}

static const struct task_batch *batch_of(const char *name) {
    return task_batches_find(&host.live.task_batches, task_batch_key(str_of(name)));
}

/* ---- at once ---- */

static void test_at_most_so_many_at_once(void **state) {
    (void)state;
    batch_set("tonight", BATCH_MAKE | BATCH_MOST, (struct task_batch){.most = 2});
    for (uint8_t i = 1; i <= 5; i++)
        task_asks(i, "tonight");
    check(working() == 2 && works(1) && works(2), "%u work", working());
    task_asks(6, NULL);
    check(works(6), "other work is not bounded by it");
    task_ends(1);
    check(working() == 3 && works(3), "the next one begins");
    batch_set("tonight", BATCH_MOST, (struct task_batch){.most = 4});
    check(working() == 5, "a higher bound counts at once: %u", working());
    batch_set("tonight", BATCH_MOST, (struct task_batch){.most = 1});
    check(working() == 5, "a lower one stops nothing");
    task_asks(7, "tonight");
    task_ends(2);
    check(!works(7), "but nothing more begins");
}

static void test_two_batches_do_not_count_each_other(void **state) {
    (void)state;
    batch_set("one", BATCH_MAKE | BATCH_MOST, (struct task_batch){.most = 1});
    batch_set("two", BATCH_MAKE | BATCH_MOST, (struct task_batch){.most = 1});
    task_asks(1, "one");
    task_asks(2, "two");
    task_asks(3, "one");
    check(works(1) && works(2) && !works(3), "one each");
}

/* ---- until ---- */

static void test_nothing_begins_after_its_end(void **state) {
    (void)state;
    batch_set("tonight", BATCH_MAKE | BATCH_MOST | BATCH_UNTIL,
              (struct task_batch){.most = 1, .until = host.now + SECONDS(HOUR)});
    task_asks(1, "tonight");
    task_asks(2, "tonight");
    time_passes(SECONDS(HOUR) - 1);
    check(!batch_of("tonight")->ended, "not yet");
    time_passes(1);
    check(batch_of("tonight")->ended == 1 && host.did.records[0].type == RECORD_BATCH_ENDED,
          "its end is on the record");
    check(works(1), "what works goes on");
    task_ends(1);
    check(!works(2), "nothing more begins");
    time_passes(SECONDS(HOUR));
    check(!works(2), "not later either");
    batch_set("tonight", BATCH_UNTIL, (struct task_batch){.until = host.now + SECONDS(HOUR)});
    check(works(2) && !batch_of("tonight")->ended, "a later end goes on with the rest");
}

/* An agent that died is started again, although its batch has ended or is held. */
static void test_what_has_begun_is_started_again(void **state) {
    (void)state;
    struct permit again = permit_for(1, "tonight", 0);
    batch_set("tonight", BATCH_MAKE | BATCH_UNTIL | BATCH_HELD,
              (struct task_batch){.until = host.now + SECONDS(1), .held = 1});
    again.goal_starts = 1;
    asked(again);
    check(works(1), "held");
    time_passes(SECONDS(2));
    again.goal = task_id(2);
    asked(again);
    check(works(2), "ended");
    task_asks(3, "tonight");
    check(!works(3), "a new one waits");
}

/* The admission of another host has taken the task over: it does not know the batch, only when it ends. */
static void test_a_batch_that_is_missing(void **state) {
    (void)state;
    asked(permit_for(1, "tonight", host.now + 10));
    check(works(1), "before its end");
    host.now += 10;
    asked(permit_for(2, "tonight", host.now));
    check(!works(2), "not from its end on");
}

static void test_held_and_released(void **state) {
    (void)state;
    batch_set("tonight", BATCH_MAKE, (struct task_batch){0});
    task_asks(1, "tonight");
    batch_set("tonight", BATCH_HELD, (struct task_batch){.held = 1});
    task_asks(2, "tonight");
    check(works(1) && !works(2), "held");
    batch_set("tonight", BATCH_HELD, (struct task_batch){.held = 0});
    check(works(2), "released");
}

/* ---- rows ---- */

static void test_a_batch_begins_again(void **state) {
    (void)state;
    batch_set("tonight", BATCH_MAKE | BATCH_MOST | BATCH_UNTIL,
              (struct task_batch){.most = 1, .until = host.now + 5});
    batch_set("tonight", BATCH_HELD, (struct task_batch){.held = 1});
    time_passes(10);
    batch_set("tonight", BATCH_MAKE | BATCH_MOST, (struct task_batch){.most = 3});
    const struct task_batch *batch = batch_of("tonight");
    check(batch->most == 3 && batch->until == 0 && !batch->held && !batch->ended &&
              batch->made_at == host.now && host.live.task_batches.count == 1,
          "it begins anew");
}

static void test_the_oldest_that_has_ended_makes_room(void **state) {
    (void)state;
    char name[32];
    for (uint32_t i = 0; i < LIMIT_TASK_BATCHES; i++) {
        snprintf(name, sizeof name, "batch-%u", i);
        batch_set(name, BATCH_MAKE | BATCH_UNTIL,
                  (struct task_batch){.until = i < 2 ? host.now + 1 : 0});
        task_asks((uint8_t)(1 + i), name);
    }
    check(batch_set("one more", BATCH_MAKE, (struct task_batch){0}) == VERDICT_REFUSE &&
              host.did.error == ERROR_BUSY,
          "all are open");
    time_passes(2);
    check(batch_set("one more", BATCH_MAKE, (struct task_batch){0}) == VERDICT_REFUSE,
          "one that has ended still has a task, which would begin without it");
    task_ends(1);
    check(batch_set("one more", BATCH_MAKE, (struct task_batch){0}) == VERDICT_CHANGE,
          "there is room");
    check(batch_of("one more") && !batch_of("batch-0") && batch_of("batch-1") &&
              host.live.task_batches.count == LIMIT_TASK_BATCHES,
          "the oldest is gone");
}

/* A batch that began again is younger than one that was made after it. */
static void test_the_youngest_of_two_that_have_ended_stays(void **state) {
    (void)state;
    char name[32];
    struct task_batch ends = {.until = host.now + 10};
    for (uint32_t i = 0; i < LIMIT_TASK_BATCHES; i++) {
        snprintf(name, sizeof name, "batch-%u", i);
        host.now++;
        batch_set(name, BATCH_MAKE | (i < 2 ? BATCH_UNTIL : 0u), ends);
    }
    time_passes(20);
    batch_set("batch-0", BATCH_MAKE | BATCH_UNTIL, (struct task_batch){.until = host.now + 1});
    time_passes(2);
    batch_set("one more", BATCH_MAKE, (struct task_batch){0});
    check(batch_of("batch-0") && !batch_of("batch-1"), "batch-1 is the oldest");
}

static void test_what_is_refused(void **state) {
    (void)state;
    struct task_batch row = {.most = 1};
    check(batch_set("tonight", BATCH_MOST, row) == VERDICT_REFUSE &&
              host.did.error == ERROR_NOT_FOUND,
          "there is none");
    check(batch_set("", BATCH_MAKE, row) == VERDICT_REFUSE && host.did.error == ERROR_INVALID,
          "no name");
    check(batch_set("a", BATCH_CHANGES, row) == VERDICT_REFUSE && host.did.error == ERROR_INVALID,
          "an unknown change");
    check(batch_set("a", BATCH_MAKE | BATCH_UNTIL, (struct task_batch){.until = -1}) ==
              VERDICT_REFUSE,
          "a time before all");
    check(batch_set_by("a", BATCH_MAKE, row, WHO_AGENT) == VERDICT_REFUSE &&
              host.did.error == ERROR_UNAUTHORIZED,
          "an agent");
    host.level = LEVEL_TASK_BATCHES - 1;
    check(batch_set("a", BATCH_MAKE, row) == VERDICT_REFUSE && host.did.error == ERROR_CONFLICT,
          "an older host in the fleet");
    check(host_step((struct signal){.kind = SIGNAL_BATCH_SET, .body = STR("x")}) == VERDICT_REFUSE,
          "no batch");
    check(!host.exists, "nothing is left of it");
}

/* Random batches, changes, tasks and ends: no bound is ever crossed by a task that begins. */
static void test_no_bound_is_crossed(void **state) {
    (void)state;
    static const char *const NAMES[] = {"a", "b", "c"};
    struct task_batch known[3] = {{0}};
    bool made[3] = {false};
    uint64_t random = 12345;
    for (uint32_t i = 0; i < 4000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t dice = (uint32_t)(random >> 33), which = dice % 3;
        uint8_t task = (uint8_t)(1 + dice / 3 % 60);
        bool was[100];
        for (uint8_t t = 1; t < 100; t++)
            was[t] = works(t);
        switch (dice / 180 % 6) {
        case 0: {
            uint32_t changes = made[which] ? dice / 1080 % 8 : BATCH_MAKE | dice / 1080 % 8;
            struct task_batch row = {.most = dice / 8640 % 4,
                                     .until = dice % 5 == 0 ? 0 : host.now + dice % 2000,
                                     .held = dice / 34560 % 2};
            batch_set(NAMES[which], changes, row);
            made[which] = true;
            known[which] = *batch_of(NAMES[which]);
            break;
        }
        case 1:
        case 2:
            if (!permits_find(&host.live.permits, task_id(task), 0))
                task_asks(task, NAMES[which]);
            break;
        case 3: task_ends(task); break;
        default: time_passes(dice % 500); break;
        }
        for (uint8_t t = 1; t < 100; t++) {
            const struct permit *permit = permits_find(&host.live.permits, task_id(t), 0);
            uint32_t at = 0, used = 0;
            if (!works(t) || was[t])
                continue;
            while (at < 3 && permit->batch != task_batch_key(str_of(NAMES[at])))
                at++;
            for (uint8_t o = 1; o < 100; o++) {
                const struct permit *other = permits_find(&host.live.permits, task_id(o), 0);
                used += works(o) && other->batch == permit->batch;
            }
            check(!made[at] || !known[at].held, "%u: %s is held", i, NAMES[at]);
            check(!made[at] || known[at].until == 0 || permit->granted_at < known[at].until,
                  "%u: %s is over", i, NAMES[at]);
            check(!made[at] || known[at].most == 0 || used <= known[at].most, "%u: %u of %s work",
                  i, used, NAMES[at]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_at_most_so_many_at_once, host_begin),
        cmocka_unit_test_setup(test_two_batches_do_not_count_each_other, host_begin),
        cmocka_unit_test_setup(test_nothing_begins_after_its_end, host_begin),
        cmocka_unit_test_setup(test_what_has_begun_is_started_again, host_begin),
        cmocka_unit_test_setup(test_a_batch_that_is_missing, host_begin),
        cmocka_unit_test_setup(test_held_and_released, host_begin),
        cmocka_unit_test_setup(test_a_batch_begins_again, host_begin),
        cmocka_unit_test_setup(test_the_oldest_that_has_ended_makes_room, host_begin),
        cmocka_unit_test_setup(test_the_youngest_of_two_that_have_ended_stays, host_begin),
        cmocka_unit_test_setup(test_what_is_refused, host_begin),
        cmocka_unit_test_setup(test_no_bound_is_crossed, host_begin),
    };
    int failed = cmocka_run_group_tests_name("task_batch", tests, NULL, NULL);
    arena_free(&host.arena);
    return failed;
}
