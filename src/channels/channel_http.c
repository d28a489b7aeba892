/* SPDX-License-Identifier: Apache-2.0 */
/* Sends HTTP requests to services and determines whether they were received. libcurl runs on the loop: no thread of
 * ours waits.
 *
 * Each request uses its own connection. When a kept connection turns out to be dead, libcurl would resend the request
 * by itself, and it would be unknown whether the service received it once or twice. */
#include "base/memory.h"
#include "channels/channel_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

struct channels_http {
    CURLM *multi;
    uv_loop_t *loop;
    uv_timer_t timer;
    unsigned sockets; /* number being watched */
    bool stopping, timer_closed;
    void (*closed)(void *with);
    void *with;
};

struct watched { /* one of curl's sockets */
    uv_poll_t poll;
    curl_socket_t socket;
    struct channels_http *http;
};

static void http_closed(struct channels_http *http) {
    if (!http->stopping || !http->timer_closed || http->sockets > 0)
        return;
    http->closed(http->with);
    free(http);
}

/* ---- answers ---- */

static const char *curl_says(const struct http *http, CURLcode code) {
    if (http->too_long)
        return "its answer is too long";
    return http->error[0] ? http->error : curl_easy_strerror(code);
}

/* A wait of more than a week, as a service may ask for, is cut to a week. */
static int64_t again_at(const struct channel_send *send, long status) {
    const struct http *http = &send->http;
    int64_t now = channel_send_now(send), most = now + SECONDS(86400LL * LIMIT_AGAIN_DAYS), at = 0;
    if (status != 429 && status != 503 && status != 403)
        return 0;
    if (http->wait >= 0)
        at = time_after(now, http->wait);
    else if ((http->used_up || status == 429) && http->reset_at > now)
        at = http->reset_at;
    return at > most ? most : at;
}

static void request_close(struct http *http) {
    curl_easy_cleanup(http->easy);
    curl_slist_free_all(http->headers);
    http->easy = NULL;
    http->headers = NULL;
    words_clear(&http->body);
}

static void request_ended(struct channel_send *send, CURLcode code) {
    struct http *http = &send->http;
    long status = 0, sent = 0;
    curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(http->easy, CURLINFO_REQUEST_SIZE, &sent);
    struct http_answer answer = {.sent = sent > 0,
                                 .whole = code == CURLE_OK,
                                 .status = status >= 200 ? status : 0,
                                 .body = words_str(&http->answer),
                                 .again_at = again_at(send, status),
                                 .why = curl_says(http, code)};
    request_close(http);
    http->answered(send, &answer);
}

static void ended_take(struct channels_http *http) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        char *with = NULL;
        CURL *easy = message->easy_handle;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &with);
        curl_multi_remove_handle(http->multi, easy);
        request_ended((struct channel_send *)(void *)with, code);
    }
}

enum send_result http_verdict(const struct http_answer *answer) {
    long status = answer->status;
    if (status == 0)
        return answer->sent ? SEND_UNKNOWN : SEND_LATER;
    if (status < 300)
        return SEND_DONE;
    if (status == 408 || status == 425 || status == 429 || status == 503 || answer->again_at > 0)
        return SEND_LATER;
    return status >= 500 ? SEND_UNKNOWN : SEND_REFUSED;
}

enum send_result http_verdict_of_look(const struct http_answer *answer) {
    enum send_result result = http_verdict(answer);
    if (result == SEND_DONE && !answer->whole)
        return SEND_LATER;
    return result == SEND_UNKNOWN ? SEND_LATER : result;
}

/* A short excerpt of its answer, unless that contains our token. */
static void excerpt(struct channel_send *send, struct str body, struct words *to) {
    const struct words *token = &send->token;
    if (body.len == 0 || !str_is_text(body) ||
        (token->len > 0 && memmem(body.at, body.len, token->at, token->len)))
        return;
    words_add(to, STR(": "));
    words_escape_line(to, MARKUP_NONE, body, 160);
}

void channel_send_end_by_answer(struct channel_send *send, enum send_result result,
                                const struct http_answer *answer) {
    struct words more = {0};
    long status = answer->status;
    send->again_at = answer->again_at;
    if (result == SEND_DONE) {
        channel_send_end(send, result, "%s", "");
    } else if (status == 0) {
        channel_send_end(send, result, "%s %s: %s", send->service,
                         answer->sent ? "did not answer" : "cannot be reached", answer->why);
    } else if (status >= 300 && status < 400) {
        channel_send_end(send, result, "%s answered %ld: redirects are not followed", send->service,
                         status);
    } else {
        excerpt(send, answer->body, &more);
        channel_send_end(send, result, "%s answered %ld%s", send->service, status,
                         words_cstr(&more));
    }
    words_free(&more);
}

