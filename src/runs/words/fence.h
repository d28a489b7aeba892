/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where fenced blocks of a text begin and end. */
#pragma once

#include "base/str.h"

struct fence {
    char mark; /* ` or ~ */
    size_t count;
    struct str label;
};

struct str str_trimmed(struct str text);

/* Three marks or more, after at most three spaces. A quoted line starts with another character, so it is no fence. */
bool fence_read(struct str line, struct fence *ret);

bool fence_closes(const struct fence *open, struct str line);
