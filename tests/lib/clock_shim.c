/* SPDX-License-Identifier: Apache-2.0 */
/* Steps the clocks of one process: preloaded, it adds the values in a shared file to CLOCK_REALTIME and, for a suspend,
 * to both CLOCK_REALTIME and CLOCK_BOOTTIME. OVERSEER_CLOCK_SHIM names the file: two 64-bit numbers, microseconds. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct offsets {
    _Atomic int64_t wall, suspend;
};

static struct offsets *offsets;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void shim_begin(void) {
    const char *path = getenv("OVERSEER_CLOCK_SHIM");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *offsets, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED)
        offsets = at;
    if (fd >= 0)
        close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
    if (!real_gettime)
        real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real_gettime(clock, ret);
    bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (result != 0 || !offsets || (!wall && clock != CLOCK_BOOTTIME))
        return result;
    int64_t nanos = ret->tv_nsec + (offsets->suspend % 1000000) * 1000;
    ret->tv_sec += offsets->suspend / 1000000;
    if (wall) {
        nanos += (offsets->wall % 1000000) * 1000;
        ret->tv_sec += offsets->wall / 1000000;
    }
    ret->tv_sec += nanos / 1000000000;
    ret->tv_nsec = nanos % 1000000000;
    if (ret->tv_nsec < 0) {
        ret->tv_nsec += 1000000000;
        ret->tv_sec--;
    }
    return 0;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *ret) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}
