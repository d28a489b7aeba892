/* SPDX-License-Identifier: Apache-2.0 */
/* Who stands at the network's door without having said who they are? Everybody, until their first request came whole
 * and with a token. Only so many may stand there, and not for long: the oldest goes when one more comes, so that
 * whoever speaks at once gets in even while thousands say nothing. */
#pragma once

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct guest;

struct guests {
    pthread_mutex_t lock;
    struct guest *first, *last; /* strangers, oldest first */
    uint32_t strangers, known;
    uint64_t came, sent_away; /* since start */
};

void guests_start(struct guests *guests);
void guests_end(struct guests *guests);
void guests_sweep(struct guests *guests); /* now and then: whoever has stood there too long goes */

/* For libmicrohttpd: MHD_OPTION_NOTIFY_CONNECTION. `with` are the guests. */
void guest_notify(void *with, struct MHD_Connection *connection, void **context,
                  enum MHD_ConnectionNotificationCode code);

/* A token was right. */
void guest_is_known(struct MHD_Connection *connection);
