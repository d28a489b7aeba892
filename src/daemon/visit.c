/* SPDX-License-Identifier: Apache-2.0 */
/* What is one HTTP request, and what can a route do with it? */
#include "daemon/visit.h"

#include "daemon/admit.h"
#include "daemon/door.h"
#include "daemon/guest.h"
#include "daemon/rpc.h"
#include "ops/api.h"
#include "ops/json.h"

#include <stdio.h>
#include <stdlib.h>

enum visit_state { VISIT_COMING, VISIT_ASKING, VISIT_SLEEPING, VISIT_ANSWERED };

/* This much is read and thrown away, so that its sender gets to read why; past it the connection is closed. */
static const uint64_t BODY_READ_MOST = 8 * (uint64_t)LIMIT_HTTP_BODY;
static const uint64_t BODY_LITTLE = 65536; /* of one who is refused already */

/* ---- replies ---- */

static enum MHD_Result response_send(struct visit *visit, int status, struct MHD_Response *response,
                                     const char *type, const char *header) {
    if (!response)
        return MHD_NO;
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Overseer-Api", API_VERSION);
    if (visit->origin) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", visit->origin);
        MHD_add_response_header(response, "Vary", "Origin");
    }
    if (header) {
        char name[64];
        const char *value = strstr(header, ": ");
        must(value && (size_t)(value - header) < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)(value - header), header);
        MHD_add_response_header(response, name, value + 2);
    }
    enum MHD_Result result = MHD_queue_response(visit->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result visit_reply(struct visit *visit, int status, const char *type, struct str text,
                            const char *header) {
    return response_send(visit, status,
                         MHD_create_response_from_buffer(text.len, (void *)(uintptr_t)text.at,
                                                         MHD_RESPMEM_MUST_COPY),
                         type, header);
}

/* An error by its sentence alone, when there is no memory for more. */
static enum MHD_Result reply_plainly(struct visit *visit, enum error error) {
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
    return visit_reply(visit, row->http_status, "application/json",
                       (struct str){text, (size_t)length}, NULL);
}

enum MHD_Result visit_reply_bytes(struct visit *visit, int status, char *text, size_t len,
                                  const char *header) {
    return response_send(visit, status,
                         MHD_create_response_from_buffer_with_free_callback(len, text, free),
                         "application/json", header);
}

enum MHD_Result visit_reply_json(struct visit *visit, int status, json_t *json,
                                 enum error otherwise, const char *header) {
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (json_ran_short() || !text) {
        free(text);
        return reply_plainly(visit, otherwise);
    }
    return visit_reply_bytes(visit, status, text, strlen(text), header);
}

static enum MHD_Result error_reply(struct visit *visit, int status, enum error error,
                                   const char *why, const char *header) {
    json_ran_short();
    return visit_reply_json(visit, status, rpc_error(NULL, rpc_code(error), error, why), error,
                            header);
}

enum MHD_Result visit_reply_error(struct visit *visit, enum error error, const char *why) {
    return error_reply(visit, ERRORS[error].http_status, error, why,
                       error == ERROR_UNAUTHENTICATED ? "WWW-Authenticate: Bearer" : NULL);
}

enum MHD_Result visit_stream(struct visit *visit, const char *type, MHD_ContentReaderCallback read,
                             void *with) {
    return response_send(
        visit, 200, MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read, with, NULL),
        type, "Cache-Control: no-store");
}

void visit_sleep(struct visit *visit) {
    MHD_suspend_connection(visit->connection);
}

void visit_wake(struct visit *visit) {
    MHD_resume_connection(visit->connection);
}

/* ---- what it brought ---- */

const char *visit_header(const struct visit *visit, const char *name) {
    return MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND, name);
}

const char *visit_query(const struct visit *visit, const char *name) {
    return MHD_lookup_connection_value(visit->connection, MHD_GET_ARGUMENT_KIND, name);
}

enum error visit_json(struct visit *visit, char *why, size_t size) {
    json_decref(visit->json);
    visit->json = NULL;
    return json_read(visit->body, &visit->json, why, size);
}

static bool body_grow(struct visit *visit, size_t wanted) {
    size_t size = visit->size ? visit->size : 1024;
    while (size < wanted)
        size *= 2;
    char *room = size == visit->size ? visit->room : realloc(visit->room, size);
    if (!room)
        return false;
    visit->room = room;
    visit->size = size;
    return true;
}

static void too_large_say(struct visit *visit) {
    snprintf(visit->why, sizeof visit->why, "At most %d bytes are taken.", LIMIT_HTTP_BODY);
}

static enum MHD_Result body_add(struct visit *visit, const char *data, size_t size) {
    visit->came += size;
    if (visit->came > LIMIT_HTTP_BODY && !visit->refused) {
        visit->refused = ERROR_TOO_LARGE;
        too_large_say(visit);
        free(visit->room);
        visit->room = NULL;
        visit->body.len = 0;
    }
    if (visit->refused)
        return visit->came > BODY_READ_MOST ? MHD_NO : MHD_YES;
    if (!body_grow(visit, visit->body.len + size)) {
        visit->refused = ERROR_NO_MEMORY;
        return MHD_YES;
    }
    memcpy(visit->room + visit->body.len, data, size);
    visit->body = (struct str){visit->room, visit->body.len + size};
    return MHD_YES;
}

