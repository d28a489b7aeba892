/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the parts that need no store: a decision, a fingerprint, the heap of due times. */
#include "bench/bench.h"

#include "base/due.h"
#include "core/step.h"

#include <stdlib.h>

static const double SECONDS_EACH = 1.0;

static void bench_step(void) {
    struct arena arena = {0}, kept = {0};
    struct record record;
    struct policy policy = policy_of(MINUTES(5));
    struct goal goal = goal_new(1, BENCH_OWNER, &kept, &record);
    uint64_t random = 1, steps = 0;
    struct signal signal = report_signal(goal.id, &random, bench_wall_us());
    double begin = bench_seconds(), spent = 0;
    for (; spent < SECONDS_EACH; spent = bench_seconds() - begin)
        for (int i = 0; i < 1000; i++, steps++) {
            struct world world = {.goal = &goal};
            arena_reset(&arena);
            struct decision decision = step(&world, &signal, &policy, &arena);
            if (decision.verdict != VERDICT_CHANGE)
                bench_fail("step", "it decided nothing");
            goal = decision.goal;
        }
    bench_print("step", (double)steps / spent, "steps/s");
    arena_free(&arena);
    arena_free(&kept);
}

static void bench_sha256(void) {
    char bytes[256] = {1};
    uint64_t hashes = 0;
    double begin = bench_seconds(), spent = 0;
    for (; spent < SECONDS_EACH; spent = bench_seconds() - begin)
        for (int i = 0; i < 1000; i++, hashes++) {
            struct hash hash = sha256((struct str){bytes, sizeof bytes});
            memcpy(bytes, hash.bytes, sizeof hash.bytes);
        }
    bench_print("sha256-256-bytes", spent / (double)hashes * 1e6, "us");
}

enum { DUE = 1000000 };

static void due_check(bool ok) {
    if (!ok)
        bench_fail("due", "no memory, or an entry is missing");
}

static void bench_due(void) {
    struct due due = {0};
    uint64_t random = 1;
    struct id *ids = calloc(DUE, sizeof *ids), id;
    due_check(ids != NULL);
    for (uint32_t i = 0; i < DUE; i++)
        ids[i] = goal_at(i);
    double begin = bench_seconds();
    for (uint32_t i = 0; i < DUE; i++)
        due_check(due_set(&due, ids[i], (int64_t)(bench_random(&random) >> 8)));
    bench_print("due-insert-1000000", DUE / (bench_seconds() - begin), "entries/s");
    begin = bench_seconds();
    for (uint32_t i = 0; i < DUE; i++)
        due_check(
            due_set(&due, ids[bench_random(&random) % DUE], (int64_t)(bench_random(&random) >> 8)));
    bench_print("due-move-1000000", DUE / (bench_seconds() - begin), "entries/s");
    begin = bench_seconds();
    for (uint32_t i = 0; i < DUE; i++)
        due_check(due_pop(&due, TIME_NEVER - 1, &id));
    bench_print("due-pop-1000000", DUE / (bench_seconds() - begin), "entries/s");
    due_free(&due);
    free(ids);
}

int main(void) {
    bench_step();
    bench_sha256();
    bench_due();
    return 0;
}
