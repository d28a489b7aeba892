/* SPDX-License-Identifier: Apache-2.0 */
/* Makes backups of a store and verifies that a backup holds what was written. */
#include "store/backup_state.h"

#include "store/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_PAGES = 256 }; /* pages copied between two syncs */

bool backup_failed(struct backup *backup, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(backup->error, sizeof backup->error, format, args);
    va_end(args);
    return false;
}

const char *backup_sqlite_path(const struct backup *backup) {
    return store_address_file(backup->where.at);
}

/* ---- files ---- */

void backup_remove(const char *path) {
    static const char *const BESIDE[] = {"", "-wal", "-shm", "-journal"};
    char name[BACKUP_PATH + 16];
    for (size_t i = 0; i < count_of(BESIDE); i++) {
        snprintf(name, sizeof name, "%s%s", path, BESIDE[i]);
        unlink(name);
    }
}

static bool sync_at(struct backup *backup, const char *path, int flags) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    bool synced = fd >= 0 && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return synced || backup_failed(backup, "%s cannot be synced: %s.", path, strerror(error));
}

bool backup_sync(struct backup *backup, const char *path) {
    return sync_at(backup, path, 0);
}

/* A rename is durable only after its folder is synced. */
bool backup_sync_folder(struct backup *backup, const char *path) {
    char folder[BACKUP_PATH];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return sync_at(backup, folder[0] ? folder : "/", O_DIRECTORY);
}

/* ---- copying ---- */

/* A large file that is synced only at the end keeps the disk busy for a long time, and the ledger's own syncs wait
 * behind it. So the copy is synced as it grows. */
static int pages_copy(sqlite3 *to, sqlite3 *from, int fd) {
    sqlite3_backup *copy = sqlite3_backup_init(to, "main", from, "main");
    if (!copy)
        return sqlite3_errcode(to);
    int code;
    while ((code = sqlite3_backup_step(copy, COPY_PAGES)) == SQLITE_OK)
        if (fdatasync(fd) != 0)
            break;
    sqlite3_backup_finish(copy);
    return code == SQLITE_DONE ? SQLITE_OK : code ? code : SQLITE_IOERR;
}

/* The read transaction is the snapshot: writes that others commit meanwhile are not in it. Closing leaves the
 * write-ahead log in place, because it may belong to a daemon that was killed. */
static bool snapshot_open(const char *path, sqlite3 **ret) {
    return sqlite3_open_v2(path, ret, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
           sqlite3_db_config(*ret, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
           sqlite3_busy_timeout(*ret, 5000) == SQLITE_OK &&
           sqlite3_exec(*ret, "BEGIN; SELECT count(*) FROM store", NULL, NULL, NULL) == SQLITE_OK;
}

static bool copy_open(const char *path, sqlite3 **ret) {
    return sqlite3_open_v2(path, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
               SQLITE_OK &&
           sqlite3_exec(
               *ret, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = 512",
               NULL, NULL, NULL) == SQLITE_OK;
}

bool backup_copy(struct backup *backup, const char *from, const char *to) {
    sqlite3 *source = NULL, *copy = NULL;
    struct stat info;
    backup_remove(to);
    if (stat(from, &info) != 0)
        return backup_failed(backup, "%s cannot be read: %s.", from, strerror(errno));
    int fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = false;
    if (fd < 0)
        backup_failed(backup, "%s cannot be written: %s.", to, strerror(errno));
    else if (!snapshot_open(from, &source))
        backup_failed(backup, "%s cannot be read: %s.", from, sqlite3_errmsg(source));
    else if (!copy_open(to, &copy))
        backup_failed(backup, "%s cannot be written: %s.", to, sqlite3_errmsg(copy));
    else {
        int code = pages_copy(copy, source, fd);
        good =
            !code || backup_failed(backup, "%s cannot be copied: %s.", from, sqlite3_errstr(code));
    }
    sqlite3_close(copy);
    sqlite3_close(source);
    if (fd >= 0)
        close(fd);
    return good;
}

static bool row_copy(void *with, const struct table_row *row) {
    return load_row(with, row);
}

bool backup_rows_copy(struct backup *backup, struct store *from, struct store *to) {
    char error[LIMIT_WHY] = "";
    struct load *load = load_begin(to, error, sizeof error);
    if (!load)
        return backup_failed(backup, "%s", error);
    if (!store_dump(from, row_copy, load, error, sizeof error)) {
        const char *failed = load_failed(load);
        backup_failed(backup, "%s", failed ? failed : error);
        load_abandon(load);
        return false;
    }
    return load_end(load, error, sizeof error) || backup_failed(backup, "%s", error);
}
