/* SPDX-License-Identifier: Apache-2.0 */
/* Where do fenced blocks of a text begin and end? */
#pragma once

#include "base/str.h"

struct fence {
    char mark; /* ` or ~ */
    size_t count;
    struct str label;
};

struct str str_trimmed(struct str text);

/* Three marks or more, at most three spaces before them. A quoted line begins with another character. */
bool fence_read(struct str line, struct fence *ret);

bool fence_closes(const struct fence *open, struct str line);
