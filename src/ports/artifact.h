/* SPDX-License-Identifier: Apache-2.0 */
/* Is a file that has to be there as it has to be? VERIFY-04 to VERIFY-08, by this code alone: nothing of a contract is ever run
 * (VERIFY-21), and nothing is written (VERIFY-23). */
#pragma once

#include "model/artifact.h"

#include <stdint.h>

struct artifact_check {
    struct str target; /* its path */
    bool passed;
    struct str reason; /* why not; empty: it passed */
};

/* `folder`: an open folder, the only place that is looked at. `until`: on the monotonic clock, microseconds; what is not known by
 * then has failed (VERIFY-15). Waits for the disk: for a worker. */
struct artifact_check artifact_check(int folder, const struct artifact *artifact, int64_t until,
                                     struct arena *arena);

int64_t artifact_clock(void);

/* ---- artifact_json.c ---- */

/* What a text is, as JSON. It is read once, from the beginning, and takes no memory. */
struct artifact_json {
    const char *wrong; /* why it is none; NULL: it is */
    uint32_t line, column;
    bool is_list;
    uint64_t items;
    bool lacks; /* an item is no object, or has not all keys: the first of them */
    uint64_t lacks_at;
    uint32_t lacks_key; /* which; at count of keys: it is no object */
};
struct artifact_json artifact_json(struct str text, const struct texts *keys);
