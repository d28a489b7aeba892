/* SPDX-License-Identifier: Apache-2.0 */
/* Locks a file for this process alone, by whichever name it was opened. The lock belongs to the open file description:
 * SQLite's own locks belong to the process, and are dropped when any descriptor of the file is closed. */
#include "sys/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* SQLite locks bytes around 2^30, and a store has at most 2^48. */
#define LOCK_BYTE ((off_t)1 << 62)

enum { TRIES = 20, TRY_US = 100000 };

/* A command that was being started when its daemon was killed has the descriptor until it begins: so this retries for a
 * moment. */
enum inode_lock inode_lock_take(const char *path, int *ret_fd) {
    struct flock record = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? INODE_MISSING : INODE_UNKNOWN;
    for (int i = 0; i < TRIES; i++) {
        if (fcntl(fd, F_OFD_SETLK, &record) == 0) {
            *ret_fd = fd;
            return INODE_OURS;
        }
        if (errno != EAGAIN && errno != EACCES)
            break;
        usleep(TRY_US);
    }
    bool taken = errno == EAGAIN || errno == EACCES;
    close(fd);
    return taken ? INODE_TAKEN : INODE_UNKNOWN;
}
