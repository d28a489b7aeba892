/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what is observed of a run, and keeps it for those who ask. */
#include "runs/run.h"
#include "sys/clock.h"

/* The signal of the run's end carries the reason. An earlier observation would record the end without a reason. */
static enum tristate process_seen(const struct run *run) {
    bool complete = run->ended && (run->kept == run->offered || run->report_lost);
    if (run->exited)
        return complete ? TRISTATE_NO : TRISTATE_UNKNOWN;
    return run->held ? TRISTATE_YES : TRISTATE_UNKNOWN;
}

/* Uses the steady clock: what is kept is not affected by steps of the wall clock. */
static void seen_measured(const struct run *run, struct observation *ret) {
    *ret = (struct observation){0};
    if (run->begun && !run->broken)
        run->driver->see(run->state, ret);
    ret->context /= 100; /* to percent */
    ret->assignment = run->assignment;
    ret->at = clock_steady();
    ret->process = process_seen(run);
    if (run->exited || run->broken)
        ret->turn = run->exited ? ret->process : TRISTATE_NO;
}

void run_seen_now(const struct run *run, struct observation *ret) {
    seen_measured(run, ret);
    observation_to_wall(ret);
}

void run_seen_keep(struct run *run) {
    struct observation seen;
    seen_measured(run, &seen);
    pthread_mutex_lock(&run->runs->lock);
    run->seen = seen;
    pthread_mutex_unlock(&run->runs->lock);
}
