/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory that the caller frees, and never returns NULL: without memory it calls memory_exhausted() (must.h).
 * For programs and threads that end when an arena has no memory: docs/decisions/0014-failed-allocations.md says which. */
#pragma once

#include <stddef.h>

void *memory_new(size_t size);                      /* zeroed */
void *memory_grow(void *memory, size_t size);       /* as realloc() */
char *memory_text(const char *text, size_t length); /* a copy, with a NUL behind it */
