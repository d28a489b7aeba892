/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the path of a file against an entry of verify.protect or verify.rules. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* A pattern that ends in "/" matches a folder; one without "/" matches the name of a file, any other its whole path. */
bool judged_matches(struct str pattern, struct str path, struct arena *arena);
bool judged_matches_any(const struct str *patterns, size_t count, struct str path,
                        struct arena *arena);
