/* SPDX-License-Identifier: Apache-2.0 */
/* Which connections are open, whose are they, and which have to go? */
#include "daemon/guest.h"

#include "base/time.h"
#include "daemon/clock.h"
#include "model/limits.h"

#include <stdlib.h>
#include <sys/socket.h>

struct guest {
    struct guests *guests;
    struct guest *before, *after; /* in its list */
    int fd;
    enum peer peer;
    uid_t uid;
    pid_t hold; /* of the run that connected; 0: none */
    bool known, leaving;
    enum guest_state state;
    int64_t since; /* boot clock: it is in this state */
};

void guests_start(struct guests *guests, bool peers, bool people) {
    *guests = (struct guests){.peers = peers, .people = people};
    pthread_mutex_init(&guests->lock, NULL);
}

void guests_end(struct guests *guests) {
    pthread_mutex_destroy(&guests->lock);
}

static struct guest_list *list_of(struct guest *guest) {
    return guest->known ? &guest->guests->known : &guest->guests->strangers;
}

static void guest_add(struct guest *guest) {
    struct guest_list *list = list_of(guest);
    guest->before = list->last;
    *(list->last ? &list->last->after : &list->first) = guest;
    list->last = guest;
    list->count++;
}

static void guest_remove(struct guest *guest) {
    struct guest_list *list = list_of(guest);
    *(guest->before ? &guest->before->after : &list->first) = guest->after;
    *(guest->after ? &guest->after->before : &list->last) = guest->before;
    guest->before = guest->after = NULL;
    list->count--;
}

/* Its thread finds the connection closed, and cleans up. The number of the socket stays ours until guest_notify(). */
static void guest_send_away(struct guest *guest) {
    guest_remove(guest);
    guest->leaving = true;
    guest->guests->sent_away++;
    shutdown(guest->fd, SHUT_RDWR);
}

static uint32_t count_of_hold(const struct guest_list *list, pid_t hold,
                              struct guest **ret_oldest) {
    uint32_t count = 0;
    for (struct guest *guest = list->first; guest; guest = guest->after)
        if (guest->hold == hold && count++ == 0)
            *ret_oldest = guest;
    return count;
}

/* One more is here: who goes for it? NULL: there is room. */
static struct guest *guest_too_many(struct guests *guests, struct guest *newest) {
    struct guest *stranger = NULL, *known = NULL;
    if (!guests->peers)
        return guests->strangers.count > LIMIT_TCP_STRANGERS ? guests->strangers.first : NULL;
    if (newest->hold == 0)
        return NULL;
    uint32_t count = count_of_hold(&guests->strangers, newest->hold, &stranger) +
                     count_of_hold(&guests->known, newest->hold, &known);
    return count > LIMIT_RUN_CONNECTIONS ? stranger ? stranger : newest : NULL;
}

static void guest_come(struct guests *guests, struct MHD_Connection *connection, void **context) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct guest *guest = calloc(1, sizeof *guest);
    *context = guest;
    if (!guest || !info) {
        if (info)
            shutdown(info->connect_fd, SHUT_RDWR);
        return;
    }
    *guest = (struct guest){.guests = guests, .fd = info->connect_fd, .since = clock_boot()};
    if (guests->peers)
        guest->peer = peer_look(guest->fd, &guest->uid, &guest->hold);
    guest->known = guests->people && guest->peer == PEER_FREE;
    pthread_mutex_lock(&guests->lock);
    guests->came++;
    guest_add(guest);
    struct guest *leaves = guest_too_many(guests, guest);
    if (leaves)
        guest_send_away(leaves);
    pthread_mutex_unlock(&guests->lock);
}

static void guest_go(struct guests *guests, struct guest *guest) {
    pthread_mutex_lock(&guests->lock);
    if (!guest->leaving)
        guest_remove(guest);
    pthread_mutex_unlock(&guests->lock);
    free(guest);
}

void guest_notify(void *with, struct MHD_Connection *connection, void **context,
                  enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        guest_come(with, connection, context);
    else if (*context)
        guest_go(with, *context);
}

static struct guest *guest_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

enum peer guest_peer(struct MHD_Connection *connection, uid_t *ret_uid) {
    const struct guest *guest = guest_of(connection);
    *ret_uid = guest ? guest->uid : 0;
    return guest ? guest->peer : PEER_NOBODY;
}

void guest_is_known(struct MHD_Connection *connection) {
    struct guest *guest = guest_of(connection);
    if (!guest || guest->known)
        return;
    pthread_mutex_lock(&guest->guests->lock);
    if (!guest->leaving) {
        guest_remove(guest);
        guest->known = true;
        guest_add(guest);
    }
    pthread_mutex_unlock(&guest->guests->lock);
}

void guest_moves(struct MHD_Connection *connection, enum guest_state to) {
    struct guest *guest = guest_of(connection);
    if (!guest || guest->state == to)
        return;
    pthread_mutex_lock(&guest->guests->lock);
    guest->state = to;
    if (guest->known) /* a stranger's time runs on */
        guest->since = clock_boot();
    pthread_mutex_unlock(&guest->guests->lock);
}

static bool is_overdue(const struct guest *guest, int64_t now) {
    int64_t spent = now - guest->since;
    if (!guest->known)
        return spent >= SECONDS(LIMIT_HEADER_SECONDS);
    if (guest->state == GUEST_COMING)
        return spent >= SECONDS(LIMIT_HEADER_SECONDS);
    return guest->state == GUEST_IDLE && spent >= SECONDS(LIMIT_IDLE_SECONDS);
}

static void list_sweep(struct guest_list *list, int64_t now) {
    for (struct guest *guest = list->first, *after; guest; guest = after) {
        after = guest->after;
        if (is_overdue(guest, now))
            guest_send_away(guest);
    }
}

void guests_sweep(struct guests *guests) {
    int64_t now = clock_boot();
    pthread_mutex_lock(&guests->lock);
    list_sweep(&guests->strangers, now);
    list_sweep(&guests->known, now);
    pthread_mutex_unlock(&guests->lock);
}
