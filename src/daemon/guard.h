/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when a promise breaks or memory runs out? Inside a guard the call is abandoned and its
 * caller told; outside of one the process ends, and replays from the store when it is started again. */
#pragma once

#include "base/str.h"

enum guard_result { GUARD_WHOLE, GUARD_BROKEN, GUARD_MEMORY };

struct guard_report {
    char why[256]; /* the promise, with its place */
};

/* Runs call(with). What the call holds when it is abandoned must be held by somebody else too. */
enum guard_result guard_run(void (*call)(void *with), void *with, struct guard_report *ret_report);
