/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when a promise breaks or memory runs out? */
#include "daemon/guard.h"

#include "base/must.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct guard {
    jmp_buf out;
    struct guard *outer;
    struct guard_report *report;
};

static _Thread_local struct guard *innermost;

enum guard_result guard_run(void (*call)(void *with), void *with, struct guard_report *ret_report) {
    struct guard guard = {.outer = innermost, .report = ret_report};
    innermost = &guard;
    enum guard_result result = (enum guard_result)setjmp(guard.out);
    if (result == GUARD_WHOLE)
        call(with);
    innermost = guard.outer;
    return result;
}

_Noreturn void must_failed(const char *file, int line, const char *promise) {
    if (!innermost) {
        fprintf(stderr, "overseer: a promise is broken at %s:%d: %s\n", file, line, promise);
        abort();
    }
    snprintf(innermost->report->why, sizeof innermost->report->why, "%s:%d: %s", file, line,
             promise);
    longjmp(innermost->out, GUARD_BROKEN);
}

_Noreturn void memory_exhausted(void) {
    if (!innermost) {
        fprintf(stderr, "overseer: out of memory\n");
        abort();
    }
    snprintf(innermost->report->why, sizeof innermost->report->why, "out of memory");
    longjmp(innermost->out, GUARD_MEMORY);
}
