/* SPDX-License-Identifier: Apache-2.0 */
/* Handles broken invariants and exhausted memory. Inside a guard the call is abandoned and its caller is told; outside
 * of one the process ends, and replays from the store when it is started again. */
#pragma once

#include "base/str.h"

enum crash_guard_result { CRASH_GUARD_WHOLE, CRASH_GUARD_BROKEN, CRASH_GUARD_MEMORY };

struct crash_guard_report {
    char why[256]; /* the broken invariant, with its place in the source */
};

/* Runs call(with). What the call holds when it is abandoned must have another owner, too. */
enum crash_guard_result crash_guard_run(void (*call)(void *with), void *with,
                                        struct crash_guard_report *ret_report);
