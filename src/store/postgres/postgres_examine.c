/* SPDX-License-Identifier: Apache-2.0 */
/* Examines the part of a PostgreSQL store that this host needs: its own goals that have open effects.
 *
 * The server protects its own files. Damage reaches us as an error of class XX, or as a row that is not what was
 * written: both are checked before any effect is executed. */
#include "store/examine.h"
#include "store/postgres/postgres_state.h"

#include <stdio.h>
#include <stdlib.h>

struct pg_source {
    struct audit_source source;
    PGconn *connection;
    uint32_t host;
    PGresult *result; /* the last result */
    struct pg_trouble trouble;
    int64_t answer_ms;
};

/* ---- queries ---- */

static bool ask(struct pg_source *source, const char *sql, int count, const char *const *values) {
    PQclear(source->result);
    int sent =
        PQsendQueryParams(source->connection, sql, count, NULL, values, NULL, NULL, 1 /* binary */);
    source->result = pg_await(source->connection, sent, source->answer_ms);
    return pg_succeeded(source->result);
}

static void uuid_text(struct id id, char text[40]) {
    char *to = text;
    for (size_t i = 0; i < sizeof id.bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        to += snprintf(to, 3, "%02x", id.bytes[i]);
    }
}

static bool ids_page(struct pg_source *source, const char *sql, struct id after, struct id *ids,
                     uint32_t *ret_count) {
    char host[16], from[40];
    snprintf(host, sizeof host, "%u", source->host);
    uuid_text(after, from);
    if (!ask(source, sql, 2, (const char *const[]){from, host}))
        return false;
    *ret_count = (uint32_t)PQntuples(source->result);
    for (uint32_t i = 0; i < *ret_count; i++)
        ids[i] = pg_id(source->result, (int)i, 0);
    return true;
}

static bool source_goals(struct audit_source *base, struct id after, bool busy, struct id *ids,
                         uint32_t *ret_count) {
    (void)
        busy; /* always only busy goals here: damage in the others is found when they are loaded */
    return ids_page((struct pg_source *)base,
                    "SELECT DISTINCT e.goal_id FROM effect e JOIN goal g USING (goal_id)"
                    " WHERE e.goal_id > $1::uuid AND g.owner = $2::int ORDER BY 1 LIMIT 256",
                    after, ids, ret_count);
}

static bool source_chains(struct audit_source *base, struct id after, struct id *ids,
                          uint32_t *ret_count) {
    return ids_page(
        (struct pg_source *)base,
        "SELECT goal_id FROM (SELECT DISTINCT goal_id FROM record WHERE goal_id > $1::uuid"
        " UNION SELECT goal_id FROM goal WHERE goal_id > $1::uuid) x"
        " WHERE $2::int >= 0 ORDER BY 1 LIMIT 256",
        after, ids, ret_count);
}

/* Records, with milestones between them; only milestones have an end (to_seq). */
static const char CHAIN[] =
    "SELECT seq, at, type::int8, core::int8, policy, hash, body_hash, body, 0::int8 FROM record"
    " WHERE goal_id = $1::uuid UNION ALL SELECT from_seq, at, 0, 0, NULL, last_hash, NULL, NULL, to_seq"
    " FROM milestone WHERE goal_id = $1::uuid ORDER BY 1";

static bool source_records(struct audit_source *base, struct id goal, struct audit *audit) {
    struct pg_source *source = (struct pg_source *)base;
    char id[40];
    uuid_text(goal, id);
    if (!ask(source, CHAIN, 1, (const char *const[]){id}))
        return false;
    const PGresult *rows = source->result;
    for (int i = 0; i < PQntuples(rows); i++) {
        struct hash last = pg_hash(rows, i, 5);
        if (pg_int(rows, i, 8) > 0) {
            audit_milestone(audit, (uint64_t)pg_int(rows, i, 0), (uint64_t)pg_int(rows, i, 8),
                            &last);
            continue;
        }
        struct audit_row row = {.stored = last, .has_body = !pg_is_null(rows, i, 7)};
        row.record =
            (struct record){.seq = (uint64_t)pg_int(rows, i, 0),
                            .at = pg_int(rows, i, 1),
                            .type = (enum record_type)pg_int(rows, i, 2),
                            .core = (uint32_t)pg_int(rows, i, 3),
                            .policy = pg_hash(rows, i, 4),
                            .body_hash = pg_hash(rows, i, 6),
                            .body = {PQgetvalue(rows, i, 7), (size_t)PQgetlength(rows, i, 7)}};
        audit_record(audit, &row);
    }
    return true;
}

