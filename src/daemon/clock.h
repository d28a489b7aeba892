/* SPDX-License-Identifier: Apache-2.0 */
/* What time is it? Only the daemon asks; everybody else is told. */
#pragma once

#include <stdint.h>

int64_t clock_wall(void); /* UTC, microseconds */
int64_t clock_boot(void); /* since boot, suspend included, microseconds */
void random_bytes(void *to, unsigned long count);
