/* SPDX-License-Identifier: Apache-2.0 */
/* What is one HTTP request, and what can a route do with it? The only headers of the daemon that know libmicrohttpd
 * are this one and those of its routes. */
#pragma once

#include "daemon/call.h"

#include <microhttpd.h>

struct visit { /* its caller is known before a route sees it */
    struct house *house;
    struct door *door;
    struct MHD_Connection *connection;
    const struct route *route;
    struct caller caller;
    bool over_unix, for_runs; /* for_runs: through their own door */
    struct str body;          /* whole, at most LIMIT_HTTP_BODY */
    json_t *json;             /* the body, parsed by visit_json() */
    struct call *call;        /* asked by visit_ask() */
    void *own;                /* the route's; freed by route->forget */
    struct id cache_goal;     /* its answer may be kept for this goal, */
    uint64_t cache_mark;      /* if nothing was written about it since */
    bool keeps;

    /* visit.c's and door.c's own */
    atomic_int state;
    char *room; /* of the body */
    size_t size;
    uint64_t came;      /* bytes of the body, kept or not */
    enum error refused; /* what it will be told once its body has passed */
    char why[256];
    const char *origin; /* one that is allowed; NULL: no browser */
    bool by_token;
    struct hash token; /* that it came with */
};

struct route {
    const char *method, *path;
    uint32_t may; /* MAY_…; 0: anybody, also without a token */
    /* All of these run on the HTTP thread. begin: answer, or ask and wait. */
    enum MHD_Result (*begin)(struct visit *visit);
    enum MHD_Result (*answered)(struct visit *visit); /* what visit_ask() asked for is there */
    void (*forget)(struct visit *visit);              /* the request is over; may be NULL */
};

extern const struct route ROUTES[]; /* in door.c: one row for each path */
extern const size_t ROUTE_COUNT;

/* Ask an operation; the connection sleeps until route->answered is called. */
enum MHD_Result visit_ask(struct visit *visit, struct str method, const json_t *params);

/* Parse the body: bounded depth, no duplicate keys. `why` says line, column and what is wrong; the error is
 * ERROR_NOT_JSON, or ERROR_NO_MEMORY. */
enum error visit_json(struct visit *visit, char *why, size_t size);

const char *visit_header(const struct visit *visit, const char *name); /* NULL: it has none */
const char *visit_query(const struct visit *visit, const char *name);  /* ?name=value */

/* Replies. `header` is one more "Name: value", or NULL. */
enum MHD_Result visit_reply(struct visit *visit, int status, const char *type, struct str text,
                            const char *header);
/* The same with bytes that the response takes over and frees. */
enum MHD_Result visit_reply_bytes(struct visit *visit, int status, char *text, size_t len,
                                  const char *header);
/* otherwise: what is said when there is no memory for the answer. Owns json. */
enum MHD_Result visit_reply_json(struct visit *visit, int status, json_t *json,
                                 enum error otherwise, const char *header);
enum MHD_Result visit_reply_error(struct visit *visit, enum error error, const char *why);
/* A stream: see MHD_create_response_from_callback. The reader may suspend the connection with visit_sleep();
 * visit_wake() resumes it, from any thread, and is safe against the visit's end as long as it is called under the lock
 * that `forget` takes. Whoever sleeps has to be woken before the door can be closed. */
enum MHD_Result visit_stream(struct visit *visit, const char *type, MHD_ContentReaderCallback read,
                             void *with);
void visit_sleep(struct visit *visit);
void visit_wake(struct visit *visit);

/* For streams, before they say more: is the token that it came with still good? */
bool visit_may_stay(const struct visit *visit);

/* ---- for door.c ---- */

/* What libmicrohttpd calls for the head, for each piece of the body, at its end, and after each resume. `with` is
 * the door. */
enum MHD_Result visit_handle(void *with, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *data,
                             size_t *size, void **state);
void visit_completed(void *with, struct MHD_Connection *connection, void **state,
                     enum MHD_RequestTerminationCode why);
