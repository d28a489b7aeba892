/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the proxy of a run, and the forwarder inside its network namespace. A process for each connection: it reads one
 * request, connects or refuses, and then passes bytes on until both sides have ended. */
#include "hold/hold.h"
#include "hold/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RELAY = 65536,
    HEAD_SECONDS = 30,    /* for a whole request */
    CONNECT_SECONDS = 20, /* for each address */
    DRAIN_SECONDS = 5,    /* after an answer */
    HALF_SECONDS = 300,   /* of silence, when one side has ended */
    DENIED_MOST = 65536,  /* bytes of the file of denials */
    LINE = 4200
};

struct proxy {
    struct host_rule rules[PROXY_RULES];
    uint32_t rule_count;
    char listen[LINE], denied[LINE], allowed[LINE];
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- passing bytes on ---- */

struct lane {
    int from, to;
    char *bytes;
    size_t begin, end;
    bool ended; /* nothing more is passed on */
};

static void lane_end(struct lane *lane) {
    lane->ended = true;
    lane->begin = lane->end = 0;
    shutdown(lane->to, SHUT_WR);
}

static bool is_transient(void) {
    return errno == EAGAIN || errno == EINTR;
}

static void lane_read(struct lane *lane) {
    ssize_t got = read(lane->from, lane->bytes, RELAY);
    if (got > 0) {
        lane->begin = 0;
        lane->end = (size_t)got;
    } else if (got == 0 || !is_transient())
        lane_end(lane);
}

/* What the other side does not take any more is dropped; what comes from it is still passed on. */
static void lane_write(struct lane *lane) {
    ssize_t put = send(lane->to, lane->bytes + lane->begin, lane->end - lane->begin, MSG_NOSIGNAL);
    if (put > 0)
        lane->begin += (size_t)put;
    else if (put < 0 && !is_transient())
        lane_end(lane);
}

static bool lane_is_full(const struct lane *lane) {
    return lane->begin < lane->end;
}

/* A descriptor from which nothing is wanted is left out: poll() reports its end again and again. */
static void lanes_poll(const struct lane lanes[2], struct pollfd polled[2], int within) {
    for (int i = 0; i < 2; i++) {
        bool reads = !lanes[i].ended && !lane_is_full(&lanes[i]), writes = lane_is_full(&lanes[!i]);
        polled[i] =
            (struct pollfd){.fd = reads || writes ? lanes[i].from : -1,
                            .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
    }
    if (poll(polled, 2, within) < 0)
        polled[0].revents = polled[1].revents = 0;
}

/* Until both sides have ended. When one has, the other may be silent for some minutes. */
static void relay(int a, int b) {
    static char bytes[2][RELAY];
    struct lane lanes[2] = {{.from = a, .to = b, .bytes = bytes[0]},
                            {.from = b, .to = a, .bytes = bytes[1]}};
    struct pollfd polled[2];
    fcntl(a, F_SETFL, O_NONBLOCK);
    fcntl(b, F_SETFL, O_NONBLOCK);
    while (!lanes[0].ended || !lanes[1].ended) {
        bool half = lanes[0].ended || lanes[1].ended;
        int64_t before = now_ms();
        lanes_poll(lanes, polled, half ? HALF_SECONDS * 1000 : -1);
        if (half && !polled[0].revents && !polled[1].revents &&
            now_ms() - before >= HALF_SECONDS * 1000)
            return;
        for (int i = 0; i < 2; i++) {
            if (lane_is_full(&lanes[i]) && polled[!i].revents)
                lane_write(&lanes[i]);
            else if (polled[i].revents && !lanes[i].ended && !lane_is_full(&lanes[i]))
                lane_read(&lanes[i]);
        }
    }
}

/* ---- answers ---- */

/* A connection that is closed while something comes in is reset, and the answer may be lost. */
static void drain(int client) {
    char bytes[4096];
    int64_t end = now_ms() + DRAIN_SECONDS * 1000;
    struct pollfd polled = {.fd = client, .events = POLLIN};
    for (int64_t left; (left = end - now_ms()) > 0;)
        if (poll(&polled, 1, (int)left) > 0 && read(client, bytes, sizeof bytes) <= 0)
            return;
}

/* In one piece: a program that reads once gets the reason, too. */
static void answer(int client, const char *status, const char *text) {
    char whole[HOST_NAME + 1024];
    int length = snprintf(whole, sizeof whole,
                          "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n%s",
                          status, strlen(text), text);
    if (length < (int)sizeof whole)
        (void)!send(client, whole, (size_t)length, MSG_NOSIGNAL);
    shutdown(client, SHUT_WR);
    drain(client);
}

/* Appended whole: several processes write there. `besides`: another reason than that it is not on the list. */
static void denial_note(const struct proxy *proxy, const struct proxy_request *request,
                        const char *besides) {
    char line[HOST_NAME + 64];
    struct stat about;
    int fd = open(proxy->denied, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    int length = snprintf(line, sizeof line, "%s %u%s\n", request->host, request->port, besides);
    if (fstat(fd, &about) == 0 && about.st_size + length <= DENIED_MOST)
        (void)!write(fd, line, (size_t)length);
    close(fd);
}

static void deny(const struct proxy *proxy, int client, const struct proxy_request *request,
                 const char *why, const char *besides) {
    char text[HOST_NAME + 512];
    denial_note(proxy, request, besides);
    snprintf(text, sizeof text,
             "denied: host %s, port %u: %s. Go on without it, or say what you need.\n",
             request->host, request->port, why);
    answer(client, "403 Forbidden", text);
}

/* ---- connecting ---- */

/* A name must not lead to this machine or to the metadata service of a cloud: only an address that is on the list does. */
static bool four_is_ours(uint32_t address) {
    static const uint32_t METADATA = 0x646464C8; /* 100.100.100.200 */
    uint32_t first = address >> 24;
    return first == 127 || first == 0 || address >> 16 == 0xA9FE || first >= 224 ||
           address == METADATA;
}

/* An IPv4 address inside of it: mapped, compatible, NAT64, 6to4. */
static bool six_has_four(const struct in6_addr *six, uint32_t *ret) {
    static const uint8_t NAT64[12] = {0, 0x64, 0xFF, 0x9B};
    bool old = IN6_IS_ADDR_V4MAPPED(six) || IN6_IS_ADDR_V4COMPAT(six) ||
               !memcmp(six->s6_addr, NAT64, sizeof NAT64);
    bool to4 = six->s6_addr[0] == 0x20 && six->s6_addr[1] == 2;
    memcpy(ret, six->s6_addr + (to4 ? 2 : 12), sizeof *ret);
    *ret = ntohl(*ret);
    return old || to4;
}

static bool six_is_ours(const struct in6_addr *six) {
    static const uint8_t METADATA[16] = {0xFD, 0, 0x0E, 0xC2, [14] = 2, [15] = 0x54};
    uint32_t four;
    return IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_UNSPECIFIED(six) ||
           IN6_IS_ADDR_LINKLOCAL(six) || IN6_IS_ADDR_MULTICAST(six) ||
           !memcmp(six, METADATA, sizeof METADATA) ||
           (six_has_four(six, &four) && four_is_ours(four));
}

static bool address_is(const struct sockaddr *a, const struct sockaddr *b) {
    if (!b || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                   &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
}

static bool interface_has(const struct sockaddr *address) {
    struct ifaddrs *all = NULL;
    bool has = getifaddrs(&all) != 0; /* not known: it may be ours */
    for (const struct ifaddrs *at = all; at && !has; at = at->ifa_next)
        has = address_is(address, at->ifa_addr);
    if (all)
        freeifaddrs(all);
    return has;
}

static bool address_is_ours(const struct sockaddr *address) {
    if (address->sa_family == AF_INET)
        return four_is_ours(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr)) ||
               interface_has(address);
    return address->sa_family != AF_INET6 ||
           six_is_ours(&((const struct sockaddr_in6 *)address)->sin6_addr) ||
           interface_has(address);
}

/* Not interrupted by a freeze: the run goes on where it was. */
static bool is_connected(int fd) {
    int64_t end = now_ms() + CONNECT_SECONDS * 1000;
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    int code = ETIMEDOUT;
    socklen_t size = sizeof code;
    for (int64_t left; (left = end - now_ms()) > 0;)
        if (poll(&polled, 1, (int)left) > 0)
            return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 && code == 0;
    return false;
}

static int address_connect(const struct addrinfo *address) {
    int yes = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if ((connect(fd, address->ai_addr, address->ai_addrlen) == 0 || errno == EINPROGRESS) &&
        is_connected(fd) && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    close(fd);
    return -1;
}

/* -1: `ret_why` says why; `ret_ours`: the name leads to this machine. */
static int host_connect(const char *host, uint32_t port, bool listed_address, const char **ret_why,
                        bool *ret_ours) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_ADDRCONFIG | (listed_address ? AI_NUMERICHOST : 0)},
                    *found = NULL;
    char service[8];
    int fd = -1;
    snprintf(service, sizeof service, "%u", port);
    if (listed_address)
        hints.ai_flags = AI_NUMERICHOST; /* also without a network */
    int code = getaddrinfo(host, service, &hints, &found);
    *ret_why = code ? gai_strerror(code) : "it does not accept connections";
    *ret_ours = false;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        if (!listed_address && address_is_ours(at->ai_addr)) {
            *ret_ours = true;
            continue;
        }
        fd = address_connect(at);
    }
    if (found)
        freeaddrinfo(found);
    return fd;
}

/* ---- one connection ---- */

/* Reads what comes next, behind the first `len` bytes. False: nothing came until `end`, or there is no room. */
static bool more_read(int client, char *bytes, size_t room, size_t *len, int64_t end) {
    struct pollfd polled = {.fd = client, .events = POLLIN};
    int comes;
    do {
        int64_t left = end - now_ms();
        comes = poll(&polled, 1, left > 0 ? (int)left : 0);
    } while (comes < 0 && errno == EINTR);
    ssize_t got = comes > 0 && *len < room ? read(client, bytes + *len, room - *len) : 0;
    *len += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Reads up to the empty line, and perhaps more. 0: none came in time, or it is too long. */
static size_t head_read(int client, char *head, size_t room, size_t *ret_len) {
    int64_t end = now_ms() + HEAD_SECONDS * 1000;
    while (more_read(client, head, room, ret_len, end)) {
        const char *end_of_head = memmem(head, *ret_len, "\r\n\r\n", 4);
        if (end_of_head)
            return (size_t)(end_of_head - head) + 4;
    }
    return 0;
}

static bool send_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t put = send(fd, bytes, len, MSG_NOSIGNAL);
        if (put <= 0)
            return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

/* What was allowed since the run began. The file is replaced as a whole; a line without an end is none. */
static bool allowed_find(const struct proxy *proxy, const struct proxy_request *request,
                         struct host_rule *ret) {
    char line[HOST_ENTRY + 2];
    FILE *file = proxy->allowed[0] ? fopen(proxy->allowed, "re") : NULL;
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        size_t length = strcspn(line, "\n");
        found = line[length] == '\n' && host_rule_parse((struct str){line, length}, ret) &&
                host_rule_allows(ret, request->host, request->port);
    }
    if (file)
        fclose(file);
    return found;
}

static bool rule_find(const struct proxy *proxy, const struct proxy_request *request,
                      struct host_rule *ret) {
    for (uint32_t i = 0; i < proxy->rule_count; i++)
        if (host_rule_allows(&proxy->rules[i], request->host, request->port)) {
            *ret = proxy->rules[i];
            return true;
        }
    return allowed_find(proxy, request, ret);
}

/* Reads the ClientHello. False: none came, or it is for another server than the one that was asked for. */
static bool name_is_kept(const struct proxy *proxy, const struct proxy_request *request, int client,
                         char *bytes, size_t room, size_t *len) {
    char name[HOST_NAME + 1];
    int64_t end = now_ms() + HALF_SECONDS * 1000;
    enum tls_seen seen;
    while ((seen = tls_name_read(bytes, *len, name)) == TLS_MORE && *len < room)
        if (!more_read(client, bytes, room, len, end))
            return false;
    if (seen == TLS_NAMED && !strcmp(name, request->host))
        return true;
    struct proxy_request other = *request;
    if (seen == TLS_NAMED)
        snprintf(other.host, sizeof other.host, "%s", name);
    denial_note(proxy, &other, " by TLS");
    return false;
}

/* Port 443 of a name is for TLS with that name. Addresses and other ports are passed on as they are. */
static void tunnel_go(const struct proxy *proxy, const struct proxy_request *request, int client,
                      int server, struct str first) {
    static char bytes[PROXY_REQUEST];
    size_t len = first.len;
    memcpy(bytes, first.at, len);
    bool checked = request->tunnel && request->port == 443 && !host_is_address(request->host);
    if ((!checked || name_is_kept(proxy, request, client, bytes, sizeof bytes, &len)) &&
        send_all(server, bytes, len))
        relay(client, server);
}

static void request_serve(const struct proxy *proxy, int client) {
    static char head[PROXY_REQUEST], passed[PROXY_REQUEST + 512];
    struct proxy_request request;
    size_t len = 0, length = head_read(client, head, sizeof head, &len);
    const char *why;
    bool ours;
    if (length == 0 || !proxy_request_parse(head, length, &request)) {
        answer(client, "400 Bad Request", "This is no request to a proxy that can be served.\n");
        return;
    }
    struct host_rule rule;
    if (!rule_find(proxy, &request, &rule)) {
        deny(proxy, client, &request, "it is not on the list of this repository", "");
        return;
    }
    size_t pass =
        request.tunnel ? 0 : proxy_head_make(&request, head, length, passed, sizeof passed);
    if (!request.tunnel && pass == 0) {
        answer(client, "400 Bad Request", "These headers cannot be passed on.\n");
        return;
    }
    int server = host_connect(request.host, request.port, host_is_address(rule.host), &why, &ours);
    if (server < 0 && ours)
        deny(proxy, client, &request, "its name leads to this machine", " leads here");
    else if (server < 0)
        answer(client, "502 Bad Gateway", why);
    else if (request.tunnel ? send_all(client, "HTTP/1.1 200 OK\r\n\r\n", 19)
                            : send_all(server, passed, pass))
        tunnel_go(proxy, &request, client, server, (struct str){head + length, len - length});
}

/* ---- listening ---- */

static const struct sockaddr_un SOCKET = {.sun_family = AF_UNIX, .sun_path = PROXY_SOCKET};

/* -1: errno says why. The current folder stays what it was. */
static int unix_listen(const char *folder) {
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC),
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound = here >= 0 && fd >= 0 && chdir(folder) == 0 &&
                 (unlink(PROXY_SOCKET) == 0 || errno == ENOENT) &&
                 bind(fd, (const struct sockaddr *)&SOCKET, sizeof SOCKET) == 0 &&
                 chmod(PROXY_SOCKET, 0600) == 0 && listen(fd, PROXY_AT_ONCE) == 0;
    int code = errno;
    if (here >= 0 && fchdir(here) != 0)
        bound = false;
    if (here >= 0)
        close(here);
    if (!bound && fd >= 0)
        close(fd);
    errno = code;
    return bound ? fd : -1;
}

