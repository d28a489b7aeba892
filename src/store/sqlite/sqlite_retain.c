/* SPDX-License-Identifier: Apache-2.0 */
/* Retention on an SQLite store.
 *
 * What to do in a step is read without a lock. The step's transaction is not synced by itself: the ledger's next commit
 * syncs it together with its own, and a step that a power cut undoes is simply repeated. */
#include "store/retain_state.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum sql {
    SQL_PAGE,
    SQL_BEFORE,
    SQL_BEHIND,
    SQL_SEEN,
    SQL_TEXT_GOALS,
    SQL_TEXTS,
    SQL_BODIES,
    SQL_BEGIN,
    SQL_OPEN_LOG,
    SQL_CLOSE_LOG,
    SQL_COMMIT,
    SQL_GO,
    SQL_MOVE,
    SQL_BODY,
    SQL_JOINED,
    SQL_PUT,
    SQL_SEEN_GO,
    SQL_TEXT_GO,
    SQL_RECORDS,
    SQL_COUNT
};

/* An admission aggregate is always open and in no list: what it remembers is deleted as if it were closed. */
#define OPEN \
    "CASE WHEN g.open THEN EXISTS (SELECT 1 FROM goal_view v WHERE v.goal_id = g.goal_id)" \
    " ELSE g.open END"
#define KEY " WHERE day = ?1 AND tx = ?2 AND n = ?3"
static const char *const TEXT[SQL_COUNT] = {
    [SQL_PAGE] =
        "SELECT r.day, r.tx, r.n, r.goal_id, r.seq, r.at, r.type, r.hash, r.body, " OPEN ", g.seq"
        " FROM record r LEFT JOIN goal g USING (goal_id)"
        " WHERE (r.day, r.tx, r.n) > (?1, ?2, ?3) AND r.day < ?4 ORDER BY r.day, r.tx, r.n LIMIT ?5",
    [SQL_BEFORE] = "SELECT from_seq, to_seq, at, last_hash, body FROM milestone WHERE goal_id = ?1"
                   " AND from_seq < ?2 ORDER BY from_seq DESC LIMIT 1",
    [SQL_BEHIND] = "SELECT from_seq, to_seq, at, last_hash, body FROM milestone WHERE goal_id = ?1"
                   " AND from_seq = ?2",
    [SQL_SEEN] =
        "SELECT s.goal_id, s.source, s.at < ?3 AND (" OPEN ") = 0 FROM seen s LEFT JOIN goal g"
        " USING (goal_id) WHERE (s.goal_id, s.source) > (?1, ?2) ORDER BY 1, 2 LIMIT ?4",
    [SQL_TEXT_GOALS] = "SELECT DISTINCT t.goal_id FROM text t JOIN goal g USING (goal_id)"
                       " WHERE t.goal_id > ?1 AND (" OPEN ") = 0 ORDER BY 1 LIMIT ?2",
    [SQL_TEXTS] = "SELECT hash FROM text WHERE goal_id = ?1 LIMIT ?2",
    [SQL_BODIES] = "SELECT body FROM record WHERE goal_id = ?1 AND body IS NOT NULL",
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_OPEN_LOG] = "UPDATE store SET retaining = 1",
    [SQL_CLOSE_LOG] = "UPDATE store SET retaining = 0",
    [SQL_COMMIT] = "COMMIT",
    [SQL_GO] = "DELETE FROM record" KEY,
    [SQL_MOVE] = "UPDATE record SET day = 0" KEY,
    [SQL_BODY] = "UPDATE record SET body = NULL, body_hash = ?4" KEY,
    [SQL_JOINED] = "DELETE FROM milestone WHERE goal_id = ?1 AND from_seq = ?2",
    [SQL_PUT] =
        "INSERT OR REPLACE INTO milestone (goal_id, from_seq, to_seq, n, at, last_hash, body)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SQL_SEEN_GO] = "DELETE FROM seen WHERE goal_id = ?1 AND source = ?2",
    [SQL_RECORDS] = "SELECT count(*) FROM record",
    [SQL_TEXT_GO] = "DELETE FROM text WHERE goal_id = ?1 AND hash = ?2"
                    " AND EXISTS (SELECT 1 FROM goal WHERE goal_id = ?1 AND version = ?3)",
};

struct lite_retain {
    struct retain retain;
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT];
    char *wal;
    int code; /* the first error of a step */
};

/* ---- statements ---- */

