/* SPDX-License-Identifier: Apache-2.0 */
/* Restores an earlier state of the whole program under test. */
#include "lib/snapshot.h"

#include "base/must.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

enum { REGION = 64 << 20, CLASSES = 26 };

struct block { /* header of each allocation */
    size_t class;
    struct block *next; /* while it is free */
};

/* The allocator's own state is at the start of the region, and is restored with it. */
struct region {
    size_t used;
    struct block *free[CLASSES];
    max_align_t memory[];
};

static union {
    struct region region;
    char bytes[REGION];
} all;

static size_t class_of(size_t size) {
    size_t class = 5;
    while (((size_t)1 << class) < size)
        class ++;
    must(class < CLASSES);
    return class;
}

static bool is_outside; /* allocations made now are not affected by a restore */

void snapshot_leave_out(bool leave_out) {
    is_outside = leave_out;
}

void *__wrap_malloc(size_t size) {
    if (is_outside)
        return __real_malloc(size);
    size_t class = class_of(size);
    struct block *block = all.region.free[class];
    if (block)
        all.region.free[class] = block->next;
    else {
        size_t whole = sizeof(struct block) + ((size_t)1 << class);
        must(sizeof(struct region) + all.region.used + whole <= REGION);
        block = (struct block *)((char *)all.region.memory + all.region.used);
        all.region.used += whole;
        block->class = class;
    }
    return block + 1;
}

static bool is_inside(const void *memory) {
    return (const char *)memory >= all.bytes && (const char *)memory < all.bytes + REGION;
}

void __wrap_free(void *memory) {
    if (!memory)
        return;
    if (!is_inside(memory)) {
        __real_free(memory);
        return;
    }
    struct block *block = (struct block *)memory - 1;
    block->next = all.region.free[block->class];
    all.region.free[block->class] = block;
}

void *__wrap_calloc(size_t count, size_t size) {
    return memset(__wrap_malloc(count * size), 0, count * size);
}

void *__wrap_realloc(void *memory, size_t size) {
    if (!memory)
        return __wrap_malloc(size);
    if (!is_inside(memory))
        return __real_realloc(memory, size);
    struct block *block = (struct block *)memory - 1;
    size_t has = (size_t)1 << block->class;
    if (size <= has)
        return memory;
    void *moved = memcpy(__wrap_malloc(size), memory, has);
    __wrap_free(memory);
    return moved;
}

void snapshot_take(struct snapshot *snapshot) {
    snapshot->size = sizeof(struct region) + all.region.used;
    if (snapshot->size > snapshot->cap) {
        snapshot->cap = snapshot->size * 5 / 4;
        snapshot->copy = __real_realloc(snapshot->copy, snapshot->cap);
        must(snapshot->copy != NULL);
    }
    memcpy(snapshot->copy, all.bytes, snapshot->size);
}

void snapshot_restore(const struct snapshot *snapshot) {
    memcpy(all.bytes, snapshot->copy, snapshot->size);
}

void *outside_calloc(size_t count, size_t size) {
    return __real_calloc(count, size);
}

void outside_free(void *memory) {
    __real_free(memory);
}
