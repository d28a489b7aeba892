/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the state of the store at the start, and acts on it. Done once, before anything is decided. */
#pragma once

#include "engine/safe_mode.h"
#include "store/examine.h"
#include "sys/lock.h"

struct opening {
    const char *where; /* sqlite:PATH or a PostgreSQL URI */
    uint32_t host;
    struct instance_lock *lock; /* SQLite only */
    struct safe *safe;
};

void findings_log(const struct examination *found);

/* Examines the store; after a clean end, only what would be acted on. Sound: nothing happens. Damaged, or not a store:
 * it is set aside and replaced by a new one, in safe mode (SQLite). Newer, or not readable: left alone, safe mode.
 * False: there is nothing to work on, and the error says what to do. */
bool opening_examine(const struct opening *opening, char *error, size_t error_size);

/* Returns the store that answers reads. In safe mode it is the one that was set aside, as far as it can be read,
 * otherwise the one in its place; if nothing can be read, a store that reports so. NULL with an error. */
struct store *opening_reader(const struct opening *opening, char *error, size_t error_size);
