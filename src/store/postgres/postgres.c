/* SPDX-License-Identifier: Apache-2.0 */
/* Executes one store request as one PostgreSQL pipeline. */
#include "store/postgres/postgres_state.h"

#include "base/seam.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- parameters ---- */

static void big_endian(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
}

static void param_add(struct pg_params *params, const void *at, size_t len) {
    must(params->count < PG_MAX_PARAMS);
    params->values[params->count] = at;
    params->lengths[params->count] = (int)len;
    params->formats[params->count++] = 1;
}

void param_int(struct pg_params *params, int64_t value) {
    uint8_t *bytes = arena_new(params->arena, uint8_t, 8);
    big_endian(bytes, (uint64_t)value, 8);
    param_add(params, bytes, 8);
}

void param_id(struct pg_params *params, struct id id) {
    param_add(params,
              arena_copy(params->arena, (struct str){(const char *)id.bytes, sizeof id.bytes}).at,
              sizeof id.bytes);
}

void param_text(struct pg_params *params, struct str text) {
    param_add(params, text.at ? text.at : "", text.len);
}

void param_ids(struct pg_params *params, const struct id *ids, uint32_t count) {
    struct pg_array array = array_open(params->arena, FIELD_ID);
    for (uint32_t i = 0; i < count; i++)
        array_bytes(&array, ids[i].bytes, sizeof ids[i].bytes);
    param_array(params, &array);
}

/* Object ids of the element types, as fixed in PostgreSQL's catalogue. */
static uint32_t type_oid(enum field_type type) {
    switch (type) {
    case FIELD_ID: return 2950;
    case FIELD_ENUM: return 16; /* bool */
    case FIELD_TEXT: return 25;
    case FIELD_BYTES: return 17;
    default: return 20;
    }
}

/* Dimensions, null flag, element type, length, lower bound: written when the array is closed. */
enum { ARRAY_HEADER = 20, EMPTY_ARRAY_HEADER = 12 };

static void array_number(struct pg_array *array, uint64_t value, int bytes) {
    uint8_t number[8];
    big_endian(number, value, bytes);
    write_raw(&array->writer, (struct str){(const char *)number, (size_t)bytes});
}

struct pg_array array_open(struct arena *arena, enum field_type type) {
    static const char HEADER[ARRAY_HEADER];
    struct pg_array array = {.writer = {.arena = arena}, .type = type};
    write_raw(&array.writer, (struct str){HEADER, sizeof HEADER});
    return array;
}

void param_array(struct pg_params *params, struct pg_array *array) {
    uint8_t *header = (uint8_t *)array->writer.at;
    big_endian(header, array->count > 0, 4);
    big_endian(header + 4, 1, 4);
    big_endian(header + 8, type_oid(array->type), 4);
    big_endian(header + 12, array->count, 4);
    big_endian(header + 16, 1, 4);
    param_add(params, header, array->count ? array->writer.len : EMPTY_ARRAY_HEADER);
}

void array_int(struct pg_array *array, int64_t value) {
    array->count++;
    array_number(array, 8, 4);
    array_number(array, (uint64_t)value, 8);
}

void array_bool(struct pg_array *array, bool value) {
    array->count++;
    array_number(array, 1, 4);
    array_number(array, value, 1);
}

void array_bytes(struct pg_array *array, const void *at, size_t len) {
    array->count++;
    array_number(array, len, 4);
    write_raw(&array->writer, (struct str){at, len});
}

void array_null(struct pg_array *array) {
    array->count++;
    array_number(array, UINT32_MAX, 4);
}

/* ---- results ---- */

int64_t pg_int(const PGresult *result, int row, int column) {
    const uint8_t *at = (const uint8_t *)PQgetvalue(result, row, column);
    int len = PQgetlength(result, row, column);
    uint64_t value = 0;
    for (int i = 0; i < len && i < 8; i++)
        value = value << 8 | at[i];
    return len == 4 ? (int32_t)value : (int64_t)value;
}

