/* SPDX-License-Identifier: Apache-2.0 */
/* How is a small file kept that is written again and again? Two slots in one file, each with a number and a checksum, written in
 * turn: a write that is cut off leaves the one before it whole. Only the bytes that are used are written. The file is as durable as the
 * page cache: it outlives this process, and not the machine. */
#pragma once

#include "base/arena.h"

struct slots {
    uint64_t number; /* of the newest write; 0: none */
    size_t room;     /* of one slot; 0: the file is made with the next write */
};

bool slots_write(struct slots *slots, const char *folder, const char *name, struct str bytes)
    __attribute__((warn_unused_result)); /* false: errno says why, and what was there is there */

enum slots_found { SLOTS_NONE, SLOTS_WHOLE, SLOTS_OTHER };

/* The newest whole one, in the arena. OTHER: the file has another format, or neither slot is whole; the bytes are the whole file. */
enum slots_found slots_read(struct slots *ret_slots, const char *folder, const char *name,
                            struct arena *arena, struct str *ret_bytes);
