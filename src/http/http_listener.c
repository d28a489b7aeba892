/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http_listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

/* ---- Unix sockets ---- */

static bool somebody_answers(const struct sockaddr_un *address) {
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answered =
        probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof *address) == 0;
    if (probe >= 0)
        close(probe);
    return answered;
}

/* A command that was being forked when its daemon was killed keeps the socket open for a moment: wait for that. */
static bool path_is_free(const struct sockaddr_un *address) {
    for (int i = 0; i < 20; i++) {
        if (!somebody_answers(address)) {
            unlink(address->sun_path);
            return true;
        }
        usleep(50000);
    }
    return false;
}

static int unix_bind(const struct sockaddr_un *address) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t mask = umask(0177);
    int code = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)address, sizeof *address);
    umask(mask);
    if (code == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int cause = errno;
    if (fd >= 0)
        close(fd);
    errno = cause;
    return -1;
}

int http_listener_unix(const char *path, char *error, size_t error_size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(error, error_size,
                 "The socket path %s is too long; use --socket with a shorter one.", path);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    if (!path_is_free(&address)) {
        snprintf(error, error_size,
                 "A daemon answers on %s already. Stop it first, or use another --socket.", path);
        return -1;
    }
    int fd = unix_bind(&address);
    if (fd < 0)
        snprintf(error, error_size,
                 "The socket %s cannot be opened: %s. Check its folder, or use --socket.", path,
                 strerror(errno));
    return fd;
}

/* ---- TCP sockets ---- */

static void host_write(struct http_listen_address *address) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address->at.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&address->at;
        inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
        snprintf(address->host, sizeof address->host, "%s", text);
        address->port = ntohs(in->sin_port);
        address->loopback = ntohl(in->sin_addr.s_addr) >> 24 == 127;
    } else {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&address->at;
        inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
        snprintf(address->host, sizeof address->host, "[%s]", text);
        address->port = ntohs(in->sin6_port);
        address->loopback = IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
    }
}

static bool port_parse(const char *text, in_port_t *ret_port) {
    char *end;
    long port = strtol(text, &end, 10);
    if (end == text || *end || *text == '-' || *text == '+' || port > 65535)
        return false;
    *ret_port = htons((uint16_t)port);
    return true;
}

static bool parse_4(struct http_listen_address *ret, const char *host, const char *port) {
    struct sockaddr_in *in = (struct sockaddr_in *)&ret->at;
    in->sin_family = AF_INET;
    ret->length = sizeof *in;
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &in->sin_addr) ==
               1 &&
           port_parse(port, &in->sin_port);
}

static bool parse_6(struct http_listen_address *ret, const char *host, const char *port) {
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)&ret->at;
    in->sin6_family = AF_INET6;
    ret->length = sizeof *in;
    return inet_pton(AF_INET6, host, &in->sin6_addr) == 1 && port_parse(port, &in->sin6_port);
}

bool http_listener_parse(struct str text, struct http_listen_address *ret) {
    char plain[64];
    struct http_listen_address address = {0};
    if (text.len == 0 || text.len >= sizeof plain)
        return false;
    snprintf(plain, sizeof plain, "%.*s", STR_ARG(text));
    char *colon = strrchr(plain, ':');
    if (!colon || colon == plain)
        return false;
    *colon = 0;
    bool six = plain[0] == '[' && colon[-1] == ']';
    if (six)
        colon[-1] = 0;
    if (six ? !parse_6(&address, plain + 1, colon + 1) : !parse_4(&address, plain, colon + 1))
        return false;
    host_write(&address);
    *ret = address;
    return true;
}

bool http_listener_look(int fd, struct http_listen_address *ret) {
    struct http_listen_address address = {.length = sizeof address.at};
    if (getsockname(fd, (struct sockaddr *)&address.at, &address.length) != 0 ||
        (address.at.ss_family != AF_INET && address.at.ss_family != AF_INET6))
        return false;
    host_write(&address);
    *ret = address;
    return true;
}

int http_listener_tcp(struct http_listen_address *address, char *error, size_t error_size) {
    int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (struct sockaddr *)&address->at, address->length) == 0 &&
        listen(fd, BACKLOG) == 0 && http_listener_look(fd, address))
        return fd;
    snprintf(
        error, error_size,
        "The daemon cannot listen on %s:%u: %s. Free that port, or set another in server.listen.",
        address->host, address->port, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
