/* SPDX-License-Identifier: Apache-2.0 */
/* Retention on a PostgreSQL store.
 *
 * The ledger never waits for the rows that retention touches: it only adds records, and retention only reads goals. One
 * host of a fleet runs retention at a time. */
#include "store/postgres/postgres_state.h"
#include "store/retain_state.h"

#include <stdio.h>
#include <stdlib.h>

enum { RETAIN_LOCK = 1330004563, DROP_TRIES = 200 };

struct pg_retain {
    struct retain retain;
    PGconn *connection;
    PGresult *result; /* of the last query; kept here so that none leaks */
};

/* ---- queries ---- */

static const char SESSION[] =
    "SET statement_timeout = '60s'; SET lock_timeout = '2s'; SET client_min_messages = warning;"
    "SET synchronous_commit = off; SET enable_seqscan = off; SET enable_hashjoin = off;"
    "SET enable_mergejoin = off; SET enable_sort = off; SET jit = off;"
    "SET idle_in_transaction_session_timeout = '10s'";

static bool ask(struct pg_retain *pg, const char *sql, const struct pg_params *params) {
    PQclear(pg->result);
    int sent = params ? PQsendQueryParams(pg->connection, sql, params->count, NULL, params->values,
                                          params->lengths, params->formats, 1)
                      : PQsendQuery(pg->connection, sql);
    pg->result = pg_await(pg->connection, sent, LIMIT_STORE_PAGE_MS);
    if (pg_succeeded(pg->result))
        return true;
    char why[LIMIT_WHY];
    pg_trouble(pg->connection, why, sizeof why);
    retain_fail(&pg->retain, "PostgreSQL", why);
    if (pg->result)
        PQclear(PQexec(pg->connection, "ROLLBACK"));
    return false;
}

/* ---- reading ---- */

/* An admission aggregate is always open and in no list: what it remembers is deleted as if it were closed. */
#define OPEN \
    "CASE WHEN g.open THEN EXISTS (SELECT 1 FROM goal_view v WHERE v.goal_id = g.goal_id)" \
    " ELSE g.open END"

/* Day by day: a statement that names its day reads one partition, however many there are. */
static const char NEXT_DAY[] =
    "SELECT coalesce(least((SELECT min(substr(c.relname, 8)::int) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
    "  WHERE i.inhparent = 'record'::regclass AND c.relname ~ '^record_[1-9][0-9]*$'"
    "  AND substr(c.relname, 8)::int >= $1::int8),"
    " (SELECT min(day) FROM record_other WHERE day >= $1::int8::int)), -1)::int8";
static const char PAGE[] =
    "SELECT r.day::int8, r.tx, r.n::int8, r.goal_id, r.seq, r.at, r.type::int8, r.hash, r.body, " OPEN
    ", g.seq"
    " FROM record r LEFT JOIN goal g USING (goal_id)"
    " WHERE r.day = $1::int8::int AND (r.tx, r.n) > ($2::int8, $3::int8) ORDER BY r.tx, r.n LIMIT $4::int8";

static bool day_next(struct pg_retain *pg, int32_t from, int32_t *ret_day) {
    struct pg_params params = {.arena = &pg->retain.arena};
    param_int(&params, from);
    if (!ask(pg, NEXT_DAY, &params))
        return false;
    *ret_day = (int32_t)pg_int(pg->result, 0, 0);
    return true;
}

static struct retain_row row_read(const PGresult *rows, int i, struct arena *arena) {
    struct retain_row it = {
        .key = {(int32_t)pg_int(rows, i, 0), pg_int(rows, i, 1), pg_int(rows, i, 2)},
        .goal = pg_id(rows, i, 3),
        .has_body = !pg_is_null(rows, i, 8),
        .known = !pg_is_null(rows, i, 9),
        .open = pg_int(rows, i, 9) != 0,
        .newest = (uint64_t)pg_int(rows, i, 10)};
    it.record = (struct record){.seq = (uint64_t)pg_int(rows, i, 4),
                                .at = pg_int(rows, i, 5),
                                .type = (enum record_type)pg_int(rows, i, 6),
                                .hash = pg_hash(rows, i, 7),
                                .body = pg_bytes(rows, i, 8, arena)};
    return it;
}