static sqlite3_stmt *statement_begin(struct lite_retain *lite, enum sql sql) {
    if (lite->code)
        return NULL;
    if (!lite->statements[sql])
        lite->code = sqlite3_prepare_v3(lite->db, TEXT[sql], -1, SQLITE_PREPARE_PERSISTENT,
                                        &lite->statements[sql], NULL);
    return lite->code ? NULL : lite->statements[sql];
}

static bool statement_row(struct lite_retain *lite, sqlite3_stmt *statement) {
    if (!statement || lite->code)
        return false;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        lite->code = code;
    if (code != SQLITE_ROW)
        sqlite3_reset(statement);
    return code == SQLITE_ROW;
}

static void statement_run(struct lite_retain *lite, sqlite3_stmt *statement) {
    while (statement_row(lite, statement)) {
    }
}

static void simple(struct lite_retain *lite, enum sql sql) {
    statement_run(lite, statement_begin(lite, sql));
}

static void bind_id(sqlite3_stmt *statement, int at, const struct id *id) {
    if (statement)
        sqlite3_bind_blob(statement, at, id->bytes, sizeof id->bytes, SQLITE_STATIC);
}

static void bind_hash(sqlite3_stmt *statement, int at, const struct hash *hash) {
    if (statement)
        sqlite3_bind_blob(statement, at, hash->bytes, sizeof hash->bytes, SQLITE_STATIC);
}

static void bind_int(sqlite3_stmt *statement, int at, int64_t value) {
    if (statement)
        sqlite3_bind_int64(statement, at, value);
}

static void bind_key(sqlite3_stmt *statement, struct retain_key key) {
    bind_int(statement, 1, key.day);
    bind_int(statement, 2, key.tx);
    bind_int(statement, 3, key.n);
}

static void column_take(sqlite3_stmt *row, int at, void *to, size_t size) {
    if (sqlite3_column_bytes(row, at) == (int)size)
        memcpy(to, sqlite3_column_blob(row, at), size);
}

static struct str column_copy(sqlite3_stmt *row, int at, struct arena *arena) {
    struct str bytes = {sqlite3_column_blob(row, at), (size_t)sqlite3_column_bytes(row, at)};
    return arena_copy(arena, bytes);
}

static bool step_end(struct lite_retain *lite) {
    if (!lite->code)
        return true;
    retain_fail(&lite->retain, "SQLite", sqlite3_errmsg(lite->db));
    for (size_t i = 0; i < SQL_COUNT; i++)
        sqlite3_reset(lite->statements[i]);
    if (!sqlite3_get_autocommit(lite->db))
        sqlite3_exec(lite->db, "ROLLBACK", NULL, NULL, NULL);
    lite->code = 0;
    return false;
}

/* ---- reading ---- */

static struct retain_row row_read(sqlite3_stmt *row, struct arena *arena) {
    struct retain_row it = {.key = {sqlite3_column_int(row, 0), sqlite3_column_int64(row, 1),
                                    sqlite3_column_int64(row, 2)},
                            .has_body = sqlite3_column_type(row, 8) != SQLITE_NULL,
                            .known = sqlite3_column_type(row, 9) != SQLITE_NULL,
                            .open = sqlite3_column_int(row, 9),
                            .newest = (uint64_t)sqlite3_column_int64(row, 10)};
    column_take(row, 3, &it.goal, sizeof it.goal);
    it.record.seq = (uint64_t)sqlite3_column_int64(row, 4);
    it.record.at = sqlite3_column_int64(row, 5);
    it.record.type = (enum record_type)sqlite3_column_int64(row, 6);
    column_take(row, 7, &it.record.hash, sizeof it.record.hash);
    it.record.body = column_copy(row, 8, arena);
    return it;
}

static bool lite_page(struct retain *retain, struct retain_key after, int32_t before,
                      uint32_t limit, struct retain_pages *ret) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    ret->rows = arena_new(&retain->arena, struct retain_row, limit);
    sqlite3_stmt *page = statement_begin(lite, SQL_PAGE);
    bind_key(page, after);
    bind_int(page, 4, before);
    bind_int(page, 5, limit);
    while (statement_row(lite, page)) {
        ret->rows[ret->count] = row_read(page, &retain->arena);
        if (ret->rows[ret->count].key.day != ret->rows[0].key.day)
            break;
        ret->count++;
    }
    sqlite3_reset(page);
    return step_end(lite);
}

