/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a path to the specification of a sandbox. */
#include "sandbox/sandbox.h"

void sandbox_path_add(struct sandbox_paths *paths, struct str path) {
    while (path.len > 1 && path.at[path.len - 1] == '/')
        path.len--;
    if (path.len == 0 || path.at[0] != '/' || memchr(path.at, '\n', path.len))
        return;
    for (uint32_t i = 0; i < paths->count; i++)
        if (str_equal(paths->at[i], path))
            return;
    if (paths->count == SANDBOX_PATHS)
        paths->too_many = true;
    else
        paths->at[paths->count++] = path;
}