static bool day_page(struct pg_retain *pg, struct retain_key after, uint32_t limit,
                     struct retain_pages *ret) {
    struct pg_params params = {.arena = &pg->retain.arena};
    param_int(&params, after.day);
    param_int(&params, after.tx);
    param_int(&params, after.n);
    param_int(&params, limit);
    if (!ask(pg, PAGE, &params))
        return false;
    ret->count = (uint32_t)PQntuples(pg->result);
    for (uint32_t i = 0; i < ret->count; i++)
        ret->rows[i] = row_read(pg->result, (int)i, &pg->retain.arena);
    return true;
}

static bool pg_page(struct retain *retain, struct retain_key after, int32_t before, uint32_t limit,
                    struct retain_pages *ret) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    ret->rows = arena_new(&retain->arena, struct retain_row, limit);
    while (after.day < before) {
        if (after.tx < INT64_MAX && !day_page(pg, after, limit, ret))
            return false;
        if (ret->count > 0)
            return true;
        int32_t day;
        if (!day_next(pg, after.day + 1, &day))
            return false;
        if (day < 0)
            return true;
        after = (struct retain_key){day, INT64_MIN, INT64_MIN};
    }
    return true;
}

static const char TOUCHING[] =
    "SELECT a.from_seq, a.to_seq, a.at, a.last_hash, a.body, b.from_seq, b.to_seq, b.at, b.last_hash, b.body"
    " FROM unnest($1::uuid[], $2::int8[], $3::int8[]) WITH ORDINALITY AS r(goal_id, from_seq, to_seq, place)"
    " LEFT JOIN LATERAL (SELECT * FROM milestone m WHERE m.goal_id = r.goal_id AND m.from_seq < r.from_seq"
    "   ORDER BY m.from_seq DESC LIMIT 1) a ON true"
    " LEFT JOIN milestone b ON b.goal_id = r.goal_id AND b.from_seq = r.to_seq + 1 ORDER BY r.place";

static struct milestone milestone_read(const PGresult *rows, int i, int column, struct id goal,
                                       struct arena *arena) {
    struct milestone it = {.goal = goal,
                           .from = (uint64_t)pg_int(rows, i, column),
                           .to = (uint64_t)pg_int(rows, i, column + 1),
                           .at = pg_int(rows, i, column + 2),
                           .last = pg_hash(rows, i, column + 3)};
    milestone_decode(&it, pg_bytes(rows, i, column + 4, arena));
    return it;
}

static void param_runs(struct pg_params *params, const struct milestone *runs, uint32_t count) {
    struct pg_array goals = array_open(params->arena, FIELD_ID),
                    from = array_open(params->arena, FIELD_INT),
                    to = array_open(params->arena, FIELD_INT);
    for (uint32_t i = 0; i < count; i++) {
        array_bytes(&goals, runs[i].goal.bytes, sizeof runs[i].goal.bytes);
        array_int(&from, (int64_t)runs[i].from);
        array_int(&to, (int64_t)runs[i].to);
    }
    param_array(params, &goals);
    param_array(params, &from);
    param_array(params, &to);
}

static bool pg_touching(struct retain *retain, const struct milestone *runs, uint32_t count,
                        struct milestone *ret_before, struct milestone *ret_behind) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    struct pg_params params = {.arena = &retain->arena};
    param_runs(&params, runs, count);
    if (!ask(pg, TOUCHING, &params))
        return false;
    must(PQntuples(pg->result) == (int)count);
    for (uint32_t i = 0; i < count; i++) {
        ret_before[i] = milestone_read(pg->result, (int)i, 0, runs[i].goal, &retain->arena);
        ret_behind[i] = milestone_read(pg->result, (int)i, 5, runs[i].goal, &retain->arena);
    }
    return true;
}

