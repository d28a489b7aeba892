/* SPDX-License-Identifier: Apache-2.0 */
/* Is this a text in which only strings and comments have letters beyond ASCII? */
#pragma once

#include "base/str.h"

#include <stdint.h>

/* NULL: it is. Else what is wrong, and where. */
const char *plain_broken(struct str text, uint32_t *ret_line, uint32_t *ret_column);
