/* SPDX-License-Identifier: Apache-2.0 */
/* Who is it, and may they come in? */
#include "daemon/admit.h"

#include "daemon/clock.h"
#include "daemon/door.h"
#include "daemon/guest.h"
#include "daemon/log.h"
#include "daemon/peer.h"
#include "daemon/tempo.h"
#include "daemon/token.h"

#include <stdio.h>

static enum error refuse(enum error error, char *why, size_t size, const char *text) {
    snprintf(why, size, "%s", text);
    return error;
}

/* ---- a browser that was lured here ---- */

/* A page of another site can make a browser call us under a name that it has made up for our address (DNS rebinding):
 * so only names that we know are ours. */
static bool host_is_ours(const struct visit *visit) {
    const char *text = visit_header(visit, "Host");
    struct str host = str_of(text);
    char port[8];
    int length = snprintf(port, sizeof port, ":%u", door_port(visit->door));
    if (host.len > (size_t)length && memcmp(host.at + host.len - length, port, (size_t)length) == 0)
        host.len -= (size_t)length;
    if (str_equal(host, str_of(door_host(visit->door))) || str_equal(host, STR("localhost")))
        return true;
    const struct texts *hosts = &door_rules(visit->door)->hosts;
    for (uint32_t i = 0; i < hosts->count; i++)
        if (str_equal(hosts->at[i], host) || str_equal(hosts->at[i], str_of(text)))
            return true;
    return false;
}

static bool origin_is_allowed(const struct visit *visit, const char *origin) {
    const struct texts *origins = &door_rules(visit->door)->origins;
    for (uint32_t i = 0; i < origins->count; i++)
        if (str_equal(origins->at[i], str_of(origin)))
            return true;
    return false;
}

/* A page that came from here: its host is the one that was asked, which is ours. */
static bool origin_is_own(const struct visit *visit, const char *origin) {
    const char *host = strstr(origin, "://");
    return host && strcmp(host + 3, visit_header(visit, "Host")) == 0;
}

static enum error browser_check(struct visit *visit, char *why, size_t size) {
    const char *origin = visit_header(visit, "Origin");
    if (!host_is_ours(visit))
        return refuse(ERROR_UNAUTHORIZED, why, size,
                      "The Host header names nobody here; server.hosts lists further names.");
    if (!origin)
        return ERROR_NONE;
    if (!origin_is_own(visit, origin) && !origin_is_allowed(visit, origin))
        return refuse(
            ERROR_UNAUTHORIZED, why, size,
            "Pages of that origin may not ask here; server.origins lists those that may.");
    visit->origin = origin;
    return ERROR_NONE;
}

/* ---- who ---- */

/* G-03: an agent has our uid as well. Who runs below a hold comes through the door for runs, with its token. */
static enum error peer_read(struct visit *visit, char *why, size_t size) {
    uid_t uid;
    switch (guest_peer(visit->connection, &uid)) {
    case PEER_FREE:
        visit->caller = (struct caller){.role = ROLE_HUMAN};
        snprintf(visit->caller.actor, sizeof visit->caller.actor, "human:%u", uid);
        return ERROR_NONE;
    case PEER_HELD:
        log_warning("a run of an agent tried the door for people");
        return refuse(ERROR_UNAUTHORIZED, why, size,
                      "This door is for people. A run has its own, with its token.");
    default: return refuse(ERROR_UNAUTHENTICATED, why, size, "Nobody is at the other end.");
    }
}

/* A token says more than a socket: who sends one is what it says, and nothing when it says nothing. */
static enum error caller_find(struct visit *visit, char *why, size_t size) {
    const char *sent = visit_header(visit, "Authorization");
    if (!sent && visit->over_unix && !visit->for_runs)
        return peer_read(visit, why, size);
    if (!sent)
        return refuse(ERROR_UNAUTHENTICATED, why, size, "There is no token.");
    if (strncasecmp(sent, "Bearer ", 7) != 0)
        return refuse(ERROR_UNAUTHENTICATED, why, size, "That is not a bearer token.");
    visit->by_token = true;
    visit->token = sha256(str_of(sent + 7));
    if (!tokens_know(visit->house->tokens, &visit->token, clock_wall(), &visit->caller))
        return refuse(ERROR_UNAUTHENTICATED, why, size,
                      "The token is unknown, revoked or has expired.");
    return ERROR_NONE;
}

/* A token that another run has lost is none: who stands below a hold has the token of that hold's run. */
static bool token_is_own(const struct visit *visit) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(visit->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char run[PEER_RUN];
    return info && peer_run(info->connect_fd, run) &&
           (run[0] == 0 || strcmp(run, visit->caller.run) == 0);
}

/* Who floods the door does not flood the log. */
static void refusal_log(struct visit *visit, const char *why) {
    static const struct hash LINES = {{0xff}};
    if (tempo_allows(door_tempo(visit->door), &LINES, clock_boot()))
        log_warning("refused at the door for runs: %s", why);
}

/* Whatever token an agent has found somewhere: through this door comes a run, or nobody. */
static enum error run_find(struct visit *visit, char *why, size_t size) {
    enum error error = caller_find(visit, why, size);
    if (!error && visit->caller.role != ROLE_RUN)
        error = refuse(ERROR_UNAUTHORIZED, why, size, "This door is for runs of agents alone.");
    if (!error && !token_is_own(visit))
        error = refuse(ERROR_UNAUTHORIZED, why, size, "This token is of another run.");
    if (!error && !tempo_allows(door_tempo(visit->door), &visit->token, clock_boot()))
        error = refuse(ERROR_LIMITED, why, size, "This run asks too often; wait a few seconds.");
    if (error)
        refusal_log(visit, why);
    return error;
}

bool visit_may_stay(const struct visit *visit) {
    struct caller caller;
    return !visit->by_token ||
           tokens_know(visit->house->tokens, &visit->token, clock_wall(), &caller);
}

enum error admit(struct visit *visit, const char *method, char *why, size_t why_size) {
    enum error error = visit->over_unix ? ERROR_NONE : browser_check(visit, why, why_size);
    bool public = (visit->route && visit->route->may == 0) ||
                  (visit->origin && strcmp(method, "OPTIONS") == 0);
    if (error || public)
        return error;
    error = visit->for_runs ? run_find(visit, why, why_size) : caller_find(visit, why, why_size);
    if (error)
        return error;
    guest_is_known(visit->connection);
    if (visit->route && !(visit->route->may & 1u << visit->caller.role))
        return refuse(ERROR_UNAUTHORIZED, why, why_size, "This path is not for your role.");
    return ERROR_NONE;
}