/* -1: errno says why. */
static int loopback_listen(const char *address, uint32_t port) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_PASSIVE},
                    *found = NULL;
    char service[8];
    int yes = 1, fd = -1;
    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(address, service, &hints, &found) != 0) {
        errno = EINVAL;
        return -1;
    }
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool listens = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                   bind(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                   listen(fd, PROXY_AT_ONCE) == 0;
    int code = errno;
    freeaddrinfo(found);
    if (!listens && fd >= 0)
        close(fd);
    errno = code;
    return listens ? fd : -1;
}

/* ---- servers ---- */

struct server {
    int fds[PROXY_TUNNELS + 1];
    uint32_t count;
    void (*one)(const struct server *server, uint32_t place, int client);
    const void *with;
};

/* Nothing of the run's is kept open: a reader of its output sees the end of it. */
static void fds_close_but(const struct server *server) {
    int null = open("/dev/null", O_RDWR), most = 2;
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    for (uint32_t i = 0; i < server->count; i++)
        most = server->fds[i] > most ? server->fds[i] : most;
    for (int fd = 3; fd < most; fd++) {
        bool kept = false;
        for (uint32_t i = 0; i < server->count; i++)
            kept = kept || server->fds[i] == fd;
        if (!kept)
            close(fd);
    }
    close_range((unsigned)most + 1, ~0u, 0);
}