/* ---- asking ---- */

/* Whoever comes second wakes the connection: the answer, or the one who put it to sleep. */
static void answer_came(void *with) {
    struct visit *visit = with;
    if (atomic_exchange(&visit->state, VISIT_ANSWERED) == VISIT_SLEEPING)
        MHD_resume_connection(visit->connection);
}

enum MHD_Result visit_ask(struct visit *visit, struct str method, const json_t *params) {
    call_release(visit->call);
    visit->call = call_new(visit->house, &visit->caller);
    if (!visit->call)
        return reply_plainly(visit, ERROR_NO_MEMORY);
    atomic_store(&visit->state, VISIT_ASKING);
    bool later = call_start(visit->call, method, params, answer_came, visit);
    if (!later || atomic_load(&visit->state) == VISIT_ANSWERED) {
        atomic_store(&visit->state, VISIT_ANSWERED);
        return visit->route->answered(visit);
    }
    MHD_suspend_connection(visit->connection);
    int asking = VISIT_ASKING;
    if (!atomic_compare_exchange_strong(&visit->state, &asking, VISIT_SLEEPING))
        MHD_resume_connection(visit->connection);
    return MHD_YES;
}

/* ---- its life ---- */

static struct visit *visit_make(struct door *door, struct MHD_Connection *connection) {
    struct visit *visit = calloc(1, sizeof *visit);
    if (!visit)
        return NULL;
    visit->door = door;
    visit->house = door_house(door);
    visit->over_unix = door_is_unix(door);
    visit->for_runs = door_is_for_runs(door);
    visit->connection = connection;
    return visit;
}

/* A path that is there, and a method that is not: which ones are. */
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

static enum MHD_Result refusal_send(struct visit *visit, const char *url) {
    char allow[96];
    if (!visit->route && visit->refused == ERROR_UNKNOWN_METHOD &&
        methods_name(url, allow, sizeof allow))
        return error_reply(visit, 405, ERROR_UNKNOWN_METHOD, visit->why, allow);
    return visit_reply_error(visit, visit->refused, visit->why);
}

static const struct route *route_find(const char *url, const char *method) {
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (strcmp(ROUTES[i].path, url) == 0 && strcmp(ROUTES[i].method, method) == 0)
            return &ROUTES[i];
    return NULL;
}

/* How much is to come, as far as it is said. */
static uint64_t body_announced(const struct visit *visit) {
    const char *length = visit_header(visit, "Content-Length");
    if (length)
        return strtoull(length, NULL, 10);
    return visit_header(visit, "Transfer-Encoding") ? UINT64_MAX : 0;
}

static enum error visit_verdict(struct visit *visit, const char *url, const char *method) {
    enum error error = admit(visit, method, visit->why, sizeof visit->why);
    if (error)
        return error;
    if (!visit->route) {
        snprintf(visit->why, sizeof visit->why, "There is no %.16s %.64s here.", method, url);
        return ERROR_UNKNOWN_METHOD;
    }
    const char *length = visit_header(visit, "Content-Length");
    return length && body_announced(visit) > BODY_READ_MOST ? ERROR_TOO_LARGE : ERROR_NONE;
}

/* The head is here. Who is refused with little to say is let finish first, and can ask again on the same connection;
 * otherwise not a byte more is read. */
static enum MHD_Result visit_meet(struct visit *visit, const char *url, const char *method) {
    visit->route = route_find(url, method);
    visit->refused = visit_verdict(visit, url, method);
    if (!visit->route && visit->origin && strcmp(method, "OPTIONS") == 0)
        return visit_reply(visit, 204, NULL, STR(""),
                           "Access-Control-Allow-Headers: Authorization, Content-Type, "
                           "Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version");
    if (visit->refused == ERROR_TOO_LARGE)
        too_large_say(visit);
    bool at_once = visit->refused && body_announced(visit) > BODY_LITTLE;
    return at_once ? refusal_send(visit, url) : MHD_YES;
}

enum MHD_Result visit_handle(void *with, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *data,
                             size_t *size, void **state) {
    (void)version;
    struct visit *visit = *state;
    if (!visit) {
        visit = *state = visit_make(with, connection);
        if (!visit)
            return reply_plainly(&(struct visit){.connection = connection}, ERROR_NO_MEMORY);
        guest_moves(connection, GUEST_COMING);
        return visit_meet(visit, url, method);
    }
    if (*size > 0) {
        enum MHD_Result result = body_add(visit, data, *size);
        *size = 0;
        return result;
    }
    guest_moves(connection, GUEST_WHOLE);
    switch (atomic_load(&visit->state)) {
    case VISIT_COMING:
        return visit->refused ? refusal_send(visit, url) : visit->route->begin(visit);
    case VISIT_ANSWERED: return visit->route->answered(visit);
    default: return MHD_YES;
    }
}

void visit_completed(void *with, struct MHD_Connection *connection, void **state,
                     enum MHD_RequestTerminationCode why) {
    (void)with, (void)why;
    struct visit *visit = *state;
    guest_moves(connection, GUEST_IDLE);
    *state = NULL;
    if (!visit)
        return;
    if (visit->route && visit->route->forget)
        visit->route->forget(visit);
    json_decref(visit->json); /* before the call, which shares it and may end on another thread */
    call_release(visit->call);
    free(visit->room);
    free(visit);
}
