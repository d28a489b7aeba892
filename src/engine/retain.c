/* SPDX-License-Identifier: Apache-2.0 */
/* Runs retention beside the ledger, but never while the clock cannot be trusted. */
#include "engine/retain.h"

#include "engine/answer_cache.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/log.h"

#include <unistd.h>

enum {
    FIRST_AFTER_SECONDS = 60, /* the start has more urgent work */
    PASS_EVERY_SECONDS = 3600,
    LOOK_EVERY_SECONDS = 60, /* while the clock is not calm yet: clock_calm_for() */
    SLICE_US = 50000,        /* between two checks whether to end */
    SHARE_PERCENT = 5,       /* of all records, in one pass */
    SHARE_LEAST = 20000,     /* rows; the cap is never lower */
};
#define CALM_FOR MINUTES(24 * 60)

struct pass {
    struct retainer *retainer;
    struct retain *retain;
    bool going;
};

static void step_call(void *with) {
    struct pass *pass = with;
    pass->going = retain_step(pass->retain);
}

static void rest(struct retainer *retainer, int64_t span_us) {
    for (; span_us > 0 && !atomic_load(&retainer->ending); span_us -= SLICE_US)
        usleep((useconds_t)(span_us < SLICE_US ? span_us : SLICE_US));
}

static void pass_log(const struct retain_report *it) {
    if (it->steps > 0 || it->days > 0)
        log_info(
            "retention: %llu bodies and %llu records dropped, %llu kept, %llu more milestones, %llu"
            " sources, %llu texts, %llu days; the longest step %.1f ms",
            (unsigned long long)it->bodies, (unsigned long long)it->records,
            (unsigned long long)it->kept, (unsigned long long)it->milestones,
            (unsigned long long)it->seen, (unsigned long long)it->texts,
            (unsigned long long)it->days, (double)it->longest_us / 1000);
}

/* The next pass does what is left: nothing depends on when. */
static void pass_run(struct pass *pass) {
    struct crash_guard_report report;
    do {
        enum crash_guard_result result = crash_guard_run(step_call, pass, &report);
        answer_cache_all_changed(); /* answers about goals include their records */
        if (result == CRASH_GUARD_BROKEN)
            must_failed(__FILE__, __LINE__, report.why);
        if (result == CRASH_GUARD_MEMORY) {
            log_warning("retention: out of memory; trying again later");
            return;
        }
        rest(pass->retainer, retain_rest_us(pass->retain));
    } while (pass->going && !atomic_load(&pass->retainer->ending) && clock_calm_for() >= CALM_FOR &&
             !safe_is_on(pass->retainer->safe));
    if (retain_failed(pass->retain))
        log_warning("retention: %s; trying again later", retain_failed(pass->retain));
    pass_log(retain_report(pass->retain));
}

/* DESIGN 6: a clock that has stepped may be ahead, so what it calls old may be from today. Nothing is dropped until the
 * clock has not stepped for a day, measured by the boot clock. False: the daemon ends. */
static bool calm_await(struct retainer *retainer) {
    bool warned = false;
    while (clock_calm_for() < CALM_FOR && !atomic_load(&retainer->ending)) {
        if (!warned)
            log_info("retention: paused until a day after the last clock step");
        warned = true;
        rest(retainer, SECONDS(LOOK_EVERY_SECONDS));
    }
    return !atomic_load(&retainer->ending);
}

/* In a fleet all hosts try, and one of them does the work. */
static void *retainer_run(void *with) {
    struct retainer *retainer = with;
    rest(retainer, SECONDS(FIRST_AFTER_SECONDS));
    while (calm_await(retainer)) {
        char error[LIMIT_WHY];
        struct pass pass = {.retainer = retainer};
        if (!safe_is_on(retainer->safe))
            pass.retain = retain_open(str_of(retainer->where), false, error, sizeof error);
        if (pass.retain) {
            retain_begin(pass.retain, &retainer->rules, clock_wall(), false);
            retain_cap(pass.retain, SHARE_PERCENT, SHARE_LEAST);
            pass_run(&pass);
        }
        retain_close(pass.retain);
        rest(retainer, SECONDS(PASS_EVERY_SECONDS));
    }
    return NULL;
}

bool retainer_start(struct retainer *retainer, const char *where, const struct safe *safe) {
    retainer->where = where;
    retainer->safe = safe;
    retainer->started = pthread_create(&retainer->thread, NULL, retainer_run, retainer) == 0;
    return retainer->started;
}

void retainer_stop(struct retainer *retainer) {
    atomic_store(&retainer->ending, true);
    if (retainer->started)
        pthread_join(retainer->thread, NULL);
    retainer->started = false;
}
