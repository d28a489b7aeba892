/* SPDX-License-Identifier: Apache-2.0 */
/* What the other files may ask about an HTTP server. */
#include "http/http_server_state.h"

struct daemon_context *http_server_context(const struct http_server *server) {
    return server->context;
}

bool http_server_is_unix(const struct http_server *server) {
    return server->kind != HTTP_SERVER_TCP;
}

bool http_server_is_for_runs(const struct http_server *server) {
    return server->kind == HTTP_SERVER_RUNS;
}

struct throttle *http_server_throttle(struct http_server *server) {
    return &server->throttle;
}

const char *http_server_host(const struct http_server *server) {
    return server->address.host;
}

uint16_t http_server_port(const struct http_server *server) {
    return server->address.port;
}

const struct http_server_rules *http_server_rules(const struct http_server *server) {
    return &server->rules;
}

struct http_server_view http_server_view(struct http_server *server) {
    struct unauthenticated_conns *conns = &server->conns;
    pthread_mutex_lock(&conns->lock);
    const union MHD_DaemonInfo *info =
        server->http ? MHD_get_daemon_info(server->http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
                     : NULL;
    struct http_server_view view = {info ? info->num_connections : 0, conns->unauthenticated.count,
                                    conns->came, conns->sent_away};
    pthread_mutex_unlock(&conns->lock);
    return view;
}
