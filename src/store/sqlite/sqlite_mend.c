/* SPDX-License-Identifier: Apache-2.0 */
/* Sets a damaged SQLite store aside, and puts a new one in its place. */
#include "store/sqlite/sqlite_mend_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

bool mend_failed(struct mend *mend, const char *what, const char *why) {
    snprintf(mend->error, sizeof mend->error, "%s: %s.", what, why);
    return false;
}

static void folder_of(const char *path, char folder[MEND_PATH], const char **ret_name) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, MEND_PATH, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (folder[0] == 0)
        snprintf(folder, MEND_PATH, "/");
    *ret_name = slash ? slash + 1 : path;
}

/* A rename is durable only after its folder is synced. */
static bool mend_sync_folder(struct mend *mend) {
    char folder[MEND_PATH];
    const char *name;
    folder_of(mend->path, folder, &name);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return synced || mend_failed(mend, "The folder of the store cannot be synced", strerror(error));
}

static bool mend_sync_file(struct mend *mend, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return synced || mend_failed(mend, "The new store cannot be synced", strerror(error));
}

static void with_suffix(char to[MEND_PATH], const char *path, const char *suffix) {
    snprintf(to, MEND_PATH, "%s%s", path, suffix);
}

/* The database, and the files that SQLite keeps beside it. */
static const char *const BESIDE[] = {"", "-wal", "-shm"};

void mend_remove(const char *path) {
    char name[MEND_PATH];
    for (size_t i = 0; i < count_of(BESIDE); i++) {
        with_suffix(name, path, BESIDE[i]);
        unlink(name);
    }
}

/* ---- stores that were set aside ---- */

static bool is_aside(const char *entry, const char *name) {
    static const char MARK[] = ".corrupt-";
    size_t length = strlen(name);
    const char *stamp = entry + length + strlen(MARK);
    return strncmp(entry, name, length) == 0 && strncmp(entry + length, MARK, strlen(MARK)) == 0 &&
           !strstr(stamp, "-wal") && !strstr(stamp, "-shm");
}

