/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the HTTP servers through which people and programs reach the daemon: a Unix socket for people at the machine,
 * another one for runs of agents, and, if configured, TCP for clients that have a token. Each is a server of its own,
 * so that clients of one cannot starve those of another. A write is answered when it is committed, a read when it is
 * read; meanwhile its connection is suspended and costs nothing. */
#pragma once

#include "engine/context.h"
#include "model/field.h"

struct http_server;
struct throttle; /* throttle.h */

enum http_server_kind {
    HTTP_SERVER_UNIX, /* people at the machine */
    HTTP_SERVER_TCP,  /* clients with a token */
    HTTP_SERVER_RUNS, /* a Unix socket for runs of agents: only their token counts */
    HTTP_SERVERS
};

struct http_server_rules {
    const char *socket; /* Unix: path */
    struct str listen;  /* TCP: ADDRESS:PORT */
    int fd;             /* a socket that is already listening; 0 or less: none */
    struct texts hosts, origins;
    struct str tls_cert, tls_key; /* files; empty: no TLS */
    bool insecure;                /* allow other machines without TLS */
};

/* NULL: error says what to do. Keeps no pointer into the rules. */
struct http_server *http_server_open(struct daemon_context *context, enum http_server_kind kind,
                                     const struct http_server_rules *rules, char *error,
                                     size_t error_size);
void http_server_sweep(
    struct http_server *
        server); /* call periodically: closes unauthenticated and other connections that took too long */
void http_server_shut(struct http_server *server); /* accepts no new connections */
void http_server_halt(
    struct http_server *server); /* after all requests were answered: stops serving */
void http_server_close(
    struct http_server
        *server); /* after every other server that could ask about this one has stopped */

struct daemon_context *http_server_context(const struct http_server *server);
bool http_server_is_unix(const struct http_server *server);
bool http_server_is_for_runs(const struct http_server *server);
struct throttle *http_server_throttle(struct http_server *server); /* of the HTTP server for runs */
const char *http_server_host(const struct http_server *server);    /* TCP: as written in a URL */
uint16_t http_server_port(const struct http_server *server);
const struct http_server_rules *http_server_rules(const struct http_server *server);

struct http_server_view {
    uint32_t connections, unauthenticated;
    uint64_t came, sent_away;
};
struct http_server_view http_server_view(struct http_server *server);
