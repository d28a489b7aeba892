/* SPDX-License-Identifier: Apache-2.0 */
/* Which connections are open, whose are they, and which have to go?
 *
 * A connection is a stranger until a request came with a token, or until it is seen to be a person's. Of strangers at the network's
 * door there are only so many, and the oldest goes when one more comes: a client that speaks at once gets in even while
 * thousands say nothing. At a Unix socket each run has only so many connections; the oldest of its strangers goes when
 * one more comes, and if all of them are known, that one goes. A request has to come whole within LIMIT_HEADER_SECONDS. */
#pragma once

#include "daemon/peer.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct guest;

struct guest_list {
    struct guest *first, *last; /* oldest first */
    uint32_t count;
};

struct guests {
    pthread_mutex_t lock;
    struct guest_list strangers, known;
    bool peers;               /* at a Unix socket: it is looked who connected, */
    bool people;              /* and people need no token */
    uint64_t came, sent_away; /* since start */
};

void guests_start(struct guests *guests, bool peers, bool people);
void guests_end(struct guests *guests);
void guests_sweep(struct guests *guests); /* now and then: what has taken too long goes */

/* For libmicrohttpd: MHD_OPTION_NOTIFY_CONNECTION. `with` are the guests. */
void guest_notify(void *with, struct MHD_Connection *connection, void **context,
                  enum MHD_ConnectionNotificationCode code);

/* Who connected, asked once: a socket may have another owner later. */
enum peer guest_peer(struct MHD_Connection *connection, uid_t *ret_uid);

/* A token was right. */
void guest_is_known(struct MHD_Connection *connection);

/* How far its request is. */
enum guest_state {
    GUEST_IDLE,   /* there is none */
    GUEST_COMING, /* its head is here */
    GUEST_WHOLE,  /* all of it is: what it waits for is ours */
};
void guest_moves(struct MHD_Connection *connection, enum guest_state to);