static const char SEEN[] =
    "SELECT s.goal_id, s.source, (s.at < $3::int8 AND (" OPEN
    ") = false) IS TRUE FROM seen s LEFT JOIN goal g"
    " USING (goal_id) WHERE (s.goal_id, s.source) > ($1::uuid, $2::uuid) ORDER BY 1, 2 LIMIT $4::int8";

static bool pg_seen(struct retain *retain, struct source_key after, int64_t before, uint32_t limit,
                    struct retain_pages *ret, uint32_t *ret_looked, struct source_key *ret_last) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    struct pg_params params = {.arena = &retain->arena};
    param_id(&params, after.goal);
    param_id(&params, after.source);
    param_int(&params, before);
    param_int(&params, limit);
    if (!ask(pg, SEEN, &params))
        return false;
    ret->seen = arena_new(&retain->arena, struct source_key, limit);
    *ret_looked = (uint32_t)PQntuples(pg->result);
    for (int i = 0; i < PQntuples(pg->result); i++) {
        *ret_last = (struct source_key){pg_id(pg->result, i, 0), pg_id(pg->result, i, 1)};
        if (pg_int(pg->result, i, 2))
            ret->seen[ret->count++] = *ret_last;
    }
    return true;
}

static bool pg_text_goals(struct retain *retain, struct id after, uint32_t limit,
                          struct retain_pages *ret) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    struct pg_params params = {.arena = &retain->arena};
    param_id(&params, after);
    param_int(&params, limit);
    if (!ask(pg,
             "SELECT DISTINCT t.goal_id FROM text t JOIN goal g USING (goal_id)"
             " WHERE t.goal_id > $1::uuid AND NOT (" OPEN ") ORDER BY 1 LIMIT $2::int8",
             &params))
        return false;
    ret->count = (uint32_t)PQntuples(pg->result);
    ret->goals = arena_new(&retain->arena, struct id, limit);
    for (uint32_t i = 0; i < ret->count; i++)
        ret->goals[i] = pg_id(pg->result, (int)i, 0);
    return true;
}

static bool pg_texts(struct retain *retain, struct id goal, struct retain_pages *ret) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    struct pg_params params = {.arena = &retain->arena};
    param_id(&params, goal);
    param_int(&params, LIMIT_RETAIN_ROWS);
    if (!ask(pg, "SELECT hash FROM text WHERE goal_id = $1::uuid LIMIT $2::int8", &params))
        return false;
    ret->count = (uint32_t)PQntuples(pg->result);
    ret->hashes = arena_new(&retain->arena, struct hash, ret->count + 1);
    for (uint32_t i = 0; i < ret->count; i++)
        ret->hashes[i] = pg_hash(pg->result, (int)i, 0);
    return true;
}

static bool pg_bodies(struct retain *retain, struct id goal, struct retain_pages *ret) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    struct pg_params params = {.arena = &retain->arena};
    param_id(&params, goal);
    if (!ask(pg, "SELECT body FROM record WHERE goal_id = $1::uuid AND body IS NOT NULL", &params))
        return false;
    ret->count = (uint32_t)PQntuples(pg->result);
    ret->bodies = arena_new(&retain->arena, struct str, ret->count + 1);
    for (uint32_t i = 0; i < ret->count; i++)
        ret->bodies[i] = pg_bytes(pg->result, (int)i, 0, &retain->arena);
    return true;
}

/* ---- writing ---- */

/* The keys of the records: their day, and the rest of each key. */
static void param_keys(struct pg_params *params, struct retain_row **rows, uint32_t count) {
    struct pg_array tx = array_open(params->arena, FIELD_INT),
                    n = array_open(params->arena, FIELD_INT);
    for (uint32_t i = 0; i < count; i++) {
        array_int(&tx, rows[i]->key.tx);
        array_int(&n, rows[i]->key.n);
    }
    param_int(params, rows[0]->key.day);
    param_array(params, &tx);
    param_array(params, &n);
}

