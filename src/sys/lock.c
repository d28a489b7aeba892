/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/lock.h"

#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TEXT = 512, LEFT_TEXT = 192 };

/* Describes the store's file, so that the next start recognises it: by what changes when anything writes to it,
 * replaces it or restores an older copy, and by the build that left it. Empty: there is no file. */
static void left_describe(const struct instance_lock *lock, char text[LEFT_TEXT]) {
    struct stat it;
    text[0] = 0;
    if (stat(lock->path, &it) != 0)
        return;
    snprintf(text, LEFT_TEXT, "\"left\": \"%s/%d %llu %lld %lld.%09ld %lld.%09ld\"",
             OVERSEER_VERSION, lock->schema, (unsigned long long)it.st_ino, (long long)it.st_size,
             (long long)it.st_mtim.tv_sec, it.st_mtim.tv_nsec, (long long)it.st_ctim.tv_sec,
             it.st_ctim.tv_nsec);
}

/* Reads what the last owner left. An older build did not say whether it had closed the store. */
static void lock_read(struct instance_lock *lock) {
    char text[LOCK_TEXT] = "", boot[BOOT_ID + 1], left[LEFT_TEXT];
    ssize_t length = pread(lock->fd, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = 0;
    boot_id(boot);
    lock->was_open = strstr(text, "\"open\": true") != NULL;
    lock->same_boot = boot[0] && strstr(text, boot) != NULL;
    left_describe(lock, left);
    lock->unchanged = !lock->was_open && left[0] && strstr(text, left) != NULL;
}

static bool lock_write(struct instance_lock *lock, bool open, const char *left) {
    char text[LOCK_TEXT], boot[BOOT_ID + 1];
    boot_id(boot);
    int length = snprintf(
        text, sizeof text,
        "{\"pid\": %ld, \"createdAt\": %lld, \"open\": %s, \"boot\": \"%s\"%s%s}\n", (long)getpid(),
        (long long)clock_wall(), open ? "true" : "false", boot, left[0] ? ", " : "", left);
    return ftruncate(lock->fd, 0) == 0 && pwrite(lock->fd, text, (size_t)length, 0) == length;
}

/* A link leads to the same store. The file itself need not exist yet. */
static void path_resolve(struct instance_lock *lock, const char *store_path) {
    char folder[PATH_MAX], place[PATH_MAX];
    if (realpath(store_path, lock->path))
        return;
    const char *slash = strrchr(store_path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - store_path) : 1,
             slash ? store_path : ".");
    bool known = realpath(folder[0] ? folder : "/", place);
    int length = known ? snprintf(lock->path, sizeof lock->path, "%s/%s", place,
                                  slash ? slash + 1 : store_path)
                       : 0;
    if (length <= 0 || length >= (int)sizeof lock->path)
        snprintf(lock->path, sizeof lock->path, "%s", store_path);
}

/* The lock file can be removed, so the store's own file is locked as well. */
static bool store_take(struct instance_lock *lock, char *error, size_t error_size) {
    struct stat now, ours;
    if (stat(lock->path, &now) != 0)
        return true; /* there is no store yet */
    if (lock->store && fstat(lock->store, &ours) == 0 && ours.st_ino == now.st_ino &&
        ours.st_dev == now.st_dev)
        return true;
    if (inode_lock_take(lock->path, &lock->store) != INODE_TAKEN)
        return true;
    snprintf(
        error, error_size,
        "The store %.3000s is in use by another daemon. Stop that one first, with `overseer down`.",
        lock->path);
    return false;
}

/* STORE-07: the kernel drops the lock of a process that is gone, so no time limit is needed. It is a record lock,
 * because flock() would survive in a command that is just being forked when the daemon is killed. What the last owner
 * left is read before it is overwritten, and it is overwritten only after the store has been examined. */
bool instance_lock_take(struct instance_lock *lock, const char *store_path, int schema, char *error,
                        size_t error_size) {
    char path[PATH_MAX + 8];
    struct flock record = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    lock->schema = schema;
    path_resolve(lock, store_path);
    snprintf(path, sizeof path, "%s.lock", lock->path);
    lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock->fd < 0 || fcntl(lock->fd, F_SETLK, &record) != 0) {
        snprintf(
            error, error_size,
            "The store %s is in use by another daemon (%s: %s). Stop that one first, with `overseer down`.",
            store_path, path, strerror(errno));
        return false;
    }
    if (!store_take(lock, error, error_size))
        return false;
    lock_read(lock);
    return true;
}

bool instance_lock_is_only_name(const struct instance_lock *lock, char *error, size_t error_size) {
    struct stat now;
    if (stat(lock->path, &now) != 0 || !S_ISREG(now.st_mode) || now.st_nlink <= 1)
        return true;
    snprintf(
        error, error_size,
        "The store %.3000s has %lu hard links, and each would have a separate write-ahead log. Remove the others.",
        lock->path, (unsigned long)now.st_nlink);
    return false;
}

bool instance_lock_opened(struct instance_lock *lock, char *error, size_t error_size) {
    if (!store_take(lock, error, error_size))
        return false;
    snprintf(error, error_size, "The lock beside %.3000s cannot be written.", lock->path);
    return lock_write(lock, true, "");
}

bool instance_lock_closed(struct instance_lock *lock) {
    return lock_write(lock, false, "");
}

bool instance_lock_ended(struct instance_lock *lock) {
    char left[LEFT_TEXT];
    left_describe(lock, left);
    return lock_write(lock, false, left);
}
