/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the node that takes writes among those that the URI names.
 *
 * All nodes are asked in parallel, so that a silent one costs no time. Each server is queried itself: a pooler repeats
 * what the server reported when the pooler first connected, and the server may have been promoted or demoted since. For
 * a while two nodes can take writes, the old primary and the new one: the one with the higher timeline is used. */
#include "store/postgres/postgres_state.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 16, GRACE_MS = 300 /* wait for the other nodes, once one was found */ };

enum server_state { SERVER_CONNECTS, SERVER_ASKED, SERVER_WRITES, SERVER_FAILED };

struct pg_server {
    struct pg_place place;
    struct pg_link link;
    enum server_state state;
    PostgresPollingStatusType wants;
};

static const char ASK[] =
    "SELECT pg_backend_pid(), CASE WHEN pg_is_in_recovery() OR "
    "current_setting('transaction_read_only') = 'on' THEN 0 ELSE "
    "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 END";

/* ---- hosts in the URI ---- */

/* The value of a key; NULL: not in the URI. */
static const char *option_of(const PQconninfoOption *options, const char *key) {
    for (const PQconninfoOption *at = options; at && at->keyword; at++)
        if (strcmp(at->keyword, key) == 0)
            return at->val && *at->val ? at->val : NULL;
    return NULL;
}

static int list_count(const char *list) {
    int count = list ? 1 : 0;
    for (; list && *list; list++)
        count += *list == ',';
    return count;
}

/* Element `index` of a comma-separated list. False: it is empty, or too long. */
static bool list_take(const char *list, int index, char *ret, size_t size) {
    for (; index > 0; index--)
        list = strchr(list, ',') + 1;
    size_t len = strcspn(list, ",");
    if (len == 0 || len >= size)
        return false;
    memcpy(ret, list, len);
    ret[len] = 0;
    return true;
}

static bool place_take(const PQconninfoOption *options, int count, int index,
                       struct pg_place *ret) {
    const char *host = option_of(options, "host"), *address = option_of(options, "hostaddr"),
               *port = option_of(options, "port");
    int ports = list_count(port);
    if ((host &&
         (list_count(host) != count || !list_take(host, index, ret->host, sizeof ret->host))) ||
        (address && (list_count(address) != count ||
                     !list_take(address, index, ret->address, sizeof ret->address))))
        return false;
    if (ports > 1 && ports != count)
        return false;
    return !port || list_take(port, ports > 1 ? index : 0, ret->port, sizeof ret->port);
}

bool pg_names_several(const char *uri) {
    PQconninfoOption *options = PQconninfoParse(uri, NULL);
    bool several = list_count(option_of(options, "host")) > 1 ||
                   list_count(option_of(options, "hostaddr")) > 1;
    PQconninfoFree(options);
    return several;
}

/* 0: libpq tries all of them, one after another. */
static int places_of(const PQconninfoOption *options, struct pg_server *nodes) {
    int hosts = list_count(option_of(options, "host")),
        addresses = list_count(option_of(options, "hostaddr"));
    int count = hosts > addresses ? hosts : addresses;
    if (count < 2 || count > MAX_NODES)
        return 0;
    for (int i = 0; i < count; i++)
        if (!place_take(options, count, i, &nodes[i].place))
            return 0;
    return count;
}

/* ---- one node ---- */

static void node_fail(struct pg_server *node, const char *why) {
    node->state = SERVER_FAILED;
    snprintf(node->link.why, sizeof node->link.why, "%.*s", (int)strcspn(why, "\n"), why);
    PQfinish(node->link.connection);
    node->link.connection = NULL;
}

static bool answer_take(struct pg_link *link, const PGresult *result) {
    if (!pg_succeeded(result) || PQntuples(result) != 1)
        return false;
    link->pid = atoi(PQgetvalue(result, 0, 0));
    link->timeline = atoll(PQgetvalue(result, 0, 1));
    return true;
}

