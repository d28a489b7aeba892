/* SPDX-License-Identifier: Apache-2.0 */
/* Does an entry of verify.protect or verify.rules mean this file? */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* A folder ends in "/"; a pattern without "/" is for the name of a file, any other for its whole path. */
bool judged_matches(struct str pattern, struct str path, struct arena *arena);
