/* SPDX-License-Identifier: Apache-2.0 */
/* Shows whether any process works in a folder now: a lock on a file beside it, inherited by each process that works
 * there and by everything it starts. The lock is held until the last of them has ended, whether the daemon lives or
 * not. */
#pragma once

enum { LOCKFILE_FD = 3 }; /* descriptor at which a command has it */

int lockfile_take(const char *path); /* its descriptor; -1: errno, EWOULDBLOCK while it is taken */
void lockfile_give(int fd);          /* releases it for all processes, even those left running */
void lockfile_drop(int fd);          /* we no longer have it; others may */

/* Kills all processes that have inherited it. It is free when the last of them is gone: take it to find out. */
void lockfile_clear(const char *path);
