/* SPDX-License-Identifier: Apache-2.0 */
/* How much room is left, how much does a folder take, and what is kept in reserve? */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are free for us; false: it cannot be seen. `ret_device` tells file systems apart. */
bool space_free(const char *path, uint64_t *ret_free, uint64_t *ret_device);

struct space_walk {
    uint32_t entries; /* that may still be looked at */
    int64_t until;    /* boot clock */
    bool cut;         /* it was not looked at whole: there is more than was counted */
};
/* Bytes of a folder with everything in it, on its own file system; no link is followed. For a worker. */
uint64_t space_of(const char *path, struct space_walk *walk);

/* A file of a few megabytes that is given up when the disk is full, so that what is decided then can be written. */
struct ballast {
    char path[4096];
    uint64_t size;
    bool there, cannot; /* cannot: the file system does not know how to reserve */
};
void ballast_open(struct ballast *ballast, const char *folder, uint64_t least_free);
bool ballast_make(struct ballast *ballast);    /* false: there is no room for it now */
bool ballast_release(struct ballast *ballast); /* true: it was there */
