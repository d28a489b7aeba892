/* SPDX-License-Identifier: Apache-2.0 */
/* Speaks WebSocket on the client side: wslay parses and writes frames, this file joins them to messages. */
#include "cli/websocket.h"

#include "base/must.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <wslay/wslay.h>

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

/* ---- the handshake ---- */

void ws_key(const uint8_t random[WS_RANDOM], char ret_key[WS_KEY + 1]) {
    EVP_EncodeBlock((unsigned char *)ret_key, random, WS_RANDOM);
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
    char joined[WS_KEY + sizeof SALT];
    unsigned char sum[SHA_DIGEST_LENGTH], accept[4 * ((SHA_DIGEST_LENGTH + 2) / 3) + 1];
    int length = snprintf(joined, sizeof joined, "%s%s", key, SALT);
    SHA1((const unsigned char *)joined, (size_t)length, sum);
    EVP_EncodeBlock(accept, sum, sizeof sum);
    if (!str_begins(head, STR("HTTP/1.1 101 ")) && !str_begins(head, STR("HTTP/1.1 101\r")))
        return "it did not upgrade to a WebSocket";
    if (!value_is(header_find(head, "Upgrade"), "websocket") ||
        !value_has(header_find(head, "Connection"), "upgrade"))
        return "it upgraded to a protocol other than WebSocket";
    if (!str_equal(header_find(head, "Sec-WebSocket-Accept"), str_of((const char *)accept)))
        return "its Sec-WebSocket-Accept does not match the request";
    if (header_find(head, "Sec-WebSocket-Extensions").len > 0 ||
        header_find(head, "Sec-WebSocket-Protocol").len > 0)
        return "it selected an extension or protocol that was not offered";
    return NULL;
}

/* ---- outgoing frames ---- */

struct outgoing {
    struct buffer *to;
    const uint8_t *mask;
};

static ssize_t frame_put(const uint8_t *bytes, size_t len, int flags, void *with) {
    (void)flags;
    const struct outgoing *outgoing = with;
    if (!buffer_add(outgoing->to, bytes, len))
        memory_exhausted();
    return (ssize_t)len;
}

static int mask_give(uint8_t *to, size_t len, void *with) {
    const struct outgoing *outgoing = with;
    memcpy(to, outgoing->mask, len);
    return 0;
}

static struct wslay_frame_context *frames_make(const struct wslay_frame_callbacks *callbacks,
                                               void *with) {
    struct wslay_frame_context *frames;
    if (wslay_frame_context_init(&frames, callbacks, with) != 0)
        memory_exhausted();
    return frames;
}

void ws_frame(struct buffer *to, enum ws_op op, struct str payload, const uint8_t mask[4]) {
    static const struct wslay_frame_callbacks CALLBACKS = {.send_callback = frame_put,
                                                           .genmask_callback = mask_give};
    struct outgoing outgoing = {to, mask};
    struct wslay_frame_iocb frame = {.fin = 1,
                                     .opcode = (uint8_t)op,
                                     .mask = 1,
                                     .payload_length = payload.len,
                                     .data = (const uint8_t *)payload.at,
                                     .data_length = payload.len};
    struct wslay_frame_context *frames = frames_make(&CALLBACKS, &outgoing);
    must(wslay_frame_send(frames, &frame) == (ssize_t)payload.len);
    wslay_frame_context_free(frames);
}

/* ---- incoming messages ---- */

static ssize_t bytes_give(uint8_t *to, size_t most, int flags, void *with) {
    (void)flags;
    struct str *bytes = &((struct ws_reader *)with)->bytes;
    size_t len = bytes->len < most ? bytes->len : most;
    if (len > 0)
        memcpy(to, bytes->at, len);
    *bytes = (struct str){bytes->at + len, bytes->len - len};
    return len > 0 ? (ssize_t)len : -1;
}

static enum ws_got wrong(struct ws_reader *reader, enum ws_code code, const char *why,
                         struct str *ret_text) {
    reader->code = (uint16_t)code;
    *ret_text = str_of(why);
    return WS_WRONG;
}

static bool op_is_known(uint8_t op) {
    return op <= WS_BINARY || (op >= WS_CLOSE && op <= WS_PONG);
}

