/* SPDX-License-Identifier: Apache-2.0 */
/* Makes backups of a store and verifies that a backup holds what was written. */
#include "store/backup_state.h"

#include "store/dump.h"
#include "store/examine.h"
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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
    bool sqlite = backup->where.len > 7 && memcmp(backup->where.at, "sqlite:", 7) == 0;
    return sqlite ? backup->where.at + 7 : NULL;
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

void backup_stamp(int64_t at, char text[20]) {
    char full[TIME_TEXT + 1];
    time_format(at, full);
    snprintf(text, 20, "%.4s%.2s%.2sT%.2s%.2s%.2sZ", full, full + 5, full + 8, full + 11, full + 14,
             full + 17);
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
static bool backup_digest(struct backup *backup, sqlite3 *db, struct backup_note *note) {
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

static bool note_read(struct backup *backup, sqlite3 *db, struct backup_note *ret) {
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
    return read || backup_failed(backup, "It is not a backup of Overseer's, or it is damaged: %s.",
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
    good = good && note_read(backup, db, note);
    sqlite3_close(db);
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

bool backup_make(struct backup *backup, const char *file, bool force, struct backup_note *ret) {
    char path[BACKUP_PATH];
    const char *sqlite = backup_sqlite_path(backup);
    if (!force && access(file, F_OK) == 0)
        return backup_failed(backup, "%s is there already; name another file, or say --force.",
                             file);
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

/* ---- verifying ---- */

static bool engine_check(struct backup *backup, sqlite3 *db) {
    sqlite3_stmt *row = NULL;
    const char *text = NULL;
    bool good = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &row, NULL) == SQLITE_OK &&
                sqlite3_step(row) == SQLITE_ROW &&
                (text = (const char *)sqlite3_column_text(row, 0)) && strcmp(text, "ok") == 0;
    if (!good)
        backup_failed(backup, "The backup is damaged: %s.", text ? text : sqlite3_errmsg(db));
    sqlite3_finalize(row);
    return good;
}

static void chain_ignore(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    (void)with, (void)goal, (void)seq, (void)hash;
}

static void chain_judge(void *with, const struct audit *audit, const char *wrong) {
    struct backup *backup = with;
    char id[ID_TEXT + 1];
    id_format(audit->goal, id);
    if (wrong && !backup->error[0])
        backup_failed(backup, "The backup is damaged: goal_%s at record %llu: %s.", id,
                      (unsigned long long)audit->broken_at, wrong);
}

static bool chains_check(struct backup *backup, const char *file) {
    struct log_visitor visitor = {backup, chain_ignore, chain_judge};
    struct log_report report = {0};
    backup->error[0] = 0;
    sqlite_verify_log(file, &visitor, &report);
    if (report.failed)
        return backup_failed(backup, "The backup cannot be read: %s.", report.why);
    return report.broken == 0 && !backup->error[0];
}

bool backup_verify(struct backup *backup, const char *file, struct backup_note *ret) {
    sqlite3 *db = NULL;
    struct backup_note found = {0};
    *ret = (struct backup_note){0};
    bool good = sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK ||
                backup_failed(backup, "%s cannot be read: %s.", file, sqlite3_errmsg(db));
    good = good && note_read(backup, db, ret) && engine_check(backup, db) &&
           backup_digest(backup, db, &found);
    if (good && (found.rows != ret->rows || !hash_equal(&found.digest, &ret->digest)))
        good = backup_failed(backup,
                             "The backup is damaged: its rows are not those that were written.");
    ret->goals = found.goals;
    ret->records = found.records;
    sqlite3_close(db);
    return good && chains_check(backup, file);
}
