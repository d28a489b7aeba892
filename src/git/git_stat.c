/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces a stat of a file to what decides whether it counts as unchanged. */
#include "git/git_walk.h"

/* ---- one entry ---- */

struct git_stat git_stat_of(const struct stat *about) {
    uint32_t mode = S_ISLNK(about->st_mode)    ? GIT_MODE_LINK
                    : !S_ISREG(about->st_mode) ? 0
                    : about->st_mode & S_IXUSR ? GIT_MODE_PROGRAM
                                               : GIT_MODE_FILE;
    return (struct git_stat){
        .device = (uint64_t)about->st_dev,
        .inode = (uint64_t)about->st_ino,
        .size = (uint64_t)about->st_size,
        .changed_ns = (int64_t)about->st_ctim.tv_sec * 1000000000 + about->st_ctim.tv_nsec,
        .modified_ns = (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec,
        .mode = mode,
        .fits = mode == GIT_MODE_LINK || ((about->st_mode & S_IRUSR) && about->st_size >= 0 &&
                                          about->st_size <= GIT_FILE_BYTES)};
}