/* What wslay leaves to its caller. NULL: the frame is valid so far; else what is wrong with it. */
static const char *frame_wrong(const struct ws_reader *reader,
                               const struct wslay_frame_iocb *frame) {
    if (frame->rsv)
        return "a frame has reserved bits set";
    if (frame->mask)
        return "a frame of the server is masked";
    if (!op_is_known(frame->opcode))
        return "a frame has an unknown opcode";
    if (frame->opcode == WS_MORE && !reader->in_message)
        return "a continuation frame has no first frame";
    if ((frame->opcode == WS_TEXT || frame->opcode == WS_BINARY) && reader->in_message)
        return "a message begins inside another one";
    return NULL;
}

static void frame_begin(struct ws_reader *reader, const struct wslay_frame_iocb *frame) {
    reader->in_frame = true;
    reader->left = frame->payload_length;
    if (wslay_is_ctrl_frame(frame->opcode)) {
        reader->control_len = 0;
        return;
    }
    if (!reader->in_message)
        reader->message.len = reader->length = 0;
    reader->in_message = true;
    reader->length = frame->payload_length > UINT64_MAX - reader->length
                         ? UINT64_MAX
                         : reader->length + frame->payload_length;
}

/* Of a message that is too long, only the length is kept. */
static void frame_add(struct ws_reader *reader, const struct wslay_frame_iocb *frame) {
    reader->left -= frame->data_length;
    if (wslay_is_ctrl_frame(frame->opcode)) {
        must(reader->control_len + frame->data_length <= WS_CONTROL);
        memcpy(reader->control + reader->control_len, frame->data, frame->data_length);
        reader->control_len += frame->data_length;
    } else if (reader->length > reader->most)
        reader->message.len = 0;
    else if (!buffer_add(&reader->message, frame->data, frame->data_length))
        memory_exhausted();
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
    *ret_text = buffer_str(&reader->message);
    if (!str_is_text(*ret_text))
        return wrong(reader, WS_NO_TEXT, "it sent a message that is not text", ret_text);
    return WS_MESSAGE;
}

/* WS_NOTHING: a fragment ended, and more follow. */
static enum ws_got frame_end(struct ws_reader *reader, const struct wslay_frame_iocb *frame,
                             struct str *ret_text) {
    reader->in_frame = false;
    *ret_text = (struct str){reader->control, reader->control_len};
    switch (frame->opcode) {
    case WS_PING: return WS_PINGED;
    case WS_PONG: return WS_PONGED;
    case WS_CLOSE: return close_end(reader, ret_text);
    default: return frame->fin ? message_end(reader, ret_text) : WS_NOTHING;
    }
}

/* Takes a piece of a frame; its end may complete something. */
static enum ws_got frame_take(struct ws_reader *reader, const struct wslay_frame_iocb *frame,
                              struct str *ret_text) {
    const char *why = reader->in_frame ? NULL : frame_wrong(reader, frame);
    if (why)
        return wrong(reader, WS_PROTOCOL, why, ret_text);
    if (frame->opcode == WS_BINARY)
        return wrong(reader, WS_UNSUPPORTED, "it sent what is no text", ret_text);
    if (!reader->in_frame)
        frame_begin(reader, frame);
    frame_add(reader, frame);
    return reader->left == 0 ? frame_end(reader, frame, ret_text) : WS_NOTHING;
}

enum ws_got ws_next(struct ws_reader *reader, struct str *bytes, struct str *ret_text) {
    static const struct wslay_frame_callbacks CALLBACKS = {.recv_callback = bytes_give};
    enum ws_got got = WS_NOTHING;
    if (!reader->frames)
        reader->frames = frames_make(&CALLBACKS, reader);
    reader->bytes = *bytes;
    while (got == WS_NOTHING) {
        struct wslay_frame_iocb frame;
        ssize_t len = wslay_frame_recv(reader->frames, &frame);
        if (len == WSLAY_ERR_WANT_READ && reader->bytes.len == 0)
            break;
        if (len >= 0)
            got = frame_take(reader, &frame, ret_text);
        else if (len != WSLAY_ERR_WANT_READ)
            got = wrong(reader, WS_PROTOCOL, "a frame's header breaks RFC 6455", ret_text);
    }
    *bytes = reader->bytes;
    return got;
}

void ws_reader_free(struct ws_reader *reader) {
    wslay_frame_context_free(reader->frames);
    buffer_free(&reader->message);
    *reader = (struct ws_reader){.most = reader->most};
}
