/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an HTTP server, shared by the files that run it. */
#pragma once

#include "http/http_listener.h"
#include "http/http_server.h"
#include "http/throttle.h"
#include "http/unauthenticated.h"

struct http_server {
    enum http_server_kind kind;
    struct MHD_Daemon *http;
    struct daemon_context *context;
    struct unauthenticated_conns conns;
    struct throttle throttle;
    struct http_listen_address address;    /* TCP only */
    struct arena arena;                    /* holds the rules */
    const struct http_server_rules *asked; /* only while opening: the caller's rules */
    struct http_server_rules rules;
    char *cert, *key; /* PEM */
    bool given;       /* the socket was passed to us: do not unlink its path */
};
