/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and migrates the tables of a PostgreSQL store. STORE-04, STORE-18. */
#include "store/postgres/postgres_state.h"

#include <stdlib.h>

/* ---- reading the versions ---- */

/* The tables of version 1 did not declare which builds may use them. */
static bool mark_read(struct pg_store *store, struct schema_mark *ret) {
    *ret = (struct schema_mark){0};
    PGresult *result = pg_ask_text(store, "SELECT 1 WHERE to_regclass('store') IS NOT NULL");
    bool ok = PQresultStatus(result) == PGRES_TUPLES_OK, there = ok && PQntuples(result) == 1;
    PQclear(result);
    if (!there)
        return ok;
    result = pg_ask_text(store, "SELECT version, coalesce((to_jsonb(store)->>'oldest')::int, 1),"
                                " coalesce((to_jsonb(store)->>'level')::int, 1) FROM store");
    ok = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
    if (ok)
        *ret = (struct schema_mark){(uint32_t)atoi(PQgetvalue(result, 0, 0)),
                                    (uint32_t)atoi(PQgetvalue(result, 0, 1)),
                                    (uint32_t)atoi(PQgetvalue(result, 0, 2))};
    PQclear(result);
    return ok;
}

/* The tables as of version 2; later changes are in the rows of MIGRATIONS. */
enum { TABLES_VERSION = 2 };

static bool tables_fresh(struct pg_store *store) {
    char sql[160];
    snprintf(sql, sizeof sql,
             "INSERT INTO store VALUES (1, %d, %d, %d, 0, gen_random_uuid(), NULL)", TABLES_VERSION,
             SCHEMA_OLDEST, SCHEMA_LEVEL);
    return pg_tables_make(store) && pg_execute(store, sql);
}

static bool migrate(struct pg_store *store, const struct migration *row) {
    return (!row->postgres || pg_execute(store, row->postgres)) &&
           (!row->postgres_run || row->postgres_run(store));
}

static bool migrations_run(struct pg_store *store, uint32_t version) {
    char sql[96];
    for (uint32_t i = 0; i < MIGRATION_COUNT; i++)
        if (MIGRATIONS[i].to > version && !migrate(store, &MIGRATIONS[i]))
            return false;
    snprintf(sql, sizeof sql, "UPDATE store SET version = %d, oldest = %d", SCHEMA_VERSION,
             SCHEMA_OLDEST);
    return pg_tables_add(store, version) && pg_execute(store, sql);
}

/* Runs under a lock that is used only here, so that one of several daemons migrates and the others find it done. */
static bool bring_up(struct pg_store *store) {
    struct schema_mark mark;
    if (!pg_execute(store, "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;"
                           "SET LOCAL idle_in_transaction_session_timeout = 0;"
                           "SELECT pg_advisory_xact_lock(1330004562)") ||
        !mark_read(store, &mark))
        return false;
    if (mark.version == 0) {
        if (!tables_fresh(store))
            return false;
        mark.version = TABLES_VERSION;
    }
    return mark.version >= SCHEMA_VERSION || migrations_run(store, mark.version);
}

static bool brought_up(struct pg_store *store) {
    store->answer_ms = LIMIT_STORE_MIGRATE_MS;
    bool ok = pg_execute(store, "BEGIN") && bring_up(store) && pg_execute(store, "COMMIT");
    store->answer_ms = LIMIT_STORE_ANSWER_MS;
    return ok;
}

/* One transaction: the tables are unchanged, or as this build needs them. */
bool schema_ensure(struct pg_store *store) {
    struct schema_mark mark;
    store->newer = false;
    if (!mark_read(store, &mark))
        return false;
    if (mark.version < SCHEMA_VERSION) {
        if (!brought_up(store)) {
            char why[LIMIT_WHY / 2];
            pg_trouble(store->connection, why, sizeof why);
            snprintf(store->why, sizeof store->why, MIGRATE_FAILED ": %s", why);
            return false;
        }
        if (!mark_read(store, &mark))
            return false;
    }
    store->newer = !schema_is_ours(mark, store->why, sizeof store->why);
    return !store->newer;
}
