/* SPDX-License-Identifier: Apache-2.0 */
/* What does the PostgreSQL driver keep? Shared by postgres*.c only. */
#pragma once

#include "store/postgres.h"
#include "store/rows.h"

#include <libpq-fe.h>

enum pg_sql {
    PG_BEGIN,
    PG_COMMIT,
    PG_ROLLBACK,
    PG_JOIN,
    PG_BEAT,
    PG_HOSTS,
    PG_INBOX,
    PG_TAKE,
    PG_ADOPT_LOCK,
    PG_ADOPT_PAGE,
    PG_ADOPT_ONLY,
    PG_ADOPT_INBOX,
    PG_ADOPT_GONE,
    PG_OWNED,
    PG_OWNED_EFFECTS,
    PG_GOALS,
    PG_EFFECTS,
    PG_SEEN,
    PG_MARKS,
    PG_BATCH,
    PG_COMMIT_LEAN, /* goals that exist, and their records */
    PG_COMMIT_FULL,
    PG_RESOLVE,
    PG_FORWARD,
    PG_SHOW_TEXT,
    PG_SHOW_ASIDE,
    PG_SHOW_RECORDS,
    PG_SQL_COUNT
};

enum { PG_MAX_PARAMS = 64, PG_MAX_RESULTS = 8 };

struct pg_store {
    struct store store;
    char *uri;
    PGconn *connection;
    int32_t days_until; /* partitions exist for the days before this one */
    PGresult
        *results[PG_MAX_RESULTS]; /* of the pipeline in hand; kept here so that none can leak */
    int result_count;
    bool
        at_work; /* still set at the next request: the last one was abandoned, its pipeline half sent */
};

/* The parameters of one statement, in binary. */
struct pg_params {
    struct arena *arena;
    int count;
    const char *values[PG_MAX_PARAMS];
    int lengths[PG_MAX_PARAMS], formats[PG_MAX_PARAMS];
};

/* An array parameter while it is being built. */
struct pg_array {
    struct writer writer;
    enum field_type type;
    uint32_t count;
};

/* One request on its way: statements are queued, sent as one pipeline, and their results kept. */
struct pg_run {
    struct pg_store *store;
    struct store_answer *answer;
    struct arena *arena;
    bool failed;
    int sent;
    int syncs; /* midway, still to be answered */
};

extern const char *const PG_TABLES;
/* Leading parameters that are no arrays: i int8, u uuid, t text. */
struct pg_statement {
    const char *types;
    const char *sql;
};
extern const struct pg_statement PG_STATEMENTS[PG_SQL_COUNT];

void param_int(struct pg_params *params, int64_t value);
void param_id(struct pg_params *params, struct id id);
void param_text(struct pg_params *params, struct str text);
void param_array(struct pg_params *params, struct pg_array *array); /* closes it */

struct pg_array array_open(struct arena *arena, enum field_type type);
void array_int(struct pg_array *array, int64_t value);
void array_bool(struct pg_array *array, bool value);
void array_bytes(struct pg_array *array, const void *at, size_t len);
void array_null(struct pg_array *array);

void pg_send(struct pg_run *run, enum pg_sql sql, const struct pg_params *params);
bool pg_receive(struct pg_run *run); /* false: the answer says why */

int64_t pg_int(const PGresult *result, int row, int column);
struct id pg_id(const PGresult *result, int row, int column);
struct str pg_bytes(const PGresult *result, int row, int column, struct arena *arena);
bool pg_is_null(const PGresult *result, int row, int column);
struct effect_slot pg_slot(const PGresult *result, int row, int column);

/* postgres_read.c, postgres_write.c: one for each verb */
void postgres_load(struct pg_run *, const struct store_request *);
void postgres_poll(struct pg_run *, const struct store_request *);
void postgres_owned(struct pg_run *, const struct store_request *);
void postgres_show(struct pg_run *, const struct store_request *);
void postgres_join(struct pg_run *, const struct store_request *);
void postgres_beat(struct pg_run *, const struct store_request *);
void postgres_take(struct pg_run *, const struct store_request *);
void postgres_adopt(struct pg_run *, const struct store_request *);
void postgres_resolve(struct pg_run *, const struct store_request *);
void postgres_forward(struct pg_run *, const struct store_request *);
void postgres_commit(struct pg_run *, const struct store_request *);
