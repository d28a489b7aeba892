/* SPDX-License-Identifier: Apache-2.0 */
/* The instance lock of a SQLite store: who owns the store, and whether its last owner closed it. STORE-07: one daemon
 * for one SQLite store. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct instance_lock {
    int fd;
    int store; /* descriptor of the store's own file, locked; 0: there is no file yet. Never closed: that would drop SQLite's locks */
    int schema;      /* version of the tables that this build writes */
    char path[4096]; /* of the store, without links */
    bool was_open;  /* the last owner did not close the store: it was killed, or the power failed */
    bool same_boot; /* and the machine has not been restarted since */
    bool unchanged; /* the store's file is the one that this build left at a clean end */
};

enum inode_lock {
    INODE_OURS,
    INODE_TAKEN,
    INODE_MISSING,
    INODE_UNKNOWN, /* the file system has no such locks, or the file cannot be opened: SQLite reports why */
};

/* inode_lock_linux.c */
enum inode_lock inode_lock_take(const char *path, int *ret_fd);

/* False: another process has it, or it cannot be written; the error says what to do. */
bool instance_lock_take(struct instance_lock *lock, const char *store_path, int schema, char *error,
                        size_t error_size);

/* False: the file has other names, and a daemon that opens it by one of them would lose what is in the log of this
 * name. */
bool instance_lock_is_only_name(const struct instance_lock *lock, char *error, size_t error_size);

/* instance_lock_opened(): from now on the store has a log beside it; false: another daemon has the file, or the lock
 * cannot be written. instance_lock_closed(): from now on the store needs no log. */
bool instance_lock_opened(struct instance_lock *lock, char *error, size_t error_size);
bool instance_lock_closed(struct instance_lock *lock);

/* The same as instance_lock_closed(), at a clean end without any error of the store: it also notes what the file looks
 * like, so that the next start can see whether it is still that file. */
bool instance_lock_ended(struct instance_lock *lock);
