/* SPDX-License-Identifier: Apache-2.0 */
/* In which state is the store found, and what follows from that? Asked once, before anything is decided. */
#pragma once

#include "daemon/lock.h"
#include "daemon/safe.h"
#include "store/examine.h"

struct opening {
    const char *where; /* sqlite:PATH or a PostgreSQL URI */
    uint32_t host;
    struct instance_lock *lock; /* SQLite only */
    struct safe *safe;
};

void findings_log(const struct examination *found);

/* Examines the store; of one that is as a clean end left it, only what would be acted on. Sound: nothing happens. Damaged, or something else in its place: it is set aside and a
 * new one stands there, in safe mode (SQLite). Newer, or not to be read: left alone, safe mode. False: there
 * is nothing to work on, and the error says what to do. */
bool opening_examine(const struct opening *opening, char *error, size_t error_size);

/* Who answers reads: the store; in safe mode what was set aside, as far as it can be read, else what stands there;
 * and where nothing can be read, somebody who says so. NULL with an error. */
struct store *opening_reader(const struct opening *opening, char *error, size_t error_size);
