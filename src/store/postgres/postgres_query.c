/* SPDX-License-Identifier: Apache-2.0 */
/* Sends statements in a pipeline: parameters, arrays, rows. */
#include "store/postgres/postgres_state.h"

#include "base/seam.h"

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
uint32_t pg_type_oid(enum field_type type) {
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
    big_endian(header + 8, pg_type_oid(array->type), 4);
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

void pg_results_clear(struct pg_store *store) {
    while (store->result_count > 0)
        PQclear(store->results[--store->result_count]);
}

struct id pg_id(const PGresult *result, int row, int column) {
    struct id id = {0};
    if (PQgetlength(result, row, column) == sizeof id.bytes)
        memcpy(id.bytes, PQgetvalue(result, row, column), sizeof id.bytes);
    return id;
}

struct hash pg_hash(const PGresult *result, int row, int column) {
    struct hash hash = {0};
    if (PQgetlength(result, row, column) == sizeof hash.bytes)
        memcpy(hash.bytes, PQgetvalue(result, row, column), sizeof hash.bytes);
    return hash;
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

void pg_answer_error(struct pg_run *run, enum store_outcome outcome, const char *text) {
    static _Thread_local char kept[LIMIT_WHY];
    snprintf(kept, sizeof kept, "PostgreSQL: %s", text && *text ? text : "the connection was lost");
    kept[strcspn(kept, "\n")] = 0;
    run->answer->outcome = outcome;
    run->answer->error = str_of(kept);
    run->answer->held = false;
    run->failed = true;
}

/* ---- the pipeline ---- */

/* P1: the server measures a transaction's idle time only after a sync. libpq sends a long batch in pieces: without a
 * sync before it, a host that stops halfway would lock its own row for ever. */
static void sync_midway(struct pg_run *run) {
    if (run->failed)
        return;
    if (!PQpipelineSync(run->store->connection))
        pg_answer_error(run, STORE_UNKNOWN, PQerrorMessage(run->store->connection));
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
        pg_answer_error(run, STORE_UNKNOWN, PQerrorMessage(run->store->connection));
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
        pg_answer_error(run, STORE_UNKNOWN, PQerrorMessage(run->store->connection));
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
        pg_answer_error(run, outcome_of(result), PQresultErrorMessage(result));
    run->answer->damaged = run->answer->damaged || postgres_says_damaged(result);
    run->useless = run->useless || says_read_only(result) || says_too_long(store, result);
}

bool pg_receive(struct pg_run *run) {
    PGconn *connection = run->store->connection;
    if (run->failed || !PQpipelineSync(connection)) {
        if (!run->failed)
            pg_answer_error(run, STORE_UNKNOWN, PQerrorMessage(connection));
        return false;
    }
    seam("sent");
    for (;;) { /* results, each followed by NULL, until the sync */
        bool ready = pg_wait_readable(connection, LIMIT_STORE_ANSWER_MS); /* false: timed out */
        PGresult *result = ready ? PQgetResult(connection) : NULL;
        if (!ready || (!result && PQstatus(connection) != CONNECTION_OK)) {
            pg_answer_error(run, STORE_UNKNOWN, PQerrorMessage(connection));
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

void pg_answer_refused(struct pg_run *run, const char *text) {
    pg_answer_error(run, STORE_REFUSED, text);
}
