/* SPDX-License-Identifier: Apache-2.0 */
/* Freezes everything below the hold at once, through the cgroup that the starter gave it, if any. */
#include "hold/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int file_open(const char *cgroup, const char *name, int flags) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", cgroup, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC);
}

static int file_put(const char *cgroup, const char *name, const char *text) {
    int fd = file_open(cgroup, name, O_WRONLY);
    if (fd < 0)
        return errno;
    int code = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return code;
}

int cgroup_enter(const char *cgroup) {
    if (mkdir(cgroup, 0755) && errno != EEXIST)
        return errno;
    return file_put(cgroup, "cgroup.procs", "0");
}

static bool cgroup_is_frozen(const char *cgroup) {
    char text[256];
    int fd = file_open(cgroup, "cgroup.events", O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return strstr(text, "frozen 1") != NULL;
}

bool cgroup_freeze(const char *cgroup, bool freeze) {
    if (file_put(cgroup, "cgroup.freeze", freeze ? "1" : "0"))
        return false;
    for (int i = 0; freeze && i < HOLD_FREEZE_TRIES && !cgroup_is_frozen(cgroup); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return true;
}

void cgroup_remove(const char *cgroup) {
    rmdir(cgroup);
}