/* data_corrupted and index_corrupted (class XX) mean damage. Any other error, internal_error included, means that the
 * store is away. */
static bool source_trouble(struct audit_source *base, char *text, size_t size) {
    struct pg_source *source = (struct pg_source *)base;
    if (source->connection)
        pg_trouble(source->connection, text, size);
    else
        snprintf(text, size, "%s", source->trouble.why);
    return source->result && postgres_says_damaged(source->result);
}

/* ---- opening ---- */

static bool source_open(struct pg_source *source, const char *uri, uint32_t host) {
    *source = (struct pg_source){
        .source = {NULL, source_goals, source_chains, source_records, NULL, source_trouble},
        .host = host,
        .answer_ms = LIMIT_STORE_ANSWER_MS};
    source->connection = pg_connect(uri, PG_APPLICATION, &source->trouble);
    return source->connection && ask(source, "SET default_transaction_read_only = on", 0, NULL) &&
           ask(source,
               "SELECT to_regclass('store') IS NOT NULL AND to_regclass('aside') IS NOT NULL", 0,
               NULL);
}

static void source_close(struct pg_source *source) {
    PQclear(source->result);
    PQfinish(source->connection);
    store_close(source->source.store);
}

static void examine_trouble(struct pg_source *source, struct examination *it) {
    char error[LIMIT_WHY];
    bool damaged = source_trouble(&source->source, error, sizeof error);
    examine_verdict_set(it, damaged ? EXAMINE_DAMAGED : EXAMINE_AWAY, "PostgreSQL: %s", error);
}

/* A database without our tables is a new store: the tables have not been created yet. */
static bool version_check(struct pg_source *source, struct examination *it) {
    it->missing = PQgetvalue(source->result, 0, 0)[0] == 0;
    if (it->missing)
        return false;
    /* version 1 did not have the other columns */
    if (!ask(source,
             "SELECT version::int8, coalesce((to_jsonb(store)->>'oldest')::int8, 1),"
             " coalesce((to_jsonb(store)->>'level')::int8, 1) FROM store WHERE one = 1",
             0, NULL)) {
        examine_trouble(source, it);
        return false;
    }
    if (PQntuples(source->result) == 0) {
        examine_found(it, "store", "", "it has no version");
        return false;
    }
    struct schema_mark mark = {(uint32_t)pg_int(source->result, 0, 0),
                               (uint32_t)pg_int(source->result, 0, 1),
                               (uint32_t)pg_int(source->result, 0, 2)};
    char why[LIMIT_WHY];
    bool ours = schema_is_ours(mark, why, sizeof why);
    if (!ours)
        examine_verdict_set(
            it, EXAMINE_NEWER,
            "it is used by a newer version of Overseer (tables %u, level %u; this build "
            "knows %d and %d)",
            mark.version, mark.level, SCHEMA_VERSION, SCHEMA_LEVEL);
    source->answer_ms = LIMIT_STORE_EXAMINE_MS;
    return ours && mark.version >= SCHEMA_VERSION;
}

void postgres_examine(const char *uri, const struct examine_options *options,
                      struct examination *ret) {
    struct pg_source source;
    char error[LIMIT_WHY];
    if (!source_open(&source, uri, options->host))
        examine_trouble(&source, ret);
    else if (version_check(&source, ret)) {
        source.source.store = postgres_open(uri, error, sizeof error);
        if (source.source.store)
            examine_goals(&source.source, true, ret);
        else
            examine_verdict_set(ret, EXAMINE_AWAY, "%s", error);
    }
    source_close(&source);
}

void postgres_verify_log(const char *uri, const struct log_visitor *visitor,
                         struct log_report *ret) {
    struct pg_source source;
    ret->failed = !source_open(&source, uri, 1);
    if (ret->failed)
        source_trouble(&source.source, ret->why, sizeof ret->why);
    else
        source.source.store = postgres_open(uri, ret->why, sizeof ret->why);
    if (source.source.store)
        audit_chains(&source.source, visitor, ret);
    else
        ret->failed = true;
    source_close(&source);
}
