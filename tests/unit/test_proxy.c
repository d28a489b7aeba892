/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which hosts the proxy of a run allows, and which requests it understands. */
#include "hold/proxy.h"
#include "unit.h"

static bool is_allowed(const char *const *list, const char *host, uint32_t port) {
    struct host_rule rule;
    for (; *list; list++) {
        check(host_rule_parse(str_of(*list), &rule), "%s", *list);
        if (host_rule_allows(&rule, host, port))
            return true;
    }
    return false;
}

static void test_entries(void **state) {
    (void)state;
    static const char *const WRONG[] = {
        "",      "*",         "*.",      "*.org",         "a b",  ".a",
        "a..b",  "a:0",       "a:65536", "a:99999999999", "a:",   "a:x",
        "a:1:2", "http://a",  "a/b",     "user@a",        "[::1", "[::1]x",
        "[a]:1", "*.1.2.3.4", "a\tb",    "\xC3\xA9.x"};
    struct host_rule rule;
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(!host_rule_parse(str_of(WRONG[i]), &rule), "\"%s\" is an entry", WRONG[i]);
    assert_true(host_rule_parse(str_of("Example.ORG."), &rule));
    assert_string_equal(rule.host, "example.org");
    assert_int_equal(rule.port, 443);
    assert_true(host_rule_parse(str_of("[::1]:8080"), &rule));
    assert_string_equal(rule.host, "::1");
    assert_int_equal(rule.port, 8080);
}

static void test_what_is_allowed(void **state) {
    (void)state;
    static const char *const LIST[] = {"api.example.org", "*.cdn.example.org:443",
                                       "build.test:*",    "127.0.0.1:8080",
                                       "[::1]:8081",      NULL};
    static const struct {
        const char *host;
        uint32_t port;
        bool allowed;
    } CASES[] = {
        {"api.example.org", 443, true},
        {"api.example.org", 80, false},
        {"example.org", 443, false},
        {"x.api.example.org", 443, false},
        {"xapi.example.org", 443, false},
        {"a.cdn.example.org", 443, true},
        {"a.b.cdn.example.org", 443, true},
        {"cdn.example.org", 443, false},
        {"acdn.example.org", 443, false},
        {"a.cdn.example.org.evil", 443, false},
        {"build.test", 1, true},
        {"build.test", 65535, true},
        {"127.0.0.1", 8080, true},
        {"127.0.0.1", 8081, false},
        {"127.1", 8080, false},
        {"2130706433", 8080, false},
        {"::1", 8081, true},
        {"::1", 8080, false},
        {"0:0:0:0:0:0:0:1", 8081, false},
        {"localhost", 8080, false},
    };
    for (size_t i = 0; i < count_of(CASES); i++)
        check(is_allowed(LIST, CASES[i].host, CASES[i].port) == CASES[i].allowed, "%s:%u",
              CASES[i].host, CASES[i].port);
}

static void test_addresses(void **state) {
    (void)state;
    static const char *const ARE[] = {"127.0.0.1",    "127.1", "0x7f.1",           "2130706433",
                                      "017700000001", "::1",   "::ffff:127.0.0.1", "1"};
    static const char *const NOT[] = {"a", "1.2.3.4.example.org", "example.org", "1a", "x1"};
    for (size_t i = 0; i < count_of(ARE); i++)
        check(host_is_address(ARE[i]), "%s", ARE[i]);
    for (size_t i = 0; i < count_of(NOT); i++)
        check(!host_is_address(NOT[i]), "%s", NOT[i]);
}

