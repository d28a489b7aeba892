/* SPDX-License-Identifier: Apache-2.0 */
/* Executes one store request as one SQLite transaction. */
#include "store/sqlite/sqlite_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the connection ---- */

static void disconnect(struct sqlite_store *store) {
    for (size_t i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    memset(store->statements, 0, sizeof store->statements);
    sqlite3_close(store->db);
    store->db = NULL;
    arena_free(&store->scratch);
}

static int pragmas(struct sqlite_store *store) {
    char text[256];
    snprintf(text, sizeof text,
             "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;"
             "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = %d;",
             store->inline_checkpoints ? 1000 : 0);
    return sqlite3_exec(store->db, text, NULL, NULL, NULL);
}

static int instance_put(struct sqlite_store *store) {
    sqlite3_stmt *put = NULL;
    int code = sqlite3_prepare_v2(store->db, "UPDATE store SET instance = ?1", -1, &put, NULL);
    if (!code)
        code = sqlite3_bind_blob(put, 1, store->instance.id.bytes, sizeof store->instance.id.bytes,
                                 SQLITE_STATIC);
    if (!code)
        sqlite3_step(put);
    int end = sqlite3_finalize(put);
    return code ? code : end;
}

/* STORE-21 */
static int instance_check(struct sqlite_store *store) {
    sqlite3_stmt *row = NULL;
    enum instance_verdict verdict = INSTANCE_OTHER;
    int code = sqlite3_prepare_v2(
        store->db, "SELECT instance, NOT EXISTS (SELECT 1 FROM host) FROM store", -1, &row, NULL);
    if (!code && sqlite3_step(row) == SQLITE_ROW) {
        struct id stored = {0};
        if (sqlite3_column_bytes(row, 0) == sizeof stored.bytes)
            memcpy(stored.bytes, sqlite3_column_blob(row, 0), sizeof stored.bytes);
        verdict = instance_hold(&store->instance, stored, sqlite3_column_int(row, 1), store->why,
                                sizeof store->why);
    }
    int end = sqlite3_finalize(row);
    if (code || end)
        return code ? code : end;
    if (verdict == INSTANCE_NEW)
        return instance_put(store);
    return verdict == INSTANCE_OURS ? SQLITE_OK : SQLITE_ERROR;
}

/* A new file is readable only by its owner, and so are the files that SQLite creates beside it. A store in memory has
 * no file. */
static void file_make(const struct sqlite_store *store) {
    if (store->vfs || store->read_only || strcmp(store->path, ":memory:") == 0)
        return;
    int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* The last connection to close moves the write-ahead log into the database and removes it. A start that finds no log
 * after a kill takes that for damage, so a process that works beside a daemon leaves the log in place. */
static int log_keep(struct sqlite_store *store) {
    return store->keeps_log
               ? sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL)
               : SQLITE_OK;
}

/* A file that is not our store is refused before any setting of it is changed. */
static int connect(struct sqlite_store *store) {
    store->broken = false;
    store->why[0] = 0;
    file_make(store);
    int flags =
        SQLITE_OPEN_NOMUTEX |
        (store->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    int code = sqlite3_open_v2(store->path, &store->db, flags, store->vfs);
    if (!code)
        code = sqlite3_extended_result_codes(store->db, 1);
    if (!code)
        code = log_keep(store);
    if (!code)
        code = sqlite3_busy_timeout(store->db, store->busy_ms);
    if (!code)
        code = sqlite_schema_look(store);
    if (!code && !store->read_only)
        code = pragmas(store);
    if (!code)
        code = sqlite_schema(store);
    return code || store->read_only ? code : instance_check(store);
}

/* ---- a request ---- */

struct verb_row {
    sqlite_verb *run;
    enum sql begin;
};

static const struct verb_row VERBS[STORE_VERBS] = {
    [STORE_JOIN] = {sqlite_join, SQL_BEGIN},
    [STORE_OWNED] = {sqlite_owned, SQL_BEGIN_READ},
    [STORE_BEAT] = {sqlite_beat, SQL_BEGIN},
    [STORE_POLL] = {sqlite_poll, SQL_BEGIN_READ},
    [STORE_HOSTS] = {sqlite_hosts, SQL_BEGIN_READ},
    [STORE_TAKE] = {sqlite_take, SQL_BEGIN},
    [STORE_ADOPT] = {sqlite_adopt, SQL_BEGIN},
    [STORE_LOAD] = {sqlite_load, SQL_BEGIN_READ},
    [STORE_COMMIT] = {sqlite_commit, SQL_BEGIN},
    [STORE_RESOLVE] = {sqlite_resolve, SQL_BEGIN},
    [STORE_FORWARD] = {sqlite_forward, SQL_BEGIN},
    [STORE_SHOW] = {sqlite_show, SQL_BEGIN_READ},
    [STORE_LIST] = {sqlite_list, SQL_BEGIN_READ},
    [STORE_ORDER] = {sqlite_order, SQL_BEGIN},
    [STORE_FIND] = {sqlite_find, SQL_BEGIN_READ},
    [STORE_TALLY] = {sqlite_tally, SQL_BEGIN_READ},
    [STORE_NAMED] = {sqlite_named, SQL_BEGIN_READ},
    [STORE_NUMBERS] = {sqlite_numbers, SQL_BEGIN},
    [STORE_HISTORY] = {sqlite_history, SQL_BEGIN_READ},
    [STORE_BRIEF] = {sqlite_brief, SQL_BEGIN_READ},
    [STORE_FOLLOW] = {sqlite_follow, SQL_BEGIN_READ},
};

static enum store_outcome outcome_of(int code, bool in_commit) {
    switch (code & 0xFF) {
    case SQLITE_OK: return STORE_DONE;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH: return STORE_REFUSED;
    case SQLITE_BUSY: return STORE_FAILED;
    default: return in_commit ? STORE_UNKNOWN : STORE_FAILED;
    }
}

static void simple(struct sqlite_run *run, enum sql sql) {
    run_begin(run, sql);
    run_change(run);
}

bool sqlite_says_damaged(int code) {
    return (code & 0xFF) == SQLITE_CORRUPT || (code & 0xFF) == SQLITE_NOTADB ||
           code == SQLITE_IOERR_SHORT_READ;
}

static void answer_error(struct sqlite_store *store, struct store_answer *answer, int code,
                         bool in_commit) {
    answer->outcome = outcome_of(code, in_commit);
    answer->held = false;
    answer->damaged = sqlite_says_damaged(code);
    const char *text =
        store->db && sqlite3_errcode(store->db) ? sqlite3_errmsg(store->db) : sqlite3_errstr(code);
    static _Thread_local char kept[LIMIT_WHY];
    if (store->why[0])
        snprintf(kept, sizeof kept, "%s", store->why);
    else
        snprintf(kept, sizeof kept, "SQLite: %s", text);
    answer->error = str_of(kept);
}

/* A failed transaction is rolled back, or its connection is closed. An error from COMMIT itself leaves the outcome
 * unknown: the log may hold the commit although it could not be synced. */
static void perform(struct store *base, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    *answer = (struct store_answer){.outcome = STORE_DONE};
    store->why[0] = 0;
    if (store->db && (store->broken || !sqlite3_get_autocommit(store->db)))
        disconnect(store);
    struct sqlite_run run = {.store = store};
    if (!store->db && (run.code = connect(store))) {
        answer_error(store, answer, run.code, false);
        disconnect(store);
        return;
    }
    simple(&run, VERBS[request->verb].begin);
    if (!run.code)
        VERBS[request->verb].run(&run, request, answer, arena);
    run_end(&run);
    bool in_commit = !run.code;
    if (!run.code)
        simple(&run, SQL_COMMIT);
    if (!run.code)
        return;
    in_commit = in_commit && VERBS[request->verb].begin == SQL_BEGIN;
    answer_error(store, answer, run.code, in_commit);
    struct sqlite_run undo = {.store = store};
    if (!sqlite3_get_autocommit(store->db))
        simple(&undo, SQL_ROLLBACK);
    store->broken =
        answer->outcome == STORE_UNKNOWN || undo.code != 0 || (run.code & 0xFF) == SQLITE_IOERR;
}

static void close_store(struct store *base) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    disconnect(store);
    free(store->path);
    free(store->vfs);
    free(store);
}

static const struct store_driver DRIVER = {
    .name = "sqlite", .perform = perform, .close = close_store};

static bool log_is_long(const struct sqlite_store *store) {
    const char *path = sqlite3_filename_wal(sqlite3_db_filename(store->db, "main"));
    struct stat it;
    return path && stat(path, &it) == 0 && it.st_size > LIMIT_STORE_LOG_BYTES;
}

/* A passive checkpoint never shortens the file, and while a reader is active the log grows beyond what that reader
 * sees. This checkpoint empties the log, but makes writers wait meanwhile, so it runs only when the log is too long,
 * and gives up after a short time if a reader is still active. It is tried again a second later. */
static void log_cut(struct sqlite_store *store) {
    sqlite3_busy_timeout(store->db, LIMIT_STORE_LOG_CUT_MS);
    sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(store->db, store->busy_ms);
}

bool sqlite_checkpoint(struct store *base) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    if (!store->db && connect(store)) {
        disconnect(store);
        return false;
    }
    int code = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (code == SQLITE_OK && log_is_long(store))
        log_cut(store);
    return code == SQLITE_OK;
}

struct store *sqlite_open(const struct sqlite_options *options, char *error, size_t error_size) {
    struct sqlite_store *store = calloc(1, sizeof *store);
    if (store) {
        store->store.driver = &DRIVER;
        store->path = strdup(options->path);
        store->vfs = options->vfs ? strdup(options->vfs) : NULL;
        store->busy_ms = options->busy_ms;
        store->read_only = options->read_only;
        store->keeps_log = options->keeps_log;
        store->inline_checkpoints = options->inline_checkpoints;
    }
    if (!store || !store->path || (options->vfs && !store->vfs)) {
        if (store)
            close_store(&store->store);
        snprintf(error, error_size, "Out of memory while opening the store.");
        return NULL;
    }
    int code = connect(store);
    if (!code)
        return &store->store;
    if (store->why[0])
        snprintf(error, error_size, "%s", store->why);
    else
        snprintf(
            error, error_size,
            "The store %s cannot be opened: %s. Check that its folder exists and that you own it.",
            options->path, store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(code));
    close_store(&store->store);
    return NULL;
}
