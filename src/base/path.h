/* SPDX-License-Identifier: Apache-2.0 */
/* Takes paths apart, as texts: nothing here looks at a disk. */
#pragma once

#include "base/str.h"

/* Without the last name and its slash; empty: there is no slash. */
static inline struct str path_folder(struct str path) {
    while (path.len > 0 && path.at[path.len - 1] != '/')
        path.len--;
    return (struct str){path.at, path.len > 0 ? path.len - 1 : 0};
}

/* What follows the last slash; the whole path if there is none. */
static inline struct str path_name(struct str path) {
    size_t at = path.len;
    while (at > 0 && path.at[at - 1] != '/')
        at--;
    return (struct str){path.at + at, path.len - at};
}

/* Also true for the folder itself. Both are absolute, without a slash at the end. */
static inline bool path_is_below(struct str path, struct str folder) {
    return str_begins(path, folder) &&
           (path.len == folder.len || folder.len == 1 || path.at[folder.len] == '/');
}
