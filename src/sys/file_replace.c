/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/file_replace.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static bool written(int fd, const char *text, size_t length, bool sync) {
    bool ok = write(fd, text, length) == (ssize_t)length && (!sync || fsync(fd) == 0);
    return close(fd) == 0 && ok;
}

bool file_replace(const char *folder, const char *name, const char *text, size_t length,
                  bool sync) {
    char path[PATH_MAX], fresh[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        snprintf(fresh, sizeof fresh, "%s/.%s.new", folder, name) >= (int)sizeof fresh)
        return false;
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || !written(fd, text, length, sync) || rename(fresh, path) != 0)
        return false;
    int dir = sync ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool ok = !sync || (dir >= 0 && fsync(dir) == 0);
    if (dir >= 0)
        close(dir);
    return ok;
}
