/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the processes that inherited a lock: those with its file open at the descriptor where commands get it. A pid
 * may be reused, but not while a pidfd holds it: each process is first pinned, then checked, then signalled. */
#include "sandbox/lockfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int lockfile_take(const char *path) {
    int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int code = errno;
        close(fd);
        errno = code;
        return -1;
    }
    return fd;
}

void lockfile_give(int fd) {
    flock(fd, LOCK_UN); /* for all processes that inherited it from us */
    close(fd);
}

void lockfile_drop(int fd) {
    close(fd);
}

static bool has_it(long pid, const struct stat *lock) {
    char path[64];
    struct stat seen;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, LOCKFILE_FD);
    return stat(path, &seen) == 0 && seen.st_ino == lock->st_ino && seen.st_dev == lock->st_dev;
}

static void holder_kill(long pid, const struct stat *lock) {
    int pinned = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (pinned < 0)
        return;
    if (has_it(pid, lock))
        syscall(SYS_pidfd_send_signal, pinned, SIGKILL, NULL, 0);
    close(pinned);
}

void lockfile_clear(const char *path) {
    struct stat lock;
    DIR *all = stat(path, &lock) == 0 ? opendir("/proc") : NULL;
    for (struct dirent *entry; all && (entry = readdir(all));) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 1 && pid != (long)getpid())
            holder_kill(pid, &lock);
    }
    if (all)
        closedir(all);
}
