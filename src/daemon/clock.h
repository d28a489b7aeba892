/* SPDX-License-Identifier: Apache-2.0 */
/* What time is it? Only the daemon asks; everybody else is told. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

int64_t clock_wall(void); /* UTC, microseconds */
int64_t clock_boot(void); /* since boot, suspend included, microseconds */
/* A condition that waits on the monotonic clock, and the end of a wait on it: in slices of at most a second, short enough
 * not to mind a suspend. */
void clock_condition(pthread_cond_t *condition);
struct timespec clock_slice(int64_t micros);

void random_bytes(void *to, unsigned long count);

/* Another one after each start of the machine; empty where the system does not say. */
enum { BOOT_ID = 36 };
void boot_id(char text[BOOT_ID + 1]);
