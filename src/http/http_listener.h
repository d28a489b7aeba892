/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the listening sockets of the HTTP servers. */
#pragma once

#include "base/str.h"

#include <netinet/in.h>

/* The functions that open a socket return a listening socket, or -1 with an error that says what to do. */

/* The socket has mode 0600 from the start. An existing socket that accepts a connection belongs to a live daemon; any
 * other is a leftover and is removed. */
int http_listener_unix(const char *path, char *error, size_t error_size);

struct http_listen_address {
    struct sockaddr_storage at;
    socklen_t length;
    char host[64]; /* as written in a URL: 127.0.0.1, [::1] */
    uint16_t port;
    bool loopback;
};

/* Parses ADDRESS:PORT, with an IPv6 address in [ ]; localhost is 127.0.0.1; port 0: any free port. False: not in this
 * form. */
bool http_listener_parse(struct str text, struct http_listen_address *ret);
/* Fills in the port that was bound. */
int http_listener_tcp(struct http_listen_address *address, char *error, size_t error_size);
/* Reads the address of a socket that was passed to us. False: it is not a TCP socket. */
bool http_listener_look(int fd, struct http_listen_address *ret);
