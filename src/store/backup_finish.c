/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes a restored store: a new era, and the note of what it was restored from. */
#include "store/backup_state.h"

#include "store/sqlite/sqlite_mend_state.h"

#include <stdio.h>

/* ---- turning a copy of the backup into the new store ---- */

/* No epoch that a host may still use is issued again: a host process that was stopped during the restore and wakes up
 * is fenced. A host that the backup does not contain is added as gone. */
static bool host_raise(sqlite3 *db, const struct host_row *host) {
    sqlite3_stmt *put = NULL;
    if (sqlite3_prepare_v2(
            db,
            "INSERT INTO host (host_id, instance, epoch, beat, batch, state, build, addr, speaks)"
            " VALUES (?1, 0, ?2, ?3, ?4, ?5, '', '', ?6) ON CONFLICT (host_id) DO UPDATE SET"
            " epoch = max(epoch, excluded.epoch), beat = max(beat, excluded.beat),"
            " batch = max(batch, excluded.batch)",
            -1, &put, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_int64(put, 1, host->host);
    sqlite3_bind_int64(put, 2, (int64_t)host->epoch);
    sqlite3_bind_int64(put, 3, (int64_t)host->beat);
    sqlite3_bind_int64(put, 4, (int64_t)host->batch);
    sqlite3_bind_int64(put, 5, HOST_GONE);
    sqlite3_bind_int64(put, 6, SCHEMA_LEVEL);
    sqlite3_step(put);
    return sqlite3_finalize(put) == SQLITE_OK;
}

static bool era_begin(sqlite3 *db, uint64_t standing, uint64_t *ret_era) {
    sqlite3_stmt *row = NULL;
    bool read =
        sqlite3_prepare_v2(db,
                           "UPDATE store SET era = max(era, ?1) + 1, safe = NULL, retaining = 0"
                           " RETURNING era",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_int64(row, 1, (int64_t)standing) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW;
    if (read)
        *ret_era = (uint64_t)sqlite3_column_int64(row, 0);
    return sqlite3_finalize(row) == SQLITE_OK && read;
}

/* P15: a backup with tables before version 8 has no such column; the gap of its new era has to suffice. */
static void numbers_raise(sqlite3 *db, uint64_t standing) {
    sqlite3_stmt *put = NULL;
    if (sqlite3_prepare_v2(db, "UPDATE store SET numbered = max(numbered, ?1)", -1, &put, NULL) ==
        SQLITE_OK) {
        sqlite3_bind_int64(put, 1, (int64_t)standing);
        sqlite3_step(put);
    }
    sqlite3_finalize(put);
}

static bool restored_note(struct backup *backup, sqlite3 *db, const struct backup_note *note,
                          uint64_t era) {
    char text[256], taken[TIME_TEXT + 1];
    time_format(note->at, taken);
    snprintf(text, sizeof text, "put back from a backup of %s (%s, %llu goals); era %llu begins",
             taken, note->source, (unsigned long long)note->goals, (unsigned long long)era);
    return mend_note(db, backup->at, RECORD_STORE_RESTORED, STR("store.restore"), str_of(text));
}

bool backup_finish(struct backup *backup, const char *path, const struct standing *standing,
                   const struct backup_note *note, uint64_t *ret_era) {
    sqlite3 *db = NULL;
    bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(db, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE; DROP TABLE backup",
                             NULL, NULL, NULL) == SQLITE_OK;
    for (uint32_t i = 0; good && i < standing->host_count; i++)
        good = host_raise(db, &standing->hosts[i]);
    if (good)
        numbers_raise(db, standing->numbered);
    good = good &&
           sqlite3_exec(db, "UPDATE host SET epoch = epoch + 1", NULL, NULL, NULL) == SQLITE_OK &&
           era_begin(db, standing->era, ret_era) && restored_note(backup, db, note, *ret_era) &&
           sqlite3_exec(db, "COMMIT; PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK;
    if (!good)
        backup_failed(backup, "The store cannot be made from the backup: %s.", sqlite3_errmsg(db));
    return sqlite3_close(db) == SQLITE_OK && good;
}
