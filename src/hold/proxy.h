/* SPDX-License-Identifier: Apache-2.0 */
/* The only way out of a run's network namespace: a proxy that connects to the hosts of a list, and to no others.
 *
 *     agent ──HTTPS_PROXY──▶ 127.0.0.1:PORT ──forwarder──▶ Unix socket ──proxy──▶ a host on the list
 *     └────────── the run's network namespace ──────────┘               └─ outside: resolves names, connects ─┘
 *
 * The proxy is a child of the program that it is started with, and ends with it. Each connection has a process of its own:
 * what a hostile request does to it concerns no other. */
#pragma once

#include "base/host_rule.h"

enum {
    PROXY_RULES = 256,     /* entries of a list */
    PROXY_REQUEST = 16384, /* bytes of a request line and its headers */
    PROXY_AT_ONCE = 128,   /* connections of a run */
    PROXY_TUNNELS = 32
};

/* ---- proxy_request.c ---- */

/* What a client asks for. `head` is everything up to the empty line. */
struct proxy_request {
    bool tunnel;              /* CONNECT; otherwise one request, which is passed on */
    char host[HOST_NAME + 1]; /* lower case, without a final dot and without brackets */
    uint32_t port;
    const char *path; /* of a request that is passed on, up to a space; NULL: "/" */
    size_t path_len;
    const char *method;
    size_t method_len;
};

/* False: it is no such request, or one that can be understood in two ways. */
bool proxy_request_parse(const char *head, size_t len, struct proxy_request *ret);

/* Writes the head that is passed on: the host of the request line, without the headers that concern a connection. 0: it
 * does not fit, or a header cannot be passed on. */
size_t proxy_head_make(const struct proxy_request *request, const char *head, size_t len, char *to,
                       size_t room);

/* ---- proxy_tls.c ---- */

enum tls_seen {
    TLS_MORE,  /* more has to come */
    TLS_NAMED, /* a ClientHello for this server */
    TLS_OTHER  /* not that, or without the name of a server */
};
enum tls_seen tls_name_read(const void *bytes, size_t len, char ret[HOST_NAME + 1]);

/* ---- proxy_linux.c ---- */

#define PROXY_SOCKET "sock" /* in the folder of both: a whole path may be too long for an address */

/* Starts the proxy of the file, and becomes the program. Lines of the file: "listen FOLDER", "denied FILE" (where
 * each denial is noted: HOST PORT, and the reason if it is not the list), "allowed FILE" (more entries, which may
 * change), "allow ENTRY". */
int proxy_main(const char *file, char **argv);

/* Inside the namespace. */
struct forwarding {
    char folder[4096];   /* of the proxy's socket */
    uint32_t proxy_port; /* of 127.0.0.1, for programs that know a proxy; 0: nothing is forwarded */
    struct forward_tunnel {
        char address
            [48]; /* of the loopback: each connection to it is a tunnel to the same address outside, */
        uint32_t port; /* for programs that know none */
    } tunnels[PROXY_TUNNELS];
    uint32_t tunnel_count;
};

/* Starts the forwarder, which is not a child of this process. Returns an errno. */
int forward_start(const struct forwarding *forwarding);
