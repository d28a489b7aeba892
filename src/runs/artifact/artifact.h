/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a required file exists and is as it has to be: VERIFY-04 to VERIFY-08, by this code alone. Nothing in
 * a contract is ever executed (VERIFY-21), and nothing is written (VERIFY-23). */
#pragma once

#include "model/artifact.h"

#include <stdint.h>

struct artifact_check {
    struct str target; /* its path */
    bool passed;
    struct str reason; /* why not; empty: it passed */
};

/* `folder`: an open folder, the only place that is examined. `until`: on the monotonic clock, microseconds; an artifact
 * that is not judged by then has failed (VERIFY-15). Waits for the disk, so call it on a worker. */
struct artifact_check artifact_check(int folder, const struct artifact *artifact, int64_t until,
                                     struct arena *arena);

int64_t artifact_clock(void);

/* ---- artifact_json.c ---- */

/* The JSON structure of a text. The text is scanned once, from the beginning, without allocating memory. */
struct artifact_json {
    const char *wrong; /* why it is not JSON; NULL: it is */
    uint32_t line, column;
    bool is_list;
    uint64_t items;
    bool lacks; /* some item is not an object or lacks a key; the fields below describe the first */
    uint64_t lacks_at;
    uint32_t lacks_key; /* the key that is missing; equal to the count of keys: it is no object */
};
struct artifact_json artifact_json(struct str text, const struct texts *keys);
