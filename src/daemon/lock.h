/* SPDX-License-Identifier: Apache-2.0 */
/* Who has this file, and did its last owner get to close it? STORE-07: one daemon for one SQLite store. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct instance_lock {
    int fd;
    bool was_open;  /* the last owner did not close the store: it was killed, or the power went */
    bool same_boot; /* and that was since the machine started */
};

/* False: somebody else has it, or it cannot be written; the error says what to do. */
bool instance_lock_take(struct instance_lock *lock, const char *store_path, char *error,
                        size_t error_size);

/* From now on the store has a log beside it; and from now on it does not need one. */
bool instance_lock_opened(struct instance_lock *lock);
bool instance_lock_closed(struct instance_lock *lock);
