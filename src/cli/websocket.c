/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes WebSocket traffic, on the client side. */
#include "cli/websocket.h"

#include "base/arena.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- addresses ---- */

static const struct {
    const char *name, *address;
} LOOPBACK[] = {{"127.0.0.1", "127.0.0.1"}, {"localhost", "127.0.0.1"}, {"[::1]", "::1"}};

bool ws_place_read(const char *url, struct ws_place *ret, const char **ret_why) {
    static const char SCHEME[] = "ws://";
    struct ws_place place = {.port = "80", .path = "/"};
    *ret_why = "the URL must begin with ws://";
    if (strncmp(url, SCHEME, sizeof SCHEME - 1) != 0)
        return false;
    const char *host = url + sizeof SCHEME - 1;
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#");
    for (size_t i = 0; i < count_of(LOOPBACK); i++)
        if (strlen(LOOPBACK[i].name) == length && strncmp(LOOPBACK[i].name, host, length) == 0)
            snprintf(place.host, sizeof place.host, "%s", LOOPBACK[i].address);
    *ret_why = "without TLS only this machine is allowed: 127.0.0.1, localhost or [::1]";
    if (!place.host[0])
        return false;
    const char *rest = host + length;
    *ret_why = "its port is not a number between 1 and 65535";
    if (*rest == ':') {
        char *end;
        unsigned long port = strtoul(rest + 1, &end, 10);
        if (port < 1 || port > 65535 || end == rest + 1)
            return false;
        snprintf(place.port, sizeof place.port, "%lu", port);
        rest = end;
    }
    *ret_why = "its path is too long or not valid";
    if ((*rest && *rest != '/') || strlen(rest) >= sizeof place.path || strpbrk(rest, " \r\n\t#"))
        return false;
    if (*rest)
        snprintf(place.path, sizeof place.path, "%s", rest);
    *ret = place;
    return true;
}

/* ---- SHA-1 and base64: the handshake needs them, but they protect no secret ---- */

static uint32_t turned(uint32_t x, unsigned by) {
    return x << by | x >> (32 - by);
}

static void sha1_block(uint32_t sum[5], const uint8_t block[64]) {
    uint32_t w[80], v[5];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < 80; i++)
        w[i] = turned(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(v, sum, sizeof v);
    for (size_t i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? ((v[1] & v[2]) | (~v[1] & v[3])) + 0x5A827999
                     : i < 40 ? (v[1] ^ v[2] ^ v[3]) + 0x6ED9EBA1
                     : i < 60 ? ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])) + 0x8F1BBCDC
                              : (v[1] ^ v[2] ^ v[3]) + 0xCA62C1D6;
        uint32_t next = turned(v[0], 5) + f + v[4] + w[i];
        v[4] = v[3], v[3] = v[2], v[2] = turned(v[1], 30), v[1] = v[0], v[0] = next;
    }
    for (size_t i = 0; i < 5; i++)
        sum[i] += v[i];
}

enum { SHA1 = 20, SHORT_TEXT = 119 }; /* two blocks are enough for a key */

static void sha1(struct str text, uint8_t ret[SHA1]) {
    uint32_t sum[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    uint8_t blocks[128] = {0};
    must(text.len <= SHORT_TEXT);
    size_t size = text.len < 56 ? 64 : 128;
    memcpy(blocks, text.at, text.len);
    blocks[text.len] = 0x80;
    blocks[size - 2] = (uint8_t)(text.len * 8 >> 8);
    blocks[size - 1] = (uint8_t)(text.len * 8);
    for (size_t at = 0; at < size; at += 64)
        sha1_block(sum, blocks + at);
    for (size_t i = 0; i < SHA1; i++)
        ret[i] = (uint8_t)(sum[i / 4] >> (24 - 8 * (i % 4)));
}

static void base64(const uint8_t *bytes, size_t len, char *to) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < len ? bytes[i + 2] : 0;
        *to++ = DIGITS[three >> 18];
        *to++ = DIGITS[three >> 12 & 63];
        *to++ = i + 1 < len ? DIGITS[three >> 6 & 63] : '=';
        *to++ = i + 2 < len ? DIGITS[three & 63] : '=';
    }
    *to = 0;
}

/* ---- the handshake ---- */

void ws_key(const uint8_t random[WS_RANDOM], char ret_key[WS_KEY + 1]) {
    base64(random, WS_RANDOM, ret_key);
}

/* The value of a header, ignoring the case of its name; empty: there is none. */
static struct str header_find(struct str head, const char *name) {
    size_t length = strlen(name);
    while (head.len > 0) {
        struct str line = str_line_take(&head);
        if (line.len <= length || line.at[length] != ':' || strncasecmp(line.at, name, length) != 0)
            continue;
        struct str value = {line.at + length + 1, line.len - length - 1};
        while (value.len > 0 && strchr(" \t", value.at[0]))
            value = (struct str){value.at + 1, value.len - 1};
        while (value.len > 0 && strchr(" \t\r", value.at[value.len - 1]))
            value.len--;
        return value;
    }
    return (struct str){"", 0};
}

