/* SPDX-License-Identifier: Apache-2.0 */
/* What time is it, and what has nobody thought of? (Linux: CLOCK_BOOTTIME, getrandom.) */
#include "daemon/clock.h"

#include "base/must.h"

#include <sys/random.h>
#include <time.h>

static int64_t clock_of(clockid_t clock) {
    struct timespec now;
    must(clock_gettime(clock, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_wall(void) {
    return clock_of(CLOCK_REALTIME);
}

int64_t clock_boot(void) {
    return clock_of(CLOCK_BOOTTIME);
}

void random_bytes(void *to, unsigned long count) {
    must(getrandom(to, count, 0) == (long)count);
}