struct id pg_id(const PGresult *result, int row, int column) {
    struct id id = {0};
    if (PQgetlength(result, row, column) == sizeof id.bytes)
        memcpy(id.bytes, PQgetvalue(result, row, column), sizeof id.bytes);
    return id;
}

struct str pg_bytes(const PGresult *result, int row, int column, struct arena *arena) {
    return arena_copy(arena, (struct str){PQgetvalue(result, row, column),
                                          (size_t)PQgetlength(result, row, column)});
}

bool pg_is_null(const PGresult *result, int row, int column) {
    return PQgetisnull(result, row, column);
}

struct effect_slot pg_slot(const PGresult *result, int row, int column) {
    return (struct effect_slot){.n = (uint32_t)pg_int(result, row, column),
                                .run_host = (uint32_t)pg_int(result, row, column + 1),
                                .state = (enum effect_state)pg_int(result, row, column + 2),
                                .kind = (uint32_t)pg_int(result, row, column + 3),
                                .until = pg_int(result, row, column + 4)};
}

static void results_clear(struct pg_store *store) {
    while (store->result_count > 0)
        PQclear(store->results[--store->result_count]);
}

/* ---- the connection ---- */

static void disconnect(struct pg_store *store) {
    results_clear(store);
    PQfinish(store->connection);
    store->connection = NULL;
}

static void answer_error(struct pg_run *run, enum store_outcome outcome, const char *text) {
    static _Thread_local char kept[LIMIT_WHY];
    snprintf(kept, sizeof kept, "PostgreSQL: %s", text && *text ? text : "the connection was lost");
    kept[strcspn(kept, "\n")] = 0;
    run->answer->outcome = outcome;
    run->answer->error = str_of(kept);
    run->answer->held = false;
    run->failed = true;
}

void pg_answer_refused(struct pg_run *run, const char *text) {
    answer_error(run, STORE_REFUSED, text);
}

static Oid letter_oid(char letter) {
    switch (letter) {
    case 'u': return type_oid(FIELD_ID);
    case 't': return type_oid(FIELD_TEXT);
    case 'a': return 1016; /* int8[] */
    case 'v': return 2951; /* uuid[] */
    default: return type_oid(FIELD_INT);
    }
}

static bool prepare(struct pg_store *store, int sql) {
    const struct pg_statement *statement = &PG_STATEMENTS[sql];
    Oid types[12] = {0};
    int count = (int)strlen(statement->types);
    must(count <= (int)count_of(types));
    for (int i = 0; i < count; i++)
        types[i] = letter_oid(statement->types[i]);
    char name[16];
    snprintf(name, sizeof name, "s%d", sql);
    enum part_kind part = sql < PG_OF_PART ? 0 : (enum part_kind)((sql - PG_OF_PART) % PARTS);
    arena_reset(&store->scratch);
    int sent = PQsendPrepare(store->connection, name,
                             sql_expand(statement->sql, part, &store->scratch), count, types);
    PGresult *result = pg_await(store->connection, sent, store->answer_ms);
    bool ok = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return ok;
}

static bool instance_put(struct pg_store *store) {
    char sql[96] = "UPDATE store SET instance = '";
    for (size_t i = 0; i < sizeof store->instance.id.bytes; i++)
        snprintf(sql + strlen(sql), 3, "%02x", store->instance.id.bytes[i]);
    return pg_execute(store, strcat(sql, "'"));
}

/* STORE-21 */
static bool instance_check(struct pg_store *store) {
    int sent = PQsendQueryParams(
        store->connection, "SELECT instance, (NOT EXISTS (SELECT FROM host))::int::int8 FROM store",
        0, NULL, NULL, NULL, NULL, 1);
    PGresult *row = pg_await(store->connection, sent, store->answer_ms);
    bool read = PQresultStatus(row) == PGRES_TUPLES_OK && PQntuples(row) == 1;
    enum instance_verdict verdict = INSTANCE_OTHER;
    if (read)
        verdict = instance_hold(&store->instance, pg_id(row, 0, 0), pg_int(row, 0, 1) != 0,
                                store->why, sizeof store->why);
    PQclear(row);
    if (read && verdict == INSTANCE_OTHER)
        store->newer = true; /* like a store that is not for this build: a retry does not help */
    return verdict == INSTANCE_OURS || (verdict == INSTANCE_NEW && instance_put(store));
}

