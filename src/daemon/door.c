/* SPDX-License-Identifier: Apache-2.0 */
/* How do people and programs get in? */
#include "daemon/door.h"

#include "daemon/admit.h"
#include "daemon/events.h"
#include "daemon/guard.h"
#include "daemon/guest.h"
#include "daemon/health.h"
#include "daemon/listen.h"
#include "daemon/log.h"
#include "daemon/mcp.h"
#include "daemon/metrics.h"
#include "daemon/rpc.h"
#include "daemon/tempo.h"
#include "daemon/visit.h"
#include "ops/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEM_MOST = 262144 };

const struct route ROUTES[] = {
    {"POST", "/rpc", MAY_ALL, rpc_begin, rpc_answered, NULL},
    {"GET", "/events", MAY_ALL, events_begin, events_answered, events_forget},
    {"POST", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"GET", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"DELETE", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"GET", "/metrics", MAY_LOOK, metrics_begin, metrics_answered, NULL},
    {"GET", "/healthz", 0, healthz_begin, NULL, NULL},
    {"GET", "/readyz", 0, readyz_begin, NULL, NULL},
};
const size_t ROUTE_COUNT = count_of(ROUTES);

struct door {
    enum door_kind kind;
    struct MHD_Daemon *http;
    struct house *house;
    struct guests guests;
    struct tempo tempo;
    struct listen_address address;  /* TCP */
    struct arena arena;             /* of the rules */
    const struct door_rules *asked; /* while it is opened */
    struct door_rules rules;
    char *cert, *key; /* PEM */
    bool given;       /* the socket is somebody else's: its path stays */
};

struct house *door_house(const struct door *door) {
    return door->house;
}

bool door_is_unix(const struct door *door) {
    return door->kind != DOOR_TCP;
}

bool door_is_for_runs(const struct door *door) {
    return door->kind == DOOR_RUNS;
}

struct tempo *door_tempo(struct door *door) {
    return &door->tempo;
}

const char *door_host(const struct door *door) {
    return door->address.host;
}

uint16_t door_port(const struct door *door) {
    return door->address.port;
}

const struct door_rules *door_rules(const struct door *door) {
    return &door->rules;
}

/* ---- rules ---- */

static struct texts texts_keep(struct arena *arena, struct texts texts) {
    struct str *copy = arena_take(arena, (texts.count + 1) * sizeof *copy, alignof(struct str));
    for (uint32_t i = 0; i < texts.count; i++)
        copy[i] = arena_copy(arena, texts.at[i]);
    return (struct texts){copy, texts.count};
}

/* With a NUL behind it. */
static struct str text_keep(struct arena *arena, struct str text) {
    char *copy = arena_take(arena, text.len + 1, 1);
    if (text.len > 0)
        memcpy(copy, text.at, text.len);
    copy[text.len] = 0;
    return (struct str){copy, text.len};
}