#define KEYED " WHERE r.day = $1::int8::int AND r.tx = k.tx AND r.n = k.n"
static bool records_change(struct pg_retain *pg, const struct retain_work *work) {
    struct pg_params goes = {.arena = &pg->retain.arena}, moves = goes, bodies = goes;
    if (work->goes_count > 0) {
        param_keys(&goes, work->goes, work->goes_count);
        if (!ask(pg, "DELETE FROM record r USING unnest($2::int8[], $3::int8[]) AS k(tx, n)" KEYED,
                 &goes))
            return false;
    }
    if (work->moves_count > 0) {
        param_keys(&moves, work->moves, work->moves_count);
        if (!ask(
                pg,
                "UPDATE record r SET day = 0 FROM unnest($2::int8[], $3::int8[]) AS k(tx, n)" KEYED,
                &moves))
            return false;
    }
    if (work->bodies_count == 0)
        return true;
    struct pg_array hashes = array_open(bodies.arena, FIELD_BYTES);
    for (uint32_t i = 0; i < work->bodies_count; i++)
        array_bytes(&hashes, work->body_hashes[i].bytes, sizeof work->body_hashes[i].bytes);
    param_keys(&bodies, work->bodies, work->bodies_count);
    param_array(&bodies, &hashes);
    return ask(pg,
               "UPDATE record r SET body = NULL, body_hash = k.hash"
               " FROM unnest($2::int8[], $3::int8[], $4::bytea[]) AS k(tx, n, hash)" KEYED,
               &bodies);
}

static bool milestones_change(struct pg_retain *pg, const struct retain_work *work) {
    struct pg_params joined = {.arena = &pg->retain.arena}, puts = joined;
    if (work->joined_count > 0) {
        param_runs(&joined, work->joined, work->joined_count);
        if (!ask(
                pg,
                "DELETE FROM milestone m USING unnest($1::uuid[], $2::int8[], $3::int8[])"
                " AS k(goal_id, from_seq, to_seq) WHERE m.goal_id = k.goal_id AND m.from_seq = k.from_seq",
                &joined))
            return false;
    }
    if (work->puts_count == 0)
        return true;
    struct pg_array at = array_open(puts.arena, FIELD_INT),
                    last = array_open(puts.arena, FIELD_BYTES),
                    body = array_open(puts.arena, FIELD_BYTES);
    param_runs(&puts, work->puts, work->puts_count);
    for (uint32_t i = 0; i < work->puts_count; i++) {
        array_int(&at, work->puts[i].at);
        array_bytes(&last, work->puts[i].last.bytes, sizeof work->puts[i].last.bytes);
        array_bytes(&body, work->put_bodies[i].at, work->put_bodies[i].len);
    }
    param_array(&puts, &at);
    param_array(&puts, &last);
    param_array(&puts, &body);
    return ask(
        pg,
        "INSERT INTO milestone (goal_id, from_seq, to_seq, n, at, last_hash, body)"
        " SELECT goal_id, from_seq, to_seq, to_seq - from_seq + 1, at, last_hash, body"
        " FROM unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::bytea[], $6::bytea[])"
        " AS k(goal_id, from_seq, to_seq, at, last_hash, body)",
        &puts);
}

static bool seen_change(struct pg_retain *pg, const struct retain_work *work) {
    struct pg_params params = {.arena = &pg->retain.arena};
    struct pg_array goals = array_open(params.arena, FIELD_ID),
                    sources = array_open(params.arena, FIELD_ID);
    for (uint32_t i = 0; i < work->seen_count; i++) {
        array_bytes(&goals, work->seen[i].goal.bytes, sizeof work->seen[i].goal.bytes);
        array_bytes(&sources, work->seen[i].source.bytes, sizeof work->seen[i].source.bytes);
    }
    param_array(&params, &goals);
    param_array(&params, &sources);
    return work->seen_count == 0 ||
           ask(pg,
               "DELETE FROM seen s USING unnest($1::uuid[], $2::uuid[]) AS k(goal_id, source)"
               " WHERE s.goal_id = k.goal_id AND s.source = k.source",
               &params);
}

