/* SPDX-License-Identifier: Apache-2.0 */
#include "http/unauthenticated.h"

#include "base/time.h"
#include "model/limits.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <sys/socket.h>

struct unauthenticated_conn {
    struct unauthenticated_conns *conns;
    struct unauthenticated_conn *before, *after; /* in its list */
    int fd;
    enum peer peer;
    uid_t uid;
    pid_t hold; /* of the run that connected; 0: none */
    bool known, leaving;
    enum conn_state state;
    int64_t since; /* boot clock: start of this state */
};

void conns_start(struct unauthenticated_conns *conns, bool peers, bool people) {
    *conns = (struct unauthenticated_conns){.peers = peers, .people = people};
    pthread_mutex_init(&conns->lock, NULL);
}

void conns_end(struct unauthenticated_conns *conns) {
    pthread_mutex_destroy(&conns->lock);
}

static struct conn_list *list_of(struct unauthenticated_conn *conn) {
    return conn->known ? &conn->conns->known : &conn->conns->unauthenticated;
}

static void conn_add(struct unauthenticated_conn *conn) {
    struct conn_list *list = list_of(conn);
    conn->before = list->last;
    *(list->last ? &list->last->after : &list->first) = conn;
    list->last = conn;
    list->count++;
}

static void conn_remove(struct unauthenticated_conn *conn) {
    struct conn_list *list = list_of(conn);
    *(conn->before ? &conn->before->after : &list->first) = conn->after;
    *(conn->after ? &conn->after->before : &list->last) = conn->before;
    conn->before = conn->after = NULL;
    list->count--;
}

/* The server's thread finds the connection closed, and cleans up. The descriptor stays ours until conn_notify(). */
static void conn_close(struct unauthenticated_conn *conn) {
    conn_remove(conn);
    conn->leaving = true;
    conn->conns->sent_away++;
    shutdown(conn->fd, SHUT_RDWR);
}

static uint32_t count_of_hold(const struct conn_list *list, pid_t hold,
                              struct unauthenticated_conn **ret_oldest) {
    uint32_t count = 0;
    for (struct unauthenticated_conn *conn = list->first; conn; conn = conn->after)
        if (conn->hold == hold && count++ == 0)
            *ret_oldest = conn;
    return count;
}

/* One more connection has arrived: which one is closed for it? NULL: there is room. */
static struct unauthenticated_conn *conn_too_many(struct unauthenticated_conns *conns,
                                                  struct unauthenticated_conn *newest) {
    struct unauthenticated_conn *unauthenticated = NULL, *known = NULL;
    if (!conns->peers)
        return conns->unauthenticated.count > LIMIT_TCP_UNAUTHENTICATED
                   ? conns->unauthenticated.first
                   : NULL;
    if (newest->hold == 0)
        return NULL;
    uint32_t count = count_of_hold(&conns->unauthenticated, newest->hold, &unauthenticated) +
                     count_of_hold(&conns->known, newest->hold, &known);
    return count > LIMIT_RUN_CONNECTIONS ? unauthenticated ? unauthenticated : newest : NULL;
}

static void conn_begin(struct unauthenticated_conns *conns, struct MHD_Connection *connection,
                       void **context) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct unauthenticated_conn *conn = calloc(1, sizeof *conn);
    *context = conn;
    if (!conn || !info) {
        if (info)
            shutdown(info->connect_fd, SHUT_RDWR);
        return;
    }
    *conn = (struct unauthenticated_conn){
        .conns = conns, .fd = info->connect_fd, .since = clock_boot()};
    if (conns->peers)
        conn->peer = peer_look(conn->fd, &conn->uid, &conn->hold);
    conn->known = conns->people && conn->peer == PEER_FREE;
    pthread_mutex_lock(&conns->lock);
    conns->came++;
    conn_add(conn);
    struct unauthenticated_conn *leaves = conn_too_many(conns, conn);
    if (leaves)
        conn_close(leaves);
    pthread_mutex_unlock(&conns->lock);
}

static void conn_end(struct unauthenticated_conns *conns, struct unauthenticated_conn *conn) {
    pthread_mutex_lock(&conns->lock);
    if (!conn->leaving)
        conn_remove(conn);
    pthread_mutex_unlock(&conns->lock);
    free(conn);
}

void conn_notify(void *with, struct MHD_Connection *connection, void **context,
                 enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        conn_begin(with, connection, context);
    else if (*context)
        conn_end(with, *context);
}

static struct unauthenticated_conn *conn_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

enum peer conn_peer(struct MHD_Connection *connection, uid_t *ret_uid) {
    const struct unauthenticated_conn *conn = conn_of(connection);
    *ret_uid = conn ? conn->uid : 0;
    return conn ? conn->peer : PEER_NOBODY;
}

void conn_authenticated(struct MHD_Connection *connection) {
    struct unauthenticated_conn *conn = conn_of(connection);
    if (!conn || conn->known)
        return;
    pthread_mutex_lock(&conn->conns->lock);
    if (!conn->leaving) {
        conn_remove(conn);
        conn->known = true;
        conn_add(conn);
    }
    pthread_mutex_unlock(&conn->conns->lock);
}

void conn_moves(struct MHD_Connection *connection, enum conn_state to) {
    struct unauthenticated_conn *conn = conn_of(connection);
    if (!conn || conn->state == to)
        return;
    pthread_mutex_lock(&conn->conns->lock);
    conn->state = to;
    if (conn->known) /* the time of an unauthenticated connection is not restarted */
        conn->since = clock_boot();
    pthread_mutex_unlock(&conn->conns->lock);
}

static bool is_overdue(const struct unauthenticated_conn *conn, int64_t now) {
    int64_t spent = now - conn->since;
    if (!conn->known)
        return spent >= SECONDS(LIMIT_HEADER_SECONDS);
    if (conn->state == CONN_COMING)
        return spent >= SECONDS(LIMIT_HEADER_SECONDS);
    return conn->state == CONN_IDLE && spent >= SECONDS(LIMIT_IDLE_SECONDS);
}

static void list_sweep(struct conn_list *list, int64_t now) {
    for (struct unauthenticated_conn *conn = list->first, *after; conn; conn = after) {
        after = conn->after;
        if (is_overdue(conn, now))
            conn_close(conn);
    }
}

void conns_sweep(struct unauthenticated_conns *conns) {
    int64_t now = clock_boot();
    pthread_mutex_lock(&conns->lock);
    list_sweep(&conns->unauthenticated, now);
    list_sweep(&conns->known, now);
    pthread_mutex_unlock(&conns->lock);
}