static bool value_is(struct str value, const char *text) {
    return value.len == strlen(text) && strncasecmp(value.at, text, value.len) == 0;
}

/* Is it in this list, separated by commas? */
static bool value_has(struct str value, const char *text) {
    bool has = false;
    for (size_t from = 0, at = 0; at <= value.len && !has; at++) {
        if (at < value.len && value.at[at] != ',')
            continue;
        struct str one = {value.at + from, at - from};
        while (one.len > 0 && strchr(" \t", one.at[0]))
            one = (struct str){one.at + 1, one.len - 1};
        while (one.len > 0 && strchr(" \t", one.at[one.len - 1]))
            one.len--;
        has = value_is(one, text);
        from = at + 1;
    }
    return has;
}

const char *ws_answer_wrong(struct str head, const char *key) {
    static const char SALT[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char joined[WS_KEY + sizeof SALT], accept[4 * ((SHA1 + 2) / 3) + 1];
    uint8_t sum[SHA1];
    snprintf(joined, sizeof joined, "%s%s", key, SALT);
    sha1(str_of(joined), sum);
    base64(sum, SHA1, accept);
    if (!str_begins(head, STR("HTTP/1.1 101 ")) && !str_begins(head, STR("HTTP/1.1 101\r")))
        return "it did not upgrade to a WebSocket";
    if (!value_is(header_find(head, "Upgrade"), "websocket") ||
        !value_has(header_find(head, "Connection"), "upgrade"))
        return "it upgraded to a protocol other than WebSocket";
    if (!str_equal(header_find(head, "Sec-WebSocket-Accept"), str_of(accept)))
        return "its Sec-WebSocket-Accept does not match the request";
    if (header_find(head, "Sec-WebSocket-Extensions").len > 0 ||
        header_find(head, "Sec-WebSocket-Protocol").len > 0)
        return "it selected an extension or protocol that was not offered";
    return NULL;
}

/* ---- outgoing frames ---- */

size_t ws_frame(char *to, enum ws_op op, struct str payload, const uint8_t mask[4]) {
    size_t at = 0;
    must(op < WS_CLOSE || payload.len <= WS_CONTROL);
    to[at++] = (char)(0x80 | (uint8_t)op);
    unsigned more = payload.len < 126 ? 0 : payload.len < 65536 ? 2 : 8;
    to[at++] = (char)(0x80 | (more == 0 ? payload.len : more == 2 ? 126 : 127));
    for (unsigned i = more; i > 0; i--)
        to[at++] = (char)((uint64_t)payload.len >> (8 * (i - 1)));
    memcpy(to + at, mask, 4);
    at += 4;
    for (size_t i = 0; i < payload.len; i++)
        to[at + i] = (char)(payload.at[i] ^ mask[i & 3]);
    return at + payload.len;
}

/* ---- incoming messages ---- */

static enum ws_got wrong(struct ws_reader *reader, enum ws_code code, const char *why,
                         struct str *ret_text) {
    reader->code = (uint16_t)code;
    *ret_text = str_of(why);
    return WS_WRONG;
}

static enum ws_op op_of(const struct ws_reader *reader) {
    return (enum ws_op)(reader->head[0] & 15);
}

static bool is_last(const struct ws_reader *reader) {
    return reader->head[0] & 0x80;
}

static size_t head_wanted(const struct ws_reader *reader) {
    if (reader->head_len < 2)
        return 2;
    unsigned length = reader->head[1] & 127;
    return length < 126 ? 2 : length == 126 ? 4 : 10;
}

static bool op_is_known(enum ws_op op) {
    return op <= WS_BINARY || (op >= WS_CLOSE && op <= WS_PONG);
}

/* NULL: the frame is valid so far; else what is wrong with it. */
static const char *head_wrong(const struct ws_reader *reader) {
    enum ws_op op = op_of(reader);
    if (reader->head[0] & 0x70)
        return "a frame has reserved bits set";
    if (reader->head[1] & 0x80)
        return "a frame of the server is masked";
    if (!op_is_known(op))
        return "a frame has an unknown opcode";
    if (op >= WS_CLOSE && (!is_last(reader) || reader->left > WS_CONTROL))
        return "a control frame is fragmented or too long";
    if (op == WS_MORE && !reader->in_message)
        return "a continuation frame has no first frame";
    if ((op == WS_TEXT || op == WS_BINARY) && reader->in_message)
        return "a message begins inside another one";
    return reader->left >> 63 ? "a frame is too long" : NULL;
}

static void head_end(struct ws_reader *reader) {
    uint64_t left = reader->head[1] & 127;
    if (left >= 126) {
        left = 0;
        for (size_t i = 2; i < head_wanted(reader); i++)
            left = left << 8 | reader->head[i];
    }
    reader->left = left;
}

static void message_begin(struct ws_reader *reader) {
    enum ws_op op = op_of(reader);
    if (op >= WS_CLOSE) {
        reader->control_len = 0;
        return;
    }
    if (!reader->in_message) {
        reader->len = 0;
        reader->length = 0;
    }
    reader->in_message = true;
    reader->length =
        reader->left > UINT64_MAX - reader->length ? UINT64_MAX : reader->length + reader->left;
}

static void message_add(struct ws_reader *reader, struct str part) {
    if (reader->length > reader->most) {
        reader->len = 0; /* too long: only its length is counted */
        return;
    }
    if (reader->len + part.len > reader->cap) {
        size_t cap = reader->cap ? reader->cap : 4096;
        while (cap < reader->len + part.len)
            cap *= 2;
        char *at = realloc(reader->at, cap);
        if (!at)
            memory_exhausted();
        reader->at = at;
        reader->cap = cap;
    }
    memcpy(reader->at + reader->len, part.at, part.len);
    reader->len += part.len;
}

static enum ws_got close_end(struct ws_reader *reader, struct str *ret_text) {
    struct str reason = {reader->control + 2,
                         reader->control_len < 2 ? 0 : reader->control_len - 2};
    if (reader->control_len == 1 || !str_is_text(reason))
        return wrong(reader, WS_PROTOCOL, "its close frame is not valid", ret_text);
    reader->code = WS_NO_CODE;
    if (reader->control_len >= 2)
        reader->code = (uint16_t)((uint8_t)reader->control[0] << 8 | (uint8_t)reader->control[1]);
    *ret_text = reason;
    return WS_CLOSED;
}

static enum ws_got message_end(struct ws_reader *reader, struct str *ret_text) {
    reader->in_message = false;
    if (reader->length > reader->most)
        return WS_SKIPPED;
    *ret_text = (struct str){reader->at ? reader->at : "", reader->len};
    if (!str_is_text(*ret_text))
        return wrong(reader, WS_NO_TEXT, "it sent a message that is not text", ret_text);
    return WS_MESSAGE;
}

/* WS_NOTHING: a fragment ended, and more follow. */
static enum ws_got frame_end(struct ws_reader *reader, struct str *ret_text) {
    enum ws_op op = op_of(reader);
    reader->in_payload = false;
    reader->head_len = 0;
    *ret_text = (struct str){reader->control, reader->control_len};
    if (op == WS_PING || op == WS_PONG)
        return op == WS_PING ? WS_PINGED : WS_PONGED;
    if (op == WS_CLOSE)
        return close_end(reader, ret_text);
    return is_last(reader) ? message_end(reader, ret_text) : WS_NOTHING;
}

static struct str bytes_take(struct str *bytes, uint64_t most) {
    struct str part = {bytes->at, bytes->len < most ? bytes->len : (size_t)most};
    *bytes = (struct str){bytes->at + part.len, bytes->len - part.len};
    return part;
}

static const char *head_take(struct ws_reader *reader, struct str *bytes) {
    while (bytes->len > 0 && reader->head_len < head_wanted(reader)) {
        reader->head[reader->head_len++] = (uint8_t)bytes->at[0];
        bytes_take(bytes, 1);
    }
    if (reader->head_len < head_wanted(reader))
        return NULL;
    head_end(reader);
    const char *why = head_wrong(reader);
    if (!why) {
        message_begin(reader);
        reader->in_payload = true;
    }
    return why;
}

static void payload_take(struct ws_reader *reader, struct str *bytes) {
    struct str part = bytes_take(bytes, reader->left);
    reader->left -= part.len;
    if (part.len == 0)
        return;
    if (op_of(reader) < WS_CLOSE) {
        message_add(reader, part);
        return;
    }
    memcpy(reader->control + reader->control_len, part.at, part.len);
    reader->control_len += part.len;
}

enum ws_got ws_next(struct ws_reader *reader, struct str *bytes, struct str *ret_text) {
    while (bytes->len > 0) {
        const char *why = reader->in_payload ? NULL : head_take(reader, bytes);
        if (why)
            return wrong(reader, WS_PROTOCOL, why, ret_text);
        if (reader->in_payload && op_of(reader) == WS_BINARY)
            return wrong(reader, WS_UNSUPPORTED, "it sent a message that is not text", ret_text);
        if (!reader->in_payload)
            continue;
        payload_take(reader, bytes);
        enum ws_got got = reader->left == 0 ? frame_end(reader, ret_text) : WS_NOTHING;
        if (got != WS_NOTHING)
            return got;
    }
    return WS_NOTHING;
}

void ws_reader_free(struct ws_reader *reader) {
    free(reader->at);
    *reader = (struct ws_reader){.most = reader->most};
}