/* The goal row is locked: a commit that would name the text again waits, or has already changed the version. */
static bool texts_change(struct pg_retain *pg, const struct retain_work *work) {
    struct pg_params params = {.arena = &pg->retain.arena};
    struct pg_array goals = array_open(params.arena, FIELD_ID),
                    versions = array_open(params.arena, FIELD_INT),
                    hashes = array_open(params.arena, FIELD_BYTES);
    for (uint32_t i = 0; i < work->texts_count; i++) {
        array_bytes(&goals, work->texts[i].goal.bytes, sizeof work->texts[i].goal.bytes);
        array_int(&versions, (int64_t)work->texts[i].version);
        array_bytes(&hashes, work->texts[i].hash.bytes, sizeof work->texts[i].hash.bytes);
    }
    param_array(&params, &goals);
    param_array(&params, &versions);
    param_array(&params, &hashes);
    return work->texts_count == 0 ||
           ask(pg,
               "WITH k AS (SELECT * FROM unnest($1::uuid[], $2::int8[], $3::bytea[]) AS k(goal_id, version, hash)),"
               " g AS (SELECT goal_id, version FROM goal WHERE goal_id IN (SELECT goal_id FROM k)"
               "   ORDER BY goal_id FOR UPDATE SKIP LOCKED)"
               " DELETE FROM text t USING k JOIN g ON g.goal_id = k.goal_id AND g.version = k.version"
               " WHERE t.goal_id = k.goal_id AND t.hash = k.hash",
               &params);
}

/* EVENT-01: the log may be changed only during this transaction, and only by it. */
static bool pg_apply(struct retain *retain, const struct retain_work *work) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    int64_t begun = retain_clock_us();
    bool ok = ask(pg, "BEGIN; SET LOCAL overseer.retaining = 'on'", NULL) &&
              records_change(pg, work) && milestones_change(pg, work) && seen_change(pg, work) &&
              texts_change(pg, work) && ask(pg, "COMMIT", NULL);
    retain->took_us = (retain_clock_us() - begun) / 3; /* no writer waits for these rows */
    return ok;
}

/* ---- days ---- */

/* Past days, the oldest first, including those whose removal was interrupted. */
static const char DAYS[] =
    "SELECT c.relname, i.inhrelid IS NOT NULL FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
    " WHERE c.relkind = 'r' AND c.relname ~ '^record_[1-9][0-9]*$' AND substr(c.relname, 8)::int < %d"
    " AND substr(c.relname, 8)::int > %d"
    " AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'record'::regclass)"
    " ORDER BY substr(c.relname, 8)::int LIMIT 1";

static bool day_is_empty(struct pg_retain *pg, const char *name, bool *ret_empty) {
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT NOT EXISTS (SELECT 1 FROM %s)", name);
    if (!ask(pg, sql, NULL))
        return false;
    *ret_empty = PQgetvalue(pg->result, 0, 0)[0] == 't';
    return true;
}

/* Detaching a day from the log needs an exclusive lock on the log for a moment. Each attempt waits only briefly for the
 * lock, because commits would queue behind it. */
static bool day_detach(struct pg_retain *pg, const char *name, bool *ret_done) {
    char sql[256];
    snprintf(
        sql, sizeof sql,
        "BEGIN; SET LOCAL lock_timeout = '15ms'; ALTER TABLE record DETACH PARTITION %s; COMMIT",
        name);
    for (int i = 0; i < DROP_TRIES; i++) {
        int64_t begun = retain_clock_us();
        PQclear(pg->result);
        pg->result = PQexec(pg->connection, sql);
        pg->retain.held_us = retain_clock_us() - begun;
        *ret_done = PQresultStatus(pg->result) == PGRES_COMMAND_OK;
        const char *state = PQresultErrorField(pg->result, PG_DIAG_SQLSTATE);
        if (*ret_done || !state || strcmp(state, "55P03") != 0)
            break;
        PQclear(PQexec(pg->connection, "ROLLBACK"));
        PQclear(PQexec(pg->connection, "SELECT pg_sleep(0.05)"));
    }
    if (!*ret_done)
        PQclear(PQexec(pg->connection, "ROLLBACK"));
    return true; /* not detached this time: the next pass tries again */
}

