/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two implementations on a noisy machine. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int64_t bench_wall_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* splitmix64 */
uint64_t bench_random(uint64_t *state) {
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

_Noreturn void bench_fail(const char *what, const char *why) {
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Units per second over one half of a round. */
static double half(const struct contest *contest, const struct side *side) {
    if (contest->between)
        contest->between(contest->between_with);
    double spent = 0;
    int runs = 0;
    for (; spent < contest->seconds; runs++) {
        if (side->prepare)
            side->prepare(side->with);
        double begin = bench_seconds();
        side->run(side->with);
        spent += bench_seconds() - begin;
    }
    return runs * contest->units / spent;
}

/* The side that begins alternates with each round. The first round only warms up. */
void contest_run(const struct contest *contest) {
    double *rates = calloc((size_t)contest->rounds, sizeof *rates);
    double *ratios = calloc((size_t)contest->rounds, sizeof *ratios);
    if (!rates || !ratios)
        bench_fail(contest->name, "no memory");
    for (int round = -1; round < contest->rounds; round++) {
        double first = half(contest, round % 2 ? &contest->bare : &contest->ours);
        double second = half(contest, round % 2 ? &contest->ours : &contest->bare);
        double ours = round % 2 ? second : first, bare = round % 2 ? first : second;
        if (round < 0)
            continue;
        rates[round] = ours;
        ratios[round] = ours / bare;
        if (getenv("BENCH_VERBOSE"))
            fprintf(stderr, "%s round %d: ours %.0f, bare %.0f, ratio %.3f\n", contest->name, round,
                    ours, bare, ours / bare);
    }
    printf("bench %s: %.0f %s, ratio %.2f of %s\n", contest->name, median(rates, contest->rounds),
           contest->unit, median(ratios, contest->rounds), contest->baseline);
    fflush(stdout);
    free(rates);
    free(ratios);
}

void bench_print(const char *name, double value, const char *unit) {
    printf(value < 10 ? "bench %s: %.3f %s\n" : "bench %s: %.0f %s\n", name, value, unit);
    fflush(stdout);
}

struct bare *bare_open(const char *where) {
    bool sqlite = store_address_file(where);
    return sqlite ? BARE_SQLITE.open(where + strlen("sqlite:")) : BARE_POSTGRES.open(where);
}

void bare_commit(struct bare *bare, const struct store_request *request) {
    bare->driver->commit(bare, request);
}

void bare_close(struct bare *bare) {
    bare->driver->close(bare);
}
