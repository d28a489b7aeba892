/* SPDX-License-Identifier: Apache-2.0 */
/* Executes one store request as one PostgreSQL pipeline. */
#include "store/postgres/postgres_state.h"

#include <stdlib.h>

/* ---- the connection ---- */

static void disconnect(struct pg_store *store) {
    pg_results_clear(store);
    PQfinish(store->connection);
    store->connection = NULL;
}

static Oid letter_oid(char letter) {
    switch (letter) {
    case 'u': return pg_type_oid(FIELD_ID);
    case 't': return pg_type_oid(FIELD_TEXT);
    case 'a': return 1016; /* int8[] */
    case 'v': return 2951; /* uuid[] */
    default: return pg_type_oid(FIELD_INT);
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
    arena_reset(&store->scratch);
    const char *text = pg_text((enum pg_sql)sql, &store->scratch);
    if (!text)
        return true;
    int sent = PQsendPrepare(store->connection, name, text, count, types);
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
    pg_answer_error(run, STORE_FAILED, store->why);
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

/* ---- a request ---- */

struct verb_row {
    void (*run)(struct pg_run *, const struct store_request *);
    bool writes;
};

static const struct verb_row VERBS[STORE_VERBS] = {
    [STORE_JOIN] = {postgres_join, true},       [STORE_OWNED] = {postgres_owned, false},
    [STORE_BEAT] = {postgres_beat, true},       [STORE_POLL] = {postgres_poll, false},
    [STORE_TAKE] = {postgres_take, true},       [STORE_ADOPT] = {postgres_adopt, true},
    [STORE_LOAD] = {postgres_load, false},      [STORE_COMMIT] = {postgres_commit, true},
    [STORE_RESOLVE] = {postgres_resolve, true}, [STORE_FORWARD] = {postgres_forward, true},
    [STORE_SHOW] = {postgres_show, false},      [STORE_LIST] = {postgres_list, false},
    [STORE_ORDER] = {postgres_order, true},     [STORE_FIND] = {postgres_find, false},
    [STORE_TALLY] = {postgres_tally, false},    [STORE_NAMED] = {postgres_named, false},
    [STORE_NUMBERS] = {postgres_numbers, true}, [STORE_HOSTS] = {postgres_hosts, false},
    [STORE_FOLLOW] = {postgres_follow, false},  [STORE_HISTORY] = {postgres_history, false},
    [STORE_BRIEF] = {postgres_brief, false},
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
    pg_results_clear(store);
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
        pg_answer_error(&run, STORE_FAILED, store->why);
        run.useless = true;
    }
    store->at_work = false;
    pg_results_clear(store);
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
    pg_results_clear(store);
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
        snprintf(error, error_size, "Out of memory while opening the store.");
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
