/* SPDX-License-Identifier: Apache-2.0 */
/* Measures commits and turns. write NAME STORE BARE-STORE STORED ROUNDS SECONDS: NAME is the engine; the two stores
 * have the same content. Prints commit-NAME-STORED and turn-NAME-STORED. */
#include "bench/bench.h"
#include "ledger/ledger.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <stdlib.h>

enum { WARM = 10000 }; /* busy goals out of all stored goals: fewer than LIMIT_WARM_GOALS */

struct bench {
    const char *engine;
    uint32_t stored;
    struct store *store;
    struct bare *bare;
    struct store *checkpoints[2]; /* SQLite only: a separate connection for each store */
    int rounds;
    double seconds;
};

/* ---- commit: a prepared request ---- */

struct commit_side {
    struct herd herd;
    struct store_request request;
    struct arena arena, answers;
    struct store *store;
    struct bare *bare;
};

static void commit_prepare(void *with) {
    struct commit_side *side = with;
    arena_reset(&side->arena);
    herd_commit(&side->herd, &side->request, &side->arena);
    side->request.batch++;
}

static void commit_run(void *with) {
    struct commit_side *side = with;
    struct store_answer answer;
    arena_reset(&side->answers);
    store_perform(side->store, &side->request, &answer, &side->answers);
    if (answer.outcome != STORE_DONE || !answer.held)
        bench_fail("commit", answer.error.at ? answer.error.at : "the host row is not held");
    for (uint32_t i = 0; i < side->request.commit_count; i++)
        if (!side->request.commits[i].ok)
            bench_fail("commit", "a goal conflicted");
}

static void bare_run(void *with) {
    struct commit_side *side = with;
    bare_commit(side->bare, &side->request);
}

static void join(struct commit_side *side) {
    struct store_answer answer;
    struct store_request request = {
        .verb = STORE_JOIN, .self = {BENCH_OWNER, 1, 0}, .at = bench_wall_us()};
    request.build = request.addr = STR("bench");
    store_perform(side->store, &request, &answer, &side->answers);
    if (answer.outcome != STORE_DONE)
        bench_fail("join", answer.error.at);
    side->request.self = (struct store_self){BENCH_OWNER, 1, answer.epoch};
    side->request.batch = answer.batch;
}

static void side_free(struct commit_side *side) {
    herd_free(&side->herd);
    arena_free(&side->arena);
    arena_free(&side->answers);
}

/* ---- turn: reports through a warm ledger ---- */

struct turn_side {
    struct herd herd;
    struct ledger *ledger;
    struct store *store;
    struct arena answers;
    uint64_t pulse;
    uint32_t answered;
};

static struct instant turn_now(struct turn_side *side) {
    int64_t boot = (int64_t)(bench_seconds() * 1e6);
    return (struct instant){.wall = bench_wall_us(), .boot = boot, .pulse = ++side->pulse};
}

static void take_answers(struct turn_side *side) {
    for (struct input *input; (input = ledger_take_answered(side->ledger)); side->answered++) {
        if (input->error != ERROR_NONE)
            bench_fail("turn", input->why[0] ? input->why : "a report was refused");
        input_free(input);
    }
}

/* Runs turns until the ledger has no further request; by then `answered` inputs must be answered. */
static void turn_until(struct turn_side *side, uint32_t answered) {
    struct store_answer answer;
    const struct store_request *request = ledger_turn(side->ledger, NULL, turn_now(side));
    for (; request; request = ledger_turn(side->ledger, &answer, turn_now(side))) {
        arena_reset(&side->answers);
        store_perform(side->store, request, &answer, &side->answers);
        if (answer.outcome != STORE_DONE)
            bench_fail("turn", answer.error.at);
    }
    take_answers(side);
    if (side->answered < answered)
        bench_fail("turn", "reports were not answered");
}

static void reports_run(void *with) {
    struct turn_side *side = with;
    uint32_t places[BENCH_BATCH];
    herd_take(&side->herd, places);
    int64_t at = bench_wall_us();
    side->answered = 0;
    for (uint32_t i = 0; i < BENCH_BATCH; i++) {
        struct signal signal = report_signal(goal_at(places[i]), &side->herd.random, at);
        if (!ledger_offer(side->ledger, input_make(&signal, side)))
            bench_fail("turn", "the ledger is full");
    }
    turn_until(side, BENCH_BATCH);
}

