/* SPDX-License-Identifier: Apache-2.0 */
/* Does anybody work in a folder now? A lock on a file beside it, inherited by whoever works there and by all that it starts: it is
 * held until the last of them has ended, whether we live or not. */
#pragma once

enum { LOCKFILE_FD = 3 }; /* where a command has it */

int lockfile_take(
    const char *path);      /* its descriptor; -1: errno, EWOULDBLOCK while somebody has it */
void lockfile_give(int fd); /* nobody has it any more, whatever was left running */
void lockfile_drop(int fd); /* we do not have it any more; others may */

/* Kills all that have inherited it. It is free when the last of them is gone: take it to know. */
void lockfile_clear(const char *path);
