/* SPDX-License-Identifier: Apache-2.0 */
/* Is this line part of a private key that is printed over several lines? The rules of secret.h see a whole text;
 * words that are kept line by line have only the first line's "BEGIN ... PRIVATE KEY". */
#pragma once

#include "base/str.h"

/* True: the line is part of a key, and is not kept. *open lives from one line to the next, and begins as false. */
bool key_block_line(bool *open, struct str line);
