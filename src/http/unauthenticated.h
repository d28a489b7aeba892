/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks open connections, their owners, and closes those that have to make room or took too long.
 *
 * A connection is unauthenticated until a request with a valid token arrives, or until it is known to be a person's.
 * The TCP server limits the number of unauthenticated connections and closes the oldest when one more arrives: a client
 * that sends its request at once gets in even while thousands send nothing. On a Unix socket each run has a limited
 * number of connections; when one more arrives, the run's oldest unauthenticated connection is closed, or the new one
 * if all others are authenticated. A request has to arrive completely within LIMIT_HEADER_SECONDS. */
#pragma once

#include "http/peer.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct unauthenticated_conn;

struct conn_list {
    struct unauthenticated_conn *first, *last; /* oldest first */
    uint32_t count;
};

struct unauthenticated_conns {
    pthread_mutex_t lock;
    struct conn_list unauthenticated, known;
    bool peers;               /* Unix socket: look up who connected, */
    bool people;              /* and people need no token */
    uint64_t came, sent_away; /* since start */
};

void conns_start(struct unauthenticated_conns *conns, bool peers, bool people);
void conns_end(struct unauthenticated_conns *conns);
void conns_sweep(struct unauthenticated_conns
                     *conns); /* call periodically: closes connections that took too long */

/* For libmicrohttpd: MHD_OPTION_NOTIFY_CONNECTION. `with` is the struct unauthenticated_conns. */
void conn_notify(void *with, struct MHD_Connection *connection, void **context,
                 enum MHD_ConnectionNotificationCode code);

/* The peer as determined when it connected: a socket may have another owner later. */
enum peer conn_peer(struct MHD_Connection *connection, uid_t *ret_uid);

/* The connection sent a valid token. */
void conn_authenticated(struct MHD_Connection *connection);

/* Progress of the connection's request. */
enum conn_state {
    CONN_IDLE,   /* no request */
    CONN_COMING, /* its head has arrived */
    CONN_WHOLE,  /* the whole request has arrived: it waits for the daemon */
};
void conn_moves(struct MHD_Connection *connection, enum conn_state to);
