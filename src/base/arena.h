/* SPDX-License-Identifier: Apache-2.0 */
/* Arena allocator: the arena frees all of its memory at once.
 *
 * Three lifetimes use arenas: a batch, a call's scratch, a test. Memory is zeroed. An arena never returns NULL: when
 * the system has no memory, it calls memory_exhausted() (see must.h). So code between two guards needs no check after
 * each allocation, and must not hold anything that only it could release. Resetting keeps the largest chunk: a warm
 * arena does not call malloc. */
#pragma once

#include "base/must.h"
#include "base/str.h"

#include <stdalign.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunk; /* newest chunk; older ones are linked from it */
    size_t used;               /* bytes used in the newest chunk */
};

void *arena_take(struct arena *arena, size_t size, size_t align);
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);

#define arena_new(arena, type, count) \
    ((type *)arena_take((arena), sizeof(type) * (size_t)(count), alignof(type)))

struct str arena_copy(struct arena *arena, struct str s);
char *arena_cstr(struct arena *arena, struct str s);
struct str arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
