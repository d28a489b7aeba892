/* SPDX-License-Identifier: Apache-2.0 */
/* Authenticates HTTP requests and decides whether they may proceed. */
#include "http/auth.h"

#include "engine/token.h"
#include "http/http_server.h"
#include "http/peer.h"
#include "http/throttle.h"
#include "http/unauthenticated.h"
#include "sys/clock.h"
#include "sys/log.h"

#include <stdio.h>

static enum error refuse(enum error error, char *why, size_t size, const char *text) {
    snprintf(why, size, "%s", text);
    return error;
}

/* ---- browser requests: Host and Origin ---- */

/* A page of another site can make a browser call us under a host name that it chose for our address (DNS rebinding), so
 * only host names that we know to be ours are accepted. */
static bool host_is_ours(const struct http_request *request) {
    const char *text = http_request_header(request, "Host");
    struct str host = str_of(text);
    char port[8];
    int length = snprintf(port, sizeof port, ":%u", http_server_port(request->server));
    if (host.len > (size_t)length && memcmp(host.at + host.len - length, port, (size_t)length) == 0)
        host.len -= (size_t)length;
    if (str_equal(host, str_of(http_server_host(request->server))) ||
        str_equal(host, STR("localhost")))
        return true;
    const struct texts *hosts = &http_server_rules(request->server)->hosts;
    for (uint32_t i = 0; i < hosts->count; i++)
        if (str_equal(hosts->at[i], host) || str_equal(hosts->at[i], str_of(text)))
            return true;
    return false;
}

static bool origin_is_allowed(const struct http_request *request, const char *origin) {
    const struct texts *origins = &http_server_rules(request->server)->origins;
    for (uint32_t i = 0; i < origins->count; i++)
        if (str_equal(origins->at[i], str_of(origin)))
            return true;
    return false;
}

/* The page came from this server: its origin names the same host as the Host header, which was checked to be ours. */
static bool origin_is_own(const struct http_request *request, const char *origin) {
    const char *host = strstr(origin, "://");
    return host && strcmp(host + 3, http_request_header(request, "Host")) == 0;
}

static enum error browser_check(struct http_request *request, char *why, size_t size) {
    const char *origin = http_request_header(request, "Origin");
    if (!host_is_ours(request))
        return refuse(
            ERROR_UNAUTHORIZED, why, size,
            "The Host header does not name this server; add further names to server.hosts.");
    if (!origin)
        return ERROR_NONE;
    if (!origin_is_own(request, origin) && !origin_is_allowed(request, origin))
        return refuse(
            ERROR_UNAUTHORIZED, why, size,
            "Requests from that origin are not allowed; server.origins lists the allowed ones.");
    request->origin = origin;
    return ERROR_NONE;
}

/* ---- the caller ---- */

/* Logs a refusal of the run whose process is at the other end; if that is not known, of the run of the token. */
static void run_refused_log(const struct http_request *request, const char *text, const char *why) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct caller caller = request->caller;
    char run[PEER_RUN];
    if (info && peer_run(info->connect_fd, run) && run[0] != 0 &&
        !tokens_of_run(request->context->tokens, run, &caller)) {
        caller = (struct caller){0};
        snprintf(caller.run, sizeof caller.run, "%s", run);
    }
    struct log_about about = caller_about(&caller);
    log_about(LEVEL_WARNING, &about, "%s%s", text, why);
}

/* G-03: an agent has our uid as well. A process below a hold must use the HTTP server for runs, with its token. */
static enum error peer_read(struct http_request *request, char *why, size_t size) {
    uid_t uid;
    switch (conn_peer(request->connection, &uid)) {
    case PEER_FREE:
        request->caller = (struct caller){.role = ROLE_HUMAN};
        snprintf(request->caller.actor, sizeof request->caller.actor, "human:%u", uid);
        return ERROR_NONE;
    case PEER_HELD:
        run_refused_log(request, "a run of an agent was refused at the socket for people", "");
        return refuse(ERROR_UNAUTHORIZED, why, size,
                      "This socket is for people. A run has its own socket, with its token.");
    default:
        return refuse(ERROR_UNAUTHENTICATED, why, size,
                      "The process at the other end of the socket cannot be identified.");
    }
}

/* A token takes precedence over the socket: a caller that sends a token is what the token says, and is refused if the
 * token is not valid. */
static enum error caller_find(struct http_request *request, char *why, size_t size) {
    const char *sent = http_request_header(request, "Authorization");
    if (!sent && request->over_unix && !request->for_runs)
        return peer_read(request, why, size);
    if (!sent)
        return refuse(ERROR_UNAUTHENTICATED, why, size, "A token is missing.");
    if (strncasecmp(sent, "Bearer ", 7) != 0)
        return refuse(ERROR_UNAUTHENTICATED, why, size, "That is not a bearer token.");
    request->by_token = true;
    request->token = sha256(str_of(sent + 7));
    if (!tokens_know(request->context->tokens, &request->token, clock_wall(), &request->caller))
        return refuse(ERROR_UNAUTHENTICATED, why, size,
                      "The token is unknown, revoked or has expired.");
    return ERROR_NONE;
}

/* A token leaked by another run is not accepted: a process below a hold must present the token of that hold's run. */
static bool token_is_own(const struct http_request *request) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char run[PEER_RUN];
    return info && peer_run(info->connect_fd, run) &&
           (run[0] == 0 || strcmp(run, request->caller.run) == 0);
}

/* Throttled, so that a client that floods the server does not flood the log. */
static void refusal_log(struct http_request *request, const char *why) {
    static const struct hash LINES = {{0xff}};
    if (throttle_allows(http_server_throttle(request->server), &LINES, clock_boot()))
        run_refused_log(request, "refused at the socket for runs: ", why);
}

/* The server for runs accepts only run tokens, whatever other token an agent may have found. */
static enum error run_find(struct http_request *request, char *why, size_t size) {
    enum error error = caller_find(request, why, size);
    if (!error && request->caller.role != ROLE_RUN)
        error = refuse(ERROR_UNAUTHORIZED, why, size, "This socket is for runs of agents only.");
    if (!error && !token_is_own(request))
        error = refuse(ERROR_UNAUTHORIZED, why, size, "This token belongs to another run.");
    if (!error &&
        !throttle_allows(http_server_throttle(request->server), &request->token, clock_boot()))
        error = refuse(ERROR_LIMITED, why, size,
                       "This run sends requests too often; wait a few seconds.");
    if (error)
        refusal_log(request, why);
    return error;
}

bool http_request_may_stay(const struct http_request *request) {
    struct caller caller;
    return !request->by_token ||
           tokens_know(request->context->tokens, &request->token, clock_wall(), &caller);
}

enum error http_authenticate(struct http_request *request, const char *method, char *why,
                             size_t why_size) {
    enum error error = request->over_unix ? ERROR_NONE : browser_check(request, why, why_size);
    bool public = (request->route && request->route->may == 0) ||
                  (request->origin && strcmp(method, "OPTIONS") == 0);
    if (error || public)
        return error;
    error =
        request->for_runs ? run_find(request, why, why_size) : caller_find(request, why, why_size);
    if (error)
        return error;
    conn_authenticated(request->connection);
    if (request->route && !(request->route->may & 1u << request->caller.role))
        return refuse(ERROR_UNAUTHORIZED, why, why_size, "Your role may not use this path.");
    return ERROR_NONE;
}