static void client_serve(const struct server *server, uint32_t place, int client, pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(1);
    for (uint32_t i = 0; i < server->count; i++)
        close(server->fds[i]);
    server->one(server, place, client);
    _exit(0);
}

static void client_take(const struct server *server, uint32_t place, unsigned *at_once) {
    int client = accept4(server->fds[place], NULL, NULL, SOCK_CLOEXEC);
    pid_t self = getpid(), child = -1;
    if (client >= 0 && *at_once >= PROXY_AT_ONCE) {
        static const char FULL[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 33\r\n"
                                   "Connection: close\r\n\r\nToo many connections of this run.";
        (void)!send(client, FULL, sizeof FULL - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    } else if (client >= 0)
        child = fork();
    if (child == 0)
        client_serve(server, place, client, self);
    *at_once += child > 0;
    if (client >= 0)
        close(client);
    else if (!is_transient() && errno != ECONNABORTED)
        poll(NULL, 0, 100); /* no descriptor is left: one may be soon */
}

_Noreturn static void serve(const struct server *server) {
    struct pollfd polled[PROXY_TUNNELS + 1];
    unsigned at_once = 0;
    for (uint32_t i = 0; i < server->count; i++)
        polled[i] = (struct pollfd){.fd = server->fds[i], .events = POLLIN};
    for (;;) {
        if (poll(polled, server->count, at_once ? 1000 : -1) < 0 && errno != EINTR)
            _exit(1);
        while (at_once > 0 && waitpid(-1, NULL, WNOHANG) > 0)
            at_once--;
        for (uint32_t i = 0; i < server->count; i++)
            if (polled[i].revents)
                client_take(server, i, &at_once);
    }
}

static void one_request(const struct server *server, uint32_t place, int client) {
    (void)place;
    request_serve(server->with, client);
}

/* Becomes a server that ends with its starter. */
static pid_t proxy_fork(const struct server *server) {
    pid_t self = getpid(), child = fork();
    if (child != 0)
        return child;
    setsid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != self)
        _exit(1);
    signal(SIGPIPE, SIG_IGN);
    setenv("LOCALDOMAIN", "invalid", 1); /* a name is looked up as it is, and not below another */
    fds_close_but(server);
    serve(server);
}

/* ---- the forwarder ---- */

/* The answer of the proxy is not for the client; what the server has said behind it is. */
static bool tunnel_open(int server, int client, const struct forward_tunnel *tunnel) {
    static char head[PROXY_REQUEST];
    size_t len = 0;
    bool six = strchr(tunnel->address, ':');
    int length = snprintf(head, sizeof head, "CONNECT %s%s%s:%u HTTP/1.1\r\n\r\n", six ? "[" : "",
                          tunnel->address, six ? "]" : "", tunnel->port);
    size_t used =
        send_all(server, head, (size_t)length) ? head_read(server, head, sizeof head, &len) : 0;
    return used > 12 && !memcmp(head, "HTTP/1.1 200", 12) &&
           send_all(client, head + used, len - used);
}

/* The first place is for clients that speak to the proxy themselves. */
static void one_forward(const struct server *it, uint32_t place, int client) {
    const struct forwarding *forwarding = it->with;
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server >= 0 && chdir(forwarding->folder) == 0 &&
        connect(server, (const struct sockaddr *)&SOCKET, sizeof SOCKET) == 0 &&
        (place == 0 || tunnel_open(server, client, &forwarding->tunnels[place - 1])))
        relay(client, server);
}