static void node_connects(struct pg_server *node) {
    node->wants = PQconnectPoll(node->link.connection);
    if (node->wants == PGRES_POLLING_FAILED)
        node_fail(node, PQerrorMessage(node->link.connection));
    else if (node->wants == PGRES_POLLING_OK && !PQsendQuery(node->link.connection, ASK))
        node_fail(node, PQerrorMessage(node->link.connection));
    else if (node->wants == PGRES_POLLING_OK)
        node->state = SERVER_ASKED;
}

static void node_answers(struct pg_server *node) {
    struct pg_link *link = &node->link;
    if (!PQconsumeInput(link->connection)) {
        node_fail(node, PQerrorMessage(link->connection));
        return;
    }
    while (node->state == SERVER_ASKED && !PQisBusy(link->connection)) {
        PGresult *result = PQgetResult(link->connection);
        if (!result)
            node->state = SERVER_WRITES;
        else if (!answer_take(link, result))
            node_fail(node, PQresultErrorMessage(result));
        PQclear(result);
    }
    if (node->state == SERVER_WRITES && link->timeline == 0)
        node_fail(node, "it is read-only");
}

static bool node_pends(const struct pg_server *node) {
    return node->state == SERVER_CONNECTS || node->state == SERVER_ASKED;
}

static void node_begin(struct pg_server *node, const char *uri, const char *application) {
    node->link.connection = pg_link_start(uri, application, &node->place);
    node->wants = PGRES_POLLING_WRITING;
    if (!node->link.connection || PQstatus(node->link.connection) == CONNECTION_BAD)
        node_fail(node,
                  node->link.connection ? PQerrorMessage(node->link.connection) : "out of memory");
}

/* ---- all nodes ---- */

/* Waits, then advances the nodes whose sockets are ready. */
static void nodes_wait(struct pg_server *nodes, int count, int64_t within_ms) {
    struct pollfd fds[MAX_NODES];
    int at[MAX_NODES], waiting = 0;
    for (int i = 0; i < count; i++) {
        if (!node_pends(&nodes[i]))
            continue;
        bool writes = nodes[i].state == SERVER_CONNECTS && nodes[i].wants == PGRES_POLLING_WRITING;
        fds[waiting] = (struct pollfd){.fd = PQsocket(nodes[i].link.connection),
                                       .events = writes ? POLLOUT : POLLIN};
        at[waiting++] = i;
    }
    if (poll(fds, (nfds_t)waiting, (int)within_ms) <= 0)
        return;
    for (int i = 0; i < waiting; i++) {
        if (!fds[i].revents)
            continue;
        if (nodes[at[i]].state == SERVER_CONNECTS)
            node_connects(&nodes[at[i]]);
        else
            node_answers(&nodes[at[i]]);
    }
}

static bool nodes_pend(const struct pg_server *nodes, int count, bool *ret_found) {
    bool pend = false;
    for (int i = 0; i < count; i++) {
        pend = pend || node_pends(&nodes[i]);
        *ret_found = *ret_found || nodes[i].state == SERVER_WRITES;
    }
    return pend;
}

static void nodes_ask(struct pg_server *nodes, int count, int64_t within_ms) {
    int64_t deadline = pg_now_ms() + within_ms;
    bool found = false, hurried = false;
    while (nodes_pend(nodes, count, &found)) {
        if (found && !hurried && deadline > pg_now_ms() + GRACE_MS)
            deadline = pg_now_ms() + GRACE_MS;
        hurried = hurried || found;
        int64_t left = deadline - pg_now_ms();
        if (left <= 0)
            break;
        nodes_wait(nodes, count, left);
    }
    for (int i = 0; i < count; i++)
        if (node_pends(&nodes[i]))
            node_fail(
                &nodes[i],
                nodes[i].state == SERVER_CONNECTS
                    ? "it did not answer in time"
                    : "it accepted the connection and answered nothing; a pooler does that while its pool is full");
}

static void nodes_why(const struct pg_server *nodes, int count, struct pg_link *ret) {
    size_t used = (size_t)snprintf(ret->why, sizeof ret->why, "no node takes writes");
    for (int i = 0; i < count && used < sizeof ret->why; i++)
        used += (size_t)snprintf(
            ret->why + used, sizeof ret->why - used, "%s %s%s%s: %s", i ? ";" : ":",
            nodes[i].place.host[0] ? nodes[i].place.host : nodes[i].place.address,
            nodes[i].place.port[0] ? " port " : "", nodes[i].place.port, nodes[i].link.why);
}

