/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the benchmark's rows with PostgreSQL alone, as the baseline: no fence, no version check, no batch number; one
 * update and one insert over binary arrays, prepared once, in one pipeline from BEGIN to COMMIT. */
#include "bench/bench.h"

#include <libpq-fe.h>
#include <stdlib.h>

/* One letter per parameter: u uuid, i int8, y bytes. The update comes first. */
static const char UPDATE_TYPES[] = "uiiyiy", INSERT_TYPES[] = "iiiuiiiiyyy";
enum { UPDATE_PARAMS = 6, INSERT_PARAMS = 11, MAX_CELL = 256, HEADER = 20 };

struct array {
    uint8_t *at;
    size_t len;
    uint32_t count;
};

struct bare_postgres {
    struct bare bare;
    PGconn *connection;
    struct array update[UPDATE_PARAMS], insert[INSERT_PARAMS];
    int64_t tx;
};

/* ---- binary arrays ---- */

static void put_32(uint8_t *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

static uint32_t type_of(char letter) {
    return letter == 'u' ? 2950 : letter == 'y' ? 17 : 20;
}

static void arrays_make(struct array *arrays, const char *types) {
    for (size_t i = 0; types[i]; i++) {
        arrays[i].at = malloc(HEADER + BENCH_BATCH * MAX_CELL);
        if (!arrays[i].at)
            bench_fail("bare postgres", "no memory");
        put_32(arrays[i].at, 1);
        put_32(arrays[i].at + 4, 0);
        put_32(arrays[i].at + 8, type_of(types[i]));
        put_32(arrays[i].at + 16, 1);
    }
}

static void put_int(struct array *array, int64_t value) {
    uint64_t swapped = __builtin_bswap64((uint64_t)value);
    put_32(array->at + array->len, 8);
    memcpy(array->at + array->len + 4, &swapped, 8);
    array->len += 12;
    array->count++;
}

static void put_bytes(struct array *array, const void *at, size_t len) {
    if (len + 4 > MAX_CELL)
        bench_fail("bare postgres", "a cell is too long");
    put_32(array->at + array->len, (uint32_t)len);
    memcpy(array->at + array->len + 4, at, len);
    array->len += 4 + len;
    array->count++;
}

/* ---- the statements ---- */

static const char *const UPDATE =
    "UPDATE goal g SET version = u.version, seq = u.seq, head = u.head, due_at = u.due_at, hot = u.hot"
    " FROM unnest($1::uuid[], $2::int8[], $3::int8[], $4::bytea[], $5::int8[], $6::bytea[])"
    " AS u(goal_id, version, seq, head, due_at, hot) WHERE g.goal_id = u.goal_id";
static const char *const INSERT =
    "INSERT INTO record SELECT r.day, r.tx, r.n, r.goal_id, r.seq, r.at, r.type, r.core, r.policy, r.hash,"
    " NULL, r.body FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::uuid[], $5::int8[], $6::int8[],"
    " $7::int8[], $8::int8[], $9::bytea[], $10::bytea[], $11::bytea[])"
    " AS r(day, tx, n, goal_id, seq, at, type, core, policy, hash, body)";

static void check(struct bare_postgres *bare, PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_PIPELINE_SYNC)
        bench_fail("bare postgres", PQerrorMessage(bare->connection));
    PQclear(result);
}

static struct bare *open_postgres(const char *where) {
    struct bare_postgres *bare = calloc(1, sizeof *bare);
    if (!bare)
        bench_fail("bare postgres", "no memory");
    bare->bare.driver = &BARE_POSTGRES;
    bare->connection = PQconnectdb(where);
    check(bare, PQexec(bare->connection, "SET plan_cache_mode = force_generic_plan;"
                                         "SET enable_seqscan = off; SET jit = off;"
                                         "SET synchronous_commit = on"));
    check(bare, PQprepare(bare->connection, "begin", "BEGIN", 0, NULL));
    check(bare, PQprepare(bare->connection, "update", UPDATE, 0, NULL));
    check(bare, PQprepare(bare->connection, "insert", INSERT, 0, NULL));
    check(bare, PQprepare(bare->connection, "commit", "COMMIT", 0, NULL));
    if (!PQenterPipelineMode(bare->connection))
        bench_fail("bare postgres", PQerrorMessage(bare->connection));
    arrays_make(bare->update, UPDATE_TYPES);
    arrays_make(bare->insert, INSERT_TYPES);
    bare->tx = 1000000000000; /* above any number that the server assigns here */
    return &bare->bare;
}

