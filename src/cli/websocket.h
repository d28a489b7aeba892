/* SPDX-License-Identifier: Apache-2.0 */
/* What goes over a WebSocket (RFC 6455), seen from the client? Bytes in, messages out; nothing here opens or reads anything. */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum {
    WS_RANDOM = 16,    /* bytes that a handshake is made of */
    WS_KEY = 24,       /* the same as text */
    WS_CONTROL = 125,  /* bytes of a ping or a close, at most */
    WS_HEAD = 14,      /* in front of a frame's payload, at most */
    WS_ANSWER = 16384, /* of the handshake's answer */
    WS_ADDRESS = 256   /* of a host, a port or a path */
};

/* Why a connection is ended: RFC 6455, 7.4.1. */
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

/* ---- where ---- */

struct ws_place {
    char host[WS_ADDRESS], port[8], path[WS_ADDRESS];
};

/* ws://HOST[:PORT][/PATH] on this machine: without TLS a token goes nowhere else. False: ret_why says why. */
bool ws_place_read(const char *url, struct ws_place *ret, const char **ret_why);

/* ---- the handshake ---- */

void ws_key(const uint8_t random[WS_RANDOM], char ret_key[WS_KEY + 1]);

/* Everything up to the empty line. NULL: it is the answer to this key; else what is wrong with it. */
const char *ws_answer_wrong(struct str head, const char *key);

/* ---- frames out ---- */

/* `to` has room for the payload and WS_HEAD bytes. How many were written. */
size_t ws_frame(char *to, enum ws_op op, struct str payload, const uint8_t mask[4]);

/* ---- messages in ---- */

enum ws_got {
    WS_NOTHING, /* all bytes are used up */
    WS_MESSAGE, /* a text, whole */
    WS_SKIPPED, /* one that was longer than `most`: `length` bytes are lost */
    WS_PINGED,  /* answer it with the same payload */
    WS_PONGED,
    WS_CLOSED, /* code, and its reason */
    WS_WRONG   /* code, and why: it is no WebSocket, or no text */
};

struct ws_reader {
    size_t most; /* bytes of a message */
    /* of the frame that is being read */
    uint8_t head[10];
    size_t head_len;
    uint64_t left;
    bool in_payload;
    char control[WS_CONTROL];
    size_t control_len;
    /* of the message */
    bool in_message;
    uint64_t length;
    char *at;
    size_t len, cap;
    /* of its end */
    uint16_t code;
};

/* Takes from the front of `bytes` until something is whole. ret_text is good until the next call. */
enum ws_got ws_next(struct ws_reader *reader, struct str *bytes, struct str *ret_text);
void ws_reader_free(struct ws_reader *reader);
