/* SPDX-License-Identifier: Apache-2.0 */
/* What do the engines share about backups? backup*.c and postgres_backup.c only. */
#pragma once

#include "store/backup.h"

#include <sqlite3.h>

enum { BACKUP_PATH = 4096, BACKUP_HOSTS = 1024 };

/* What stands in the place where a backup goes, as far as it can be read: nothing of it may come again. */
struct standing {
    uint64_t era;
    struct host_row hosts[BACKUP_HOSTS];
    uint32_t host_count;
};

bool backup_failed(struct backup *backup, const char *format, ...)
    __attribute__((format(printf, 2, 3)));                   /* always false */
const char *backup_sqlite_path(const struct backup *backup); /* NULL: PostgreSQL */

/* Files. */
void backup_remove(const char *path);                      /* with what SQLite keeps beside it */
bool backup_sync(struct backup *backup, const char *path); /* a file */
bool backup_sync_folder(struct backup *backup, const char *path); /* of a file */
void backup_stamp(int64_t at, char text[20]);

/* Page by page, in one snapshot, into a file of its own. */
bool backup_copy(struct backup *backup, const char *from, const char *to);

/* Every row of one store into another one, which is empty. */
bool backup_pour(struct backup *backup, struct store *from, struct store *to);

/* A copy of a backup as the store that it will be: a new era, no host as it was, and a record about it. */
bool backup_finish(struct backup *backup, const char *path, const struct standing *standing,
                   const struct backup_note *note, uint64_t *ret_era);

bool postgres_backup(struct backup *backup, const char *path);
bool postgres_restore(struct backup *backup, const char *file, const struct backup_note *note,
                      struct restore *restore);
