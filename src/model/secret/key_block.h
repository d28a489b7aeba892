/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the lines of a private key that is printed over several lines. The rules of secret.h need the whole text;
 * for text that is kept line by line they see only the first line's "BEGIN ... PRIVATE KEY". */
#pragma once

#include "base/str.h"

/* True: the line is part of a key and must not be kept. *open carries state from one line to the next, and starts as
 * false. */
bool key_block_line(bool *open, struct str line);