/* ---- a batch ---- */

static void arrays_begin(struct array *arrays, int count) {
    for (int i = 0; i < count; i++) {
        arrays[i].len = HEADER;
        arrays[i].count = 0;
    }
}

static void put_goal(struct array *to, const struct goal_commit *commit) {
    put_bytes(to++, commit->goal.id.bytes, 16);
    put_int(to++, (int64_t)commit->goal.version);
    put_int(to++, (int64_t)commit->goal.records.seq);
    put_bytes(to++, commit->goal.records.head.bytes, 32);
    put_int(to++, commit->goal.due_at);
    put_bytes(to, commit->hot.at, commit->hot.len);
}

static void put_record(struct array *to, const struct goal_commit *commit, int64_t tx, uint32_t n) {
    const struct record *record = &commit->records[0];
    put_int(to++, time_day(record->at));
    put_int(to++, tx);
    put_int(to++, n);
    put_bytes(to++, commit->goal.id.bytes, 16);
    put_int(to++, (int64_t)record->seq);
    put_int(to++, record->at);
    put_int(to++, record->type);
    put_int(to++, record->core);
    put_bytes(to++, record->policy.bytes, 32);
    put_bytes(to++, record->hash.bytes, 32);
    put_bytes(to, record->body.at, record->body.len);
}

static void send(struct bare_postgres *bare, const char *name, struct array *arrays, int count) {
    const char *values[INSERT_PARAMS];
    int lengths[INSERT_PARAMS], formats[INSERT_PARAMS];
    for (int i = 0; i < count; i++) {
        put_32(arrays[i].at + 12, arrays[i].count);
        values[i] = (const char *)arrays[i].at;
        lengths[i] = (int)arrays[i].len;
        formats[i] = 1;
    }
    if (!PQsendQueryPrepared(bare->connection, name, count, values, lengths, formats, 1))
        bench_fail("bare postgres", PQerrorMessage(bare->connection));
}

static void receive(struct bare_postgres *bare) {
    for (;;) {
        PGresult *result = PQgetResult(bare->connection);
        bool last = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        if (result)
            check(bare, result);
        if (last)
            return;
    }
}

static void commit_postgres(struct bare *base, const struct store_request *request) {
    struct bare_postgres *bare = (struct bare_postgres *)base;
    arrays_begin(bare->update, UPDATE_PARAMS);
    arrays_begin(bare->insert, INSERT_PARAMS);
    bare->tx++;
    for (uint32_t i = 0; i < request->commit_count; i++) {
        put_goal(bare->update, &request->commits[i]);
        put_record(bare->insert, &request->commits[i], bare->tx, i);
    }
    send(bare, "begin", NULL, 0);
    send(bare, "update", bare->update, UPDATE_PARAMS);
    send(bare, "insert", bare->insert, INSERT_PARAMS);
    send(bare, "commit", NULL, 0);
    if (!PQpipelineSync(bare->connection))
        bench_fail("bare postgres", PQerrorMessage(bare->connection));
    receive(bare);
}

static void close_postgres(struct bare *base) {
    struct bare_postgres *bare = (struct bare_postgres *)base;
    for (int i = 0; i < UPDATE_PARAMS; i++)
        free(bare->update[i].at);
    for (int i = 0; i < INSERT_PARAMS; i++)
        free(bare->insert[i].at);
    PQfinish(bare->connection);
    free(bare);
}

const struct bare_driver BARE_POSTGRES = {open_postgres, commit_postgres, close_postgres};
