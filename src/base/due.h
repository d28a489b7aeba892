/* SPDX-License-Identifier: Apache-2.0 */
/* Priority queue of due times: an indexed 4-ary heap with one entry for each id, 40 bytes at most.
 *
 * Invariants: entries[0] is the earliest; index[] finds every entry by its id; an id occurs at most once. Setting
 * TIME_NEVER removes the entry. */
#pragma once

#include "base/id.h"
#include "base/time.h"

struct due_entry {
    struct id id;
    int64_t at;
    uint32_t slot; /* position in index[] that points to this entry */
};

struct due {
    struct due_entry *entries;
    uint32_t *index; /* position in entries + 1, or 0; its size is a power of two */
    uint32_t count, cap, index_cap;
};

bool due_set(struct due *due, struct id id, int64_t at); /* false: no memory */
void due_remove(struct due *due, struct id id);
int64_t due_next(const struct due *due);                       /* TIME_NEVER when empty */
bool due_pop(struct due *due, int64_t now, struct id *ret_id); /* the earliest, if it is due */
void due_all(struct due *due, int64_t at); /* makes all entries due at that time */
void due_free(struct due *due);
