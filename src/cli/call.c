/* SPDX-License-Identifier: Apache-2.0 */
/* How does the command line speak to the daemon? */
#include "cli/call.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NO_DAEMON = 7 };

struct received {
    char *at;
    size_t length;
};

static size_t receive(char *data, size_t size, size_t count, void *with) {
    struct received *received = with;
    char *grown = realloc(received->at, received->length + size * count + 1);
    if (!grown)
        return 0;
    memcpy(grown + received->length, data, size * count);
    received->at = grown;
    received->length += size * count;
    grown[received->length] = 0;
    return size * count;
}

static CURLcode post(const char *socket, const char *body, struct received *received) {
    CURL *curl = curl_easy_init();
    if (!curl)
        return CURLE_OUT_OF_MEMORY;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket);
    curl_easy_setopt(curl, CURLOPT_URL, "http://overseer/rpc");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, received);
    CURLcode code = curl_easy_perform(curl);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return code;
}

static json_t *answer_read(const struct received *received, char *error, unsigned long error_size,
                           int *ret_exit) {
    json_t *answer = json_loadb(received->at ? received->at : "", received->length, 0, NULL);
    json_t *result = json_object_get(answer, "result"), *trouble = json_object_get(answer, "error");
    if (result)
        json_incref(result);
    else {
        const char *message = json_string_value(json_object_get(trouble, "message"));
        json_t *exit = json_object_get(json_object_get(trouble, "data"), "exit");
        snprintf(error, error_size, "%s",
                 message ? message : "The daemon's answer could not be read.");
        *ret_exit = json_is_integer(exit) ? (int)json_integer_value(exit) : 1;
    }
    json_decref(answer);
    return result;
}

json_t *daemon_call(const char *socket, const char *method, json_t *params, char *error,
                    unsigned long error_size, int *ret_exit) {
    json_t *request = json_pack("{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method", method,
                                "params", params);
    char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    struct received received = {0};
    CURLcode code = body ? post(socket, body, &received) : CURLE_OUT_OF_MEMORY;
    json_t *result = NULL;
    if (code == CURLE_OK)
        result = answer_read(&received, error, error_size, ret_exit);
    else {
        *ret_exit = EXIT_NO_DAEMON;
        snprintf(error, error_size, "No daemon answers on %s (%s). Start one with: overseerd",
                 socket, curl_easy_strerror(code));
    }
    free(body);
    free(received.at);
    return result;
}
