/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the HTTP servers through which people and programs reach the daemon. */
#include "http/http_server_state.h"

#include "http/rpc.h"
#include "ops/json.h"
#include "sys/crash_guard.h"

#include <errno.h>
#include <fcntl.h>

enum { PEM_MOST = 262144 };

/* ---- rules ---- */

static struct texts texts_keep(struct arena *arena, struct texts texts) {
    struct str *copy = arena_take(arena, (texts.count + 1) * sizeof *copy, alignof(struct str));
    for (uint32_t i = 0; i < texts.count; i++)
        copy[i] = arena_copy(arena, texts.at[i]);
    return (struct texts){copy, texts.count};
}

/* NUL-terminated copy. */
static struct str text_keep(struct arena *arena, struct str text) {
    char *copy = arena_take(arena, text.len + 1, 1);
    if (text.len > 0)
        memcpy(copy, text.at, text.len);
    copy[text.len] = 0;
    return (struct str){copy, text.len};
}

static void rules_keep(void *with) {
    struct http_server *server = with;
    const struct http_server_rules *rules = server->asked;
    struct arena *arena = &server->arena;
    server->rules = *rules;
    server->rules.socket = text_keep(arena, str_of(rules->socket)).at;
    server->rules.listen = text_keep(arena, rules->listen);
    server->rules.tls_cert = text_keep(arena, rules->tls_cert);
    server->rules.tls_key = text_keep(arena, rules->tls_key);
    server->rules.hosts = texts_keep(arena, rules->hosts);
    server->rules.origins = texts_keep(arena, rules->origins);
}

static bool pem_read(const char *path, char **ret, char *error, size_t error_size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : calloc(1, PEM_MOST + 1);
    ssize_t length = text ? read(fd, text, PEM_MOST) : -1;
    if (length <= 0)
        snprintf(error, error_size,
                 "The file %s cannot be read: %s. Check server.tls_cert and server.tls_key.", path,
                 length == 0 ? "it is empty" : strerror(errno));
    if (fd >= 0)
        close(fd);
    *ret = text;
    return length > 0;
}

/* G-04: network traffic is encrypted, unless the operator explicitly allows otherwise. */
static bool network_is_safe(struct http_server *server, char *error, size_t error_size) {
    const struct http_server_rules *rules = &server->rules;
    if ((rules->tls_cert.len > 0) != (rules->tls_key.len > 0)) {
        snprintf(error, error_size,
                 "server.tls_cert and server.tls_key must be set together; one is missing.");
        return false;
    }
    if (rules->tls_cert.len > 0)
        return pem_read(rules->tls_cert.at, &server->cert, error, error_size) &&
               pem_read(rules->tls_key.at, &server->key, error, error_size);
    if (server->address.loopback || rules->insecure)
        return true;
    snprintf(error, error_size,
             "%s can be reached from other machines, and tokens would be sent unencrypted. "
             "Set server.tls_cert and server.tls_key, listen on 127.0.0.1, or set "
             "server.insecure = true.",
             server->address.host);
    return false;
}

/* ---- opening ---- */

static int http_server_listen(struct http_server *server, char *error, size_t error_size) {
    const struct http_server_rules *rules = &server->rules;
    server->given = rules->fd > 0;
    if (http_server_is_unix(server))
        return server->given ? rules->fd : http_listener_unix(rules->socket, error, error_size);
    if (server->given ? !http_listener_look(rules->fd, &server->address)
                      : !http_listener_parse(rules->listen, &server->address)) {
        snprintf(
            error, error_size,
            "server.listen must be ADDRESS:PORT, such as 127.0.0.1:7070 or [::1]:7070; it is \"%.*s\".",
            STR_ARG(rules->listen));
        return -1;
    }
    if (!network_is_safe(server, error, error_size))
        return -1;
    return server->given ? rules->fd : http_listener_tcp(&server->address, error, error_size);
}

enum { OPTION_ROOM = 16 };

struct option_list {
    struct MHD_OptionItem items[OPTION_ROOM];
    uint32_t count;
};

