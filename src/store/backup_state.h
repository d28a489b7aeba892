/* SPDX-License-Identifier: Apache-2.0 */
/* What the engines share for backups; used by backup*.c and postgres_backup.c only. */
#pragma once

#include "store/backup.h"

#include <sqlite3.h>

enum { BACKUP_PATH = 4096, BACKUP_HOSTS = 1024 };

/* Era and hosts of the store that a restore replaces, as far as they are readable. The restored store must not reuse
 * any of these numbers. */
struct standing {
    uint64_t era;
    uint64_t numbered; /* P15: the highest number that a host has taken */
    struct host_row hosts[BACKUP_HOSTS];
    uint32_t host_count;
};

bool backup_failed(struct backup *backup, const char *format, ...)
    __attribute__((format(printf, 2, 3)));                   /* always returns false */
const char *backup_sqlite_path(const struct backup *backup); /* NULL: PostgreSQL */

/* Files. */
void backup_remove(const char *path); /* and the files that SQLite keeps beside it */
bool backup_sync(struct backup *backup, const char *path);        /* syncs a file */
bool backup_sync_folder(struct backup *backup, const char *path); /* syncs the folder of a file */

/* Copy an SQLite file page by page, from one snapshot, into a new file. */
bool backup_copy(struct backup *backup, const char *from, const char *to);

/* Copy every row of one store into another one, which must be empty. */
bool backup_rows_copy(struct backup *backup, struct store *from, struct store *to);

/* Turn a copy of a backup into the new store: begin a new era, raise every host's epoch, and add a record of the
 * restore. */
bool backup_finish(struct backup *backup, const char *path, const struct standing *standing,
                   const struct backup_note *note, uint64_t *ret_era);

bool postgres_backup(struct backup *backup, const char *path);
bool postgres_restore(struct backup *backup, const char *file, const struct backup_note *note,
                      struct restore *restore);

/* The digest of the rows, into the note; and the note that is in a backup. */
bool backup_digest(struct backup *backup, sqlite3 *db, struct backup_note *note);
bool backup_note_read(struct backup *backup, sqlite3 *db, struct backup_note *ret);
