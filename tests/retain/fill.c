/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a store with ten million records within a minute or two. */
#include "retain/retain.h"

#include "store/rows.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t DAY_US = 86400 * (int64_t)1000000;

/* ---- generating the past ---- */

struct made {
    struct id id;
    uint64_t seq;
    struct hash head;
};

/* One record in twelve is of a type that is kept, besides the first and the last. */
static enum record_type type_at(uint64_t seq, uint64_t goal) {
    static const enum record_type OTHERS[] = {RECORD_GOAL_REPORTED,  RECORD_EFFECT_DECIDED,
                                              RECORD_EFFECT_CLAIMED, RECORD_EFFECT_ENDED,
                                              RECORD_WORK_QUEUED,    RECORD_WORK_STARTED};
    if (seq == 1 || seq == RECORDS_EACH)
        return seq == 1 ? RECORD_GOAL_CREATED : RECORD_GOAL_COMPLETED;
    return (seq + goal) % 12 == 0 ? RECORD_WORK_DONE : OTHERS[(seq * 7 + goal) % count_of(OTHERS)];
}

/* Ids begin with the time, as real ones do. */
static struct id id_at(const struct past *past, uint64_t goal, uint64_t goals) {
    uint8_t random[10] = {0};
    for (int i = 0; i < 8; i++)
        random[i] = (uint8_t)((goal * 0x9E3779B97F4A7C15u) >> (8 * i));
    int64_t since =
        (int64_t)(goal * (uint64_t)((past->days - DAYS_EACH) * past->stride) * 86400 / goals) *
        1000;
    return id_make(past->first_day * (DAY_US / 1000) + since, random);
}

static void goal_write(const struct made *made, int64_t at, const struct past_writer *writer,
                       struct arena *arena) {
    struct past_goal it = {.goal = {.id = made->id,
                                    .owner = 1,
                                    .fence = 1,
                                    .version = 1,
                                    .records.seq = made->seq,
                                    .records.head = made->head,
                                    .due_at = TIME_NEVER,
                                    .status = GOAL_COMPLETED,
                                    .times.created_at = at,
                                    .times.updated_at = at,
                                    .times.ended_at = at}};
    struct str hot = shape_encode(&GOAL_HOT, &it.goal, arena);
    it.hot = row_seal(ROW_GOAL, made->id, 0, hot, arena);
    writer->goal(writer->with, &it);
}

/* A tenth of one day's work on a goal is one transaction. */
static void record_write(struct made *made, struct past_row *row, int64_t at, uint64_t goal,
                         const struct past_writer *writer, struct arena *arena) {
    char text[96];
    snprintf(text, sizeof text,
             "goal %llu, record %llu: so far, so good; the tests pass and the branch is pushed",
             (unsigned long long)goal, (unsigned long long)made->seq + 1);
    struct evidence evidence = {
        .rule = STR("report.said"), .actor = STR("uid:1000"), .text = str_of(text)};
    row->record = (struct record){.type = type_at(made->seq + 1, goal), .at = at, .core = 2};
    row->record.body = shape_encode(&EVIDENCE, &evidence, arena);
    record_seal(&row->record, made->id, made->seq, &made->head);
    row->goal = made->id;
    made->seq = row->record.seq;
    made->head = row->record.hash;
    writer->record(writer->with, row);
}

/* Each goal lives for a few days and has a little work on each of them; neighbouring goals overlap in time. */
void past_walk(const struct past *past, const struct past_writer *writer) {
    uint64_t goals = past->records / RECORDS_EACH, a_day = RECORDS_EACH / DAYS_EACH;
    struct made *made = calloc(goals, sizeof *made);
    struct arena arena = {0};
    struct past_row row = {0};
    if (!made)
        retain_die("memory", "there is none");
    for (int32_t day = 0; day < past->days; day++)
        for (uint64_t turn = 0; turn < a_day; turn++)
            for (uint64_t goal = 0; goal < goals; goal++) {
                int32_t begins = (int32_t)(goal * (uint64_t)(past->days - DAYS_EACH) / goals);
                if (begins > day)
                    break;
                if (begins + DAYS_EACH <= day)
                    continue;
                if (made[goal].seq == 0)
                    made[goal].id = id_at(past, goal, goals);
                row.day = past->first_day + day * past->stride;
                row.n = row.n == 99 ? 0 : row.n + 1;
                row.tx += row.n == 0;
                int64_t at = row.day * DAY_US + (int64_t)turn * (DAY_US / 10);
                record_write(&made[goal], &row, at, goal, writer, &arena);
                if (made[goal].seq == RECORDS_EACH)
                    goal_write(&made[goal], at, writer, &arena);
                arena_reset(&arena);
            }
    arena_free(&arena);
    free(made);
}