static void turn_open(struct turn_side *side, const struct bench *bench, uint32_t working) {
    struct ledger_config config = {.host = BENCH_OWNER,
                                   .instance = 1,
                                   .lease = SECONDS(10),
                                   .beat_every = SECONDS(3),
                                   .poll_every = SECONDS(1),
                                   .retry_every = MILLISECONDS(200),
                                   .policy = policy_of(MINUTES(5)),
                                   .build = STR("bench"),
                                   .addr = STR("bench")};
    *side = (struct turn_side){.store = bench->store, .ledger = ledger_create(&config)};
    if (!side->ledger)
        bench_fail("turn", "no memory");
    side->herd = herd_make(bench->stored, working, 3);
    turn_until(side, 0); /* joins, and reads the due goals */
    for (uint32_t i = 0; i < working; i += BENCH_BATCH)
        reports_run(side);
}

/* ---- both ---- */

static void checkpoint(void *with) {
    struct bench *bench = with;
    for (int i = 0; i < 2; i++)
        if (bench->checkpoints[i] && !sqlite_checkpoint(bench->checkpoints[i]))
            bench_fail("checkpoint", "it did not go through");
}

static void contest(struct bench *bench, const char *what, const char *unit, double units,
                    struct side ours, struct side bare) {
    char name[64], baseline[64];
    snprintf(name, sizeof name, "%s-%s-%u", what, bench->engine, bench->stored);
    snprintf(baseline, sizeof baseline, "bare %s", bench->engine);
    contest_run(&(struct contest){.name = name,
                                  .unit = unit,
                                  .baseline = baseline,
                                  .units = units,
                                  .ours = ours,
                                  .bare = bare,
                                  .between = checkpoint,
                                  .between_with = bench,
                                  .rounds = bench->rounds,
                                  .seconds = bench->seconds});
}

static void bench_commit(struct bench *bench) {
    struct commit_side ours = {.store = bench->store}, bare = {.bare = bench->bare};
    ours.herd = herd_make(bench->stored, bench->stored, 1);
    bare.herd = herd_make(bench->stored, bench->stored, 1);
    join(&ours);
    contest(bench, "commit", "rows/s", 2 * BENCH_BATCH,
            (struct side){&ours, commit_prepare, commit_run},
            (struct side){&bare, commit_prepare, bare_run});
    side_free(&ours);
    side_free(&bare);
}

static void bench_turn(struct bench *bench) {
    uint32_t working = bench->stored < WARM ? bench->stored : WARM;
    struct turn_side ours;
    turn_open(&ours, bench, working);
    struct commit_side bare = {.bare = bench->bare, .herd = herd_make(bench->stored, working, 3)};
    for (uint32_t i = 0; i < working; i += BENCH_BATCH) {
        commit_prepare(&bare);
        bare_run(&bare);
    }
    contest(bench, "turn", "reports/s", BENCH_BATCH, (struct side){&ours, NULL, reports_run},
            (struct side){&bare, commit_prepare, bare_run});
    side_free(&bare);
    herd_free(&ours.herd);
    ledger_free(ours.ledger);
    arena_free(&ours.answers);
}

static struct store *open_store(const char *where) {
    char error[512];
    struct store *store = store_open(str_of(where), error, sizeof error);
    if (!store)
        bench_fail("write", error);
    return store;
}

int main(int argc, char **argv) {
    if (argc != 7)
        bench_fail("write", "write NAME STORE BARE-STORE STORED ROUNDS SECONDS");
    struct bench bench = {.engine = argv[1],
                          .store = open_store(argv[2]),
                          .bare = bare_open(argv[3]),
                          .stored = (uint32_t)atoi(argv[4]),
                          .rounds = atoi(argv[5]),
                          .seconds = atof(argv[6])};
    if (store_address_file(argv[2]))
        for (int i = 0; i < 2; i++)
            bench.checkpoints[i] = open_store(argv[2 + i]);
    bench_commit(&bench); /* first: it starts from the versions that were filled in */
    bench_turn(&bench);
    for (int i = 0; i < 2; i++)
        store_close(bench.checkpoints[i]);
    store_close(bench.store);
    bare_close(bench.bare);
    return 0;
}
