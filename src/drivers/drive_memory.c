/* SPDX-License-Identifier: Apache-2.0 */
/* Makes jansson allocate memory from the arena of the current driver call.
 *
 * A driver that breaks an invariant is left by longjmp() and cannot free what it allocated. So its JSON trees are in an
 * arena, which the caller frees. A driver keeps no tree from one call to the next. */
#include "drivers/drive.h"

#include <pthread.h>

static json_malloc_t plain_take;
static json_free_t plain_give;
static _Thread_local struct arena *using;

static void *arena_or_plain_take(size_t size) {
    return using ? arena_take(using, size, alignof(max_align_t)) : plain_take(size);
}

static void arena_or_plain_give(void *memory) {
    if (!using)
        plain_give(memory);
}

static void memory_begin(void) {
    json_get_alloc_funcs(&plain_take, &plain_give);
    json_set_alloc_funcs(arena_or_plain_take, arena_or_plain_give);
}

void drive_memory_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, memory_begin);
}

struct arena *drive_memory_use(struct arena *arena) {
    struct arena *before = using;
    using = plain_take ? arena : NULL;
    return before;
}
