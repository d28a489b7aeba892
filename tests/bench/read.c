/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long a start and a take-over take. read load NAME STORE; read takeover NAME STORE: in that store, some
 * goals belong to host 2, which sends no heartbeat. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

struct reading {
    struct store *store;
    struct arena arena;
    struct store_request request;
    struct store_answer answer;
    double spent;
};

static void ask(struct reading *reading, enum store_verb verb) {
    reading->request.verb = verb;
    reading->request.at = bench_wall_us();
    arena_reset(&reading->arena);
    double begin = bench_seconds();
    store_perform(reading->store, &reading->request, &reading->answer, &reading->arena);
    reading->spent += bench_seconds() - begin;
    if (reading->answer.outcome != STORE_DONE)
        bench_fail(STORE_VERB_NAMES[verb], reading->answer.error.at);
}

static void join(struct reading *reading) {
    reading->request.self = (struct store_self){BENCH_OWNER, 1, 0};
    reading->request.build = reading->request.addr = STR("bench");
    ask(reading, STORE_JOIN);
    reading->request.self.epoch = reading->answer.epoch;
    reading->spent = 0;
}

/* Reads every open goal with its due time and its open effects, as the daemon does when it starts. */
static uint32_t load(struct reading *reading) {
    uint32_t count = 0;
    reading->request.limit = LIMIT_OWNED_PAGE;
    do {
        ask(reading, STORE_OWNED);
        count += reading->answer.owned_count;
        if (reading->answer.owned_count > 0)
            reading->request.after = reading->answer.owned[reading->answer.owned_count - 1].goal;
    } while (reading->answer.more);
    return count;
}

static uint32_t take_over(struct reading *reading) {
    uint32_t count = 0;
    reading->request.victim = (struct host_row){.host = BENCH_VICTIM, .epoch = 1, .beat = 1};
    reading->request.limit = LIMIT_ADOPT_PAGE;
    ask(reading, STORE_TAKE);
    if (!reading->answer.held)
        bench_fail("takeover", "the host could not be taken");
    reading->request.victim.epoch++;
    do {
        ask(reading, STORE_ADOPT);
        count += reading->answer.owned_count;
    } while (reading->answer.more);
    return count;
}

int main(int argc, char **argv) {
    if (argc != 4)
        bench_fail("read", "read load|takeover NAME STORE");
    char error[512], name[64];
    bool loads = strcmp(argv[1], "load") == 0;
    struct reading reading = {.store = store_open(str_of(argv[3]), error, sizeof error)};
    if (!reading.store)
        bench_fail("read", error);
    join(&reading);
    uint32_t count = loads ? load(&reading) : take_over(&reading);
    snprintf(name, sizeof name, "%s-%s-%u", argv[1], argv[2], count);
    bench_print(name, reading.spent, "s");
    store_close(reading.store);
    arena_free(&reading.arena);
    return 0;
}
