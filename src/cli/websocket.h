/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes WebSocket traffic (RFC 6455), on the client side. Bytes in, messages out; nothing here opens or
 * reads anything. */
#pragma once

#include "base/buffer.h"

#include <stdint.h>

enum {
    WS_RANDOM = 16,    /* random bytes of a handshake's key */
    WS_KEY = 24,       /* the same in base64 */
    WS_CONTROL = 125,  /* most bytes of a ping or a close */
    WS_ANSWER = 16384, /* bytes of the answer to the handshake */
    WS_ADDRESS = 256   /* bytes of a host or a path */
};

/* Why a connection is closed: RFC 6455, 7.4.1. */
enum ws_code {
    WS_NORMAL = 1000,
    WS_GOING = 1001,
    WS_PROTOCOL = 1002,
    WS_UNSUPPORTED = 1003,
    WS_NO_CODE = 1005,
    WS_ABNORMAL = 1006,
    WS_NO_TEXT = 1007
};

enum ws_op { WS_MORE = 0, WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };

/* ---- addresses ---- */

struct ws_place {
    char host[WS_ADDRESS], port[8], path[WS_ADDRESS];
};

/* Parses ws://HOST[:PORT][/PATH] on this machine: without TLS, a token must not go anywhere else. False: ret_why says
 * why. */
bool ws_place_read(const char *url, struct ws_place *ret, const char **ret_why);

/* ---- the handshake ---- */

void ws_key(const uint8_t random[WS_RANDOM], char ret_key[WS_KEY + 1]);

/* head: everything up to the empty line. NULL: it is the answer to this key; else what is wrong with it. */
const char *ws_answer_wrong(struct str head, const char *key);

/* ---- outgoing frames ---- */

/* Appends the frame. A ping, a pong or a close has at most WS_CONTROL bytes of payload. */
void ws_frame(struct buffer *to, enum ws_op op, struct str payload, const uint8_t mask[4]);

/* ---- incoming messages ---- */

enum ws_got {
    WS_NOTHING, /* all bytes are consumed */
    WS_MESSAGE, /* a complete text */
    WS_SKIPPED, /* a message longer than `most`: its `length` bytes are lost */
    WS_PINGED,  /* answer it with the same payload */
    WS_PONGED,
    WS_CLOSED, /* with code and reason */
    WS_WRONG   /* with code and reason: not WebSocket, or not text */
};

struct ws_reader {
    size_t most; /* longest message, in bytes */
    /* the frame that is being read */
    struct wslay_frame_context *frames; /* may hold bytes that ws_next() has consumed */
    struct str bytes;                   /* during ws_next(): not consumed yet */
    bool in_frame;
    uint64_t left;
    char control[WS_CONTROL];
    size_t control_len;
    /* the message */
    bool in_message;
    uint64_t length;
    struct buffer message;
    /* the close */
    uint16_t code;
};

/* Consumes `bytes` from the front until something is complete; call it until it returns WS_NOTHING. ret_text is valid
 * until the next call. */
enum ws_got ws_next(struct ws_reader *reader, struct str *bytes, struct str *ret_text);
void ws_reader_free(struct ws_reader *reader);
