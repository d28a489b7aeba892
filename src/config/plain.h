/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a text has characters beyond ASCII only in strings and comments. */
#pragma once

#include "base/str.h"

#include <stdint.h>

/* NULL: it does. Otherwise what is wrong, and where. */
const char *plain_broken(struct str text, uint32_t *ret_line, uint32_t *ret_column);
