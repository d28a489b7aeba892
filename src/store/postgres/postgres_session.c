/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a connection to PostgreSQL on which a session may be kept, and detects poolers. */
#include "store/postgres/postgres_state.h"

#include <stdlib.h>

/* ---- poolers ---- */

enum pooling {
    POOLING_NONE,
    POOLING_SESSION,
    POOLING_TRANSACTION, /* a session's settings and prepared statements leak to other clients */
    POOLING_FULL,        /* session pooling, with no room for another session */
    POOLING_SILENT,      /* accepted the connection but does not answer */
};

/* The server process that serves this transaction; 0: no answer. */
static int backend_ask(PGconn *connection, int64_t within_ms) {
    PGresult *result =
        pg_await(connection, PQsendQuery(connection, "SELECT pg_backend_pid()"), within_ms);
    int pid = pg_succeeded(result) && PQntuples(result) == 1 ? atoi(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    return pid;
}

/* Tests with a second connection: under session pooling each of the two keeps its own server process, whatever the
 * other does. Several rounds are needed, because other clients of the pool may take the process that both would have
 * shared. */
static enum pooling pooling_beside(PGconn *connection, PGconn *beside, int pid) {
    enum { ROUNDS = 4 };
    for (int i = 0; i < ROUNDS; i++) {
        int other = backend_ask(beside, LIMIT_STORE_BESIDE_MS);
        int again = backend_ask(connection, LIMIT_STORE_FIRST_MS);
        if (again == 0)
            return POOLING_SILENT;
        if (again != pid || other == pid)
            return POOLING_TRANSACTION;
        if (other == 0)
            return POOLING_FULL; /* the first is served while the second waits: it has its own process */
    }
    return POOLING_SESSION;
}

/* Without a pooler, the server reports the same process id on connecting and when queried. No setting is changed before
 * this is known: under transaction pooling it would apply to other clients. */
static enum pooling pooling_find(const struct pg_link *link, const char *uri,
                                 const char *application, const struct pg_place *place) {
    if (link->pid == 0)
        return POOLING_SILENT;
    if (link->pid == PQbackendPID(link->connection))
        return POOLING_NONE;
    if (backend_ask(link->connection, LIMIT_STORE_FIRST_MS) != link->pid)
        return POOLING_TRANSACTION;
    PGconn *beside = pg_link_make(uri, application, place, true);
    enum pooling pooling = PQstatus(beside) == CONNECTION_OK
                               ? pooling_beside(link->connection, beside, link->pid)
                               : POOLING_FULL;
    PQfinish(beside);
    return pooling;
}

#define POOL_SIZE_HINT \
    "A pooler does that while its pool is full: give this database a pool_size of at least " \
    "10 for each daemon (docs/postgres.md), or connect without the pooler"

static const char *const POOLING_WHY[] = {
    [POOLING_TRANSACTION] =
        "the connection goes through a pooler with transaction pooling, which mixes the "
        "sessions of its clients. Set pool_mode = session for this database, or use the "
        "server's own address in the URL (docs/postgres.md)",
    [POOLING_FULL] = "the pooler has no free connection. " POOL_SIZE_HINT,
    [POOLING_SILENT] = "it accepted the connection and answered nothing for 4 s. " POOL_SIZE_HINT,
};

/* ---- the connection ---- */

PGconn *pg_connect(const char *uri, const char *application, struct pg_trouble *ret) {
    struct pg_link link;
    struct pg_place place;
    *ret = (struct pg_trouble){0};
    pg_link_find(uri, application, &link, &place);
    if (!link.connection) {
        memcpy(ret->why, link.why, sizeof ret->why);
        return NULL;
    }
    enum pooling pooling = pooling_find(&link, uri, application, &place);
    if (pooling == POOLING_NONE || pooling == POOLING_SESSION)
        return link.connection;
    if (pooling == POOLING_SILENT && PQstatus(link.connection) != CONNECTION_OK)
        pg_trouble(link.connection, ret->why, sizeof ret->why);
    else
        snprintf(ret->why, sizeof ret->why, "%s", POOLING_WHY[pooling]);
    ret->for_good = pooling == POOLING_TRANSACTION;
    PQfinish(link.connection);
    return NULL;
}