bool mend_newest_aside(const char *path, char ret_place[MEND_PATH]) {
    char folder[MEND_PATH], newest[NAME_MAX + 1] = "";
    const char *name;
    folder_of(path, folder, &name);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (is_aside(entry->d_name, name) && strcmp(entry->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", entry->d_name);
    if (entries)
        closedir(entries);
    if (newest[0] == 0)
        return false;
    return snprintf(ret_place, MEND_PATH, "%s/%s", folder, newest) < MEND_PATH;
}

static void place_choose(const struct mend *mend, char place[MEND_PATH]) {
    char stamp[TIME_BASIC_TEXT + 1];
    struct stat info;
    time_format_basic(mend->at, stamp);
    snprintf(place, MEND_PATH, "%s.corrupt-%s", mend->path, stamp);
    for (int i = 2; lstat(place, &info) == 0 && i < 1000; i++)
        snprintf(place, MEND_PATH, "%s.corrupt-%s.%d", mend->path, stamp, i);
}

/* The database is renamed first: if only its log is left, an earlier attempt was interrupted, and the log follows now. */
bool mend_set_aside(struct mend *mend, char ret_place[MEND_PATH]) {
    char from[MEND_PATH], to[MEND_PATH];
    struct stat info;
    bool there = lstat(mend->path, &info) == 0;
    if (there || !mend_newest_aside(mend->path, ret_place))
        place_choose(mend, ret_place);
    for (size_t i = 0; i < count_of(BESIDE); i++) {
        with_suffix(from, mend->path, BESIDE[i]);
        with_suffix(to, ret_place, BESIDE[i]);
        if (lstat(from, &info) == 0 && lstat(to, &info) != 0 && rename(from, to) != 0)
            return mend_failed(mend, "The damaged store cannot be renamed", strerror(errno));
    }
    return mend_sync_folder(mend);
}

/* ---- the log of the store itself ---- */

static bool step_done(sqlite3_stmt *statement) {
    bool done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return done;
}

static bool system_head(sqlite3 *db, uint64_t *ret_seq, struct hash *ret_head) {
    sqlite3_stmt *rows = NULL;
    *ret_seq = 0;
    *ret_head = (struct hash){0};
    if (sqlite3_prepare_v2(
            db, "SELECT seq, hash FROM record WHERE goal_id = ?1 ORDER BY seq DESC LIMIT 1", -1,
            &rows, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_blob(rows, 1, SYSTEM_GOAL.bytes, sizeof SYSTEM_GOAL.bytes, SQLITE_STATIC);
    if (sqlite3_step(rows) == SQLITE_ROW && sqlite3_column_bytes(rows, 1) == sizeof *ret_head) {
        *ret_seq = (uint64_t)sqlite3_column_int64(rows, 0);
        memcpy(ret_head, sqlite3_column_blob(rows, 1), sizeof *ret_head);
    }
    return sqlite3_finalize(rows) == SQLITE_OK;
}

/* The next transaction number, which orders the log. */
static int64_t next_tx(sqlite3 *db) {
    sqlite3_stmt *rows = NULL;
    int64_t tx = -1;
    if (sqlite3_prepare_v2(db, "UPDATE store SET tx = tx + 1 RETURNING tx", -1, &rows, NULL) ==
            SQLITE_OK &&
        sqlite3_step(rows) == SQLITE_ROW)
        tx = sqlite3_column_int64(rows, 0);
    return sqlite3_finalize(rows) == SQLITE_OK ? tx : -1;
}

static bool record_insert(sqlite3 *db, const struct record *record, int64_t tx) {
    sqlite3_stmt *put = NULL;
    if (sqlite3_prepare_v2(
            db,
            "INSERT INTO record (day, tx, n, goal_id, seq, at, type, core, policy, hash,"
            " body) VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            -1, &put, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_int64(put, 1, time_day(record->at));
    sqlite3_bind_int64(put, 2, tx);
    sqlite3_bind_blob(put, 3, SYSTEM_GOAL.bytes, sizeof SYSTEM_GOAL.bytes, SQLITE_STATIC);
    sqlite3_bind_int64(put, 4, (int64_t)record->seq);
    sqlite3_bind_int64(put, 5, record->at);
    sqlite3_bind_int64(put, 6, record->type);
    sqlite3_bind_int64(put, 7, record->core);
    sqlite3_bind_blob(put, 8, record->policy.bytes, sizeof record->policy.bytes, SQLITE_STATIC);
    sqlite3_bind_blob(put, 9, record->hash.bytes, sizeof record->hash.bytes, SQLITE_STATIC);
    sqlite3_bind_blob(put, 10, record->body.at, (int)record->body.len, SQLITE_STATIC);
    return step_done(put);
}

bool mend_note(sqlite3 *db, int64_t at, enum record_type type, struct str rule, struct str text) {
    struct arena arena = {0};
    struct evidence evidence = {.rule = rule,
                                .actor = STR("overseer"),
                                .text = str_cut_utf8(text, LIMIT_RECORD_BODY - 512)};
    struct record record = {
        .type = type, .at = at, .body = shape_encode(&EVIDENCE, &evidence, &arena)};
    struct hash head;
    uint64_t seq;
    bool noted = system_head(db, &seq, &head);
    int64_t tx = noted ? next_tx(db) : -1;
    record_seal(&record, SYSTEM_GOAL, seq, &head);
    noted = noted && tx >= 0 && record_insert(db, &record, tx);
    arena_free(&arena);
    return noted;
}

/* ---- a new store in its place ---- */

static bool execute(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Creates the store with its tables, as the driver makes them. */
bool mend_create(struct mend *mend, const char *path, sqlite3 **ret_db) {
    struct sqlite_options options = {.path = path, .busy_ms = 2000};
    mend_remove(path);
    struct store *store = sqlite_open(&options, mend->error, sizeof mend->error);
    if (!store)
        return false;
    store_close(store);
    if (sqlite3_open_v2(path, ret_db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
        return true;
    return mend_failed(mend, "The new store cannot be opened", sqlite3_errmsg(*ret_db));
}

/* The store is closed, synced, and only then renamed to its place. */
bool mend_install(struct mend *mend, const char *path, sqlite3 *db, bool good) {
    if (!good && mend->error[0] == 0)
        mend_failed(mend, "The new store cannot be written", sqlite3_errmsg(db));
    good = sqlite3_close(db) == SQLITE_OK && good && mend_sync_file(mend, path);
    if (good && rename(path, mend->path) != 0)
        good = mend_failed(mend, "The new store cannot be put in place", strerror(errno));
    if (!good)
        mend_remove(path);
    return good && mend_sync_folder(mend);
}

static void findings_text(const char *place, const struct examination *found, char *text,
                          size_t size) {
    int used =
        snprintf(text, size, "set aside as %s: %s", place[0] ? place : "(nothing)", found->why);
    for (uint32_t i = 1; i < found->found && i < LIMIT_FINDINGS && used < (int)size; i++)
        used += snprintf(text + used, size - (size_t)used, "; %s %s: %s", found->findings[i].table,
                         found->findings[i].key, found->findings[i].what);
}

/* STORE-10: the mark holds the place of the damaged store. */
static bool mark_put(sqlite3 *db, const char *place) {
    sqlite3_stmt *put = NULL;
    if (sqlite3_prepare_v2(db, "UPDATE store SET safe = ?1", -1, &put, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(put, 1, place, -1, SQLITE_STATIC);
    return step_done(put);
}

/* The new store continues the era and the numbers of the damaged one, as far as they are readable. */
static void counters_keep(sqlite3 *db, const char *place) {
    sqlite3 *old = NULL;
    sqlite3_stmt *row = NULL, *put = NULL;
    bool read = sqlite3_open_v2(place, &old, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(old,
                                   "SELECT era, numbered, numbered_era FROM store WHERE one = 1 AND"
                                   " era BETWEEN 0 AND 4294967295 AND numbered BETWEEN 0 AND"
                                   " 4294967295 AND numbered_era BETWEEN 0 AND era",
                                   -1, &row, NULL) == SQLITE_OK &&
                sqlite3_step(row) == SQLITE_ROW;
    if (read &&
        sqlite3_prepare_v2(db, "UPDATE store SET era = ?1, numbered = ?2, numbered_era = ?3", -1,
                           &put, NULL) == SQLITE_OK) {
        for (int i = 0; i < 3; i++)
            sqlite3_bind_value(put, i + 1, sqlite3_column_value(row, i));
        sqlite3_step(put);
    }
    sqlite3_finalize(put);
    sqlite3_finalize(row);
    sqlite3_close(old);
}

bool mend_make_safe(struct mend *mend, const char *place, const struct examination *found) {
    char path[MEND_PATH], text[LIMIT_RECORD_BODY];
    sqlite3 *db = NULL;
    with_suffix(path, mend->path, ".new");
    findings_text(place, found, text, sizeof text);
    if (!mend_create(mend, path, &db)) {
        sqlite3_close(db);
        return false;
    }
    counters_keep(db, place);
    bool good = execute(db, "BEGIN IMMEDIATE") && mark_put(db, place) &&
                mend_note(db, mend->at, RECORD_STORE_CORRUPT, STR("store.examine"), str_of(text)) &&
                execute(db, "COMMIT");
    return mend_install(mend, path, db, good);
}

/* ---- the mark ---- */

bool mend_read_mark(struct mend *mend, bool *ret_safe, char ret_place[MEND_PATH]) {
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    bool read = sqlite3_open_v2(mend->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(db, "SELECT safe FROM store", -1, &rows, NULL) == SQLITE_OK &&
                sqlite3_step(rows) == SQLITE_ROW;
    if (read) {
        const char *place = (const char *)sqlite3_column_text(rows, 0);
        *ret_safe = place != NULL;
        snprintf(ret_place, MEND_PATH, "%s", place ? place : "");
    } else
        mend_failed(mend, "The store cannot be read", db ? sqlite3_errmsg(db) : "out of memory");
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return read;
}

bool mend_accept_empty(struct mend *mend) {
    sqlite3 *db = NULL;
    bool good = sqlite3_open_v2(mend->path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                execute(db, "PRAGMA synchronous = FULL") && execute(db, "BEGIN IMMEDIATE") &&
                execute(db, "UPDATE store SET safe = NULL, era = era + 1") &&
                mend_note(db, mend->at, RECORD_STORE_REBUILT, STR("store.accept-empty"),
                          STR("an operator accepted the store as empty")) &&
                execute(db, "COMMIT");
    if (!good)
        mend_failed(mend, "The store cannot be written", db ? sqlite3_errmsg(db) : "out of memory");
    sqlite3_close(db);
    return good;
}
