/* SPDX-License-Identifier: Apache-2.0 */
#include "config/protected_path.h"

#include "base/path.h"

#include <fnmatch.h>
#include <string.h>

/* "tests/" matches a folder of that name anywhere; "ci/run/" matches only that folder. */
static bool folder_matches(struct str folder, struct str path) {
    bool rooted = memchr(folder.at, '/', folder.len - 1) != NULL;
    for (size_t i = 0; i + folder.len < path.len; i++)
        if ((i == 0 || (!rooted && path.at[i - 1] == '/')) &&
            memcmp(path.at + i, folder.at, folder.len) == 0)
            return true;
    return false;
}

bool judged_matches(struct str pattern, struct str path, struct arena *arena) {
    if (pattern.len == 0)
        return false;
    if (pattern.at[pattern.len - 1] == '/')
        return folder_matches(pattern, path);
    struct str subject = memchr(pattern.at, '/', pattern.len) ? path : path_name(path);
    return fnmatch(arena_cstr(arena, pattern), arena_cstr(arena, subject), 0) == 0;
}

bool judged_matches_any(const struct str *patterns, size_t count, struct str path,
                        struct arena *arena) {
    for (size_t i = 0; i < count; i++)
        if (judged_matches(patterns[i], path, arena))
            return true;
    return false;
}
