/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a WebSocket is read as RFC 6455 says, however its bytes are split, and that anything else is refused. */
#include "unit/unit.h"

#include "cli/websocket.h"

/* ---- addresses ---- */

static void test_place(void **state) {
    (void)state;
    static const struct {
        const char *url, *host, *port, *path; /* no host: refused */
    } ROWS[] = {
        {"ws://127.0.0.1:18789", "127.0.0.1", "18789", "/"},
        {"ws://localhost", "127.0.0.1", "80", "/"},
        {"ws://[::1]:7/a?b=c", "::1", "7", "/a?b=c"},
        {"wss://127.0.0.1", NULL, NULL, NULL},
        {"ws://example.org:1", NULL, NULL, NULL},
        {"ws://127.0.0.1.example.org", NULL, NULL, NULL},
        {"ws://localhost@example.org", NULL, NULL, NULL},
        {"ws://127.0.0.1:0", NULL, NULL, NULL},
        {"ws://127.0.0.1:65536", NULL, NULL, NULL},
        {"ws://127.0.0.1:x", NULL, NULL, NULL},
        {"ws://127.0.0.1/a b", NULL, NULL, NULL},
        {"ws://127.0.0.1/a\r\nHost: b", NULL, NULL, NULL},
        {"ws://127.0.0.1?a", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct ws_place place;
        const char *why;
        bool is = ws_place_read(ROWS[i].url, &place, &why);
        check(is == (ROWS[i].host != NULL), "%s: %s", ROWS[i].url, why);
        if (!is)
            continue;
        assert_string_equal(place.host, ROWS[i].host);
        assert_string_equal(place.port, ROWS[i].port);
        assert_string_equal(place.path, ROWS[i].path);
    }
}

/* ---- the handshake ---- */

#define RFC_KEY "dGhlIHNhbXBsZSBub25jZQ==" /* the example of RFC 6455, 1.3 */
#define RFC_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
#define HEAD "HTTP/1.1 101 Switching Protocols\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\n"

static void test_handshake(void **state) {
    (void)state;
    static const struct {
        const char *head;
        bool good;
    } ROWS[] = {
        {HEAD UPGRADE "Sec-WebSocket-Accept: " RFC_ACCEPT "\r\n\r\n", true},
        {HEAD "UPGRADE:WebSocket\r\nconnection: upgrade \r\nsec-websocket-accept:" RFC_ACCEPT
              "\r\n\r\n",
         true},
        {HEAD
         "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: " RFC_ACCEPT
         "\r\n\r\n",
         true},
        {HEAD
         "Upgrade: websocket\r\nConnection: keep-alive, Upgraded\r\nSec-WebSocket-Accept: " RFC_ACCEPT
         "\r\n\r\n",
         false},
        {"HTTP/1.1 401 Unauthorized\r\n\r\n", false},
        {"HTTP/1.1 1012 x\r\n" UPGRADE "Sec-WebSocket-Accept: " RFC_ACCEPT "\r\n\r\n", false},
        {HEAD "Connection: Upgrade\r\nSec-WebSocket-Accept: " RFC_ACCEPT "\r\n\r\n", false},
        {HEAD UPGRADE "\r\n", false},
        {HEAD UPGRADE "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOp=\r\n\r\n", false},
        {HEAD UPGRADE "Sec-WebSocket-Accept: " RFC_ACCEPT
                      "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
         false},
        {"", false},
    };
    char key[WS_KEY + 1];
    ws_key((const uint8_t *)"the sample nonce", key);
    assert_string_equal(key, RFC_KEY);
    for (size_t i = 0; i < count_of(ROWS); i++)
        check(!ws_answer_wrong(str_of(ROWS[i].head), RFC_KEY) == ROWS[i].good, "row %zu", i);
}

/* ---- outgoing frames ---- */

static void test_frame(void **state) {
    (void)state;
    static const uint8_t MASK[4] = {0x37, 0xFA, 0x21, 0x3D};
    static const size_t LENGTHS[] = {0, 5, 125, 126, 65535, 65536, 70000};
    static char payload[70000];
    struct buffer out = {0};
    static const char HELLO[] = "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"; /* RFC 6455, 5.7 */
    ws_frame(&out, WS_TEXT, STR("Hello"), MASK);
    assert_int_equal(out.len, 11);
    assert_memory_equal(out.at, HELLO, 11);
    for (size_t i = 0; i < count_of(LENGTHS); i++) {
        size_t head = LENGTHS[i] < 126 ? 6 : LENGTHS[i] < 65536 ? 8 : 14;
        memset(payload, 'a' + (int)i, sizeof payload);
        out.len = 0;
        ws_frame(&out, WS_TEXT, (struct str){payload, LENGTHS[i]}, MASK);
        assert_int_equal(out.len, head + LENGTHS[i]);
        for (size_t at = 0; at < LENGTHS[i]; at++)
            assert_int_equal((uint8_t)out.at[head + at] ^ MASK[at & 3], payload[at]);
    }
    buffer_free(&out);
}

/* ---- incoming messages ---- */

struct heard {
    char text[2048];
    size_t len;
};

static void heard_add(struct heard *heard, enum ws_got got, struct str text, uint64_t number) {
    static const char *const NAMES[] = {"",     "message", "skipped", "ping",
                                        "pong", "closed",  "wrong"};
    int length = snprintf(heard->text + heard->len, sizeof heard->text - heard->len,
                          "%s(%llu,%.*s) ", NAMES[got], (unsigned long long)number,
                          (int)(got == WS_WRONG ? 0 : text.len), text.at);
    heard->len += (size_t)length;
    assert_true(heard->len < sizeof heard->text);
}

/* Feeds `piece` bytes at a time. An error ends it. */
static struct heard hear(struct str bytes, size_t piece) {
    struct ws_reader reader = {.most = 20};
    struct heard heard = {.len = 0};
    while (bytes.len > 0) {
        struct str part = {bytes.at, bytes.len < piece ? bytes.len : piece}, text = {"", 0};
        bytes = (struct str){bytes.at + part.len, bytes.len - part.len};
        for (enum ws_got got; (got = ws_next(&reader, &part, &text)) != WS_NOTHING;) {
            assert_true(reader.message.len <= reader.most); /* of a longer one, nothing is kept */
            uint64_t number = got == WS_SKIPPED                     ? reader.length
                              : got == WS_CLOSED || got == WS_WRONG ? reader.code
                                                                    : 0;
            heard_add(&heard, got, got == WS_SKIPPED ? STR("") : text, number);
            if (got == WS_WRONG) {
                ws_reader_free(&reader);
                return heard;
            }
        }
    }
    ws_reader_free(&reader);
    return heard;
}

#define BYTES(text) text, sizeof(text) - 1
static const struct {
    const char *name, *bytes;
    size_t length;
    const char *heard;
} READS[] = {
    {"a text", BYTES("\x81\x05Hello"), "message(0,Hello) "},
    {"nothing is a text too", BYTES("\x81\x00\x81\x01x"), "message(0,) message(0,x) "},
    {"pieces with a ping between them", BYTES("\x01\x03Hel\x89\x02hi\x00\x00\x80\x02lo"),
     "ping(0,hi) message(0,Hello) "},
    {"the longest, and one that is longer",
     BYTES("\x81\x14"
           "aaaaaaaaaaaaaaaaaaaa"
           "\x81\x15"
           "bbbbbbbbbbbbbbbbbbbbb"
           "\x81\x01x"),
     "message(0,aaaaaaaaaaaaaaaaaaaa) skipped(21,) message(0,x) "},
    {"too long in pieces",
     BYTES("\x01\x0F"
           "aaaaaaaaaaaaaaa"
           "\x80\x06"
           "bbbbbb"
           "\x8A\x00\x81\x01x"),
     "skipped(21,) pong(0,) message(0,x) "},
    {"a length in two bytes that needs one",
     BYTES("\x81\x7E\x00\x03"
           "abc"),
     "wrong(1002,) "},
    {"a length in eight bytes that needs one",
     BYTES("\x81\x7F\x00\x00\x00\x00\x00\x00\x00\x03"
           "abc"),
     "wrong(1002,) "},
    {"a close with its reason",
     BYTES("\x88\x05\x03\xF0"
           "bye"),
     "closed(1008,bye) "},
    {"a close without", BYTES("\x88\x00"), "closed(1005,) "},
    {"half a code", BYTES("\x88\x01x"), "wrong(1002,) "},
    {"a reason that is no text", BYTES("\x88\x03\x03\xE8\xFF"), "wrong(1002,) "},
    {"a masked frame", BYTES("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "wrong(1002,) "},
    {"bits that nobody agreed on", BYTES("\xC1\x01x"), "wrong(1002,) "},
    {"a kind that nobody knows", BYTES("\x83\x01x"), "wrong(1002,) "},
    {"a ping in pieces", BYTES("\x09\x01x"), "wrong(1002,) "},
    {"a ping that is too long", BYTES("\x89\x7E\x00\x7E"), "wrong(1002,) "},
    {"it goes on without a begin", BYTES("\x80\x01x"), "wrong(1002,) "},
    {"it begins within another", BYTES("\x01\x01x\x81\x01y"), "wrong(1002,) "},
    {"longer than any", BYTES("\x81\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "wrong(1002,) "},
    {"no text", BYTES("\x81\x01\xFF"), "wrong(1007,) "},
    {"bytes", BYTES("\x82\x01x"), "wrong(1003,) "},
};

static void test_read(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(READS); i++)
        for (size_t piece = 1; piece <= READS[i].length; piece++) {
            struct heard heard = hear((struct str){READS[i].bytes, READS[i].length}, piece);
            check(strcmp(heard.text, READS[i].heard) == 0, "%s, %zu at a time: %s", READS[i].name,
                  piece, heard.text);
        }
}

/* A message of `length` bytes, with its length in two or in eight bytes, and one more. */
static void test_long(void **state) {
    (void)state;
    static const size_t LENGTHS[] = {126, 65535, 65536, 70000}, PIECES[] = {1, 3, 4096, SIZE_MAX};
    for (size_t i = 0; i < count_of(LENGTHS); i++)
        for (size_t k = 0; k < count_of(PIECES); k++) {
            struct buffer bytes = {0};
            char head[10] = "\x81", expected[64], payload[4096];
            bool eight = LENGTHS[i] > 65535;
            head[1] = eight ? 127 : 126;
            for (size_t at = 0; at < (eight ? 8 : 2); at++)
                head[2 + at] = (char)((uint64_t)LENGTHS[i] >> 8 * ((eight ? 7 : 1) - at));
            memset(payload, 'a', sizeof payload);
            assert_true(buffer_add(&bytes, head, eight ? 10 : 4));
            for (size_t left = LENGTHS[i], part; left > 0; left -= part) {
                part = left < sizeof payload ? left : sizeof payload;
                assert_true(buffer_add(&bytes, payload, part));
            }
            assert_true(buffer_add(&bytes, "\x81\x01x", 3));
            struct heard heard = hear(buffer_str(&bytes), PIECES[k]);
            snprintf(expected, sizeof expected, "skipped(%zu,) message(0,x) ", LENGTHS[i]);
            assert_string_equal(heard.text, expected);
            buffer_free(&bytes);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place), cmocka_unit_test(test_handshake),
        cmocka_unit_test(test_frame), cmocka_unit_test(test_read), cmocka_unit_test(test_long)};
    return cmocka_run_group_tests_name("websocket", tests, NULL, NULL);
}
