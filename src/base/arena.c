/* SPDX-License-Identifier: Apache-2.0 */
/* Arena allocator for short-lived memory. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ARENA_CHUNK /* the explorer uses small chunks, because it copies whole worlds */
#define ARENA_CHUNK (32 * 1024)
#endif

struct arena_chunk {
    struct arena_chunk *older;
    size_t size;
    max_align_t data[];
};

static void chunk_add(struct arena *arena, size_t least) {
    size_t size = arena->chunk ? arena->chunk->size * 2 : (size_t)ARENA_CHUNK;
    while (size < least)
        size *= 2;
    struct arena_chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk)
        memory_exhausted();
    chunk->older = arena->chunk;
    chunk->size = size;
    arena->chunk = chunk;
    arena->used = 0;
}

void *arena_take(struct arena *arena, size_t size, size_t align) {
    must(align > 0 && (align & (align - 1)) == 0 && align <= alignof(max_align_t));
    must(size < SIZE_MAX / 4);
    size_t start = (arena->used + align - 1) & ~(align - 1);
    if (!arena->chunk || start + size > arena->chunk->size) {
        chunk_add(arena, size);
        start = 0;
    }
    void *memory = (char *)arena->chunk->data + start;
    arena->used = start + size;
    return memset(memory, 0, size);
}

static void chunks_free(struct arena_chunk *chunk) {
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

void arena_reset(struct arena *arena) {
    if (!arena->chunk)
        return;
    chunks_free(arena->chunk->older);
    arena->chunk->older = NULL;
    arena->used = 0;
}

void arena_free(struct arena *arena) {
    chunks_free(arena->chunk);
    *arena = (struct arena){0};
}

struct str arena_copy(struct arena *arena, struct str s) {
    char *to = arena_new(arena, char, s.len + 1);
    if (s.len > 0)
        memcpy(to, s.at, s.len);
    return (struct str){to, s.len};
}

char *arena_cstr(struct arena *arena, struct str s) {
    return (char *)(uintptr_t)arena_copy(arena, s).at;
}

/* Most texts are short: they are formatted once into a buffer, without measuring first. */
struct str arena_format(struct arena *arena, const char *format, ...) {
    must(format != NULL);
    char brief[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(brief, sizeof brief, format, args);
    va_end(args);
    must(length >= 0);
    if ((size_t)length < sizeof brief)
        return arena_copy(arena, (struct str){brief, (size_t)length});
    char *to = arena_new(arena, char, (size_t)length + 1);
    va_start(args, format);
    vsnprintf(to, (size_t)length + 1, format, args);
    va_end(args);
    return (struct str){to, (size_t)length};
}
