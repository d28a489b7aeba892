/* SPDX-License-Identifier: Apache-2.0 */
/* Receives requests: reads the body, authenticates, finds the route and starts it. */
#include "http/http_request.h"

#include "http/auth.h"
#include "http/http_server.h"
#include "http/unauthenticated.h"

/* Bytes of a refused body that are read and discarded, so that the client gets to read the reason; beyond that the
 * connection is closed. */
static const uint64_t BODY_READ_MOST = 8 * (uint64_t)LIMIT_HTTP_BODY;
static const uint64_t BODY_LITTLE = 65536; /* of a request that is refused already */

static void too_large_say(struct http_request *request) {
    snprintf(request->why, sizeof request->why, "A request may have at most %d bytes.",
             LIMIT_HTTP_BODY);
}

static enum MHD_Result body_add(struct http_request *request, const char *data, size_t size) {
    request->came += size;
    if (request->came > LIMIT_HTTP_BODY && !request->refused) {
        request->refused = ERROR_TOO_LARGE;
        too_large_say(request);
        buffer_free(&request->body);
    }
    if (request->refused)
        return request->came > BODY_READ_MOST ? MHD_NO : MHD_YES;
    if (!buffer_add(&request->body, data, size))
        request->refused = ERROR_NO_MEMORY;
    return MHD_YES;
}

/* ---- lifetime ---- */

static struct http_request *http_request_make(struct http_server *server,
                                              struct MHD_Connection *connection) {
    struct http_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    request->server = server;
    request->context = http_server_context(server);
    request->over_unix = http_server_is_unix(server);
    request->for_runs = http_server_is_for_runs(server);
    request->connection = connection;
    return request;
}

/* If the path exists but not with this method: lists the methods that it has. */
static bool methods_name(const char *url, char *allow, size_t size) {
    bool there = false;
    snprintf(allow, size, "Allow: ");
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (strcmp(ROUTES[i].path, url) == 0) {
            size_t used = strlen(allow);
            snprintf(allow + used, size - used, "%s%s", there ? ", " : "", ROUTES[i].method);
            there = true;
        }
    return there;
}

static enum MHD_Result refusal_send(struct http_request *request, const char *url) {
    char allow[96];
    if (!request->route && request->refused == ERROR_UNKNOWN_METHOD &&
        methods_name(url, allow, sizeof allow))
        return http_reply_status(request, 405, ERROR_UNKNOWN_METHOD, request->why, allow);
    return http_reply_error(request, request->refused, request->why);
}

static const struct route *route_find(const char *url, const char *method) {
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (strcmp(ROUTES[i].path, url) == 0 && strcmp(ROUTES[i].method, method) == 0)
            return &ROUTES[i];
    return NULL;
}

/* The announced size of the body; UINT64_MAX if the body is chunked. */
static uint64_t body_announced(const struct http_request *request) {
    const char *length = http_request_header(request, "Content-Length");
    if (length)
        return strtoull(length, NULL, 10);
    return http_request_header(request, "Transfer-Encoding") ? UINT64_MAX : 0;
}

static enum error http_request_verdict(struct http_request *request, const char *url,
                                       const char *method) {
    enum error error = http_authenticate(request, method, request->why, sizeof request->why);
    if (error)
        return error;
    if (!request->route) {
        snprintf(request->why, sizeof request->why, "There is no %.16s %.64s.", method, url);
        return ERROR_UNKNOWN_METHOD;
    }
    const char *length = http_request_header(request, "Content-Length");
    return length && body_announced(request) > BODY_READ_MOST ? ERROR_TOO_LARGE : ERROR_NONE;
}

/* The head has arrived. A refused client with a small body may finish sending it, and can reuse the connection;
 * otherwise no further byte is read. */
static enum MHD_Result http_request_meet(struct http_request *request, const char *url,
                                         const char *method) {
    request->route = route_find(url, method);
    request->refused = http_request_verdict(request, url, method);
    if (!request->route && request->origin && strcmp(method, "OPTIONS") == 0)
        return http_reply(request, 204, NULL, STR(""),
                          "Access-Control-Allow-Headers: Authorization, Content-Type, "
                          "Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version");
    if (request->refused == ERROR_TOO_LARGE)
        too_large_say(request);
    bool at_once = request->refused && body_announced(request) > BODY_LITTLE;
    return at_once ? refusal_send(request, url) : MHD_YES;
}

enum MHD_Result http_request_handle(void *with, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data,
                                    size_t *size, void **state) {
    (void)version;
    struct http_request *request = *state;
    if (!request) {
        request = *state = http_request_make(with, connection);
        if (!request)
            return http_reply_plainly(&(struct http_request){.connection = connection},
                                      ERROR_NO_MEMORY);
        conn_moves(connection, CONN_COMING);
        return http_request_meet(request, url, method);
    }
    if (*size > 0) {
        enum MHD_Result result = body_add(request, data, *size);
        *size = 0;
        return result;
    }
    conn_moves(connection, CONN_WHOLE);
    switch (atomic_load(&request->state)) {
    case HTTP_REQUEST_COMING:
        return request->refused ? refusal_send(request, url) : request->route->begin(request);
    case HTTP_REQUEST_ANSWERED: return request->route->answered(request);
    default: return MHD_YES;
    }
}

void http_request_completed(void *with, struct MHD_Connection *connection, void **state,
                            enum MHD_RequestTerminationCode why) {
    (void)with, (void)why;
    struct http_request *request = *state;
    conn_moves(connection, CONN_IDLE);
    *state = NULL;
    if (!request)
        return;
    if (request->route && request->route->forget)
        request->route->forget(request);
    json_decref(request->json); /* before the call, which shares it and may end on another thread */
    call_release(request->call);
    buffer_free(&request->body);
    free(request);
}