static void test_requests(void **state) {
    (void)state;
    static const struct {
        const char *line, *host;
        uint32_t port;
        bool tunnel;
    } RIGHT[] = {
        {"CONNECT Example.org:443 HTTP/1.1", "example.org", 443, true},
        {"CONNECT example.org.:8443 HTTP/1.0", "example.org", 8443, true},
        {"CONNECT [::1]:443 HTTP/1.1", "::1", 443, true},
        {"GET http://example.org/a?b HTTP/1.1", "example.org", 80, false},
        {"POST http://example.org:8080 HTTP/1.1", "example.org", 8080, false},
        {"GET http://[::1]:81/ HTTP/1.1", "::1", 81, false},
    };
    static const char *const WRONG[] = {
        "",
        "CONNECT example.org HTTP/1.1",
        "CONNECT example.org: HTTP/1.1",
        "CONNECT example.org:0 HTTP/1.1",
        "CONNECT example.org:443:1 HTTP/1.1",
        "CONNECT a@example.org:443 HTTP/1.1",
        "CONNECT http://example.org:443 HTTP/1.1",
        "CONNECT  example.org:443 HTTP/1.1",
        "CONNECT example.org:443  HTTP/1.1",
        "CONNECT example.org:443 HTTP/2.0",
        "CONNECT example.org:443",
        "connect example.org:443 HTTP/1.1",
        "GET / HTTP/1.1",
        "GET https://example.org/ HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://a@b/ HTTP/1.1",
        "GET http://a b/ HTTP/1.1",
        "GET http://example.org/\x01 HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "CONNECT example.org:443\nCONNECT evil:443 HTTP/1.1",
    };
    char head[512];
    struct proxy_request request;
    for (size_t i = 0; i < count_of(RIGHT); i++) {
        int length = snprintf(head, sizeof head, "%s\r\nHost: x\r\n\r\n", RIGHT[i].line);
        check(proxy_request_parse(head, (size_t)length, &request) &&
                  !strcmp(request.host, RIGHT[i].host) && request.port == RIGHT[i].port &&
                  request.tunnel == RIGHT[i].tunnel,
              "%s", RIGHT[i].line);
    }
    for (size_t i = 0; i < count_of(WRONG); i++) {
        int length = snprintf(head, sizeof head, "%s\r\nHost: x\r\n\r\n", WRONG[i]);
        check(!proxy_request_parse(head, (size_t)length, &request), "%s", WRONG[i]);
    }
}

/* The request that is passed on names the host that was checked, and no other. */
static void test_what_is_passed_on(void **state) {
    (void)state;
    static const char HEAD[] = "GET http://a.test:81/p?q HTTP/1.1\r\nHost: evil\r\nHOST: evil2\r\n"
                               "Connection: keep-alive, x\r\nProxy-Authorization: secret\r\n"
                               "Content-Length: 3\r\nX: y\r\n\r\n";
    static const char WANT[] = "GET /p?q HTTP/1.1\r\nHost: a.test:81\r\nConnection: close\r\n"
                               "Content-Length: 3\r\nX: y\r\n\r\n";
    static const char *const WRONG[] = {"X: y\r\n folded\r\n", "no header\r\n", " Host: evil\r\n"};
    struct proxy_request request;
    char to[1024], head[256];
    assert_true(proxy_request_parse(HEAD, sizeof HEAD - 1, &request));
    size_t length = proxy_head_make(&request, HEAD, sizeof HEAD - 1, to, sizeof to);
    check(length == sizeof WANT - 1 && !memcmp(to, WANT, length), "%.*s", (int)length, to);
    assert_int_equal(proxy_head_make(&request, HEAD, sizeof HEAD - 1, to, 40), 0);
    for (size_t i = 0; i < count_of(WRONG); i++) {
        int made = snprintf(head, sizeof head, "GET http://a/ HTTP/1.1\r\n%s\r\n", WRONG[i]);
        assert_true(proxy_request_parse(head, (size_t)made, &request));
        check(proxy_head_make(&request, head, (size_t)made, to, sizeof to) == 0, "%s", WRONG[i]);
    }
}

/* ---- the name in TLS ---- */

struct hello {
    uint8_t at[1024];
    size_t len;
};

static void put(struct hello *hello, const void *bytes, size_t len) {
    memcpy(hello->at + hello->len, bytes, len);
    hello->len += len;
}

static void put_number(struct hello *hello, size_t number, size_t size) {
    for (size_t i = 0; i < size; i++)
        hello->at[hello->len++] = (uint8_t)(number >> 8 * (size - 1 - i));
}

static void put_name(struct hello *to, const char *name) {
    size_t len = strlen(name);
    put_number(to, 0, 2); /* server_name */
    put_number(to, len + 5, 2);
    put_number(to, len + 3, 2);
    put_number(to, 0, 1);
    put_number(to, len, 2);
    put(to, name, len);
}

