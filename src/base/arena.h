/* SPDX-License-Identifier: Apache-2.0 */
/* Who frees this? The arena does, all at once.
 *
 * Three lifetimes use arenas: a batch, a call's scratch, a test. Memory comes zeroed. An arena never
 * returns NULL: when the system has no memory, memory_exhausted() takes over (see must.h), so code
 * between two guards needs no check after each allocation, and must hold nothing that only it could
 * release. Resetting keeps the largest chunk: a warm arena does not call malloc. */
#pragma once

#include "base/must.h"
#include "base/str.h"

#include <stdalign.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunk; /* the newest; older ones hang behind it */
    size_t used;               /* of the newest chunk */
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
