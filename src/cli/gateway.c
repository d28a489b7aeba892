/* SPDX-License-Identifier: Apache-2.0 */
/* Connects a driver that speaks in lines to a gateway that speaks WebSocket. One message is one line, both ways. A connection
 * that breaks is opened again. The bridge reports this in lines of its own:
 *
 *   {"type":"bridge","event":"open","connection":2}
 *   {"type":"bridge","event":"lost","connection":2,"code":1006,"why":"…","again_ms":500}
 *   {"type":"bridge","event":"skipped","bytes":9000000}
 *
 * The id of each line from the driver names its connection ("2.7"): a line meant for an older connection is dropped, since the
 * new connection does not know what came before. The token is put into the request `connect` here, so no driver and no log has
 * it. A line
 *
 *   {"type":"bridge","session":KEY,"events":[NAME …],"last":REQUEST}
 *
 * says which events the driver wants, and which request the gateway gets when this program is told to end. */
#include "base/arena.h"
#include "cli/command.h"
#include "cli/websocket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_MOST = 8 << 20, /* bytes of one line, both ways: the limit of a driver */
    WAITING = 32 << 20,  /* bytes queued for the gateway; above that, the driver is not read */
    WAIT_LEAST_MS = 250, /* before the first reconnect, doubled each time */
    WAIT_MOST_MS = 15000,
    STEADY_MS = 10000, /* open for this long: the next loss starts again with the shortest wait */
    ANSWER_MS = 20000, /* for the handshake */
    QUIET_MS = 30000,  /* nothing received for this long: a ping is sent */
    DEAD_MS = 120000,  /* nothing received for this long: the connection is lost */
    LAST_MS = 3000     /* for the answer to the last request */
};

enum stage { AWAY, KNOCKING, ANSWERING, OPEN };

struct gateway {
    struct ws_place place;
    const char *token;
    enum stage stage;
    int fd;
    uint32_t connection;
    char key[WS_KEY + 1];
    struct buffer typed, in, out; /* from the driver; from the handshake; for the gateway */
    struct ws_reader reader;
    int64_t again_at, since, heard_at, asked_at, end_by;
    int64_t wait_ms;
    json_t *wanted, *last;
    bool input_ended, ending, over;
};

static volatile sig_atomic_t signalled;