/* ---- curl's callbacks ---- */

static size_t body_arrived(char *at, size_t size, size_t count, void *with) {
    struct http *http = &((struct channel_send *)with)->http;
    size_t len = size * count;
    if (http->answer.len + len > http->most) {
        http->too_long = true;
        return 0;
    }
    words_add(&http->answer, (struct str){at, len});
    return len;
}

static bool named(struct str header, const char *name, struct str *ret_value) {
    size_t len = strlen(name);
    if (header.len <= len || strncasecmp(header.at, name, len) != 0 || header.at[len] != ':')
        return false;
    struct str value = {header.at + len + 1, header.len - len - 1};
    while (value.len > 0 && strchr(" \t", value.at[0]))
        value = (struct str){value.at + 1, value.len - 1};
    while (value.len > 0 && strchr(" \t\r\n", value.at[value.len - 1]))
        value.len--;
    *ret_value = value;
    return true;
}

/* Reads seconds, such as 30 or 0.25, as microseconds. False: not a number, or negative. */
static bool seconds_read(struct str value, int64_t *ret_us) {
    char text[32], *end;
    if (value.len == 0 || value.len >= sizeof text)
        return false;
    memcpy(text, value.at, value.len);
    text[value.len] = 0;
    double seconds = strtod(text, &end);
    if (*end || !(seconds >= 0) || seconds > 1e11)
        return false;
    *ret_us = (int64_t)(seconds * 1e6);
    return true;
}

static void wait_note(struct channel_send *send, struct str value) {
    struct http *http = &send->http;
    char text[64];
    int64_t wait;
    if (seconds_read(value, &wait)) {
        http->wait = wait > http->wait ? wait : http->wait;
    } else if (value.len < sizeof text) { /* a date */
        memcpy(text, value.at, value.len);
        text[value.len] = 0;
        time_t at = curl_getdate(text, NULL);
        wait = at < 0 ? -1 : SECONDS((int64_t)at) - channel_send_now(send);
        http->wait = wait > http->wait ? wait : http->wait;
    }
}

/* All services use Retry-After; the other headers are those of Discord, GitHub and GitLab. */
static void header_note(struct channel_send *send, struct str header) {
    struct http *http = &send->http;
    struct str value;
    int64_t at;
    if (named(header, "Retry-After", &value) || named(header, "X-RateLimit-Reset-After", &value))
        wait_note(send, value);
    else if ((named(header, "X-RateLimit-Reset", &value) ||
              named(header, "RateLimit-Reset", &value)) &&
             seconds_read(value, &at))
        http->reset_at = at;
    else if (named(header, "X-RateLimit-Remaining", &value) ||
             named(header, "RateLimit-Remaining", &value))
        http->used_up = str_equal(value, STR("0"));
}

static size_t header_arrived(char *at, size_t size, size_t count, void *with) {
    struct channel_send *send = with;
    size_t len = size * count;
    send->http.header_bytes += len;
    if (send->http.header_bytes > LIMIT_CHANNEL_BYTES) {
        send->http.too_long = true;
        return 0;
    }
    header_note(send, (struct str){at, len});
    return len;
}

/* Programs that are started meanwhile do not inherit the socket. */
static curl_socket_t socket_open(void *with, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)with;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ---- requests ---- */

static void header_add(struct http *http, const char *name, struct str value) {
    struct words line = {0};
    words_format(&line, "%s: ", name);
    words_add(&line, value);
    http->headers = curl_slist_append(http->headers, words_cstr(&line));
    if (!http->headers)
        memory_exhausted();
    words_free(&line);
}

/* Only HTTP, with verified certificates, to exactly this host, and through no proxy that was not configured. */
static void request_bound(struct channel_send *send, CURL *easy) {
    long left = (long)channel_send_left_ms(send);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* does not wait for a pending name lookup */
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, left > 0 ? left : 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, words_cstr(&send->proxy));
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (send->ca_path.len > 0) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, words_cstr(&send->ca_path));
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket_open);
}

static void request_aim(struct channel_send *send, CURL *easy, const char *method) {
    struct http *http = &send->http;
    curl_easy_setopt(easy, CURLOPT_URL, words_cstr(&http->url));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
    if (strcmp(method, "GET") != 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, words_cstr(&http->body));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)http->body.len);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    }
    curl_easy_setopt(easy, CURLOPT_PRIVATE, send);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_arrived);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, send);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_arrived);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, send);
}

