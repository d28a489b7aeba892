/* SPDX-License-Identifier: Apache-2.0 */
/* Where do the doors listen? */
#pragma once

#include "base/str.h"

#include <netinet/in.h>

/* Each: a listening socket, or -1 with an error that says what to do. */

/* 0600 from the first moment. A socket that somebody answers on belongs to a living daemon; any other is left over. */
int listen_unix(const char *path, char *error, size_t error_size);

struct listen_address {
    struct sockaddr_storage at;
    socklen_t length;
    char host[64]; /* as a URL has it: 127.0.0.1, [::1] */
    uint16_t port;
    bool loopback;
};

/* ADDRESS:PORT, with an IPv6 address in [ ]; localhost is 127.0.0.1; port 0: a free one. False: it is not that. */
bool listen_parse(struct str text, struct listen_address *ret);
/* Fills in the port that it got. */
int listen_tcp(struct listen_address *address, char *error, size_t error_size);
/* Of a socket that was handed to us. False: it is no TCP socket. */
bool listen_look(int fd, struct listen_address *ret);
