/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the result of an import does not contradict itself, from outside, like every other world of the tests. */
#include "store/export_world.h"

#include "lib/backend.h"

void store_judge(const char *path) {
    struct backend *backend = sqlite_file_backend(path);
    struct arena arena = {0};
    struct dump dump;
    backend->dump(backend, &dump, &arena);
    const char *broken = world_check(&dump, &arena);
    check(!broken, "%s", broken);
    backend->free(backend);
    arena_free(&arena);
}
