/* SPDX-License-Identifier: Apache-2.0 */
/* May this daemon write? In safe mode it answers reads and nothing else, until an operator says how to go on.
 * STORE-05, STORE-10. */
#pragma once

#include "model/limits.h"

#include <stdatomic.h>
#include <stdbool.h>

struct safe {
    atomic_int state;    /* off, being entered, on */
    char why[LIMIT_WHY]; /* written before it is on, never after */
};

bool safe_is_on(const struct safe *safe);

/* From any thread. The first one who enters says why, and it is logged once. */
void safe_enter(struct safe *safe, const char *format, ...) __attribute__((format(printf, 2, 3)));