/* P1. Plans are cached for the whole session, so they must not be made from the statistics of small tables; plans that
 * use the keys also read the rows in key order. */
const char *const PG_SETTINGS =
    "SET idle_in_transaction_session_timeout = '2s'; SET statement_timeout = '5s';"
    "SET lock_timeout = '2s'; SET client_min_messages = warning;"
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off;"
    "SET max_parallel_workers_per_gather = 0;" /* starting workers takes longer than any of our statements */
    "SET synchronous_commit = on";

/* Ensures the tables, then prepares every statement, so that a request needs nothing but its pipeline. */
static bool session_begin(struct pg_store *store) {
    if (!pg_execute(store, PG_SETTINGS))
        return false;
    if (!schema_ensure(store) || !instance_check(store))
        return false;
    for (int i = 0; i < PG_SQL_COUNT; i++)
        if (!prepare(store, i))
            return false;
    return true;
}

static bool connect(struct pg_run *run) {
    struct pg_store *store = run->store;
    struct pg_trouble trouble;
    store->at_work = true; /* until setup is complete: a half-made connection must not be used */
    store->why[0] = 0;
    store->too_long = 0;
    store->several = pg_names_several(store->uri);
    store->answer_ms = LIMIT_STORE_ANSWER_MS;
    store->connection = pg_connect(store->uri, PG_APPLICATION, &trouble);
    store->newer = trouble.for_good;
    if (store->connection && session_begin(store) && PQenterPipelineMode(store->connection)) {
        store->at_work = false;
        return true;
    }
    if (!store->connection)
        memcpy(store->why, trouble.why, sizeof store->why);
    else if (!store->why[0])
        pg_trouble(store->connection, store->why, sizeof store->why);
    answer_error(run, STORE_FAILED, store->why);
    store->at_work = false;
    disconnect(store);
    return false;
}

/* The records of each day have their own partition, created a day ahead. If that fails, they go to the default
 * partition. False: the connection is no longer usable. */
static bool days_ensure(struct pg_store *store, int64_t at) {
    int32_t today = time_day(at);
    if (at <= 0 || store->days_until > today + 1)
        return true; /* requests that only read give no time */
    PQexitPipelineMode(store->connection);
    for (int32_t day = today; day < today + 3; day++) {
        char sql[160];
        snprintf(
            sql, sizeof sql,
            "CREATE TABLE IF NOT EXISTS record_%d PARTITION OF record FOR VALUES FROM (%d) TO (%d)",
            day, day, day + 1);
        pg_execute(store, sql);
    }
    if (!PQenterPipelineMode(store->connection))
        return false; /* no answer */
    store->days_until = today + 3;
    return true;
}

/* ---- the pipeline ---- */

/* P1: the server measures a transaction's idle time only after a sync. libpq sends a long batch in pieces: without a
 * sync before it, a host that stops halfway would lock its own row for ever. */
static void sync_midway(struct pg_run *run) {
    if (run->failed)
        return;
    if (!PQpipelineSync(run->store->connection))
        answer_error(run, STORE_UNKNOWN, PQerrorMessage(run->store->connection));
    run->syncs++;
    seam("inside-transaction");
}

void pg_send(struct pg_run *run, enum pg_sql sql, const struct pg_params *params) {
    if (run->failed)
        return;
    char name[16];
    snprintf(name, sizeof name, "s%d", (int)sql);
    int count = params ? params->count : 0;
    must(run->sent < PG_MAX_RESULTS);
    if (seam("query") ||
        !PQsendQueryPrepared(run->store->connection, name, count, params ? params->values : NULL,
                             params ? params->lengths : NULL, params ? params->formats : NULL, 1))
        answer_error(run, STORE_UNKNOWN, PQerrorMessage(run->store->connection));
    run->sent++;
    if (sql == PG_BATCH)
        sync_midway(run);
}

