/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the server name of a TLS ClientHello. Many sites share one address: without this, a tunnel to a host on the list
 * would lead to any site behind the same front end. */
#include "hold/proxy.h"

#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t len;
    bool failed;
};

static size_t number_take(struct bytes *from, size_t size) {
    size_t number = 0;
    if (from->len < size) {
        from->failed = true;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        number = number << 8 | from->at[i];
    from->at += size;
    from->len -= size;
    return number;
}

/* What a length of `size` bytes is in front of. */
static struct bytes part_take(struct bytes *from, size_t size) {
    size_t len = number_take(from, size);
    if (from->failed || from->len < len) {
        from->failed = true;
        return (struct bytes){.failed = true};
    }
    struct bytes part = {.at = from->at, .len = len};
    from->at += len;
    from->len -= len;
    return part;
}

/* The handshake message, of as many records as it takes. */
static enum tls_seen hello_join(struct bytes from, uint8_t *to, size_t room, size_t *ret_len) {
    enum { HANDSHAKE = 0x16, CLIENT_HELLO = 1, HEADER = 4 };
    *ret_len = 0;
    while (from.len > 0) {
        if (from.at[0] != HANDSHAKE)
            return TLS_OTHER;
        if (from.len < 5)
            return TLS_MORE;
        from.at += 3;
        from.len -= 3;
        struct bytes part = part_take(&from, 2);
        if (part.failed)
            return TLS_MORE;
        if (part.len == 0 || part.len > room - *ret_len)
            return TLS_OTHER;
        memcpy(to + *ret_len, part.at, part.len);
        *ret_len += part.len;
        if (to[0] != CLIENT_HELLO)
            return TLS_OTHER;
        if (*ret_len >= HEADER &&
            *ret_len - HEADER >= ((size_t)to[1] << 16 | (size_t)to[2] << 8 | to[3]))
            return TLS_NAMED;
    }
    return TLS_MORE;
}

static bool name_take(struct bytes extension, char ret[HOST_NAME + 1]) {
    struct bytes list = part_take(&extension, 2);
    uint32_t port;
    if (number_take(&list, 1) != 0)
        return false;
    struct bytes name = part_take(&list, 2);
    return !name.failed && list.len == 0 &&
           host_parse((struct str){(const char *)name.at, name.len}, ret, &port) && port == 0;
}

static bool hello_read(struct bytes hello, char ret[HOST_NAME + 1]) {
    enum { FIXED = 4 + 2 + 32, SERVER_NAME = 0 }; /* header, version, random */
    bool found = false;
    if (hello.len < FIXED)
        return false;
    hello.at += FIXED;
    hello.len -= FIXED;
    part_take(&hello, 1); /* session */
    part_take(&hello, 2); /* cipher suites */
    part_take(&hello, 1); /* compression */
    struct bytes extensions = part_take(&hello, 2);
    while (!extensions.failed && extensions.len > 0) {
        size_t kind = number_take(&extensions, 2);
        struct bytes extension = part_take(&extensions, 2);
        if (kind == SERVER_NAME && (found || !name_take(extension, ret)))
            return false;
        found = found || kind == SERVER_NAME;
    }
    return found && !extensions.failed && !hello.failed;
}

enum tls_seen tls_name_read(const void *bytes, size_t len, char ret[HOST_NAME + 1]) {
    static uint8_t hello[PROXY_REQUEST];
    size_t length;
    enum tls_seen seen =
        hello_join((struct bytes){.at = bytes, .len = len}, hello, sizeof hello, &length);
    if (seen != TLS_NAMED)
        return seen;
    return hello_read((struct bytes){.at = hello, .len = length}, ret) ? TLS_NAMED : TLS_OTHER;
}