static void option_add(struct option_list *list, enum MHD_OPTION option, intptr_t value,
                       void *pointer) {
    must(list->count < OPTION_ROOM);
    list->items[list->count++] = (struct MHD_OptionItem){option, value, pointer};
}

/* An unusable certificate is reported when the server starts, not when the first client connects. */
static void tls_add(struct option_list *list, struct http_server *server) {
    option_add(list, MHD_OPTION_HTTPS_MEM_CERT, 0, server->cert);
    option_add(list, MHD_OPTION_HTTPS_MEM_KEY, 0, server->key);
    option_add(list, MHD_OPTION_HTTPS_PRIORITIES, 0,
               (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2");
}

/* Poll, not epoll: libmicrohttpd 0.9.75 loses wake-ups in its epoll thread with many suspended connections. */
static bool server_start(struct http_server *server, int fd) {
    struct option_list list = {0};
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    bool tcp = server->kind == HTTP_SERVER_TCP;
    option_add(&list, MHD_OPTION_LISTEN_SOCKET, fd, NULL);
    option_add(&list, MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)http_request_completed, NULL);
    option_add(&list, MHD_OPTION_CONNECTION_LIMIT,
               tcp ? LIMIT_TCP_CONNECTIONS : LIMIT_HTTP_CONNECTIONS, NULL);
    option_add(&list, MHD_OPTION_CONNECTION_TIMEOUT, LIMIT_IDLE_SECONDS, NULL);
    option_add(&list, MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)conn_notify, &server->conns);
    if (tcp) {
        option_add(&list, MHD_OPTION_PER_IP_CONNECTION_LIMIT, LIMIT_TCP_PER_ADDRESS, NULL);
        option_add(&list, MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL);
    }
    if (server->cert) {
        flags |= MHD_USE_TLS;
        tls_add(&list, server);
    }
    option_add(&list, MHD_OPTION_END, 0, NULL);
    server->http = MHD_start_daemon(flags, 0, NULL, NULL, http_request_handle, server,
                                    MHD_OPTION_ARRAY, list.items, MHD_OPTION_END);
    return server->http;
}

static struct http_server *http_server_give_up(struct http_server *server, int fd) {
    if (fd >= 0 && !server->given)
        close(fd);
    http_server_close(server);
    return NULL;
}

struct http_server *http_server_open(struct daemon_context *context, enum http_server_kind kind,
                                     const struct http_server_rules *rules, char *error,
                                     size_t error_size) {
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->kind = kind;
    server->context = context;
    conns_start(&server->conns, kind != HTTP_SERVER_TCP, kind == HTTP_SERVER_UNIX);
    server->asked = rules;
    json_count_memory();
    struct crash_guard_report report;
    if (crash_guard_run(rules_keep, server, &report) != CRASH_GUARD_WHOLE)
        return http_server_give_up(server, -1);
    int fd = http_server_listen(server, error, error_size);
    if (fd < 0)
        return http_server_give_up(server, -1);
    if (server_start(server, fd))
        return server;
    snprintf(error, error_size,
             server->cert
                 ? "The HTTP server cannot be started: the certificate or its key is not usable."
                 : "The HTTP server cannot be started.");
    return http_server_give_up(server, fd);
}

/* ---- serving and closing ---- */

void http_server_sweep(struct http_server *server) {
    conns_sweep(&server->conns);
}

void http_server_shut(struct http_server *server) {
    MHD_socket fd = MHD_quiesce_daemon(server->http);
    if (http_server_is_unix(server) && !server->given)
        unlink(server->rules.socket);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
}

void http_server_halt(struct http_server *server) {
    pthread_mutex_lock(&server->conns.lock);
    struct MHD_Daemon *http = server->http;
    server->http = NULL;
    pthread_mutex_unlock(&server->conns.lock);
    if (http)
        MHD_stop_daemon(http);
}

void http_server_close(struct http_server *server) {
    http_server_halt(server);
    conns_end(&server->conns);
    arena_free(&server->arena);
    free(server->cert);
    free(server->key);
    free(server);
}
