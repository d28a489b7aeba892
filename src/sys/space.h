/* SPDX-License-Identifier: Apache-2.0 */
/* Measures free space and the size of folders, and keeps a reserve of disk space. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are free for us; false: not known. `ret_device` tells file systems apart. */
bool space_free(const char *path, uint64_t *ret_free, uint64_t *ret_device);

struct space_walk {
    uint32_t entries; /* that may still be read */
    int64_t until;    /* boot clock */
    bool cut;         /* not everything was read: there is more than was counted */
};
/* Bytes of a folder with everything in it, on its own file system; links are not followed. For a worker thread. */
uint64_t space_of(const char *path, struct space_walk *walk);

/* A file of a few megabytes that is deleted when the disk is full, so that decisions can still be written. */
struct ballast {
    char path[4096];
    uint64_t size;
    bool there, cannot; /* cannot: the file system cannot reserve space */
};
void ballast_open(struct ballast *ballast, const char *folder, uint64_t least_free);
bool ballast_make(struct ballast *ballast);    /* false: there is no space for it now */
bool ballast_release(struct ballast *ballast); /* true: it was there */
