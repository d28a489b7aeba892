/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the goals and records of an SQLite store page by page, for the examination of the chains. */
#include "store/sqlite/sqlite_examine.h"

#include <stdio.h>

static struct id column_id(sqlite3_stmt *row, int at) {
    struct id id = {0};
    if (sqlite3_column_bytes(row, at) == sizeof id)
        memcpy(&id, sqlite3_column_blob(row, at), sizeof id);
    return id;
}

static struct hash column_hash(sqlite3_stmt *row, int at) {
    struct hash hash = {0};
    if (sqlite3_column_bytes(row, at) == sizeof hash)
        memcpy(&hash, sqlite3_column_blob(row, at), sizeof hash);
    return hash;
}

static bool ids_page(struct audit_source *base, const char *sql, struct id after, struct id *ids,
                     uint32_t *ret_count) {
    sqlite3 *db = ((struct sqlite_source *)base)->db;
    sqlite3_stmt *rows = NULL;
    uint32_t count = 0;
    int code = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
    if (!code) {
        sqlite3_bind_blob(rows, 1, after.bytes, sizeof after.bytes, SQLITE_TRANSIENT);
        while (count < AUDIT_PAGE && sqlite3_step(rows) == SQLITE_ROW)
            ids[count++] = column_id(rows, 0);
        code = sqlite3_finalize(rows);
    }
    *ret_count = count;
    return code == SQLITE_OK;
}

static bool source_goals(struct audit_source *source, struct id after, bool busy, struct id *ids,
                         uint32_t *ret_count) {
    return ids_page(source,
                    busy ? "SELECT DISTINCT goal_id FROM effect WHERE goal_id > ?1 ORDER BY 1"
                         : "SELECT goal_id FROM goal WHERE goal_id > ?1 ORDER BY 1",
                    after, ids, ret_count);
}

static bool source_chains(struct audit_source *source, struct id after, struct id *ids,
                          uint32_t *ret_count) {
    return ids_page(source,
                    "SELECT goal_id FROM (SELECT DISTINCT goal_id FROM record WHERE goal_id > ?1"
                    " UNION SELECT goal_id FROM goal WHERE goal_id > ?1) ORDER BY 1",
                    after, ids, ret_count);
}

/* Records, with milestones between them; only milestones have an end (to_seq). */
static const char CHAIN[] =
    "SELECT seq, at, type, core, policy, hash, body_hash, body, 0 FROM record WHERE goal_id = ?1"
    " UNION ALL SELECT from_seq, at, 0, 0, NULL, last_hash, NULL, NULL, to_seq FROM milestone"
    " WHERE goal_id = ?1 ORDER BY 1";

static void row_meet(sqlite3_stmt *rows, struct audit *audit) {
    struct hash last = column_hash(rows, 5);
    if (sqlite3_column_int64(rows, 8) > 0) {
        audit_milestone(audit, (uint64_t)sqlite3_column_int64(rows, 0),
                        (uint64_t)sqlite3_column_int64(rows, 8), &last);
        return;
    }
    struct audit_row row = {.stored = last,
                            .has_body = sqlite3_column_type(rows, 7) != SQLITE_NULL};
    row.record = (struct record){
        .seq = (uint64_t)sqlite3_column_int64(rows, 0),
        .at = sqlite3_column_int64(rows, 1),
        .type = (enum record_type)sqlite3_column_int64(rows, 2),
        .core = (uint32_t)sqlite3_column_int64(rows, 3),
        .policy = column_hash(rows, 4),
        .body_hash = column_hash(rows, 6),
        .body = {sqlite3_column_blob(rows, 7), (size_t)sqlite3_column_bytes(rows, 7)}};
    audit_record(audit, &row);
}

static bool prepared(sqlite3 *db, const char *sql, sqlite3_stmt **statement, const struct id *id) {
    if (!*statement && sqlite3_prepare_v2(db, sql, -1, statement, NULL) != SQLITE_OK)
        return false;
    return sqlite3_bind_blob(*statement, 1, id->bytes, sizeof id->bytes, SQLITE_STATIC) ==
           SQLITE_OK;
}

