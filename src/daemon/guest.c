/* SPDX-License-Identifier: Apache-2.0 */
/* Who stands at the network's door without having said who they are? */
#include "daemon/guest.h"

#include "base/time.h"
#include "daemon/clock.h"
#include "model/limits.h"

#include <stdlib.h>
#include <sys/socket.h>

struct guest {
    struct guests *guests;
    struct guest *before, *after; /* among strangers */
    int fd;
    bool known, leaving;
    int64_t since;
};

void guests_start(struct guests *guests) {
    *guests = (struct guests){0};
    pthread_mutex_init(&guests->lock, NULL);
}

void guests_end(struct guests *guests) {
    pthread_mutex_destroy(&guests->lock);
}

static void stranger_add(struct guests *guests, struct guest *guest) {
    guest->before = guests->last;
    *(guests->last ? &guests->last->after : &guests->first) = guest;
    guests->last = guest;
    guests->strangers++;
}

static void stranger_remove(struct guests *guests, struct guest *guest) {
    *(guest->before ? &guest->before->after : &guests->first) = guest->after;
    *(guest->after ? &guest->after->before : &guests->last) = guest->before;
    guest->before = guest->after = NULL;
    guests->strangers--;
}

/* Its thread finds the connection closed, and cleans up. The number of the socket stays ours until guest_notify(). */
static void stranger_send_away(struct guests *guests, struct guest *guest) {
    stranger_remove(guests, guest);
    guest->leaving = true;
    guests->sent_away++;
    shutdown(guest->fd, SHUT_RDWR);
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
    pthread_mutex_lock(&guests->lock);
    guests->came++;
    if (guests->strangers >= LIMIT_TCP_STRANGERS)
        stranger_send_away(guests, guests->first);
    stranger_add(guests, guest);
    pthread_mutex_unlock(&guests->lock);
}

static void guest_go(struct guests *guests, struct guest *guest) {
    pthread_mutex_lock(&guests->lock);
    if (guest->known)
        guests->known--;
    else if (!guest->leaving)
        stranger_remove(guests, guest);
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

void guest_is_known(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct guest *guest = info ? info->socket_context : NULL;
    if (!guest || guest->known)
        return;
    pthread_mutex_lock(&guest->guests->lock);
    if (!guest->leaving) {
        stranger_remove(guest->guests, guest);
        guest->known = true;
        guest->guests->known++;
    }
    pthread_mutex_unlock(&guest->guests->lock);
}

void guests_sweep(struct guests *guests) {
    int64_t now = clock_boot();
    pthread_mutex_lock(&guests->lock);
    while (guests->first && now - guests->first->since >= SECONDS(LIMIT_HEADER_SECONDS))
        stranger_send_away(guests, guests->first);
    pthread_mutex_unlock(&guests->lock);
}
