/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http_request.h"

#include "http/rpc.h"
#include "ops/api.h"
#include "ops/json.h"

/* Sends only the error's sentence, when there is no memory for more. */
enum MHD_Result http_reply_plainly(struct http_request *request, enum error error) {
    const struct error_row *row = &ERRORS[error];
    char sentence[512], text[1024];
    snprintf(sentence, sizeof sentence, "%s", row->sentence);
    for (char *c = sentence; *c; c++)
        if (*c == '"' || *c == '\\')
            *c = '\'';
    int length =
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":"
                 "\"%s\",\"data\":{\"code\":\"%s\",\"exit\":%d,\"class\":\"%s\"}}}",
                 rpc_code(error), sentence, row->code, row->exit_status, ERROR_CLASS[row->class]);
    return http_reply(request, row->http_status, "application/json",
                      (struct str){text, (size_t)length}, NULL);
}

enum MHD_Result http_reply_status(struct http_request *request, int status, enum error error,
                                  const char *why, const char *header) {
    json_ran_short();
    return http_reply_json(request, status, rpc_error(NULL, rpc_code(error), error, why), error,
                           header);
}

/* ---- replies ---- */

static enum MHD_Result response_send(struct http_request *request, int status,
                                     struct MHD_Response *response, const char *type,
                                     const char *header) {
    if (!response)
        return MHD_NO;
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Overseer-Api", API_VERSION);
    if (request->origin) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", request->origin);
        MHD_add_response_header(response, "Vary", "Origin");
    }
    if (header) {
        char name[64];
        const char *value = strstr(header, ": ");
        must(value && (size_t)(value - header) < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)(value - header), header);
        MHD_add_response_header(response, name, value + 2);
    }
    enum MHD_Result result = MHD_queue_response(request->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result http_reply(struct http_request *request, int status, const char *type,
                           struct str text, const char *header) {
    return response_send(request, status,
                         MHD_create_response_from_buffer(text.len, (void *)(uintptr_t)text.at,
                                                         MHD_RESPMEM_MUST_COPY),
                         type, header);
}

enum MHD_Result http_reply_bytes(struct http_request *request, int status, char *text, size_t len,
                                 const char *header) {
    return response_send(request, status,
                         MHD_create_response_from_buffer_with_free_callback(len, text, free),
                         "application/json", header);
}

enum MHD_Result http_reply_json(struct http_request *request, int status, json_t *json,
                                enum error otherwise, const char *header) {
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (json_ran_short() || !text) {
        free(text);
        return http_reply_plainly(request, otherwise);
    }
    return http_reply_bytes(request, status, text, strlen(text), header);
}

enum MHD_Result http_reply_error(struct http_request *request, enum error error, const char *why) {
    return http_reply_status(request, ERRORS[error].http_status, error, why,
                             error == ERROR_UNAUTHENTICATED ? "WWW-Authenticate: Bearer" : NULL);
}

enum MHD_Result http_request_stream(struct http_request *request, const char *type,
                                    MHD_ContentReaderCallback read, void *with) {
    return response_send(
        request, 200, MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read, with, NULL),
        type, "Cache-Control: no-store");
}

void http_request_sleep(struct http_request *request) {
    MHD_suspend_connection(request->connection);
}

void http_request_wake(struct http_request *request) {
    MHD_resume_connection(request->connection);
}

/* ---- headers, query and body ---- */

const char *http_request_header(const struct http_request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_request_query(const struct http_request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

enum error http_request_json(struct http_request *request, char *why, size_t size) {
    json_decref(request->json);
    request->json = NULL;
    return json_read(buffer_str(&request->body), &request->json, why, size);
}
