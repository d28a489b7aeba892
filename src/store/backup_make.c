/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a backup of a store, on either engine. */
#include "store/backup_state.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the digest ---- */

static void digest_number(struct sha256 *sha, int kind, uint64_t value) {
    uint8_t bytes[9] = {(uint8_t)kind};
    for (int i = 0; i < 8; i++)
        bytes[i + 1] = (uint8_t)(value >> (8 * i));
    sha256_add(sha, bytes, sizeof bytes);
}

static void digest_row(struct sha256 *sha, sqlite3_stmt *row) {
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        int type = sqlite3_column_type(row, i);
        if (type == SQLITE_INTEGER) {
            digest_number(sha, type, (uint64_t)sqlite3_column_int64(row, i));
            continue;
        }
        int length = type == SQLITE_NULL ? 0 : sqlite3_column_bytes(row, i);
        digest_number(sha, type, (uint64_t)length);
        if (length > 0)
            sha256_add(sha, sqlite3_column_blob(row, i), (size_t)length);
    }
}

static bool digest_table(sqlite3 *db, const char *table, struct sha256 *sha,
                         struct backup_note *note) {
    char sql[128];
    sqlite3_stmt *rows = NULL;
    uint64_t count = 0;
    sha256_add(sha, table, strlen(table) + 1);
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table);
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
        return false;
    for (; sqlite3_step(rows) == SQLITE_ROW; count++)
        digest_row(sha, rows);
    digest_number(sha, 0, count);
    note->rows += count;
    if (strcmp(table, "goal") == 0)
        note->goals = count;
    if (strcmp(table, "record") == 0)
        note->records = count;
    return sqlite3_finalize(rows) == SQLITE_OK;
}

/* Each table is stored in key order, so its rows are read in key order. */
/* Digest of every row of every table. */
bool backup_digest(struct backup *backup, sqlite3 *db, struct backup_note *note) {
    struct sha256 sha;
    sqlite3_stmt *tables = NULL;
    sha256_begin(&sha);
    note->rows = note->goals = note->records = 0;
    bool good = sqlite3_prepare_v2(
                    db,
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE"
                    " 'sqlite_%' AND name NOT LIKE 'goal_fts%' AND name <> 'backup' ORDER BY 1",
                    -1, &tables, NULL) == SQLITE_OK;
    while (good && sqlite3_step(tables) == SQLITE_ROW)
        good = digest_table(db, (const char *)sqlite3_column_text(tables, 0), &sha, note);
    good = sqlite3_finalize(tables) == SQLITE_OK && good;
    note->digest = sha256_end(&sha);
    return good || backup_failed(backup, "The backup cannot be read: %s.", sqlite3_errmsg(db));
}

/* ---- the note ---- */

static const char NOTE_MAKE[] =
    "CREATE TABLE backup (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL, source TEXT NOT NULL,"
    " build TEXT NOT NULL, row_count INTEGER NOT NULL, digest BLOB NOT NULL)";

static bool note_put(sqlite3 *db, const struct backup_note *note) {
    sqlite3_stmt *put = NULL;
    if (sqlite3_exec(db, NOTE_MAKE, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO backup VALUES (1, ?1, ?2, ?3, ?4, ?5)", -1, &put,
                           NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_int64(put, 1, note->at);
    sqlite3_bind_text(put, 2, note->source, -1, SQLITE_STATIC);
    sqlite3_bind_text(put, 3, note->build, -1, SQLITE_STATIC);
    sqlite3_bind_int64(put, 4, (int64_t)note->rows);
    sqlite3_bind_blob(put, 5, note->digest.bytes, sizeof note->digest.bytes, SQLITE_STATIC);
    sqlite3_step(put);
    return sqlite3_finalize(put) == SQLITE_OK;
}

bool backup_note_read(struct backup *backup, sqlite3 *db, struct backup_note *ret) {
    sqlite3_stmt *row = NULL;
    bool read = sqlite3_prepare_v2(db,
                                   "SELECT b.at, b.source, b.build, b.row_count, b.digest, s.era"
                                   " FROM backup b, store s",
                                   -1, &row, NULL) == SQLITE_OK &&
                sqlite3_step(row) == SQLITE_ROW &&
                sqlite3_column_bytes(row, 4) == sizeof ret->digest;
    if (read) {
        ret->at = sqlite3_column_int64(row, 0);
        snprintf(ret->source, sizeof ret->source, "%s", (const char *)sqlite3_column_text(row, 1));
        snprintf(ret->build, sizeof ret->build, "%s", (const char *)sqlite3_column_text(row, 2));
        ret->rows = (uint64_t)sqlite3_column_int64(row, 3);
        memcpy(&ret->digest, sqlite3_column_blob(row, 4), sizeof ret->digest);
        ret->era = (uint64_t)sqlite3_column_int64(row, 5);
    }
    sqlite3_finalize(row);
    return read ||
           backup_failed(backup, "The file is not a backup made by Overseer, or it is damaged: %s.",
                         sqlite3_errmsg(db));
}

/* ---- making a backup ---- */

/* The backup is a single file without a log beside it. */
static bool note_write(struct backup *backup, const char *path, struct backup_note *note) {
    sqlite3 *db = NULL;
    bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK;
    if (!good)
        backup_failed(backup, "The backup cannot be written: %s.", sqlite3_errmsg(db));
    good = good && backup_digest(backup, db, note);
    if (good && !note_put(db, note))
        good = backup_failed(backup, "The backup cannot be written: %s.", sqlite3_errmsg(db));
    good = good && backup_note_read(backup, db, note);
    sqlite3_close(db);
    return good;
}

bool backup_make(struct backup *backup, const char *file, bool force, struct backup_note *ret) {
    char path[BACKUP_PATH];
    const char *sqlite = backup_sqlite_path(backup);
    if (!force && access(file, F_OK) == 0)
        return backup_failed(backup, "%s already exists; use another file, or --force.", file);
    snprintf(path, sizeof path, "%s.new-%ld", file, (long)getpid());
    *ret = (struct backup_note){.at = backup->at};
    snprintf(ret->source, sizeof ret->source, "%s", sqlite ? "sqlite" : "postgres");
    snprintf(ret->build, sizeof ret->build, "%s", backup->build);
    bool good = (sqlite ? backup_copy(backup, sqlite, path) : postgres_backup(backup, path)) &&
                note_write(backup, path, ret) && backup_sync(backup, path);
    if (good && rename(path, file) != 0)
        good = backup_failed(backup, "%s cannot be put in place: %s.", file, strerror(errno));
    if (!good)
        backup_remove(path);
    return good && backup_sync_folder(backup, file);
}