static bool source_records(struct audit_source *base, struct id goal, struct audit *audit) {
    struct sqlite_source *source = (struct sqlite_source *)base;
    if (!prepared(source->db, CHAIN, &source->chain, &goal))
        return false;
    while (sqlite3_step(source->chain) == SQLITE_ROW)
        row_meet(source->chain, audit);
    return sqlite3_reset(source->chain) == SQLITE_OK;
}

/* The display state of a goal with unconfirmed effects is updated at its next step, so it is not compared. */
static const char *row_wrong(sqlite3_stmt *row, const struct goal *goal,
                             const struct audit *audit) {
    struct str title = {(const char *)sqlite3_column_text(row, 5),
                        (size_t)sqlite3_column_bytes(row, 5)};
    if ((sqlite3_column_int64(row, 0) != 0) != goal_is_open(goal))
        return "its open mark contradicts its records";
    if (sqlite3_column_int64(row, 1) != goal->status ||
        sqlite3_column_int64(row, 2) != goal->priority ||
        sqlite3_column_int64(row, 3) != goal->progress.percent ||
        sqlite3_column_int64(row, 4) != goal->times.created_at)
        return "its list row contradicts its records";
    if ((uint64_t)sqlite3_column_int64(row, 7) != goal->kind.number)
        return "its list row has another number";
    if (!goal_has_effect(goal, EFFECT_UNCONFIRMED) &&
        sqlite3_column_int64(row, 6) != goal_display_state(goal))
        return "its list row has another state";
    if (audit->bodies && audit->title_length > 0 &&
        !str_equal(title, (struct str){audit->title, audit->title_length}))
        return "its title differs from its records";
    return NULL;
}

static const char COLUMNS[] =
    "SELECT g.open, v.status, v.priority, v.percent, v.created_at, v.title, v.face, v.number"
    " FROM goal g JOIN goal_view v USING (goal_id) WHERE g.goal_id = ?1";

static const char *source_columns(struct audit_source *base, const struct goal *goal,
                                  const struct audit *audit) {
    struct sqlite_source *source = (struct sqlite_source *)base;
    const char *wrong = goal->kind.admission ? NULL : "its list row is missing";
    if (prepared(source->db, COLUMNS, &source->columns, &goal->id) &&
        sqlite3_step(source->columns) == SQLITE_ROW)
        wrong = goal->kind.admission ? "it has a list row, but no goal"
                                     : row_wrong(source->columns, goal, audit);
    sqlite3_reset(source->columns);
    return wrong;
}

static bool source_trouble(struct audit_source *base, char *text, size_t size) {
    sqlite3 *db = ((struct sqlite_source *)base)->db;
    snprintf(text, size, "%s", sqlite3_errmsg(db));
    return sqlite_says_damaged(sqlite3_extended_errcode(db));
}

struct sqlite_source sqlite_source_of(sqlite3 *db, struct store *store) {
    return (struct sqlite_source){.source = {store, source_goals, source_chains, source_records,
                                             source_columns, source_trouble},
                                  .db = db};
}

void sqlite_source_end(struct sqlite_source *source) {
    sqlite3_finalize(source->chain);
    sqlite3_finalize(source->columns);
}

void sqlite_verify_log(const char *path, const struct log_visitor *visitor,
                       struct log_report *ret) {
    sqlite3 *db = NULL;
    struct sqlite_options options = {.path = path, .busy_ms = 2000, .read_only = true};
    struct store *store = sqlite_open(&options, ret->why, sizeof ret->why);
    ret->failed = !store || sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK;
    if (!ret->failed) {
        struct sqlite_source source = sqlite_source_of(db, store);
        audit_chains(&source.source, visitor, ret);
        sqlite_source_end(&source);
    }
    sqlite3_close(db);
    store_close(store);
}
