/* SPDX-License-Identifier: Apache-2.0 */
/* How is a run's driver called, and whatever else works on an agent's bytes? Under the crash guard.
 *
 * A driver's memory is the arena of the call: also jansson's (ports/drive_memory.c). So a call that is abandoned in the
 * middle leaves nothing behind but the driver's own state, and that is not used again. */
#include "base/seam.h"
#include "daemon/clock.h"
#include "daemon/guard.h"
#include "daemon/run.h"
#include "ports/drive.h"

struct calling {
    struct running *run;
    const struct driver_call *call;
    struct drive_out *out;
};

static void call_do(void *with) {
    struct calling *it = with;
    struct running *run = it->run;
    const struct driver_call *call = it->call;
    const struct driver *driver = run->driver;
    int64_t now = clock_steady();
    must(!seam("driver-call")); /* a fault test breaks a promise here */
    switch (call->verb) {
    case DRIVER_BEGIN: driver->begin(run->state, &run->spec, now, it->out); break;
    case DRIVER_FEED:
        drive_pour(&run->pour, driver, run->state, call->text, call->offset, now, it->out);
        break;
    case DRIVER_GONE: driver->gone(run->state, run->exit, now, it->out); break;
    case DRIVER_SEND: driver->send(run->state, call->dispatch, call->text, now, it->out); break;
    case DRIVER_ANSWER: driver->answer(run->state, call->text, call->answer, now, it->out); break;
    case DRIVER_INTERRUPT: driver->interrupt(run->state, now, it->out); break;
    case DRIVER_LOOK: driver->look(run->state, call->dispatch, now, it->out); break;
    case DRIVER_TICK: driver->tick(run->state, now, it->out); break;
    }
    drive_said(it->out, driver->resume_at(run->state));
    drive_mend(it->out);
}

/* Jansson's memory is in the arena while `work` lasts, however it ends; NULL: malloc. */
static bool guarded(struct running *run, void (*work)(void *with), void *with,
                    struct arena *json_arena) {
    struct guard_report report = {.why = ""};
    struct arena *outer = drive_memory_use(json_arena);
    enum guard_result result = guard_run(work, with, &report);
    drive_memory_use(outer);
    if (result != GUARD_WHOLE)
        run_break(run, report.why);
    return result == GUARD_WHOLE;
}

bool driver_call(struct running *run, const struct driver_call *call, struct drive_out *out) {
    struct arena scratch = {0};
    struct calling it = {run, call, out};
    bool whole = !run->broken && guarded(run, call_do, &it, &scratch);
    arena_free(&scratch);
    return whole;
}

bool run_parses(struct running *run, void (*work)(void *with), void *with) {
    struct arena scratch = {0};
    bool whole = guarded(run, work, with, &scratch);
    arena_free(&scratch);
    return whole;
}

bool run_guarded(struct running *run, void (*work)(void *with), void *with) {
    return guarded(run, work, with, NULL);
}