/* A program that waits for all its children must not wait for us: init gets the forwarder, and ends it with the namespace. */
static int forwarder_detach(const struct server *server) {
    pid_t between = fork();
    if (between == 0) {
        pid_t last = fork();
        if (last == 0) {
            setsid();
            signal(SIGPIPE, SIG_IGN);
            fds_close_but(server);
            serve(server);
        }
        _exit(last < 0);
    }
    int status = 1;
    while (between > 0 && waitpid(between, &status, 0) < 0 && errno == EINTR)
        ;
    return between < 0 ? errno : status ? EAGAIN : 0;
}

int forward_start(const struct forwarding *forwarding) {
    struct server server = {.one = one_forward, .with = forwarding};
    int fd = loopback_listen("127.0.0.1", forwarding->proxy_port), code = fd < 0 ? errno : 0;
    if (fd >= 0)
        server.fds[server.count++] = fd;
    for (uint32_t i = 0; i < forwarding->tunnel_count && !code; i++) {
        fd = loopback_listen(forwarding->tunnels[i].address, forwarding->tunnels[i].port);
        code = fd < 0 ? errno : 0;
        if (fd >= 0)
            server.fds[server.count++] = fd;
    }
    if (!code)
        code = forwarder_detach(&server);
    for (uint32_t i = 0; i < server.count; i++)
        close(server.fds[i]);
    return code;
}

