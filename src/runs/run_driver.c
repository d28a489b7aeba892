/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a run's driver, and any other code that works on an agent's bytes, under the crash guard.
 *
 * A driver allocates from the arena of the call, and so does jansson (drivers/drive_memory.c). So a call that is
 * abandoned in the middle leaves nothing behind but the driver's own state, which is not used again. */
#include "base/seam.h"
#include "drivers/drive.h"
#include "runs/run.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"

struct calling {
    struct run *run;
    const struct driver_call *call;
    struct drive_out *out;
};

static void call_do(void *with) {
    struct calling *it = with;
    struct run *run = it->run;
    const struct driver_call *call = it->call;
    const struct driver *driver = run->driver;
    int64_t now = clock_steady();
    must(!seam("driver-call")); /* a fault test breaks an invariant here */
    switch (call->verb) {
    case DRIVER_BEGIN: driver->begin(run->state, &run->spec, now, it->out); break;
    case DRIVER_FEED:
        drive_input(&run->input, driver, run->state, call->text, call->offset, now, it->out);
        break;
    case DRIVER_GONE: driver->gone(run->state, run->exit, now, it->out); break;
    case DRIVER_SEND: driver->send(run->state, call->dispatch, call->text, now, it->out); break;
    case DRIVER_ANSWER: driver->answer(run->state, call->text, call->answer, now, it->out); break;
    case DRIVER_INTERRUPT: driver->interrupt(run->state, now, it->out); break;
    case DRIVER_LOOK: driver->look(run->state, call->dispatch, now, it->out); break;
    case DRIVER_TICK: driver->tick(run->state, now, it->out); break;
    }
    drive_resume_set(it->out, driver->resume_at(run->state));
    drive_mend(it->out);
}

/* While `work` runs, jansson allocates from the arena, however `work` ends; NULL: from malloc. */
static bool guarded(void (*work)(void *with), void *with, struct arena *json_arena,
                    struct crash_guard_report *ret_report) {
    struct arena *outer = drive_memory_use(json_arena);
    enum crash_guard_result result = crash_guard_run(work, with, ret_report);
    drive_memory_use(outer);
    return result == CRASH_GUARD_WHOLE;
}

bool driver_call(struct run *run, const struct driver_call *call, struct drive_out *out,
                 struct crash_guard_report *ret_report) {
    struct arena scratch = {0};
    struct calling it = {run, call, out};
    bool whole = !run->broken && guarded(call_do, &it, &scratch, ret_report);
    arena_free(&scratch);
    return whole;
}

bool driver_parses(void (*work)(void *with), void *with, struct crash_guard_report *ret_report) {
    struct arena scratch = {0};
    bool whole = guarded(work, with, &scratch, ret_report);
    arena_free(&scratch);
    return whole;
}
