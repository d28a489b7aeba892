/* SPDX-License-Identifier: Apache-2.0 */
#include "base/due.h"

#include "base/must.h"

#include <stdlib.h>

static void place(struct due *due, uint32_t position, struct due_entry entry) {
    due->entries[position] = entry;
    due->index[entry.slot] = position + 1;
}

static void sift_up(struct due *due, uint32_t position) {
    struct due_entry entry = due->entries[position];
    while (position > 0) {
        uint32_t parent = (position - 1) / 4;
        if (due->entries[parent].at <= entry.at)
            break;
        place(due, position, due->entries[parent]);
        position = parent;
    }
    place(due, position, entry);
}

static void sift_down(struct due *due, uint32_t position) {
    struct due_entry entry = due->entries[position];
    for (;;) {
        uint32_t first = position * 4 + 1, least = position;
        int64_t at = entry.at;
        for (uint32_t child = first; child < first + 4 && child < due->count; child++)
            if (due->entries[child].at < at) {
                least = child;
                at = due->entries[child].at;
            }
        if (least == position)
            break;
        place(due, position, due->entries[least]);
        position = least;
    }
    place(due, position, entry);
}

static uint32_t slot_of(const struct due *due, struct id id) {
    uint32_t mask = due->index_cap - 1, slot = (uint32_t)id_hash(id) & mask;
    while (due->index[slot] && !id_equal(due->entries[due->index[slot] - 1].id, id))
        slot = (slot + 1) & mask;
    return slot;
}

static bool index_grow(struct due *due) {
    uint32_t cap = due->index_cap ? due->index_cap * 2 : 32;
    uint32_t *index = calloc(cap, sizeof *index);
    if (!index)
        return false;
    free(due->index);
    due->index = index;
    due->index_cap = cap;
    for (uint32_t i = 0; i < due->count; i++) {
        uint32_t slot = (uint32_t)id_hash(due->entries[i].id) & (cap - 1);
        while (index[slot])
            slot = (slot + 1) & (cap - 1);
        index[slot] = i + 1;
        due->entries[i].slot = slot;
    }
    return true;
}

static bool room_for_one(struct due *due) {
    if (due->count == due->cap) {
        uint32_t cap = due->cap ? due->cap + due->cap / 2 : 16;
        struct due_entry *entries = realloc(due->entries, cap * sizeof *entries);
        if (!entries)
            return false;
        due->entries = entries;
        due->cap = cap;
    }
    return ((uint64_t)due->count + 1) * 2 <= due->index_cap || index_grow(due);
}

/* Linear probing without tombstones: entries after the gap move into it. */
static void index_close(struct due *due, uint32_t gap) {
    uint32_t mask = due->index_cap - 1;
    for (uint32_t i = (gap + 1) & mask; due->index[i]; i = (i + 1) & mask) {
        struct due_entry *entry = &due->entries[due->index[i] - 1];
        uint32_t home = (uint32_t)id_hash(entry->id) & mask;
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            due->index[gap] = due->index[i];
            entry->slot = gap;
            gap = i;
        }
    }
    due->index[gap] = 0;
}

static void remove_at(struct due *due, uint32_t position) {
    index_close(due, due->entries[position].slot);
    uint32_t last = --due->count;
    if (position == last)
        return;
    place(due, position, due->entries[last]);
    sift_down(due, position);
    sift_up(due, position);
}

bool due_set(struct due *due, struct id id, int64_t at) {
    if (at == TIME_NEVER) {
        due_remove(due, id);
        return true;
    }
    if (!room_for_one(due))
        return false;
    uint32_t slot = slot_of(due, id);
    if (due->index[slot]) {
        uint32_t position = due->index[slot] - 1;
        due->entries[position].at = at;
        sift_down(due, position);
        sift_up(due, due->index[slot] - 1);
        return true;
    }
    place(due, due->count, (struct due_entry){id, at, slot});
    sift_up(due, due->count++);
    return true;
}

void due_remove(struct due *due, struct id id) {
    if (due->count == 0)
        return;
    uint32_t slot = slot_of(due, id);
    if (due->index[slot])
        remove_at(due, due->index[slot] - 1);
}

int64_t due_next(const struct due *due) {
    return due->count ? due->entries[0].at : TIME_NEVER;
}

bool due_pop(struct due *due, int64_t now, struct id *ret_id) {
    if (due_next(due) > now || due->count == 0)
        return false;
    *ret_id = due->entries[0].id;
    remove_at(due, 0);
    return true;
}

void due_all(struct due *due, int64_t at) {
    for (uint32_t i = 0; i < due->count; i++)
        due->entries[i].at = at;
}

void due_free(struct due *due) {
    free(due->entries);
    free(due->index);
    *due = (struct due){0};
}
