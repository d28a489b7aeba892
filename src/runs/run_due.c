/* SPDX-License-Identifier: Apache-2.0 */
/* When a run wants to be looked at next: the heap of due times and its timer. */
#include "runs/run_table.h"

#include "runs/run.h"
#include "sys/clock.h"

/* ---- timers ---- */

void runs_timer_set(struct run_table *runs) {
    int64_t next = due_next(&runs->due), now = clock_steady();
    if (next == TIME_NEVER || runs->stopping)
        return;
    uint64_t ms = next > now ? (uint64_t)((next - now) / 1000) + 1 : 1;
    uv_timer_start(&runs->timer, runs->due_passed, ms, 0);
}

void run_due(struct run *run) {
    int64_t next =
        run->begun && run->held && !run->broken ? run->driver->due(run->state) : TIME_NEVER;
    next = run->sending ? time_sooner(next, run->sending_until) : next;
    next = run->look ? time_sooner(next, run->look_until) : next;
    next = run->save_at ? time_sooner(next, run->save_at) : next;
    next = run->open_at ? time_sooner(next, run->open_at) : next;
    next = run->outbox.again_at ? time_sooner(next, run->outbox.again_at) : next;
    if (!due_set(&run->runs->due, run->id, next))
        memory_exhausted();
    runs_timer_set(run->runs);
}
