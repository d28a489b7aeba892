/* SPDX-License-Identifier: Apache-2.0 */
/* Says whether this daemon may write. In safe mode it answers reads and nothing else, until an operator decides how to
 * continue. STORE-05, STORE-10. */
#pragma once

#include "model/limits.h"

#include <stdatomic.h>
#include <stdbool.h>

struct safe {
    atomic_int state;    /* off, being entered, on */
    char why[LIMIT_WHY]; /* written before the state is on, never after */
};

bool safe_is_on(const struct safe *safe);

/* From any thread. The first caller sets the reason, which is logged once. */
void safe_enter(struct safe *safe, const char *format, ...) __attribute__((format(printf, 2, 3)));
