/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the stored goals, and the commits that advance a hundred of them. */
#include "bench/bench.h"
#include "store/rows.h"

#include <stdio.h>
#include <stdlib.h>

static const int64_t CREATED_MS =
    1760000000000; /* creation time of the first goal; ten goals per millisecond */
static const int64_t DUE_AT = 4102444800000000; /* the year 2100: no goal is due */

/* Ids in the daemon's format: time first, so that goals are stored in order of age. */
struct id goal_at(uint32_t i) {
    uint64_t state = i, low = bench_random(&state), high = bench_random(&state);
    uint8_t random[10];
    memcpy(random, &low, 8);
    memcpy(random + 8, &high, 2);
    random[0] = (uint8_t)(i % 10 * 25);
    return id_make(CREATED_MS + i / 10, random);
}

struct signal report_signal(struct id goal, uint64_t *random, int64_t at) {
    static const char *const TEXTS[] = {
        "parser done, 14 of 31 tests pass", "rebasing onto main, two conflicts left",
        "all tests pass, writing the summary", "waiting for the build of libparse"};
    uint64_t low = bench_random(random), high = bench_random(random);
    struct signal signal = {.kind = SIGNAL_GOAL_REPORT, .goal = goal, .at = at};
    memcpy(signal.source.bytes, &low, 8);
    memcpy(signal.source.bytes + 8, &high, 8);
    signal.sender.actor = STR("agent:builder-17");
    signal.text = str_of(TEXTS[low % 4]);
    return signal;
}

static void seal(struct record *record, enum record_type type, const struct signal *signal,
                 const struct policy *policy, struct goal *goal, struct arena *arena) {
    struct evidence evidence = {.rule = STR("report.said"),
                                .signal = signal->kind,
                                .source = signal->source,
                                .actor = signal->sender.actor,
                                .text = signal->text};
    *record = (struct record){.type = type, .at = signal->at, .core = 1, .policy = policy->hash};
    record->body = shape_encode(&EVIDENCE, &evidence, arena);
    record_seal(record, goal->id, goal->records.seq, &goal->records.head);
    goal->records.seq = record->seq;
    goal->records.head = record->hash;
}

struct goal goal_new(uint32_t i, uint32_t owner, struct arena *arena, struct record *ret_record) {
    static struct policy policy;
    if (policy.act_within == 0)
        policy = policy_of(MINUTES(5));
    uint64_t random = i;
    struct goal goal = {
        .id = goal_at(i), .owner = owner, .fence = 1, .version = 1, .due_at = DUE_AT};
    goal.times.created_at = goal.times.updated_at = (CREATED_MS + i / 10) * 1000;
    goal.shown = DISPLAY_QUEUED + 1;
    struct signal signal = report_signal(goal.id, &random, goal.times.created_at);
    seal(ret_record, RECORD_GOAL_CREATED, &signal, &policy, &goal, arena);
    return goal;
}

/* ---- the working set ---- */

static void shuffle(uint32_t *order, uint32_t count, uint32_t from, uint64_t *random) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = i + (uint32_t)(bench_random(random) % (from - i)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

struct herd herd_make(uint32_t stored, uint32_t working, uint64_t seed) {
    struct herd herd = {.count = working, .random = seed};
    herd.order = calloc(stored, sizeof *herd.order);
    herd.tails = calloc(stored, sizeof *herd.tails);
    if (!herd.order || !herd.tails)
        bench_fail("herd", "no memory");
    struct arena arena = {0};
    for (uint32_t i = 0; i < stored; i++) {
        struct record record;
        arena_reset(&arena);
        struct goal goal = goal_new(i, BENCH_OWNER, &arena, &record);
        herd.order[i] = i;
        herd.tails[i] = (struct tail){goal.version, goal.records.seq, goal.records.head};
    }
    shuffle(herd.order, working, stored, &herd.random);
    arena_free(&arena);
    return herd;
}

void herd_free(struct herd *herd) {
    free(herd->order);
    free(herd->tails);
    *herd = (struct herd){0};
}

static int by_place(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorting by place sorts by id. */
void herd_take(struct herd *herd, uint32_t places[BENCH_BATCH]) {
    if (herd->next + BENCH_BATCH > herd->count) {
        shuffle(herd->order, herd->count, herd->count, &herd->random);
        herd->next = 0;
    }
    memcpy(places, herd->order + herd->next, BENCH_BATCH * sizeof *places);
    herd->next += BENCH_BATCH;
    qsort(places, BENCH_BATCH, sizeof *places, by_place);
}

static void move_on(struct herd *herd, uint32_t place, struct goal_commit *commit, int64_t at,
                    const struct policy *policy, struct arena *arena) {
    struct tail *tail = &herd->tails[place];
    struct signal signal = report_signal(goal_at(place), &herd->random, at);
    struct goal goal = {.id = signal.goal, .owner = BENCH_OWNER, .fence = 1, .due_at = DUE_AT};
    goal.version = tail->version + 1;
    goal.records.seq = tail->seq;
    goal.records.head = tail->head;
    goal.times.created_at = (CREATED_MS + place / 10) * 1000;
    goal.times.updated_at = at;
    goal.progress.reports = (uint32_t)tail->seq;
    goal.shown = DISPLAY_QUEUED + 1;
    commit->records = arena_new(arena, struct record, 1);
    commit->record_count = 1;
    seal(commit->records, RECORD_GOAL_REPORTED, &signal, policy, &goal, arena);
    commit->expected = tail->version;
    commit->goal = goal;
    commit->hot = row_seal(ROW_GOAL, goal.id, 0, shape_encode(&GOAL_HOT, &goal, arena), arena);
    *tail = (struct tail){goal.version, goal.records.seq, goal.records.head};
}

void herd_commit(struct herd *herd, struct store_request *request, struct arena *arena) {
    struct policy policy = policy_of(MINUTES(5));
    uint32_t places[BENCH_BATCH];
    herd_take(herd, places);
    int64_t at = bench_wall_us();
    request->verb = STORE_COMMIT;
    request->at = at;
    request->commits = arena_new(arena, struct goal_commit, BENCH_BATCH);
    request->commit_count = BENCH_BATCH;
    for (uint32_t i = 0; i < BENCH_BATCH; i++)
        move_on(herd, places[i], &request->commits[i], at, &policy, arena);
}
