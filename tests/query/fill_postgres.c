/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a million goals into PostgreSQL: by binary COPY, a few thousand at a time. The indexes are created afterwards,
 * from their own definitions. */
#include "query/query.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

enum { GOALS_A_COPY = 5000, TABLES = 6 };
enum { GOAL, RECORD, VIEW, TAG, NODES, TEXTS };

static const char *const COPIES[TABLES] = {
    [GOAL] = "goal",
    [RECORD] = "record",
    [VIEW] = "goal_view (goal_id, status, face, priority, percent, created_at, updated_at, title,"
             " ended_at)",
    [TAG] = "goal_tag (tag, face, created_at, goal_id)",
    [NODES] = "node (goal_id, n, name, body)",
    [TEXTS] = "text (goal_id, hash, body)",
};

struct filling {
    PGconn *connection;
    struct arena arena; /* of the rows not yet sent */
    struct writer rows[TABLES];
    int64_t tally[DISPLAY_STATES];
};

/* ---- rows ---- */

static void put_number(struct writer *to, int64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--)
        write_byte(to, (uint8_t)((uint64_t)value >> (8 * i)));
}

static void row_begin(struct writer *to, int columns) {
    put_number(to, columns, 2);
}

static void put_int(struct writer *to, int64_t value) {
    put_number(to, 4, 4);
    put_number(to, value, 4);
}

static void put_long(struct writer *to, int64_t value) {
    put_number(to, 8, 4);
    put_number(to, value, 8);
}

static void put_bool(struct writer *to, bool value) {
    put_number(to, 1, 4);
    put_number(to, value, 1);
}

static void put_run(struct writer *to, struct str run) {
    put_number(to, (int64_t)run.len, 4);
    write_raw(to, run);
}

static void put_bytes(struct writer *to, const void *at, size_t len) {
    put_run(to, (struct str){at, len});
}

static void goal_put(struct writer *to, const struct member *member) {
    const struct goal *goal = &member->goal;
    row_begin(to, 10);
    put_bytes(to, goal->id.bytes, 16);
    put_int(to, goal->owner);
    put_long(to, (int64_t)goal->fence);
    put_long(to, (int64_t)goal->version);
    put_long(to, (int64_t)goal->records.seq);
    put_bytes(to, goal->records.head.bytes, 32);
    put_long(to, goal->due_at);
    put_bool(to, goal_is_open(goal));
    put_bool(to, goal->quarantined);
    put_run(to, member->hot);
}

static void record_put(struct writer *to, const struct member *member, uint32_t i) {
    const struct record *record = &member->record;
    row_begin(to, 12);
    put_int(to, time_day(record->at));
    put_long(to, i / 100 + 1);
    put_int(to, i % 100);
    put_bytes(to, member->goal.id.bytes, 16);
    put_long(to, (int64_t)record->seq);
    put_long(to, record->at);
    put_int(to, record->type);
    put_int(to, (int64_t)record->core);
    put_bytes(to, record->policy.bytes, 32);
    put_bytes(to, record->hash.bytes, 32);
    put_number(to, -1, 4); /* null */
    put_run(to, record->body);
}

static void view_put(struct filling *filling, const struct member *member) {
    const struct goal_view *view = &member->view;
    struct writer *to = &filling->rows[VIEW], *tags = &filling->rows[TAG];
    row_begin(to, 9);
    put_bytes(to, view->id.bytes, 16);
    put_int(to, view->status);
    put_int(to, view->display_state);
    put_int(to, view->priority);
    put_int(to, view->percent);
    put_long(to, view->created_at);
    put_long(to, view->updated_at);
    put_run(to, view->title);
    put_long(to, view->ended_at);
    for (uint32_t i = 0; i < member->tag_count; i++) {
        row_begin(tags, 4);
        put_run(tags, member->tags[i]);
        put_int(tags, view->display_state);
        put_long(tags, view->created_at);
        put_bytes(tags, view->id.bytes, 16);
    }
    filling->tally[view->display_state]++;
}