void pg_send_text(struct pg_run *run, const char *sql, const struct pg_params *params) {
    if (run->failed)
        return;
    must(run->sent < PG_MAX_RESULTS);
    if (seam("query") || !PQsendQueryParams(run->store->connection, sql, params->count, NULL,
                                            params->values, params->lengths, params->formats, 1))
        answer_error(run, STORE_UNKNOWN, PQerrorMessage(run->store->connection));
    run->sent++;
}

/* Only the server's word is certain: an error means that nothing was committed, and its class says whether a retry can
 * help. */
static enum store_outcome outcome_of(const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (!state || !severity || strcmp(severity, "ERROR") != 0)
        return STORE_UNKNOWN;
    bool data = strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0 ||
                strncmp(state, "54", 2) == 0;
    return data ? STORE_REFUSED : STORE_FAILED;
}

bool postgres_says_damaged(const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state && (strcmp(state, "XX001") == 0 || strcmp(state, "XX002") == 0);
}

/* The node is a standby or is being demoted to one: the next connection looks for the node that takes writes. */
static bool says_read_only(const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state && strcmp(state, "25006") == 0;
}

/* The server cancelled the statement because it waited too long for a lock or ran too long. The first time, another
 * session may hold the lock briefly. If it happens again, the node may be an old primary whose commits wait for its
 * standbys: the next connection also asks the other nodes. */
static bool says_too_long(struct pg_store *store, const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!state || (strcmp(state, "55P03") != 0 && strcmp(state, "57014") != 0))
        return false;
    return ++store->too_long >= LIMIT_STORE_TOO_LONG;
}

static void receive_one(struct pg_run *run, PGresult *result) {
    struct pg_store *store = run->store;
    store->results[store->result_count++] = result;
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_PIPELINE_ABORTED)
        return;
    if (!run->failed)
        answer_error(run, outcome_of(result), PQresultErrorMessage(result));
    run->answer->damaged = run->answer->damaged || postgres_says_damaged(result);
    run->useless = run->useless || says_read_only(result) || says_too_long(store, result);
}

bool pg_receive(struct pg_run *run) {
    PGconn *connection = run->store->connection;
    if (run->failed || !PQpipelineSync(connection)) {
        if (!run->failed)
            answer_error(run, STORE_UNKNOWN, PQerrorMessage(connection));
        return false;
    }
    seam("sent");
    for (;;) { /* results, each followed by NULL, until the sync */
        bool ready = pg_wait_readable(connection, LIMIT_STORE_ANSWER_MS); /* false: timed out */
        PGresult *result = ready ? PQgetResult(connection) : NULL;
        if (!ready || (!result && PQstatus(connection) != CONNECTION_OK)) {
            answer_error(run, STORE_UNKNOWN, PQerrorMessage(connection));
            return false;
        }
        if (!result)
            continue;
        if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            if (run->syncs-- > 0)
                continue;
            if (!run->failed)
                run->store->too_long = 0;
            return !run->failed;
        }
        if (run->store->result_count == PG_MAX_RESULTS) {
            PQclear(result);
            continue;
        }
        receive_one(run, result);
        if (PQstatus(connection) != CONNECTION_OK)
            return false;
    }
}

/* ---- a request ---- */

struct verb_row {
    void (*run)(struct pg_run *, const struct store_request *);
    bool writes;
};