static void end_note(int number) {
    (void)number;
    signalled = 1;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void random_take(void *to, size_t size) {
    if (getrandom(to, size, 0) != (ssize_t)size)
        abort();
}

static void bytes_add(struct buffer *buffer, const char *at, size_t len) {
    if (!buffer_add(buffer, at, len))
        memory_exhausted();
}

/* ---- lines to the driver ---- */

/* A line feed in JSON is only white space, so it becomes a blank. */
static void text_say(struct str text) {
    for (size_t i = 0; i < text.len; i++)
        putchar_unlocked(text.at[i] == '\n' || text.at[i] == '\r' ? ' ' : text.at[i]);
    putchar_unlocked('\n');
    fflush(stdout);
}

static void json_say(json_t *json) {
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (!text)
        memory_exhausted();
    text_say(str_of(text));
    free(text);
    json_decref(json);
}

/* ---- frames to the gateway ---- */

static void frame_say(struct gateway *gateway, enum ws_op op, struct str payload) {
    uint8_t mask[4];
    random_take(mask, sizeof mask);
    ws_frame(&gateway->out, op, payload, mask);
}

static void close_say(struct gateway *gateway, enum ws_code code) {
    char payload[2] = {(char)(code >> 8), (char)code};
    frame_say(gateway, WS_CLOSE, (struct str){payload, sizeof payload});
}

static void out_flush(struct gateway *gateway) {
    while (gateway->out.len > 0) {
        ssize_t sent = send(gateway->fd, gateway->out.at, gateway->out.len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        buffer_drop(&gateway->out, (size_t)sent);
    }
}

/* ---- connecting, and losing the connection ---- */

static void lost(struct gateway *gateway, unsigned code, struct str why) {
    uint8_t chance;
    out_flush(gateway); /* sends a pending close, if there is one */
    if (gateway->fd >= 0)
        close(gateway->fd);
    if (gateway->stage == OPEN && now_ms() - gateway->since >= STEADY_MS)
        gateway->wait_ms = WAIT_LEAST_MS;
    random_take(&chance, sizeof chance);
    int64_t wait = gateway->wait_ms + gateway->wait_ms * chance / 1024;
    gateway->wait_ms = gateway->wait_ms * 2 > WAIT_MOST_MS ? WAIT_MOST_MS : gateway->wait_ms * 2;
    gateway->fd = -1;
    gateway->stage = AWAY;
    gateway->again_at = now_ms() + wait;
    gateway->out.len = gateway->in.len = 0;
    gateway->over = gateway->ending;
    json_say(json_pack("{s:s,s:s,s:I,s:I,s:s#,s:I}", "type", "bridge", "event", "lost",
                       "connection", (json_int_t)gateway->connection, "code", (json_int_t)code,
                       "why", why.at, (int)why.len, "again_ms", (json_int_t)wait));
    ws_reader_free(&gateway->reader); /* last, because `why` may point into it */
}

static void knock(struct gateway *gateway) {
    struct addrinfo hint = {.ai_socktype = SOCK_STREAM,
                            .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(gateway->place.host, gateway->place.port, &hint, &found) == 0)
        gateway->fd =
            socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    gateway->since = now_ms();
    gateway->stage = KNOCKING;
    bool knocked =
        gateway->fd >= 0 &&
        (connect(gateway->fd, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS);
    if (found)
        freeaddrinfo(found);
    if (!knocked)
        lost(gateway, WS_ABNORMAL, str_of(strerror(errno)));
}

static void handshake_say(struct gateway *gateway) {
    const struct ws_place *place = &gateway->place;
    char text[WS_ADDRESS * 3];
    uint8_t random[WS_RANDOM];
    int failed = 0;
    socklen_t size = sizeof failed;
    getsockopt(gateway->fd, SOL_SOCKET, SO_ERROR, &failed, &size);
    if (failed) {
        lost(gateway, WS_ABNORMAL, str_of(strerror(failed)));
        return;
    }
    random_take(random, sizeof random);
    ws_key(random, gateway->key);
    bool six = strchr(place->host, ':');
    int length = snprintf(text, sizeof text,
                          "GET %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nUpgrade: websocket\r\n"
                          "Connection: Upgrade\r\nSec-WebSocket-Key: %s\r\n"
                          "Sec-WebSocket-Version: 13\r\n\r\n",
                          place->path, six ? "[" : "", place->host, six ? "]" : "", place->port,
                          gateway->key);
    bytes_add(&gateway->out, text, (size_t)length);
    gateway->stage = ANSWERING;
}

/* ---- messages from the gateway ---- */

static const char *member(const json_t *json, const char *name) {
    const char *text = json_string_value(json_object_get(json, name));
    return text ? text : "";
}

/* The session that an event is about; empty: none. */
static const char *session_of(const json_t *event) {
    const json_t *payload = json_object_get(event, "payload");
    const char *session = member(payload, "sessionKey");
    return *session ? session : member(json_object_get(payload, "request"), "sessionKey");
}

static bool is_wanted(const struct gateway *gateway, const json_t *message) {
    const char *session = session_of(message);
    size_t i;
    json_t *name;
    if (strcmp(member(message, "type"), "event") != 0 || !gateway->wanted)
        return true;
    if (*session && strcmp(session, member(gateway->wanted, "session")) != 0)
        return false;
    json_array_foreach(json_object_get(gateway->wanted, "events"), i, name) {
        if (strcmp(json_string_value(name) ? json_string_value(name) : "",
                   member(message, "event")) == 0)
            return true;
    }
    return false;
}

static void end(struct gateway *gateway) {
    close_say(gateway, WS_NORMAL);
    out_flush(gateway);
    gateway->over = true;
}

static void message_take(struct gateway *gateway, struct str text) {
    json_t *message = json_loadb(text.at, text.len, 0, NULL);
    const char *type = member(message, "type"), *id = member(message, "id");
    if (*type && strcmp(type, "bridge") != 0 && is_wanted(gateway, message))
        text_say(text);
    if (gateway->ending && strcmp(type, "res") == 0 && strchr(id, '.') &&
        strcmp(strchr(id, '.'), ".last") == 0)
        end(gateway);
    json_decref(message);
}

static void bytes_read(struct gateway *gateway, struct str bytes) {
    struct str text;
    while (gateway->stage == OPEN && !gateway->over)
        switch (ws_next(&gateway->reader, &bytes, &text)) {
        case WS_NOTHING: return;
        case WS_MESSAGE: message_take(gateway, text); break;
        case WS_PINGED: frame_say(gateway, WS_PONG, text); break;
        case WS_PONGED: break;
        case WS_SKIPPED:
            json_say(json_pack("{s:s,s:s,s:I}", "type", "bridge", "event", "skipped", "bytes",
                               (json_int_t)gateway->reader.length));
            break;
        case WS_CLOSED:
            close_say(gateway, WS_NORMAL);
            lost(gateway, gateway->reader.code, text);
            break;
        case WS_WRONG:
            close_say(gateway, (enum ws_code)gateway->reader.code);
            lost(gateway, gateway->reader.code, text);
            break;
        }
}

static void answer_read(struct gateway *gateway, struct str bytes) {
    bytes_add(&gateway->in, bytes.at, bytes.len);
    const char *end = memmem(gateway->in.at, gateway->in.len, "\r\n\r\n", 4);
    if (!end && gateway->in.len > WS_ANSWER)
        lost(gateway, WS_PROTOCOL, STR("its answer is too long"));
    if (!end)
        return;
    struct str head = {gateway->in.at, (size_t)(end - gateway->in.at) + 4};
    const char *why = ws_answer_wrong(head, gateway->key);
    if (why) {
        lost(gateway, WS_PROTOCOL, str_of(why));
        return;
    }
    gateway->stage = OPEN;
    gateway->since = gateway->heard_at = now_ms();
    json_say(json_pack("{s:s,s:s,s:I}", "type", "bridge", "event", "open", "connection",
                       (json_int_t)++gateway->connection));
    bytes_read(gateway, (struct str){head.at + head.len, gateway->in.len - head.len});
    gateway->in.len = 0;
}

static void socket_read(struct gateway *gateway) {
    static char part[65536];
    ssize_t got = recv(gateway->fd, part, sizeof part, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        lost(gateway, WS_ABNORMAL,
             got == 0 ? STR("it closed the connection") : str_of(strerror(errno)));
        return;
    }
    gateway->heard_at = now_ms();
    gateway->asked_at = 0;
    struct str bytes = {part, (size_t)got};
    if (gateway->stage == OPEN)
        bytes_read(gateway, bytes);
    else
        answer_read(gateway, bytes);
}

/* ---- lines from the driver ---- */

static void request_say(struct gateway *gateway, json_t *request) {
    json_t *params = json_object_get(request, "params");
    if (strcmp(member(request, "method"), "connect") == 0 && gateway->token)
        json_object_set_new(params, "auth", json_pack("{s:s}", "token", gateway->token));
    char *text = json_dumps(request, JSON_COMPACT);
    if (!text)
        memory_exhausted();
    frame_say(gateway, WS_TEXT, str_of(text));
    explicit_bzero(text, strlen(text));
    free(text);
}

static bool is_for_this(const struct gateway *gateway, const json_t *line) {
    char *end;
    unsigned long connection = strtoul(member(line, "id"), &end, 10);
    return gateway->stage == OPEN && *end == '.' && connection == gateway->connection;
}

static void line_take(struct gateway *gateway, struct str text) {
    json_t *line = json_loadb(text.at, text.len, 0, NULL);
    if (strcmp(member(line, "type"), "bridge") == 0) {
        json_decref(gateway->wanted);
        json_decref(gateway->last);
        gateway->last = json_incref(json_object_get(line, "last"));
        gateway->wanted = json_incref(line);
    } else if (json_is_object(line) && is_for_this(gateway, line))
        request_say(gateway, line);
    json_decref(line);
}

static void input_read(struct gateway *gateway) {
    static char part[65536];
    ssize_t got = read(STDIN_FILENO, part, sizeof part);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0 || gateway->typed.len + (size_t)got > LINE_MOST) {
        gateway->input_ended = true;
        return;
    }
    bytes_add(&gateway->typed, part, (size_t)got);
    char *feed;
    while ((feed = memchr(gateway->typed.at, '\n', gateway->typed.len))) {
        size_t length = (size_t)(feed - gateway->typed.at);
        line_take(gateway, (struct str){gateway->typed.at, length});
        buffer_drop(&gateway->typed, length + 1);
    }
}

/* ---- the loop ---- */

/* The work in the gateway must not continue without the driver that asked for it. */
static void end_begin(struct gateway *gateway) {
    char id[32];
    gateway->ending = true;
    gateway->end_by = now_ms() + LAST_MS;
    if (gateway->stage != OPEN || !json_is_object(gateway->last)) {
        if (gateway->stage == OPEN)
            end(gateway);
        gateway->over = true;
        return;
    }
    snprintf(id, sizeof id, "%u.last", gateway->connection);
    json_object_set_new(gateway->last, "id", json_string(id));
    request_say(gateway, gateway->last);
}

static int64_t due_at(const struct gateway *gateway) {
    if (gateway->ending)
        return gateway->end_by;
    if (gateway->stage == AWAY)
        return gateway->again_at;
    if (gateway->stage != OPEN)
        return gateway->since + ANSWER_MS;
    return gateway->heard_at + (gateway->asked_at ? DEAD_MS : QUIET_MS);
}

static void due_do(struct gateway *gateway) {
    if (now_ms() < due_at(gateway))
        return;
    if (gateway->ending)
        end(gateway);
    else if (gateway->stage == AWAY)
        knock(gateway);
    else if (gateway->stage != OPEN || gateway->asked_at)
        lost(gateway, WS_ABNORMAL, STR("it does not answer"));
    else {
        gateway->asked_at = now_ms();
        frame_say(gateway, WS_PING, STR("overseer"));
    }
}

static void wait(struct gateway *gateway, const sigset_t *mask) {
    bool hears = !gateway->input_ended && gateway->out.len < WAITING;
    bool writes = gateway->stage == KNOCKING || gateway->out.len > 0;
    struct pollfd fds[] = {
        {.fd = hears ? STDIN_FILENO : -1, .events = POLLIN},
        {.fd = gateway->fd,
         .events = (short)((writes ? POLLOUT : 0) | (gateway->stage > KNOCKING ? POLLIN : 0))}};
    int64_t left = due_at(gateway) - now_ms();
    struct timespec most = {.tv_sec = left > 0 ? left / 1000 : 0,
                            .tv_nsec = left > 0 ? left % 1000 * 1000000 : 0};
    if (ppoll(fds, count_of(fds), &most, mask) <= 0)
        return;
    if (fds[0].revents)
        input_read(gateway);
    if (gateway->fd < 0 || !fds[1].revents)
        return;
    if (gateway->stage == KNOCKING)
        handshake_say(gateway);
    else if (fds[1].revents & (POLLIN | POLLHUP | POLLERR))
        socket_read(gateway);
}

static void loop(struct gateway *gateway, const sigset_t *mask) {
    while (!gateway->over) {
        if ((signalled || gateway->input_ended) && !gateway->ending)
            end_begin(gateway);
        if (gateway->over)
            return;
        due_do(gateway);
        if (gateway->fd >= 0 && gateway->stage > KNOCKING)
            out_flush(gateway);
        wait(gateway, mask);
    }
}

static void gateway_free(struct gateway *gateway) {
    if (gateway->fd >= 0)
        close(gateway->fd);
    ws_reader_free(&gateway->reader);
    json_decref(gateway->wanted);
    json_decref(gateway->last);
    buffer_free(&gateway->typed);
    buffer_free(&gateway->in);
    buffer_free(&gateway->out);
}

/* NULL: the file has no token. */
static const char *token_read(const char *path) {
    static char kept[512];
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(kept, 1, sizeof kept - 1, file) : 0;
    if (file)
        fclose(file);
    kept[length] = 0;
    kept[strcspn(kept, "\r\n")] = 0;
    return kept[0] ? kept : NULL;
}

int gateway_run(struct typed *typed) {
    struct gateway gateway = {.fd = -1, .wait_ms = WAIT_LEAST_MS, .reader.most = LINE_MOST - 1};
    struct sigaction ends = {.sa_handler = end_note};
    sigset_t blocked, before;
    const char *why, *file = typed_text(typed, "token-file");
    gateway.token = file ? token_read(file) : getenv("OPENCLAW_GATEWAY_TOKEN");
    if (file && !gateway.token) {
        trouble_make(&typed->trouble, ERROR_INVALID, "%.200s contains no token.", file);
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    if (!ws_place_read(typed_text(typed, "address"), &gateway.place, &why)) {
        trouble_make(&typed->trouble, ERROR_INVALID, "This is not a gateway: %s.", why);
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGTERM, &ends, NULL);
    sigaction(SIGINT, &ends, NULL);
    loop(&gateway, &before);
    gateway_free(&gateway);
    return 0;
}
