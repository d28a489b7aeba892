/* SPDX-License-Identifier: Apache-2.0 */
/* Who lets go of what is old, while everybody works? */
#include "daemon/retain.h"

#include "daemon/clock.h"
#include "daemon/guard.h"
#include "daemon/log.h"

#include <unistd.h>

enum {
    FIRST_AFTER_SECONDS = 60, /* the start has better things to do */
    PASS_EVERY_SECONDS = 3600,
    SLICE_US = 50000, /* between two looks at whether to end */
};

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

/* What is left is done by the next pass: nothing depends on when. */
static void pass_run(struct pass *pass) {
    struct guard_report report;
    do {
        enum guard_result result = guard_run(step_call, pass, &report);
        if (result == GUARD_BROKEN)
            must_failed(__FILE__, __LINE__, report.why);
        if (result == GUARD_MEMORY) {
            log_warning("retention: out of memory; it goes on later");
            return;
        }
        rest(pass->retainer, retain_rest_us(pass->retain));
    } while (pass->going && !atomic_load(&pass->retainer->ending) &&
             !safe_is_on(pass->retainer->safe));
    if (retain_failed(pass->retain))
        log_warning("retention: %s; it goes on later", retain_failed(pass->retain));
    pass_log(retain_report(pass->retain));
}

/* In a fleet all hosts try, and one of them gets to it. */
static void *retainer_run(void *with) {
    struct retainer *retainer = with;
    rest(retainer, SECONDS(FIRST_AFTER_SECONDS));
    while (!atomic_load(&retainer->ending)) {
        char error[LIMIT_WHY];
        struct pass pass = {.retainer = retainer};
        if (!safe_is_on(retainer->safe))
            pass.retain = retain_open(str_of(retainer->where), false, error, sizeof error);
        if (pass.retain) {
            retain_begin(pass.retain, &retainer->rules, clock_wall(), false);
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
