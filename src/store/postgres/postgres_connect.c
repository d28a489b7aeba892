/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to PostgreSQL and checks that the connection can carry a session.
 *
 * Every statement of a session that is not part of a pipeline goes through pg_await(), so none of them waits for ever. */
#include "store/postgres/postgres_state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- waiting ---- */

int64_t pg_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A stopped server does not close its socket, so waiting needs a timeout. */
bool pg_wait_readable(PGconn *connection, int64_t within_ms) {
    int64_t deadline = pg_now_ms() + within_ms;
    while (PQisBusy(connection)) {
        int64_t left = deadline - pg_now_ms();
        struct pollfd fd = {.fd = PQsocket(connection), .events = POLLIN};
        int ready = left > 0 ? poll(&fd, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue; /* for example because a child process of ours ended */
        if (ready <= 0 || !PQconsumeInput(connection))
            return false;
    }
    return true;
}

/* Like PQexec(): returns the last result, or the one that failed. */
PGresult *pg_await(PGconn *connection, int sent, int64_t within_ms) {
    PGresult *last = NULL;
    while (sent && pg_wait_readable(connection, within_ms)) {
        PGresult *result = PQgetResult(connection);
        if (!result)
            return last;
        ExecStatusType status = PQresultStatus(last);
        if (last && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            PQclear(result);
            continue;
        }
        PQclear(last);
        last = result;
    }
    PQclear(last);
    return NULL;
}

bool pg_succeeded(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* libpq has no error message for a statement that got no answer. */
void pg_trouble(PGconn *connection, char *why, size_t size) {
    const char *text = connection ? PQerrorMessage(connection) : "";
    bool silent = PQtransactionStatus(connection) == PQTRANS_ACTIVE;
    snprintf(why, size, "%s",
             silent  ? "the server did not answer in time"
             : *text ? text
                     : "the connection was lost");
    why[strcspn(why, "\n")] = 0;
}

/* ---- connections ---- */

/* The URI overrides the keys before dbname; the keys after dbname override the URI. */
enum { LINK_KEYS = 9 };
static const char *const LINK_KEY[LINK_KEYS] = {"connect_timeout",
                                                "target_session_attrs",
                                                "dbname",
                                                "tcp_user_timeout",
                                                "fallback_application_name",
                                                "host",
                                                "hostaddr",
                                                "port",
                                                NULL};

struct link_values {
    const char *values[LINK_KEYS];
};

static struct link_values link_values(const char *uri, const char *application,
                                      const struct pg_place *place) {
    struct link_values out = {{"3", "read-write", uri, "5000", application}};
    if (place) { /* an empty value overrides nothing */
        out.values[5] = place->host;
        out.values[6] = place->address;
        out.values[7] = place->port;
    }
    return out;
}

/* Connects to any node: the same keys, with target_session_attrs placed after the URI. */
static PGconn *link_any(const char *uri, const char *application, const struct pg_place *place,
                        bool start) {
    struct link_values link = link_values(uri, application, place);
    const char *keys[LINK_KEYS + 1], *values[LINK_KEYS + 1];
    memcpy(keys, LINK_KEY, sizeof LINK_KEY);
    memcpy(values, link.values, sizeof link.values);
    keys[LINK_KEYS - 1] = "target_session_attrs";
    values[LINK_KEYS - 1] = "any";
    keys[LINK_KEYS] = values[LINK_KEYS] = NULL;
    return start ? PQconnectStartParams(keys, values, 1) : PQconnectdbParams(keys, values, 1);
}

PGconn *pg_link_start(const char *uri, const char *application, const struct pg_place *place) {
    return link_any(uri, application, place, true);
}

PGconn *pg_link_make(const char *uri, const char *application, const struct pg_place *place,
                     bool any) {
    struct link_values link = link_values(uri, application, place);
    return any ? link_any(uri, application, place, false)
               : PQconnectdbParams(LINK_KEY, link.values, 1);
}