static void plan_put(struct filling *filling, const struct member *member) {
    struct writer *nodes = &filling->rows[NODES], *texts = &filling->rows[TEXTS];
    for (uint32_t i = 0; i < member->node_count; i++) {
        row_begin(nodes, 4);
        put_bytes(nodes, member->goal.id.bytes, 16);
        put_int(nodes, member->nodes[i].n);
        put_run(nodes, member->nodes[i].name);
        put_run(nodes, member->nodes[i].body);
    }
    for (uint32_t i = 0; i < member->text_count; i++) {
        row_begin(texts, 3);
        put_bytes(texts, member->goal.id.bytes, 16);
        put_bytes(texts, member->texts[i].hash.bytes, 32);
        put_run(texts, member->texts[i].body);
    }
}

/* ---- the server ---- */

static PGresult *simple(struct filling *filling, const char *sql) {
    PGresult *result = PQexec(filling->connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
        bench_fail(sql, PQerrorMessage(filling->connection));
    return result;
}

static void rows_begin(struct filling *filling) {
    arena_reset(&filling->arena);
    for (int table = 0; table < TABLES; table++) {
        filling->rows[table] = (struct writer){.arena = &filling->arena};
        write_raw(&filling->rows[table], STR("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"));
    }
}

static void rows_send(struct filling *filling) {
    for (int table = 0; table < TABLES; table++) {
        struct writer *rows = &filling->rows[table];
        char sql[160];
        snprintf(sql, sizeof sql, "COPY %s FROM STDIN (FORMAT binary)", COPIES[table]);
        PQclear(simple(filling, sql));
        put_number(rows, -1, 2);
        PQputCopyData(filling->connection, rows->at, (int)rows->len);
        PQputCopyEnd(filling->connection, NULL);
        for (PGresult *result; (result = PQgetResult(filling->connection)); PQclear(result))
            if (PQresultStatus(result) != PGRES_COMMAND_OK)
                bench_fail(sql, PQerrorMessage(filling->connection));
    }
    rows_begin(filling);
}

static void tally_put(struct filling *filling) {
    for (int display_state = 0; display_state < DISPLAY_STATES; display_state++) {
        char sql[96];
        snprintf(sql, sizeof sql, "INSERT INTO tally VALUES (%d, %d, %lld)", BENCH_OWNER,
                 display_state, (long long)filling->tally[display_state]);
        PQclear(simple(filling, sql));
    }
}

static void members_put(struct filling *filling, const struct crowd *crowd) {
    struct arena arena = {0};
    rows_begin(filling);
    for (uint32_t i = 0; i < crowd->count; i++) {
        struct member member;
        arena_reset(&arena);
        crowd_member(crowd, i, &member, &arena);
        goal_put(&filling->rows[GOAL], &member);
        record_put(&filling->rows[RECORD], &member, i);
        view_put(filling, &member);
        plan_put(filling, &member);
        if (i % GOALS_A_COPY == GOALS_A_COPY - 1)
            rows_send(filling);
    }
    rows_send(filling);
    arena_free(&arena);
}

void fill_postgres(const struct crowd *crowd, const char *uri) {
    struct filling filling = {.connection = PQconnectdb(uri)};
    PQclear(simple(&filling, "SET synchronous_commit = off; SET maintenance_work_mem = '256MB'"));
    PGresult *indexes = simple(
        &filling, "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
                  " WHERE NOT indisprimary AND indrelid IN ('goal_view'::regclass,"
                  " 'goal_tag'::regclass, 'node'::regclass)");
    for (int i = 0; i < PQntuples(indexes); i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "DROP INDEX %s", PQgetvalue(indexes, i, 0));
        PQclear(simple(&filling, sql));
    }
    members_put(&filling, crowd);
    tally_put(&filling);
    for (int i = 0; i < PQntuples(indexes); i++)
        PQclear(simple(&filling, PQgetvalue(indexes, i, 1)));
    PQclear(indexes);
    PQclear(simple(&filling, "VACUUM ANALYZE"));
    PQfinish(filling.connection);
    arena_free(&filling.arena);
}