static void rules_keep(void *with) {
    struct door *door = with;
    const struct door_rules *rules = door->asked;
    struct arena *arena = &door->arena;
    door->rules = *rules;
    door->rules.socket = text_keep(arena, str_of(rules->socket)).at;
    door->rules.listen = text_keep(arena, rules->listen);
    door->rules.tls_cert = text_keep(arena, rules->tls_cert);
    door->rules.tls_key = text_keep(arena, rules->tls_key);
    door->rules.hosts = texts_keep(arena, rules->hosts);
    door->rules.origins = texts_keep(arena, rules->origins);
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

/* G-04: what goes over a network is encrypted, unless an operator insists. */
static bool network_is_safe(struct door *door, char *error, size_t error_size) {
    const struct door_rules *rules = &door->rules;
    if ((rules->tls_cert.len > 0) != (rules->tls_key.len > 0)) {
        snprintf(error, error_size,
                 "server.tls_cert and server.tls_key belong together; one is missing.");
        return false;
    }
    if (rules->tls_cert.len > 0)
        return pem_read(rules->tls_cert.at, &door->cert, error, error_size) &&
               pem_read(rules->tls_key.at, &door->key, error, error_size);
    if (door->address.loopback || rules->insecure)
        return true;
    snprintf(
        error, error_size,
        "%s can be reached from other machines, and tokens would travel in the open. Set server.tls_cert and "
        "server.tls_key, listen on 127.0.0.1, or set server.insecure = true.",
        door->address.host);
    return false;
}

/* ---- opening ---- */

static int door_listen(struct door *door, char *error, size_t error_size) {
    const struct door_rules *rules = &door->rules;
    door->given = rules->fd > 0;
    if (door_is_unix(door))
        return door->given ? rules->fd : listen_unix(rules->socket, error, error_size);
    if (door->given ? !listen_look(rules->fd, &door->address)
                    : !listen_parse(rules->listen, &door->address)) {
        snprintf(
            error, error_size,
            "server.listen is ADDRESS:PORT, such as 127.0.0.1:7070 or [::1]:7070; \"%.*s\" is not.",
            STR_ARG(rules->listen));
        return -1;
    }
    if (!network_is_safe(door, error, error_size))
        return -1;
    return door->given ? rules->fd : listen_tcp(&door->address, error, error_size);
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

/* A certificate is found wanting here, and not by the first who comes. */
static void tls_add(struct option_list *list, struct door *door) {
    option_add(list, MHD_OPTION_HTTPS_MEM_CERT, 0, door->cert);
    option_add(list, MHD_OPTION_HTTPS_MEM_KEY, 0, door->key);
    option_add(list, MHD_OPTION_HTTPS_PRIORITIES, 0,
               (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2");
}

/* Poll, not epoll: libmicrohttpd 0.9.75 loses wake-ups in its epoll thread with many suspended connections. */
static bool server_start(struct door *door, int fd) {
    struct option_list list = {0};
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    bool tcp = door->kind == DOOR_TCP;
    option_add(&list, MHD_OPTION_LISTEN_SOCKET, fd, NULL);
    option_add(&list, MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)visit_completed, NULL);
    option_add(&list, MHD_OPTION_CONNECTION_LIMIT,
               tcp ? LIMIT_TCP_CONNECTIONS : LIMIT_HTTP_CONNECTIONS, NULL);
    option_add(&list, MHD_OPTION_CONNECTION_TIMEOUT, LIMIT_IDLE_SECONDS, NULL);
    option_add(&list, MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)guest_notify, &door->guests);
    if (tcp) {
        option_add(&list, MHD_OPTION_PER_IP_CONNECTION_LIMIT, LIMIT_TCP_PER_ADDRESS, NULL);
        option_add(&list, MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL);
    }
    if (door->cert) {
        flags |= MHD_USE_TLS;
        tls_add(&list, door);
    }
    option_add(&list, MHD_OPTION_END, 0, NULL);
    door->http = MHD_start_daemon(flags, 0, NULL, NULL, visit_handle, door, MHD_OPTION_ARRAY,
                                  list.items, MHD_OPTION_END);
    return door->http;
}

static struct door *door_give_up(struct door *door, int fd) {
    if (fd >= 0 && !door->given)
        close(fd);
    door_close(door);
    return NULL;
}

struct door *door_open(struct house *house, enum door_kind kind, const struct door_rules *rules,
                       char *error, size_t error_size) {
    struct door *door = calloc(1, sizeof *door);
    if (!door)
        return NULL;
    door->kind = kind;
    door->house = house;
    guests_start(&door->guests, kind != DOOR_TCP, kind == DOOR_UNIX);
    door->asked = rules;
    json_watch();
    struct guard_report report;
    if (guard_run(rules_keep, door, &report) != GUARD_WHOLE)
        return door_give_up(door, -1);
    int fd = door_listen(door, error, error_size);
    if (fd < 0)
        return door_give_up(door, -1);
    if (server_start(door, fd))
        return door;
    snprintf(error, error_size,
             door->cert
                 ? "The HTTP server cannot be started: the certificate or its key is not usable."
                 : "The HTTP server cannot be started.");
    return door_give_up(door, fd);
}

/* ---- while it is open, and after ---- */

void door_sweep(struct door *door) {
    guests_sweep(&door->guests);
}

struct door_view door_view(struct door *door) {
    struct guests *guests = &door->guests;
    pthread_mutex_lock(&guests->lock);
    const union MHD_DaemonInfo *info =
        door->http ? MHD_get_daemon_info(door->http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS) : NULL;
    struct door_view view = {info ? info->num_connections : 0, guests->strangers.count,
                             guests->came, guests->sent_away};
    pthread_mutex_unlock(&guests->lock);
    return view;
}

void door_shut(struct door *door) {
    MHD_socket fd = MHD_quiesce_daemon(door->http);
    if (door_is_unix(door) && !door->given)
        unlink(door->rules.socket);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
}

void door_halt(struct door *door) {
    pthread_mutex_lock(&door->guests.lock);
    struct MHD_Daemon *http = door->http;
    door->http = NULL;
    pthread_mutex_unlock(&door->guests.lock);
    if (http)
        MHD_stop_daemon(http);
}

void door_close(struct door *door) {
    door_halt(door);
    guests_end(&door->guests);
    arena_free(&door->arena);
    free(door->cert);
    free(door->key);
    free(door);
}
