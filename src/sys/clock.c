/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clocks, and makes random bytes. (Linux: CLOCK_BOOTTIME, getrandom.) Steps of the clock: clock_step.c. */
#include "sys/clock.h"

#include "base/must.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

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

void boot_id(char text[BOOT_ID + 1]) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, BOOT_ID);
    text[length == BOOT_ID ? BOOT_ID : 0] = 0;
    if (fd >= 0)
        close(fd);
}

void clock_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec clock_slice(int64_t micros) {
    int64_t slice = micros < 1000000 ? micros : 1000000;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t nanos = end.tv_nsec + slice * 1000;
    end.tv_sec += nanos / 1000000000;
    end.tv_nsec = nanos % 1000000000;
    return end;
}
