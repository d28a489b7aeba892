/* SPDX-License-Identifier: Apache-2.0 */
/* Who has this file, and did its last owner get to close it? STORE-07: one daemon for one SQLite store. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct instance_lock {
    int fd;
    int store; /* the store's own file, locked; 0: there is none yet. It is never closed: that would drop SQLite's locks */
    char path[4096]; /* of the store, without links */
    bool was_open;   /* the last owner did not close the store: it was killed, or the power went */
    bool same_boot;  /* and that was since the machine started */
    bool unchanged;  /* the store's file is the one that this build left at a clean end */
};

enum inode_lock {
    INODE_OURS,
    INODE_TAKEN,
    INODE_MISSING,
    INODE_UNKNOWN, /* this file system has no such locks, or the file cannot be opened: SQLite says why */
};

/* inode_lock_linux.c */
enum inode_lock inode_lock_take(const char *path, int *ret_fd);

/* False: somebody else has it, or it cannot be written; the error says what to do. */
bool instance_lock_take(struct instance_lock *lock, const char *store_path, char *error,
                        size_t error_size);

/* False: the file has other names, and a daemon that knows it by one of them would lose what is in this one's log. */
bool instance_lock_is_only_name(const struct instance_lock *lock, char *error, size_t error_size);

/* From now on the store has a log beside it; and from now on it does not need one. False from the first: another daemon has
 * the file, or the lock cannot be written. */
bool instance_lock_opened(struct instance_lock *lock, char *error, size_t error_size);
bool instance_lock_closed(struct instance_lock *lock);

/* The same at a clean end without any error of the store: what the file looks like is noted, so that the next start can see
 * whether it is still that file. */
bool instance_lock_ended(struct instance_lock *lock);