static const struct verb_row VERBS[STORE_VERBS] = {
    [STORE_JOIN] = {postgres_join, true},        [STORE_OWNED] = {postgres_owned, false},
    [STORE_BEAT] = {postgres_beat, true},        [STORE_POLL] = {postgres_poll, false},
    [STORE_TAKE] = {postgres_take, true},        [STORE_ADOPT] = {postgres_adopt, true},
    [STORE_LOAD] = {postgres_load, false},       [STORE_COMMIT] = {postgres_commit, true},
    [STORE_RESOLVE] = {postgres_resolve, true},  [STORE_FORWARD] = {postgres_forward, true},
    [STORE_SHOW] = {postgres_show, false},       [STORE_LIST] = {postgres_list, false},
    [STORE_ORDER] = {postgres_order, true},      [STORE_FIND] = {postgres_find, false},
    [STORE_TALLY] = {postgres_tally, false},     [STORE_NAMED] = {postgres_named, false},
    [STORE_HOSTS] = {postgres_hosts, false},     [STORE_FOLLOW] = {postgres_follow, false},
    [STORE_HISTORY] = {postgres_history, false}, [STORE_BRIEF] = {postgres_brief, false},
};

/* An error in the middle of a pipeline also skips its COMMIT and leaves the transaction open. */
static void roll_back(struct pg_store *store, struct arena *arena) {
    PGTransactionStatusType status = PQtransactionStatus(store->connection);
    if (status != PQTRANS_INERROR && status != PQTRANS_INTRANS)
        return;
    struct store_answer answer = {.outcome = STORE_DONE};
    struct pg_run run = {.store = store, .answer = &answer, .arena = arena};
    pg_send(&run, PG_ROLLBACK, NULL);
    if (!pg_receive(&run))
        disconnect(store);
    results_clear(store);
}

/* One attempt. True: the connection was lost during a request that only reads. */
static bool attempt(struct pg_store *store, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    struct pg_run run = {.store = store, .answer = answer, .arena = arena};
    *answer = (struct store_answer){.outcome = STORE_DONE};
    if (!store->connection && !connect(&run))
        return false;
    store->at_work = true;
    if (days_ensure(store, request->at))
        VERBS[request->verb].run(&run, request);
    else {
        pg_trouble(store->connection, store->why, sizeof store->why);
        answer_error(&run, STORE_FAILED, store->why);
        run.useless = true;
    }
    store->at_work = false;
    results_clear(store);
    bool lost = answer->outcome == STORE_UNKNOWN, reads = !VERBS[request->verb].writes;
    if (lost || run.useless)
        disconnect(store);
    else
        roll_back(store, arena);
    if (lost && reads)
        answer->outcome = STORE_FAILED;
    return lost && reads;
}

/* P7 requires a new connection for a resolve; so does any request after a missing answer. A request that only reads is
 * retried once if an established connection is lost. A poll is not retried: P3 must see every gap. */
static void perform(struct store *base, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    struct pg_store *store = (struct pg_store *)base;
    results_clear(store);
    if (store->connection && (store->at_work || request->verb == STORE_RESOLVE ||
                              PQstatus(store->connection) != CONNECTION_OK))
        disconnect(store);
    bool stood = store->connection != NULL;
    if (attempt(store, request, answer, arena) && stood && request->verb != STORE_POLL)
        attempt(store, request, answer, arena);
}

static void close_store(struct store *base) {
    struct pg_store *store = (struct pg_store *)base;
    disconnect(store);
    arena_free(&store->scratch);
    free(store->uri);
    free(store);
}

static void rest(struct store *base) {
    disconnect((struct pg_store *)base);
}

static const struct store_driver DRIVER = {
    .name = "postgres", .perform = perform, .close = close_store, .rest = rest};

struct store *postgres_open(const char *uri, char *error, size_t error_size) {
    struct pg_store *store = calloc(1, sizeof *store);
    if (store)
        store->uri = strdup(uri);
    if (!store || !store->uri) {
        free(store);
        snprintf(error, error_size, "There is no memory to open the store.");
        return NULL;
    }
    store->store.driver = &DRIVER;
    struct store_answer answer;
    struct pg_run run = {.store = store, .answer = &answer, .arena = &store->scratch};
    if (connect(&run) || !store->newer)
        return &store->store;
    snprintf(error, error_size, "%s", store->why);
    close_store(&store->store);
    return NULL;
}
