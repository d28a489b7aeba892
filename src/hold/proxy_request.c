/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a client asks a proxy for. It comes from an agent, and nothing of it is guessed: what can be read in two ways
 * is refused. */
#include "hold/proxy.h"

#include <stdio.h>
#include <string.h>

/* One line up to CRLF. A line that ends otherwise, or contains a control character, is refused. */
static bool line_take(const char **at, const char *end, const char **ret_line, size_t *ret_len) {
    const char *line = *at;
    for (const char *c = line; c + 1 < end; c++) {
        if (c[0] == '\r' && c[1] == '\n') {
            *ret_line = line;
            *ret_len = (size_t)(c - line);
            *at = c + 2;
            return true;
        }
        if ((unsigned char)*c < ' ' && *c != '\t')
            return false;
    }
    return false;
}

/* METHOD TARGET HTTP/1.1, with one space each. */
static bool request_split(const char *line, size_t len, struct proxy_request *request,
                          const char **ret_target, size_t *ret_len) {
    const char *end = line + len, *first = memchr(line, ' ', len);
    const char *second = first ? memchr(first + 1, ' ', (size_t)(end - first) - 1) : NULL;
    if (!second || end - second != 9 || memcmp(second + 1, "HTTP/1.", 7) != 0)
        return false;
    request->method = line;
    request->method_len = (size_t)(first - line);
    for (const char *c = line; c < first; c++)
        if (*c < 'A' || *c > 'Z')
            return false;
    *ret_target = first + 1;
    *ret_len = (size_t)(second - first) - 1;
    return request->method_len > 0 && *ret_len > 0;
}

static bool tunnel_parse(const char *target, size_t len, struct proxy_request *ret) {
    return host_parse((struct str){target, len}, ret->host, &ret->port) && ret->port;
}

/* http://HOST[:PORT][/PATH]. Only this scheme: TLS goes through a tunnel. */
static bool target_parse(const char *target, size_t len, struct proxy_request *ret) {
    static const char SCHEME[] = "http://";
    size_t skip = sizeof SCHEME - 1;
    const char *end = target + len;
    if (len <= skip || memcmp(target, SCHEME, skip) != 0)
        return false;
    const char *host = target + skip, *slash = memchr(host, '/', (size_t)(end - host));
    size_t length = (size_t)((slash ? slash : end) - host);
    ret->path = slash;
    ret->path_len = slash ? (size_t)(end - slash) : 0;
    bool read = host_parse((struct str){host, length}, ret->host, &ret->port);
    ret->port = ret->port ? ret->port : 80;
    return read;
}

bool proxy_request_parse(const char *head, size_t len, struct proxy_request *ret) {
    const char *at = head, *line, *target;
    size_t length;
    *ret = (struct proxy_request){0};
    if (!line_take(&at, head + len, &line, &length) ||
        !request_split(line, length, ret, &target, &length))
        return false;
    ret->tunnel = ret->method_len == 7 && !memcmp(ret->method, "CONNECT", 7);
    return ret->tunnel ? tunnel_parse(target, length, ret) : target_parse(target, length, ret);
}

static bool header_is(const char *line, size_t len, const char *name) {
    size_t length = strlen(name);
    if (len <= length || line[length] != ':')
        return false;
    for (size_t i = 0; i < length; i++)
        if ((line[i] | 32) != name[i])
            return false;
    return true;
}

/* NAME: VALUE. A folded line, and a name with a blank, are read in different ways by different servers. */
static bool is_header(const char *line, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = line[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_';
        if (!plain)
            return c == ':' && i > 0;
    }
    return false;
}

static bool header_is_dropped(const char *line, size_t len) {
    static const char *const DROPPED[] = {
        "host", "connection", "proxy-connection", "keep-alive", "proxy-authorization",
        "te",   "trailer",    "upgrade"};
    for (size_t i = 0; i < sizeof DROPPED / sizeof *DROPPED; i++)
        if (header_is(line, len, DROPPED[i]))
            return true;
    return false;
}

struct text {
    char *at;
    size_t len, room;
    bool full;
};

static void text_add(struct text *text, const char *from, size_t len) {
    if (text->room - text->len < len) {
        text->full = true;
        return;
    }
    memcpy(text->at + text->len, from, len);
    text->len += len;
}

static void text_say(struct text *text, const char *from) {
    text_add(text, from, strlen(from));
}

size_t proxy_head_make(const struct proxy_request *request, const char *head, size_t len, char *to,
                       size_t room) {
    struct text text = {.at = to, .room = room};
    const char *at = head, *end = head + len, *line;
    size_t length;
    char host[HOST_NAME + 16];
    bool six = strchr(request->host, ':') != NULL;
    int used = snprintf(host, sizeof host, "%s%s%s", six ? "[" : "", request->host, six ? "]" : "");
    if (request->port != 80)
        snprintf(host + used, sizeof host - (size_t)used, ":%u", request->port);
    line_take(&at, end, &line, &length);
    text_add(&text, request->method, request->method_len);
    text_say(&text, " ");
    text_add(&text, request->path ? request->path : "/", request->path ? request->path_len : 1);
    text_say(&text, " HTTP/1.1\r\nHost: ");
    text_say(&text, host);
    text_say(&text, "\r\nConnection: close\r\n");
    bool whole = line_take(&at, end, &line, &length);
    while (whole && length > 0) {
        if (!is_header(line, length))
            return 0;
        if (!header_is_dropped(line, length)) {
            text_add(&text, line, length);
            text_say(&text, "\r\n");
        }
        whole = line_take(&at, end, &line, &length);
    }
    text_say(&text, "\r\n");
    return whole && !text.full ? text.len : 0;
}
