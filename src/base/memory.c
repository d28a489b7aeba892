/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory that the caller frees. */
#include "base/memory.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

void *memory_new(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        memory_exhausted();
    return memory;
}

void *memory_grow(void *memory, size_t size) {
    void *grown = realloc(memory, size ? size : 1);
    if (!grown)
        memory_exhausted();
    return grown;
}

char *memory_text(const char *text, size_t length) {
    char *copy = memory_new(length + 1);
    return memcpy(copy, text, length);
}
