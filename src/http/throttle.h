/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the request rate of each run: a burst, then a fixed rate. A run that floods is refused and does not slow down
 * the others. Used only by the single thread of the HTTP server for runs. */
#pragma once

#include "base/sha256.h"

#include <stdint.h>

enum { THROTTLE_RUNS = 1024, THROTTLE_BURST = 120, THROTTLE_PER_SECOND = 2 };

struct throttle {
    struct throttle_run {
        struct hash token;
        int64_t full_at; /* when its full burst is available again, in microseconds */
    } runs[THROTTLE_RUNS];
};

/* False: the run has to wait. */
bool throttle_allows(struct throttle *throttle, const struct hash *token, int64_t now);
