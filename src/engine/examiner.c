/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/examiner.h"

#include "engine/store_open.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/log.h"

#include <unistd.h>

enum { BEGIN_AFTER_MS = 1000, SLICE_US = 20000 }; /* the start has priority */

static void rest(struct examiner *examiner) {
    for (int i = 0; i < BEGIN_AFTER_MS * 1000 / SLICE_US && !atomic_load(&examiner->ending); i++)
        usleep(SLICE_US);
}

static void examine_call(void *with) {
    struct examiner *examiner = with;
    static struct examination found;
    struct examine_options options = {.ending = &examiner->ending};
    int64_t began = clock_boot();
    store_examine(str_of(examiner->where), &options, &found);
    bool sound = found.verdict == EXAMINE_SOUND, damaged = found.verdict == EXAMINE_DAMAGED;
    if (sound)
        log_info("the store was examined, no damage found: %llu goals and %llu records in %.1f s",
                 (unsigned long long)found.goals, (unsigned long long)found.records,
                 (double)(clock_boot() - began) / SECONDS(1));
    if (sound || (!damaged && atomic_load(&examiner->ending)))
        return;
    atomic_store(&examiner->failed, true);
    if (!damaged) {
        log_warning("the store could not be examined: %s; the next start tries again", found.why);
        return;
    }
    findings_log(&found);
    ledger_thread_enter_safe(examiner->ledger_thread, str_of(found.why));
    ledger_thread_wake(examiner->ledger_thread);
}

static void *examiner_run(void *with) {
    struct examiner *examiner = with;
    struct crash_guard_report report;
    rest(examiner);
    if (atomic_load(&examiner->ending))
        return NULL;
    enum crash_guard_result result = crash_guard_run(examine_call, examiner, &report);
    if (result == CRASH_GUARD_BROKEN)
        must_failed(__FILE__, __LINE__, report.why);
    if (result == CRASH_GUARD_MEMORY) {
        atomic_store(&examiner->failed, true);
        log_warning("the store could not be examined: out of memory; the next start tries again");
    }
    return NULL;
}

bool examiner_start(struct examiner *examiner, const char *where,
                    struct ledger_thread *ledger_thread) {
    examiner->where = where;
    examiner->ledger_thread = ledger_thread;
    examiner->started = pthread_create(&examiner->thread, NULL, examiner_run, examiner) == 0;
    atomic_store(&examiner->failed, !examiner->started);
    return examiner->started;
}

void examiner_stop(struct examiner *examiner) {
    atomic_store(&examiner->ending, true);
    if (examiner->started)
        pthread_join(examiner->thread, NULL);
    examiner->started = false;
}
