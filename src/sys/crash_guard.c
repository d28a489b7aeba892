/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/crash_guard.h"

#include "base/must.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct crash_guard {
    jmp_buf out;
    struct crash_guard *outer;
    struct crash_guard_report *report;
};

static _Thread_local struct crash_guard *innermost;

enum crash_guard_result crash_guard_run(void (*call)(void *with), void *with,
                                        struct crash_guard_report *ret_report) {
    struct crash_guard guard = {.outer = innermost, .report = ret_report};
    innermost = &guard;
    enum crash_guard_result result = (enum crash_guard_result)setjmp(guard.out);
    if (result == CRASH_GUARD_WHOLE)
        call(with);
    innermost = guard.outer;
    return result;
}

_Noreturn void must_failed(const char *file, int line, const char *promise) {
    if (!innermost) {
        fprintf(stderr, "overseer: an internal check failed at %s:%d: %s\n", file, line, promise);
        abort();
    }
    snprintf(innermost->report->why, sizeof innermost->report->why, "%s:%d: %s", file, line,
             promise);
    longjmp(innermost->out, CRASH_GUARD_BROKEN);
}

_Noreturn void memory_exhausted(void) {
    if (!innermost) {
        fprintf(stderr, "overseer: out of memory\n");
        abort();
    }
    snprintf(innermost->report->why, sizeof innermost->report->why, "out of memory");
    longjmp(innermost->out, CRASH_GUARD_MEMORY);
}
