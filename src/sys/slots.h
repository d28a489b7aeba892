/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a small file that is rewritten often. Two slots in one file, each with a number and a checksum, are written in
 * turn: an interrupted write leaves the previous slot whole. Only the used bytes are written. The file is as durable as
 * the page cache: it survives this process, but not the machine. */
#pragma once

#include "base/arena.h"

struct slots {
    uint64_t number; /* of the newest write; 0: none */
    size_t room;     /* size of one slot; 0: the next write makes the file */
};

bool slots_write(struct slots *slots, const char *folder, const char *name, struct str bytes)
    __attribute__((
        warn_unused_result)); /* false: errno says why, and the old content is unchanged */

enum slots_found { SLOTS_NONE, SLOTS_WHOLE, SLOTS_OTHER };

/* The newest complete slot, in the arena. OTHER: the file has another format, or neither slot is complete; the bytes
 * are the whole file. */
enum slots_found slots_read(struct slots *ret_slots, const char *folder, const char *name,
                            struct arena *arena, struct str *ret_bytes);