static struct milestone milestone_ask(struct lite_retain *lite, enum sql sql,
                                      const struct milestone *run, uint64_t seq) {
    struct milestone it = {.goal = run->goal};
    sqlite3_stmt *row = statement_begin(lite, sql);
    bind_id(row, 1, &run->goal);
    bind_int(row, 2, (int64_t)seq);
    if (statement_row(lite, row)) {
        it.from = (uint64_t)sqlite3_column_int64(row, 0);
        it.to = (uint64_t)sqlite3_column_int64(row, 1);
        it.at = sqlite3_column_int64(row, 2);
        column_take(row, 3, &it.last, sizeof it.last);
        milestone_decode(
            &it, (struct str){sqlite3_column_blob(row, 4), (size_t)sqlite3_column_bytes(row, 4)});
    }
    sqlite3_reset(row);
    return it;
}

static bool lite_touching(struct retain *retain, const struct milestone *runs, uint32_t count,
                          struct milestone *ret_before, struct milestone *ret_behind) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    for (uint32_t i = 0; i < count; i++) {
        ret_before[i] = milestone_ask(lite, SQL_BEFORE, &runs[i], runs[i].from);
        ret_behind[i] = milestone_ask(lite, SQL_BEHIND, &runs[i], runs[i].to + 1);
    }
    return step_end(lite);
}

static bool lite_seen(struct retain *retain, struct source_key after, int64_t before,
                      uint32_t limit, struct retain_pages *ret, uint32_t *ret_looked,
                      struct source_key *ret_last) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    ret->seen = arena_new(&retain->arena, struct source_key, limit);
    sqlite3_stmt *page = statement_begin(lite, SQL_SEEN);
    bind_id(page, 1, &after.goal);
    bind_id(page, 2, &after.source);
    bind_int(page, 3, before);
    bind_int(page, 4, limit);
    while (statement_row(lite, page)) {
        column_take(page, 0, &ret_last->goal, sizeof ret_last->goal);
        column_take(page, 1, &ret_last->source, sizeof ret_last->source);
        if (sqlite3_column_int(page, 2))
            ret->seen[ret->count++] = *ret_last;
        ++*ret_looked;
    }
    return step_end(lite);
}

static bool lite_text_goals(struct retain *retain, struct id after, uint32_t limit,
                            struct retain_pages *ret) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    ret->goals = arena_new(&retain->arena, struct id, limit);
    sqlite3_stmt *page = statement_begin(lite, SQL_TEXT_GOALS);
    bind_id(page, 1, &after);
    bind_int(page, 2, limit);
    while (statement_row(lite, page))
        column_take(page, 0, &ret->goals[ret->count++], sizeof ret->goals[0]);
    return step_end(lite);
}

static bool lite_count(struct retain *retain, uint64_t *ret_count) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    sqlite3_stmt *records = statement_begin(lite, SQL_RECORDS);
    while (statement_row(lite, records))
        *ret_count = (uint64_t)sqlite3_column_int64(records, 0);
    return step_end(lite);
}

static bool lite_texts(struct retain *retain, struct id goal, struct retain_pages *ret) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    ret->hashes = arena_new(&retain->arena, struct hash, LIMIT_RETAIN_ROWS);
    sqlite3_stmt *page = statement_begin(lite, SQL_TEXTS);
    bind_id(page, 1, &goal);
    bind_int(page, 2, LIMIT_RETAIN_ROWS);
    while (statement_row(lite, page))
        column_take(page, 0, &ret->hashes[ret->count++], sizeof ret->hashes[0]);
    return step_end(lite);
}

static bool lite_bodies(struct retain *retain, struct id goal, struct retain_pages *ret) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    uint32_t room = 0;
    sqlite3_stmt *page = statement_begin(lite, SQL_BODIES);
    bind_id(page, 1, &goal);
    while (statement_row(lite, page)) {
        if (ret->count == room) {
            struct str *more = arena_new(&retain->arena, struct str, 2 * room + 64);
            if (room > 0)
                memcpy(more, ret->bodies, room * sizeof *more);
            ret->bodies = more;
            room = 2 * room + 64;
        }
        ret->bodies[ret->count++] = column_copy(page, 0, &retain->arena);
    }
    return step_end(lite);
}

/* ---- writing ---- */

static void records_change(struct lite_retain *lite, enum sql sql, struct retain_row **rows,
                           const struct hash *hashes, uint32_t count) {
    for (uint32_t i = 0; i < count && !lite->code; i++) {
        sqlite3_stmt *change = statement_begin(lite, sql);
        bind_key(change, rows[i]->key);
        if (hashes)
            bind_hash(change, 4, &hashes[i]);
        statement_run(lite, change);
    }
}