static void request_make(struct channel_send *send, const char *method,
                         const struct http_header *headers, size_t count) {
    struct http *http = &send->http;
    header_add(http, "User-Agent", STR("overseer/" OVERSEER_VERSION));
    header_add(http, "Expect", STR(""));
    if (strcmp(method, "GET") != 0)
        header_add(http, "Content-Type", STR("application/json"));
    for (size_t i = 0; i < count; i++)
        header_add(http, headers[i].name, headers[i].value);
    http->easy = curl_easy_init();
    if (!http->easy)
        memory_exhausted();
    request_bound(send, http->easy);
    request_aim(send, http->easy, method);
}

void http_ask(struct channel_send *send, const char *method, const struct http_header *headers,
              size_t count, http_answered *answered) {
    struct http *http = &send->http;
    must(!http->easy);
    words_clear(&http->answer);
    http->header_bytes = 0;
    http->most = strcmp(method, "GET") == 0 ? LIMIT_CHANNEL_LOOK : LIMIT_CHANNEL_BYTES;
    http->too_long = http->used_up = false;
    http->wait = -1;
    http->reset_at = 0;
    http->error[0] = 0;
    http->answered = answered;
    request_make(send, method, headers, count);
    if (curl_multi_add_handle(channel_send_http(send)->multi, http->easy) != CURLM_OK)
        memory_exhausted();
}

void http_cancel(struct channel_send *send) {
    struct http *http = &send->http;
    if (!http->easy)
        return;
    curl_multi_remove_handle(channel_send_http(send)->multi, http->easy);
    request_close(http);
}

/* ---- curl on the loop ---- */

static void watched_closed(uv_handle_t *handle) {
    struct watched *watched = handle->data;
    struct channels_http *http = watched->http;
    http->sockets--;
    free(watched);
    http_closed(http);
}

static void socket_ready(uv_poll_t *poll, int status, int events) {
    struct watched *watched = poll->data;
    struct channels_http *http = watched->http;
    int flags = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) | (status < 0 ? CURL_CSELECT_ERR : 0),
        running;
    curl_multi_socket_action(http->multi, watched->socket, flags, &running);
    ended_take(http);
}

static struct watched *watched_make(struct channels_http *http, curl_socket_t socket) {
    struct watched *watched = memory_new(sizeof *watched);
    watched->socket = socket;
    watched->http = http;
    watched->poll.data = watched;
    if (uv_poll_init_socket(http->loop, &watched->poll, socket) != 0) {
        free(watched);
        return NULL;
    }
    http->sockets++;
    curl_multi_assign(http->multi, socket, watched);
    return watched;
}

static int socket_wanted(CURL *easy, curl_socket_t socket, int what, void *with, void *known) {
    struct channels_http *http = with;
    struct watched *watched = known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (!watched)
            return 0;
        curl_multi_assign(http->multi, socket, NULL);
        uv_poll_stop(&watched->poll);
        uv_close((uv_handle_t *)&watched->poll, watched_closed);
        return 0;
    }
    if (!watched)
        watched = watched_make(http, socket);
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    if (watched)
        uv_poll_start(&watched->poll, events, socket_ready);
    return 0; /* -1 would end all transfers; a transfer whose socket is not watched ends at its deadline */
}

static void timer_passed(uv_timer_t *timer) {
    struct channels_http *http = timer->data;
    int running;
    curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    ended_take(http);
}

static int timer_wanted(CURLM *multi, long timeout_ms, void *with) {
    struct channels_http *http = with;
    (void)multi;
    if (timeout_ms < 0 || http->stopping)
        uv_timer_stop(&http->timer);
    else
        uv_timer_start(&http->timer, timer_passed, (uint64_t)timeout_ms, 0);
    return 0;
}

struct channels_http *channels_http_start(uv_loop_t *loop) {
    struct channels_http *http = memory_new(sizeof *http);
    must(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    http->loop = loop;
    http->multi = curl_multi_init();
    if (!http->multi)
        memory_exhausted();
    uv_timer_init(loop, &http->timer);
    http->timer.data = http;
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, timer_wanted);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    return http;
}

static void timer_closed(uv_handle_t *handle) {
    struct channels_http *http = handle->data;
    http->timer_closed = true;
    http_closed(http);
}

void channels_http_stop(struct channels_http *http, void (*closed)(void *with), void *with) {
    http->closed = closed;
    http->with = with;
    http->stopping = true;
    curl_multi_cleanup(http->multi);
    http->multi = NULL;
    uv_close((uv_handle_t *)&http->timer, timer_closed);
}
