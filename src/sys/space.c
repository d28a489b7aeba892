/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/space.h"

#include "sys/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    DEPTH = 64,       /* of folders; each holds a descriptor while it is read */
    LOOK_EVERY = 256, /* entries between two checks of the clock */
    BALLAST_LEAST = 4 << 20,
    BALLAST_MOST = 64 << 20
};

bool space_free(const char *path, uint64_t *ret_free, uint64_t *ret_device) {
    struct statvfs seen;
    struct stat about;
    if (statvfs(path, &seen) != 0 || stat(path, &about) != 0)
        return false;
    *ret_free = (uint64_t)seen.f_bavail * seen.f_frsize;
    *ret_device = about.st_dev;
    return true;
}

/* ---- a folder ---- */

static bool walk_goes_on(struct space_walk *walk) {
    if (walk->entries == 0 ||
        (walk->entries % LOOK_EVERY == 0 && walk->until && clock_boot() > walk->until))
        walk->cut = true;
    else
        walk->entries--;
    return !walk->cut;
}

static uint64_t folder_sum(int folder, dev_t device, int depth, struct space_walk *walk) {
    DIR *stream = fdopendir(folder);
    uint64_t sum = 0;
    if (!stream) {
        close(folder);
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(stream)) && walk_goes_on(walk);) {
        struct stat about;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(stream), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            about.st_dev != device)
            continue;
        sum += (uint64_t)about.st_blocks * 512;
        if (!S_ISDIR(about.st_mode))
            continue;
        int below = depth > 0 ? openat(dirfd(stream), entry->d_name,
                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                              : -1;
        if (below >= 0)
            sum += folder_sum(below, device, depth - 1, walk);
        else
            walk->cut |= depth == 0;
    }
    closedir(stream);
    return sum;
}

uint64_t space_of(const char *path, struct space_walk *walk) {
    struct stat about;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return 0;
    if (fstat(folder, &about) != 0) {
        close(folder);
        return 0;
    }
    return folder_sum(folder, about.st_dev, DEPTH, walk);
}

/* ---- the reserve ---- */

void ballast_open(struct ballast *ballast, const char *folder, uint64_t least_free) {
    struct stat about;
    uint64_t size = least_free / 8;
    size = size < BALLAST_LEAST ? BALLAST_LEAST : size > BALLAST_MOST ? BALLAST_MOST : size;
    *ballast = (struct ballast){.size = size < least_free ? size : least_free};
    snprintf(ballast->path, sizeof ballast->path, "%s/ballast", folder);
    ballast->there = ballast->size > 0 && stat(ballast->path, &about) == 0 &&
                     (uint64_t)about.st_blocks * 512 >= ballast->size;
}

bool ballast_make(struct ballast *ballast) {
    if (ballast->there || ballast->cannot || ballast->size == 0)
        return ballast->there;
    int fd = open(ballast->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    ballast->there = fallocate(fd, 0, 0, (off_t)ballast->size) == 0;
    ballast->cannot = !ballast->there && errno == EOPNOTSUPP;
    close(fd);
    if (!ballast->there)
        unlink(ballast->path);
    return ballast->there;
}

bool ballast_release(struct ballast *ballast) {
    bool was = ballast->there;
    if (was)
        ballast->there = unlink(ballast->path) != 0;
    return was && !ballast->there;
}