/* A ClientHello in records of at most `most` bytes. */
static struct hello hello_make(const char *const *names, size_t most) {
    struct hello extensions = {.len = 0}, body = {.len = 0}, ret = {.len = 0};
    put(&extensions, "\0\x2b\0\3\2\3\4", 7); /* supported_versions */
    for (; *names; names++)
        put_name(&extensions, *names);
    put_number(&body, 1, 1);
    put_number(&body, 2 + 32 + 5 + 6 + 2 + 2 + extensions.len, 3);
    put(&body, "\3\3 0123456789012345678901234567890\4sess\0\4\x13\1\x13\2\1\0",
        2 + 32 + 5 + 6 + 2);
    put_number(&body, extensions.len, 2);
    put(&body, extensions.at, extensions.len);
    for (size_t at = 0; at < body.len; at += most) {
        size_t part = body.len - at < most ? body.len - at : most;
        put(&ret, "\x16\3\1", 3);
        put_number(&ret, part, 2);
        put(&ret, body.at + at, part);
    }
    return ret;
}

static void test_the_name_in_tls(void **state) {
    (void)state;
    static const char *const ONE[] = {"API.example.org", NULL}, *const NONE[] = {NULL},
                             *const TWO[] = {"a.test", "b.test", NULL},
                             *const ODD[] = {"a b", NULL};
    char name[HOST_NAME + 1];
    for (size_t most = 1; most < 200; most += most < 8 ? 1 : 61) {
        struct hello hello = hello_make(ONE, most);
        assert_int_equal(tls_name_read(hello.at, hello.len, name), TLS_NAMED);
        assert_string_equal(name, "api.example.org");
        for (size_t len = 0; len < hello.len; len++)
            check(tls_name_read(hello.at, len, name) == TLS_MORE, "%zu of %zu bytes", len,
                  hello.len);
    }
    struct hello none = hello_make(NONE, 200), two = hello_make(TWO, 200),
                 odd = hello_make(ODD, 200), one = hello_make(ONE, 200);
    assert_int_equal(tls_name_read(none.at, none.len, name), TLS_OTHER);
    assert_int_equal(tls_name_read(two.at, two.len, name), TLS_OTHER);
    assert_int_equal(tls_name_read(odd.at, odd.len, name), TLS_OTHER);
    assert_int_equal(tls_name_read("GET / HTTP/1.1", 14, name), TLS_OTHER);
    for (size_t i = 0; i < one.len; i++) /* whatever is in it, nothing beyond it is read */
        for (unsigned value = 0; value < 256; value += 51) {
            struct hello *copy = malloc(sizeof *copy);
            *copy = one;
            copy->at[i] = (uint8_t)value;
            uint8_t *exact = malloc(copy->len);
            memcpy(exact, copy->at, copy->len);
            (void)tls_name_read(exact, copy->len, name);
            free(exact);
            free(copy);
        }
}

static void urls_are_hosts(void **state) {
    (void)state;
    static const struct {
        const char *url, *entry; /* NULL: it is none */
    } ROWS[] = {
        {"https://example.org/v1", "example.org"},
        {"HTTPS://Example.ORG", "example.org"},
        {"http://example.org?x", "example.org:80"},
        {"wss://example.org:8443#x", "example.org:8443"},
        {"https://user:word@example.org/", "example.org"},
        {"https://a@b@example.org/", "example.org"},
        {"http://localhost:4873/x", "127.0.0.1:4873"},
        {"http://[::1]/x", "[::1]:80"},
        {"https://[::1]:443/x", "[::1]"},
        {"https://*.example.org/", NULL},
        {"https://example.org:*/", NULL},
        {"https://example.org:0/", NULL},
        {"https:///x", NULL},
        {"example.org/v1", NULL},
        {"git+ssh://git@example.org/x", NULL},
        {"https://exa mple.org/", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char entry[HOST_ENTRY] = "";
        bool read = host_of_url(str_of(ROWS[i].url), entry);
        assert_int_equal(read, ROWS[i].entry != NULL);
        if (read)
            assert_string_equal(entry, ROWS[i].entry);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_hosts),       cmocka_unit_test(test_entries),
        cmocka_unit_test(test_what_is_allowed), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_requests),        cmocka_unit_test(test_what_is_passed_on),
        cmocka_unit_test(test_the_name_in_tls),
    };
    return cmocka_run_group_tests_name("proxy", tests, NULL, NULL);
}
