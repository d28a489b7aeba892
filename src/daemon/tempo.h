/* SPDX-License-Identifier: Apache-2.0 */
/* Does a run ask too often? Each has a burst and then a tempo; who floods is refused and stops nobody else. Used by the one thread of
 * the door for runs. */
#pragma once

#include "base/sha256.h"

#include <stdint.h>

enum { TEMPO_RUNS = 1024, TEMPO_BURST = 120, TEMPO_PER_SECOND = 2 };

struct tempo {
    struct tempo_run {
        struct hash token;
        int64_t full_at; /* when its whole burst is there again, in microseconds */
    } runs[TEMPO_RUNS];
};

/* False: it has to wait. */
bool tempo_allows(struct tempo *tempo, const struct hash *token, int64_t now);