/* The detached partition can no longer be written to. If a commit wrote to it at the last moment, its rows go back into
 * the log. */
static bool day_drop(struct pg_retain *pg, const char *name) {
    char sql[256];
    snprintf(sql, sizeof sql, "BEGIN; INSERT INTO record SELECT * FROM %s; DROP TABLE %s; COMMIT",
             name, name);
    if (!ask(pg, sql, NULL))
        return false;
    pg->retain.report.days++;
    return true;
}

static bool pg_day(struct retain *retain, int32_t before, bool *ret_more) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    char name[64], sql[512];
    bool empty = false, done = false;
    snprintf(sql, sizeof sql, DAYS, before, retain->day_after);
    if (!ask(pg, sql, NULL))
        return false;
    *ret_more = PQntuples(pg->result) > 0;
    if (!*ret_more)
        return true;
    snprintf(name, sizeof name, "%s", PQgetvalue(pg->result, 0, 0));
    bool attached = PQgetvalue(pg->result, 0, 1)[0] == 't';
    retain->day_after = (int32_t)strtol(name + strlen("record_"), NULL, 10);
    if (!attached)
        return day_drop(pg, name);
    if (!day_is_empty(pg, name, &empty))
        return false;
    return !empty || (day_detach(pg, name, &done) && (!done || day_drop(pg, name)));
}

/* The planner's estimate: an exact count would read every partition. */
static bool pg_count(struct retain *retain, uint64_t *ret_count) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    if (!ask(pg,
             "SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::int8::text FROM pg_inherits i"
             " JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'record'::regclass",
             NULL))
        return false;
    *ret_count = strtoull(PQgetvalue(pg->result, 0, 0), NULL, 10);
    return true;
}

/* ---- opening ---- */

static void pg_close(struct retain *retain) {
    struct pg_retain *pg = (struct pg_retain *)retain;
    PQclear(pg->result);
    PQfinish(pg->connection);
    free(pg);
}

static const struct retain_driver DRIVER = {.page = pg_page,
                                            .touching = pg_touching,
                                            .seen = pg_seen,
                                            .text_goals = pg_text_goals,
                                            .texts = pg_texts,
                                            .bodies = pg_bodies,
                                            .apply = pg_apply,
                                            .day = pg_day,
                                            .count = pg_count,
                                            .close = pg_close};

/* A session lock: it is released when the connection closes. */
static bool turn_take(struct pg_retain *pg) {
    char sql[64];
    snprintf(sql, sizeof sql, "SELECT pg_try_advisory_lock(%d)", RETAIN_LOCK);
    if (!ask(pg, sql, NULL))
        return false;
    return PQgetvalue(pg->result, 0, 0)[0] == 't' ||
           retain_fail(&pg->retain, "retention", "another host is running retention");
}

bool postgres_retain_open(struct retain **ret, const char *uri, char *error, size_t error_size) {
    struct pg_retain *pg = calloc(1, sizeof *pg);
    if (!pg) {
        snprintf(error, error_size, "Out of memory while opening the store.");
        return false;
    }
    struct pg_trouble trouble;
    pg->retain.driver = &DRIVER;
    pg->connection = pg_connect(uri, "overseer 2 retention", &trouble);
    if (!pg->connection)
        retain_fail(&pg->retain, "PostgreSQL", trouble.why);
    else if (ask(pg, SESSION, NULL) && turn_take(pg)) {
        *ret = &pg->retain;
        return true;
    }
    snprintf(error, error_size, "%s", pg->retain.why);
    pg_close(&pg->retain);
    return false;
}