/* ---- SQLite ---- */

struct lite {
    sqlite3 *db;
    sqlite3_stmt *record, *goal;
    uint64_t rows, tx;
};

static void lite_run(struct lite *lite, const char *sql) {
    if (sqlite3_exec(lite->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        retain_die(sql, sqlite3_errmsg(lite->db));
}

static void lite_step(struct lite *lite, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE)
        retain_die("fill", sqlite3_errmsg(lite->db));
    sqlite3_reset(statement);
    if (++lite->rows % 1000000 == 0)
        lite_run(lite, "COMMIT; BEGIN");
}

static void lite_record(void *with, const struct past_row *row) {
    struct lite *lite = with;
    sqlite3_stmt *put = lite->record;
    lite->tx = row->tx;
    sqlite3_bind_int64(put, 1, row->day);
    sqlite3_bind_int64(put, 2, (int64_t)row->tx);
    sqlite3_bind_int64(put, 3, row->n);
    sqlite3_bind_blob(put, 4, row->goal.bytes, 16, SQLITE_STATIC);
    sqlite3_bind_int64(put, 5, (int64_t)row->record.seq);
    sqlite3_bind_int64(put, 6, row->record.at);
    sqlite3_bind_int64(put, 7, row->record.type);
    sqlite3_bind_int64(put, 8, row->record.core);
    sqlite3_bind_blob(put, 9, row->record.policy.bytes, 32, SQLITE_STATIC);
    sqlite3_bind_blob(put, 10, row->record.hash.bytes, 32, SQLITE_STATIC);
    sqlite3_bind_blob(put, 11, row->record.body.at, (int)row->record.body.len, SQLITE_STATIC);
    lite_step(lite, put);
}

static void lite_goal(void *with, const struct past_goal *it) {
    struct lite *lite = with;
    sqlite3_stmt *put = lite->goal;
    sqlite3_bind_blob(put, 1, it->goal.id.bytes, 16, SQLITE_STATIC);
    sqlite3_bind_int64(put, 2, (int64_t)it->goal.records.seq);
    sqlite3_bind_blob(put, 3, it->goal.records.head.bytes, 32, SQLITE_STATIC);
    sqlite3_bind_int64(put, 4, it->goal.due_at);
    sqlite3_bind_blob(put, 5, it->hot.at, (int)it->hot.len, SQLITE_STATIC);
    lite_step(lite, put);
}

void past_fill_sqlite(const struct past *past) {
    struct lite lite = {0};
    char sql[128];
    if (sqlite3_open(past->where + 7, &lite.db) != SQLITE_OK)
        retain_die(past->where, sqlite3_errmsg(lite.db));
    lite_run(
        &lite,
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; BEGIN");
    if (sqlite3_prepare_v2(lite.db,
                           "INSERT INTO record VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,NULL,?11)",
                           -1, &lite.record, NULL) ||
        sqlite3_prepare_v2(lite.db, "INSERT INTO goal VALUES (?1, 1, 1, 1, ?2, ?3, ?4, 0, 0, ?5)",
                           -1, &lite.goal, NULL))
        retain_die("fill", sqlite3_errmsg(lite.db));
    past_walk(past, &(struct past_writer){&lite, lite_record, lite_goal});
    snprintf(sql, sizeof sql, "UPDATE store SET tx = %llu; COMMIT",
             (unsigned long long)lite.tx + 1);
    lite_run(&lite, sql);
    sqlite3_finalize(lite.record);
    sqlite3_finalize(lite.goal);
    lite_run(&lite, "PRAGMA journal_mode = WAL");
    sqlite3_close(lite.db);
}

/* ---- PostgreSQL: COPY in binary ---- */

enum { COPY_BUFFER = 1 << 20 };

struct copy {
    PGconn *connection;
    char *buffer;
    size_t used;
};

struct pg {
    struct copy record, goal;
};

static void copy_flush(struct copy *copy) {
    if (PQputCopyData(copy->connection, copy->buffer, (int)copy->used) != 1)
        retain_die("COPY", PQerrorMessage(copy->connection));
    copy->used = 0;
}

static void copy_raw(struct copy *copy, const void *at, size_t size) {
    if (copy->used + size > COPY_BUFFER)
        copy_flush(copy);
    memcpy(copy->buffer + copy->used, at, size);
    copy->used += size;
}

static void copy_number(struct copy *copy, uint64_t value, int bytes) {
    uint8_t raw[8];
    for (int i = 0; i < bytes; i++)
        raw[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
    copy_raw(copy, raw, (size_t)bytes);
}

static void copy_int(struct copy *copy, uint64_t value, int bytes) {
    copy_number(copy, (uint64_t)bytes, 4);
    copy_number(copy, value, bytes);
}

static void copy_bytes(struct copy *copy, const void *at, size_t size) {
    copy_number(copy, size, 4);
    copy_raw(copy, at, size);
}

static void pg_record(void *with, const struct past_row *row) {
    struct copy *copy = &((struct pg *)with)->record;
    copy_number(copy, 11, 2);
    copy_int(copy, (uint64_t)row->day, 4);
    copy_int(copy, row->tx, 8);
    copy_int(copy, row->n, 4);
    copy_bytes(copy, row->goal.bytes, 16);
    copy_int(copy, row->record.seq, 8);
    copy_int(copy, (uint64_t)row->record.at, 8);
    copy_int(copy, row->record.type, 4);
    copy_int(copy, row->record.core, 4);
    copy_bytes(copy, row->record.policy.bytes, 32);
    copy_bytes(copy, row->record.hash.bytes, 32);
    copy_bytes(copy, row->record.body.at, row->record.body.len);
}

static void pg_goal(void *with, const struct past_goal *it) {
    struct copy *copy = &((struct pg *)with)->goal;
    copy_number(copy, 10, 2);
    copy_bytes(copy, it->goal.id.bytes, 16);
    copy_int(copy, 1, 4);
    copy_int(copy, 1, 8);
    copy_int(copy, 1, 8);
    copy_int(copy, it->goal.records.seq, 8);
    copy_bytes(copy, it->goal.records.head.bytes, 32);
    copy_int(copy, (uint64_t)it->goal.due_at, 8);
    copy_int(copy, 0, 1);
    copy_int(copy, 0, 1);
    copy_bytes(copy, it->hot.at, it->hot.len);
}

static void copy_begin(struct copy *copy, const char *uri, const char *sql) {
    static const char HEADER[19] = "PGCOPY\n\377\r\n\0";
    copy->connection = PQconnectdb(uri);
    copy->buffer = malloc(COPY_BUFFER);
    PQclear(PQexec(copy->connection, "SET synchronous_commit = off"));
    PGresult *result = PQexec(copy->connection, sql);
    if (!copy->buffer || PQresultStatus(result) != PGRES_COPY_IN)
        retain_die(sql, PQerrorMessage(copy->connection));
    PQclear(result);
    copy_raw(copy, HEADER, sizeof HEADER);
}

static void copy_end(struct copy *copy) {
    copy_number(copy, UINT16_MAX, 2);
    copy_flush(copy);
    if (PQputCopyEnd(copy->connection, NULL) != 1)
        retain_die("COPY", PQerrorMessage(copy->connection));
    PGresult *result = PQgetResult(copy->connection);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        retain_die("COPY", PQerrorMessage(copy->connection));
    PQclear(result);
    PQfinish(copy->connection);
    free(copy->buffer);
}

static void days_make(const struct past *past) {
    PGconn *connection = PQconnectdb(past->where);
    char sql[160];
    for (int32_t i = 0, day = past->first_day; i < past->days; i++, day += past->stride) {
        snprintf(
            sql, sizeof sql,
            "CREATE TABLE IF NOT EXISTS record_%d PARTITION OF record FOR VALUES FROM (%d) TO (%d)",
            day, day, day + 1);
        PQclear(PQexec(connection, sql));
    }
    PQfinish(connection);
}

void past_fill_postgres(const struct past *past) {
    struct pg pg = {0};
    days_make(past);
    copy_begin(
        &pg.record, past->where,
        "COPY record (day, tx, n, goal_id, seq, at, type, core, policy, hash, body) FROM STDIN (FORMAT binary)");
    copy_begin(
        &pg.goal, past->where,
        "COPY goal (goal_id, owner, fence, version, seq, head, due_at, open, aside, hot) FROM STDIN (FORMAT binary)");
    past_walk(past, &(struct past_writer){&pg, pg_record, pg_goal});
    copy_end(&pg.record);
    copy_end(&pg.goal);
    PGconn *connection = PQconnectdb(past->where);
    PQclear(PQexec(connection, "VACUUM (ANALYZE) goal; "));
    PQclear(PQexec(connection, "VACUUM (ANALYZE) record"));
    PQfinish(connection);
}

void past_fill(const struct past *past) {
    if (store_address_file(past->where))
        past_fill_sqlite(past);
    else
        past_fill_postgres(past);
}