static void milestones_change(struct lite_retain *lite, const struct retain_work *work) {
    for (uint32_t i = 0; i < work->joined_count; i++) {
        sqlite3_stmt *joined = statement_begin(lite, SQL_JOINED);
        bind_id(joined, 1, &work->joined[i].goal);
        bind_int(joined, 2, (int64_t)work->joined[i].from);
        statement_run(lite, joined);
    }
    for (uint32_t i = 0; i < work->puts_count; i++) {
        const struct milestone *it = &work->puts[i];
        sqlite3_stmt *put = statement_begin(lite, SQL_PUT);
        bind_id(put, 1, &it->goal);
        bind_int(put, 2, (int64_t)it->from);
        bind_int(put, 3, (int64_t)it->to);
        bind_int(put, 4, (int64_t)milestone_count(it));
        bind_int(put, 5, it->at);
        bind_hash(put, 6, &it->last);
        if (put)
            sqlite3_bind_blob(put, 7, work->put_bodies[i].at, (int)work->put_bodies[i].len,
                              SQLITE_STATIC);
        statement_run(lite, put);
    }
}

static void others_change(struct lite_retain *lite, const struct retain_work *work) {
    for (uint32_t i = 0; i < work->seen_count; i++) {
        sqlite3_stmt *gone = statement_begin(lite, SQL_SEEN_GO);
        bind_id(gone, 1, &work->seen[i].goal);
        bind_id(gone, 2, &work->seen[i].source);
        statement_run(lite, gone);
    }
    for (uint32_t i = 0; i < work->texts_count; i++) {
        sqlite3_stmt *gone = statement_begin(lite, SQL_TEXT_GO);
        bind_id(gone, 1, &work->texts[i].goal);
        bind_hash(gone, 2, &work->texts[i].hash);
        bind_int(gone, 3, (int64_t)work->texts[i].version);
        statement_run(lite, gone);
    }
}

/* EVENT-01: the log may be changed only during this transaction, and only by it. */
static bool lite_apply(struct retain *retain, const struct retain_work *work) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    struct stat info;
    simple(lite, SQL_BEGIN);
    int64_t begun = retain_clock_us(), cpu = retain_cpu_us();
    simple(lite, SQL_OPEN_LOG);
    records_change(lite, SQL_GO, work->goes, NULL, work->goes_count);
    records_change(lite, SQL_MOVE, work->moves, NULL, work->moves_count);
    records_change(lite, SQL_BODY, work->bodies, work->body_hashes, work->bodies_count);
    milestones_change(lite, work);
    others_change(lite, work);
    simple(lite, SQL_CLOSE_LOG);
    simple(lite, SQL_COMMIT);
    retain->held_us = retain_clock_us() - begun;
    retain->took_us = retain_cpu_us() - cpu;
    if (retain->took_us < retain->held_us / 4)
        retain->took_us =
            retain->held_us /
            4; /* time spent on the disk, or by another process, which smaller steps do not reduce */
    uint64_t before = retain->wal_bytes;
    retain->wal_bytes = stat(lite->wal, &info) == 0 ? (uint64_t)info.st_size : 0;
    retain->wal_grows = retain->wal_bytes > before;
    return step_end(lite);
}

/* ---- opening ---- */

static void lite_close(struct retain *retain) {
    struct lite_retain *lite = (struct lite_retain *)retain;
    for (size_t i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(lite->statements[i]);
    sqlite3_close(lite->db);
    free(lite->wal);
    free(lite);
}

static const struct retain_driver DRIVER = {.page = lite_page,
                                            .touching = lite_touching,
                                            .seen = lite_seen,
                                            .text_goals = lite_text_goals,
                                            .texts = lite_texts,
                                            .bodies = lite_bodies,
                                            .apply = lite_apply,
                                            .count = lite_count,
                                            .close = lite_close};

bool sqlite_retain_open(struct retain **ret, const char *path, bool alone, char *error,
                        size_t error_size) {
    struct lite_retain *lite = calloc(1, sizeof *lite);
    if (!lite || asprintf(&lite->wal, "%s-wal", path) < 0) {
        free(lite);
        snprintf(error, error_size, "Out of memory while opening the store.");
        return false;
    }
    lite->retain.driver = &DRIVER;
    if (sqlite3_open_v2(path, &lite->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ||
        sqlite3_busy_timeout(lite->db, 2000) ||
        sqlite3_exec(lite->db, "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536", NULL,
                     NULL, NULL) ||
        sqlite3_wal_autocheckpoint(lite->db, alone ? 4000 : 0)) {
        snprintf(error, error_size, "The store %s cannot be opened: %s.", path,
                 sqlite3_errmsg(lite->db));
        lite_close(&lite->retain);
        return false;
    }
    *ret = &lite->retain;
    return true;
}