/* ---- the file ---- */

static bool line_take(struct proxy *proxy, char *line) {
    char *value = strchr(line, ' ');
    line[strcspn(line, "\n")] = 0;
    if (!value)
        return false;
    *value++ = 0;
    if (!strcmp(line, "allow"))
        return proxy->rule_count < PROXY_RULES &&
               host_rule_parse(str_of(value), &proxy->rules[proxy->rule_count++]);
    char *to = !strcmp(line, "listen")    ? proxy->listen
               : !strcmp(line, "denied")  ? proxy->denied
               : !strcmp(line, "allowed") ? proxy->allowed
                                          : NULL;
    return to && snprintf(to, LINE, "%s", value) < LINE;
}

static bool file_take(struct proxy *proxy, const char *path) {
    char line[LINE];
    FILE *file = fopen(path, "re");
    bool read = file != NULL;
    while (read && fgets(line, sizeof line, file))
        read = line_take(proxy, line);
    if (file)
        fclose(file);
    return read && proxy->listen[0] && proxy->denied[0];
}

int proxy_main(const char *file, char **argv) {
    static struct proxy proxy;
    errno = EINVAL;
    int fd = file_take(&proxy, file) ? unix_listen(proxy.listen) : -1;
    struct server server = {.fds = {fd}, .count = 1, .one = one_request, .with = &proxy};
    pid_t child = fd < 0 ? -1 : proxy_fork(&server);
    if (child > 0) {
        close(fd);
        execvp(argv[0], argv);
    }
    fprintf(stderr, "overseer-hold: %s is not started: its proxy: %s\n", argv[0], strerror(errno));
    return 126;
}
