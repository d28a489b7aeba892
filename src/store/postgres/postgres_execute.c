/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a statement without parameters. */
#include "store/postgres/postgres_state.h"

PGresult *pg_ask_text(struct pg_store *store, const char *sql) {
    return pg_await(store->connection, PQsendQuery(store->connection, sql), store->answer_ms);
}

bool pg_execute(struct pg_store *store, const char *sql) {
    PGresult *result = pg_ask_text(store, sql);
    bool ok = pg_succeeded(result);
    PQclear(result);
    return ok;
}
