/* SPDX-License-Identifier: Apache-2.0 */
/* What does the SQLite driver keep? Shared by sqlite*.c only. */
#pragma once

#include "store/rows.h"
#include "store/sqlite.h"

#include <sqlite3.h>

enum sql {
    SQL_BEGIN,
    SQL_BEGIN_READ,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_NEXT_TX,
    SQL_JOIN,
    SQL_BEAT,
    SQL_HOSTS,
    SQL_INBOX,
    SQL_TAKE,
    SQL_ADOPT_GUARD,
    SQL_ADOPT_PAGE,
    SQL_ADOPT_GOAL,
    SQL_ADOPT_EFFECTS,
    SQL_ADOPT_INBOX,
    SQL_ADOPT_GONE,
    SQL_OWNED,
    SQL_EFFECTS,
    SQL_GOAL,
    SQL_SEEN,
    SQL_RECORD_AT,
    SQL_BATCH,
    SQL_GOAL_MOVE,
    SQL_GOAL_UPDATE,
    SQL_GOAL_INSERT,
    SQL_TEXT_INSERT,
    SQL_VIEW_PUT,
    SQL_RECORD_INSERT,
    SQL_EFFECT_PUT,
    SQL_EFFECT_MOVE,
    SQL_EFFECT_END,
    SQL_INBOX_DONE,
    SQL_SEEN_INSERT,
    SQL_ASIDE_INSERT,
    SQL_RESOLVE,
    SQL_FORWARD,
    SQL_SHOW_TEXT,
    SQL_SHOW_ASIDE,
    SQL_SHOW_RECORDS,
    SQL_COUNT
};

struct sqlite_store {
    struct store store;
    char *path, *vfs;
    int busy_ms;
    bool inline_checkpoints;
    bool broken; /* the connection is not to be trusted: open a new one first */
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT];
};

extern const char *const SQLITE_TABLES;
extern const char *const SQLITE_STATEMENTS[SQL_COUNT];

/* One statement at work: bind in order, run, read columns in order, end. Errors stick to `code`. */
struct sqlite_run {
    struct sqlite_store *store;
    int code;
    sqlite3_stmt *statement;
    int place;
};

void run_begin(struct sqlite_run *run, enum sql sql);
void run_int(struct sqlite_run *run, int64_t value);
void run_blob(struct sqlite_run *run, const void *at, size_t len);
void run_id(struct sqlite_run *run, struct id id);
void run_id_at(struct sqlite_run *run,
               const struct id *id); /* it stays there until the statement has run */
void run_text(struct sqlite_run *run, struct str text);
void run_null(struct sqlite_run *run);
bool run_row(struct sqlite_run *run); /* false: no more rows, or an error */
int64_t row_int(struct sqlite_run *run);
struct id row_id(struct sqlite_run *run);
struct str row_bytes(struct sqlite_run *run, struct arena *arena);
void run_end(struct sqlite_run *run);

/* A statement without rows; true when it changed something. */
bool run_change(struct sqlite_run *run);

/* One for each verb, run inside its transaction. */
typedef void sqlite_verb(struct sqlite_run *run, const struct store_request *request,
                         struct store_answer *answer, struct arena *arena);
sqlite_verb sqlite_load, sqlite_poll, sqlite_owned, sqlite_show; /* sqlite_read.c */
sqlite_verb sqlite_join, sqlite_beat, sqlite_take, sqlite_adopt,
    sqlite_resolve; /* sqlite_write.c */
sqlite_verb sqlite_forward, sqlite_commit;

void sqlite_effects_of(struct sqlite_run *run, struct store_answer *answer, struct arena *arena);
