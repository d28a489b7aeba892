/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/safe_mode.h"

#include "sys/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { SAFE_OFF, SAFE_ENTERING, SAFE_ON };

bool safe_is_on(const struct safe *safe) {
    return atomic_load(&safe->state) == SAFE_ON;
}

void safe_enter(struct safe *safe, const char *format, ...) {
    int off = SAFE_OFF;
    if (!atomic_compare_exchange_strong(&safe->state, &off, SAFE_ENTERING))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(safe->why, sizeof safe->why, format, args);
    va_end(args);
    atomic_store(&safe->state, SAFE_ON);
    log_error("safe mode: %s", safe->why);
}