static void nodes_choose(struct pg_server *nodes, int count, struct pg_link *ret,
                         struct pg_place *ret_place) {
    struct pg_server *best = NULL;
    for (int i = 0; i < count; i++)
        if (nodes[i].state == SERVER_WRITES &&
            (!best || nodes[i].link.timeline > best->link.timeline))
            best = &nodes[i];
    for (int i = 0; i < count; i++)
        if (&nodes[i] != best)
            PQfinish(nodes[i].link.connection);
    if (!best) {
        nodes_why(nodes, count, ret);
        return;
    }
    *ret = best->link;
    *ret_place = best->place;
}

/* ---- one address ---- */

static void address_ask(const char *uri, const char *application, bool any, struct pg_link *ret) {
    *ret = (struct pg_link){.connection = pg_link_make(uri, application, NULL, any)};
    if (PQstatus(ret->connection) != CONNECTION_OK) {
        pg_trouble(ret->connection, ret->why, sizeof ret->why);
        PQfinish(ret->connection);
        ret->connection = NULL;
        return;
    }
    PGresult *result =
        pg_await(ret->connection, PQsendQuery(ret->connection, ASK), LIMIT_STORE_FIRST_MS);
    answer_take(ret, result);
    PQclear(result);
}

static void link_end(struct pg_link *link, const char *why) {
    PQfinish(link->connection);
    *link = (struct pg_link){0};
    snprintf(link->why, sizeof link->why, "%s", why);
}

/* One name may stand for several servers: libpq looks for one that reports that it takes writes. A pooler may report an
 * outdated state: if the attempt fails at once, the server itself is queried. */
static void address_find(const char *uri, const char *application, struct pg_link *ret) {
    enum { AT_ONCE_MS = 1000 };
    int64_t begun = pg_now_ms();
    address_ask(uri, application, false, ret);
    if (!ret->connection && pg_now_ms() - begun < AT_ONCE_MS) {
        struct pg_link again;
        address_ask(uri, application, true, &again);
        if (again.connection)
            *ret = again;
    }
    if (ret->connection && ret->pid != 0 && ret->timeline == 0)
        link_end(ret, "session is read-only");
}

/* ---- choosing the connection ---- */

static int64_t connect_ms(const PQconninfoOption *options) {
    enum { DEFAULT_S = 3, LEAST_S = 2, FOR_EVER_S = 3600 };
    const char *text = option_of(options, "connect_timeout");
    int64_t seconds = text ? atoi(text) : DEFAULT_S;
    seconds = seconds <= 0 ? FOR_EVER_S : seconds < LEAST_S ? LEAST_S : seconds;
    return seconds * 1000;
}

static void nodes_find(const char *uri, const char *application, struct pg_server *nodes, int count,
                       int64_t within_ms, struct pg_link *ret, struct pg_place *ret_place) {
    for (int i = 0; i < count; i++)
        node_begin(&nodes[i], uri, application);
    nodes_ask(nodes, count, within_ms);
    nodes_choose(nodes, count, ret, ret_place);
}

void pg_link_find(const char *uri, const char *application, struct pg_link *ret,
                  struct pg_place *ret_place) {
    struct pg_server nodes[MAX_NODES] = {0};
    PQconninfoOption *options = PQconninfoParse(uri, NULL);
    const char *attributes = option_of(options, "target_session_attrs");
    bool ours = !attributes || strcmp(attributes, "read-write") == 0;
    int count = ours ? places_of(options, nodes) : 0;
    int64_t within_ms = connect_ms(options);
    PQconninfoFree(options);
    *ret = (struct pg_link){0};
    *ret_place = (struct pg_place){0};
    if (count)
        nodes_find(uri, application, nodes, count, within_ms, ret, ret_place);
    else if (ours)
        address_find(uri, application, ret);
    else
        address_ask(uri, application, false, ret);
}
