/* SPDX-License-Identifier: Apache-2.0 */
/* Restores a backup as the store. */
#include "store/backup_state.h"

#include "store/rows.h"
#include "store/sqlite/sqlite_mend_state.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- SQLite ---- */

/* Read the era, the numbers given and the hosts of the existing store, as far as it is still readable. */
static void standing_read(const char *path, struct standing *ret) {
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    *ret = (struct standing){0};
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (sqlite3_prepare_v2(
            db, "SELECT s.era, h.host_id, h.epoch, h.beat, h.batch FROM store s LEFT JOIN host h",
            -1, &rows, NULL) == SQLITE_OK)
        while (ret->host_count < BACKUP_HOSTS && sqlite3_step(rows) == SQLITE_ROW) {
            ret->era = (uint64_t)sqlite3_column_int64(rows, 0);
            if (sqlite3_column_type(rows, 1) == SQLITE_NULL)
                break;
            ret->hosts[ret->host_count++] =
                (struct host_row){.host = (uint32_t)sqlite3_column_int64(rows, 1),
                                  .epoch = (uint64_t)sqlite3_column_int64(rows, 2),
                                  .beat = (uint64_t)sqlite3_column_int64(rows, 3),
                                  .batch = (uint64_t)sqlite3_column_int64(rows, 4)};
        }
    sqlite3_finalize(rows);
    rows = NULL;
    if (sqlite3_prepare_v2(db, "SELECT numbered FROM store", -1, &rows, NULL) == SQLITE_OK &&
        sqlite3_step(rows) == SQLITE_ROW) /* tables before version 8 have none */
        ret->numbered = (uint64_t)sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

/* Fold the write-ahead log into the file: afterwards the file holds everything that was committed, and no log is left
 * beside it. */
static bool log_fold(const char *path) {
    sqlite3 *db = NULL;
    char wal[BACKUP_PATH + 8];
    struct stat info;
    bool folded = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                  sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE); SELECT count(*) FROM store",
                               NULL, NULL, NULL) == SQLITE_OK;
    folded = sqlite3_close(db) == SQLITE_OK && folded;
    snprintf(wal, sizeof wal, "%s-wal", path);
    return folded && (stat(wal, &info) != 0 || info.st_size == 0);
}

/* The old store is hard-linked under a second name before the new one takes over its path, so a store exists at that
 * path at every moment. An old store that is no longer readable is set aside like a damaged one; see mend_set_aside(). */
static bool old_keep(struct backup *backup, const char *path, struct restore *restore) {
    char stamp[TIME_BASIC_TEXT + 1];
    struct stat info;
    struct mend mend = {.path = path, .at = backup->at};
    if (lstat(path, &info) != 0)
        return true;
    if (!log_fold(path))
        return mend_set_aside(&mend, restore->aside) || backup_failed(backup, "%s", mend.error);
    time_format_basic(backup->at, stamp);
    snprintf(restore->aside, sizeof restore->aside, "%s.before-restore-%s", path, stamp);
    for (int i = 2; lstat(restore->aside, &info) == 0 && i < 1000; i++)
        snprintf(restore->aside, sizeof restore->aside, "%s.before-restore-%s.%d", path, stamp, i);
    if (link(path, restore->aside) != 0)
        return backup_failed(backup, "The store cannot be renamed: %s.", strerror(errno));
    return backup_sync_folder(backup, path);
}

static bool sqlite_restore(struct backup *backup, const char *file, const struct backup_note *note,
                           struct restore *restore) {
    static struct standing standing;
    char path[BACKUP_PATH];
    const char *place = backup_sqlite_path(backup);
    struct stat info;
    snprintf(path, sizeof path, "%s.restoring", place);
    if (lstat(place, &info) == 0)
        standing_read(place, &standing);
    bool good = backup_copy(backup, file, path) &&
                backup_finish(backup, path, &standing, note, &restore->era) &&
                backup_sync(backup, path) && old_keep(backup, place, restore);
    if (good && rename(path, place) != 0)
        good = backup_failed(backup, "The backup cannot be put in place: %s.", strerror(errno));
    if (!good)
        backup_remove(path);
    return good && backup_sync_folder(backup, place);
}

bool backup_restore(struct backup *backup, const char *file, struct restore *restore) {
    struct backup_note note;
    if (!backup_verify(backup, file, &note))
        return false;
    return backup_sqlite_path(backup) ? sqlite_restore(backup, file, &note, restore)
                                      : postgres_restore(backup, file, &note, restore);
}
