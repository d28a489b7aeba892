/* SPDX-License-Identifier: Apache-2.0 */
/* Measures our path against the bare engine in the same run.
 *
 * The machine is noisy, so only ratios are meaningful: our path and the baseline alternate in short rounds, each round
 * yields one ratio, and the median of the ratios is the figure. */
#pragma once

#include "model/decision.h"
#include "store/store.h"

enum { BENCH_BATCH = 100 }; /* goals in a batch */

double bench_seconds(void); /* a monotonic clock */
int64_t bench_wall_us(void);
uint64_t bench_random(uint64_t *state);
_Noreturn void bench_fail(const char *what, const char *why);

/* ---- a contest ---- */

struct side {
    void *with;
    void (*prepare)(void *with); /* not timed */
    void (*run)(void *with);     /* timed: one batch */
};

struct contest {
    const char *name, *unit, *baseline;
    double units; /* done by one run */
    struct side ours, bare;
    void (*between)(void *with); /* before each half of a round, not timed: checkpoints */
    void *between_with;
    int rounds;
    double seconds; /* duration of each half */
};

void contest_run(const struct contest *contest); /* prints one line */

/* Prints the line of a figure without a baseline. */
void bench_print(const char *name, double value, const char *unit);

/* ---- the stored goals ---- */

enum { BENCH_OWNER = 1, BENCH_VICTIM = 2 };

struct id goal_at(uint32_t i);
struct goal goal_new(uint32_t i, uint32_t owner, struct arena *arena, struct record *ret_record);

/* What a batch needs to know about the goals that it advances. */
struct tail {
    uint64_t version, seq;
    struct hash head;
};

struct herd {
    uint32_t count, *order; /* indexes of the goals, shuffled again after each pass */
    struct tail *tails;
    uint32_t next;
    uint64_t random;
};

/* `working` goals, taken at random from the first `stored` ones. */
struct herd herd_make(uint32_t stored, uint32_t working, uint64_t seed);
void herd_take(struct herd *herd, uint32_t places[BENCH_BATCH]); /* in key order, all different */
void herd_free(struct herd *herd);

/* Builds a commit of the next hundred goals: each goal advances by one report. */
void herd_commit(struct herd *herd, struct store_request *request, struct arena *arena);
struct signal report_signal(struct id goal, uint64_t *random, int64_t at);

/* ---- the same rows, written as fast as we know how ---- */

struct bare;
struct bare *bare_open(const char *where);
void bare_commit(struct bare *bare, const struct store_request *request);
void bare_close(struct bare *bare);

struct bare_driver {
    struct bare *(*open)(const char *where);
    void (*commit)(struct bare *bare, const struct store_request *request);
    void (*close)(struct bare *bare);
};
extern const struct bare_driver BARE_SQLITE, BARE_POSTGRES;

struct bare {
    const struct bare_driver *driver;
};
