/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests of the command line to the daemon: over its Unix socket, or to a URL with a token. */
#include "cli/call.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "ops/op.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 4, ANSWER_SECONDS = 60 };

static size_t receive(char *data, size_t size, size_t count, void *with) {
    return buffer_add(with, data, size * count) ? size * count : 0;
}

/* ---- one request ---- */

struct asking {
    CURL *curl;
    struct curl_slist *headers;
};

static void header_add(struct asking *asking, const char *name, const char *value) {
    char line[4200];
    snprintf(line, sizeof line, "%s: %s", name, value);
    asking->headers = curl_slist_append(asking->headers, line);
    if (!asking->headers)
        memory_exhausted();
}

static void asking_make(struct asking *asking, const struct daemon_address *at, const char *path) {
    char url[2048], bearer[4096];
    asking->curl = curl_easy_init();
    if (!asking->curl)
        memory_exhausted();
    const char *slash = at->url && *at->url && at->url[strlen(at->url) - 1] == '/' ? "" : "/";
    snprintf(url, sizeof url, "%s%s%s", at->url ? at->url : "http://overseer",
             at->url ? slash : "/", path + 1);
    if (!at->url)
        curl_easy_setopt(asking->curl, CURLOPT_UNIX_SOCKET_PATH, at->socket);
    curl_easy_setopt(asking->curl, CURLOPT_URL, url);
    curl_easy_setopt(asking->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(asking->curl, CURLOPT_PROXY, "");
    if (at->token) {
        snprintf(bearer, sizeof bearer, "Bearer %s", at->token);
        header_add(asking, "Authorization", bearer);
    }
}

static CURLcode asking_do(struct asking *asking) {
    curl_easy_setopt(asking->curl, CURLOPT_HTTPHEADER, asking->headers);
    return curl_easy_perform(asking->curl);
}

static void asking_end(struct asking *asking) {
    curl_slist_free_all(asking->headers);
    curl_easy_cleanup(asking->curl);
}

static bool nobody(const struct daemon_address *at, CURLcode code, struct trouble *trouble) {
    trouble_make(trouble, ERROR_NO_DAEMON, "No daemon answers on %s (%s).",
                 at->url ? at->url : at->socket, curl_easy_strerror(code));
    if (at->url)
        trouble_next(trouble, "Check the address, and that the daemon listens there.");
    else
        trouble_next(trouble, "Start one with: overseer up");
    return false;
}

/* ---- methods ---- */

static CURLcode post(const struct daemon_address *at, const char *body, struct buffer *received) {
    struct asking asking = {0};
    asking_make(&asking, at, "/rpc");
    header_add(&asking, "Content-Type", "application/json");
    curl_easy_setopt(asking.curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(asking.curl, CURLOPT_TIMEOUT, (long)ANSWER_SECONDS);
    curl_easy_setopt(asking.curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(asking.curl, CURLOPT_WRITEDATA, received);
    CURLcode code = asking_do(&asking);
    asking_end(&asking);
    return code;
}

static void error_read(const json_t *error, struct trouble *trouble) {
    const json_t *data = json_object_get(error, "data");
    const char *message = json_string_value(json_object_get(error, "message"));
    const char *code = json_string_value(json_object_get(data, "code"));
    const json_t *status = json_object_get(data, "exit");
    trouble_make(trouble, ERROR_INTERNAL, "%s",
                 message ? message : "The daemon's answer could not be read.");
    for (enum error i = ERROR_NONE + 1; code && i < ERROR_COUNT; i++)
        if (strcmp(ERRORS[i].code, code) == 0)
            trouble->error = i;
    if (code)
        snprintf(trouble->code, sizeof trouble->code, "%s", code);
    trouble->exit = json_is_integer(status) ? (int)json_integer_value(status) : EXIT_TROUBLE;
}

static json_t *answer_read(const struct buffer *received, struct trouble *trouble) {
    json_t *answer = json_loadb(received->at ? received->at : "", received->len, 0, NULL);
    json_t *result = json_incref(json_object_get(answer, "result"));
    if (!result)
        error_read(json_object_get(answer, "error"), trouble);
    json_decref(answer);
    return result;
}

/* No answer arrived, but the daemon may have carried out the request. */
static bool is_lost(CURLcode code) {
    return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
           code == CURLE_PARTIAL_FILE;
}

/* A request that only reads, or has a key, may be sent twice. */
static bool may_repeat(const char *method, const json_t *params) {
    const struct op *op = op_find(str_of(method));
    return (op && op->kind == OP_READS) || json_object_get(params, "key");
}

json_t *daemon_call(const struct daemon_address *at, const char *method, json_t *params,
                    struct trouble *trouble) {
    json_t *request = json_pack("{s:s, s:i, s:s, s:O}", "jsonrpc", "2.0", "id", 1, "method", method,
                                "params", params);
    char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    json_t *result = NULL;
    for (int i = 0; body && !result && i < TRIES; i++) {
        struct buffer received = {0};
        CURLcode code = post(at, body, &received);
        if (code == CURLE_OK)
            result = answer_read(&received, trouble);
        else
            nobody(at, code, trouble);
        buffer_free(&received);
        bool again = code == CURLE_OK ? !result && trouble->error == ERROR_BUSY
                                      : is_lost(code) && may_repeat(method, params);
        if (!again)
            break;
        usleep(200000u << i);
    }
    if (!body) /* or a text that is not UTF-8 */
        trouble_make(trouble, ERROR_NO_MEMORY, "Out of memory for the request.");
    free(body);
    return result;
}

/* ---- paths ---- */

char *daemon_get(const struct daemon_address *at, const char *path, long *ret_status,
                 struct trouble *trouble) {
    struct asking asking = {0};
    struct buffer received = {0};
    asking_make(&asking, at, path);
    curl_easy_setopt(asking.curl, CURLOPT_TIMEOUT, (long)ANSWER_SECONDS);
    curl_easy_setopt(asking.curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(asking.curl, CURLOPT_WRITEDATA, &received);
    CURLcode code = asking_do(&asking);
    if (code == CURLE_OK)
        curl_easy_getinfo(asking.curl, CURLINFO_RESPONSE_CODE, ret_status);
    asking_end(&asking);
    if (code == CURLE_OK)
        return received.at ? received.at : memory_new(1);
    buffer_free(&received);
    nobody(at, code, trouble);
    return NULL;
}

/* ---- streams ---- */

struct following {
    struct buffer waiting; /* bytes of an incomplete event */
    bool (*each)(void *with, const struct sent *sent);
    void *with;
    bool ended; /* `each` returned false */
    CURL *curl;
};

/* Passes on one event: lines of "name: value". */
static bool sent_tell(struct following *following, char *text) {
    struct sent sent = {0};
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (strncmp(line, "id: ", 4) == 0)
            sent.id = line + 4;
        else if (strncmp(line, "event: ", 7) == 0)
            sent.event = line + 7;
        else if (strncmp(line, "data: ", 6) == 0)
            sent.data = line + 6;
    }
    return (!sent.id && !sent.data && !sent.event) || following->each(following->with, &sent);
}

static size_t follow_receive(char *data, size_t size, size_t count, void *with) {
    struct following *following = with;
    struct buffer *waiting = &following->waiting;
    long status = 0;
    receive(data, size, count, waiting);
    curl_easy_getinfo(following->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return size * count; /* an error: parsed as a whole later */
    for (char *end; !following->ended && (end = strstr(waiting->at, "\n\n"));) {
        *end = 0;
        following->ended = !sent_tell(following, waiting->at);
        size_t used = (size_t)(end + 2 - waiting->at);
        buffer_drop(waiting, used);
    }
    return following->ended ? 0 : size * count;
}

static bool follow_over(struct following *following, const struct daemon_address *at, CURLcode code,
                        struct trouble *trouble) {
    long status = 0;
    curl_easy_getinfo(following->curl, CURLINFO_RESPONSE_CODE, &status);
    if (following->ended || (status == 200 && (code == CURLE_OK || is_lost(code))))
        return true;
    if (status == 0)
        return nobody(at, code, trouble);
    json_t *answer = json_loadb(following->waiting.at ? following->waiting.at : "",
                                following->waiting.len, 0, NULL);
    error_read(json_object_get(answer, "error"), trouble);
    json_decref(answer);
    return false;
}

bool daemon_follow(const struct daemon_address *at, const char *path, const char *after,
                   bool (*each)(void *with, const struct sent *sent), void *with,
                   struct trouble *trouble) {
    struct asking asking = {0};
    struct following following = {.each = each, .with = with};
    asking_make(&asking, at, path);
    following.curl = asking.curl;
    header_add(&asking, "Accept", "text/event-stream");
    if (after && *after)
        header_add(&asking, "Last-Event-ID", after);
    curl_easy_setopt(asking.curl, CURLOPT_WRITEFUNCTION, follow_receive);
    curl_easy_setopt(asking.curl, CURLOPT_WRITEDATA, &following);
    CURLcode code = asking_do(&asking);
    bool well = follow_over(&following, at, code, trouble);
    asking_end(&asking);
    buffer_free(&following.waiting);
    return well;
}
