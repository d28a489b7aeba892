/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request, and the operations that a route can perform on it. The only headers of the daemon that include
 * libmicrohttpd are this one and those of its routes. */
#pragma once

#include "base/buffer.h"
#include "engine/call.h"

#include <microhttpd.h>

enum http_request_state {
    HTTP_REQUEST_COMING,
    HTTP_REQUEST_ASKING,
    HTTP_REQUEST_SLEEPING,
    HTTP_REQUEST_ANSWERED
};

struct http_request { /* the caller is known before a route sees the request */
    struct daemon_context *context;
    struct http_server *server;
    struct MHD_Connection *connection;
    const struct route *route;
    struct caller caller;
    bool over_unix, for_runs; /* for_runs: through the HTTP server for runs */
    struct buffer body;       /* complete, at most LIMIT_HTTP_BODY */
    json_t *json;             /* the body, parsed by http_request_json() */
    struct call *call;        /* started by http_request_ask() */
    void *own;                /* owned by the route; freed by route->forget */
    struct id cache_goal;     /* the answer may be cached for this goal, */
    uint64_t cache_mark;      /* if nothing was written about the goal since */
    bool keeps;

    /* private to http_call.c, http_dispatch.c, http_request.c and auth.c */
    atomic_int state;
    uint64_t came;      /* bytes of the body received, kept or not */
    enum error refused; /* the error to reply once the body has passed */
    char why[256];
    const char *origin; /* an allowed origin; NULL: not a browser */
    bool by_token;
    struct hash token; /* the token of the request, hashed */
};

struct route {
    const char *method, *path;
    uint32_t may; /* MAY_…; 0: any client, even without a token */
    /* All of these run on the HTTP thread. begin: replies, or calls an operation and waits. */
    enum MHD_Result (*begin)(struct http_request *request);
    enum MHD_Result (*answered)(
        struct http_request *request);            /* the answer to http_request_ask() has arrived */
    void (*forget)(struct http_request *request); /* the request is over; may be NULL */
};

extern const struct route ROUTES[]; /* in http_server.c: one row for each path and method */
extern const size_t ROUTE_COUNT;

/* Parses the body: bounded depth, no duplicate keys. `why` says line, column and what is wrong; the error is
 * ERROR_NOT_JSON, or ERROR_NO_MEMORY. */
enum error http_request_json(struct http_request *request, char *why, size_t size);

const char *http_request_header(const struct http_request *request,
                                const char *name); /* NULL: there is no such header */
const char *http_request_query(const struct http_request *request,
                               const char *name); /* ?name=value */

/* Replies. `header` is one additional "Name: value", or NULL. */
enum MHD_Result http_reply(struct http_request *request, int status, const char *type,
                           struct str text, const char *header);
/* The same with bytes that the response takes ownership of and frees. */
enum MHD_Result http_reply_bytes(struct http_request *request, int status, char *text, size_t len,
                                 const char *header);
/* otherwise: the error to send when there is no memory for the answer. Takes ownership of json. */
enum MHD_Result http_reply_json(struct http_request *request, int status, json_t *json,
                                enum error otherwise, const char *header);
enum MHD_Result http_reply_error(struct http_request *request, enum error error, const char *why);
/* A stream: see MHD_create_response_from_callback. The reader may suspend the connection with http_request_sleep();
 * http_request_wake() resumes it, from any thread, and cannot race with the end of the request as long as it is called
 * under the lock that `forget` takes. A suspended connection has to be resumed before the HTTP server can be closed. */
enum MHD_Result http_request_stream(struct http_request *request, const char *type,
                                    MHD_ContentReaderCallback read, void *with);
void http_request_sleep(struct http_request *request);
void http_request_wake(struct http_request *request);

/* For streams, before they send more: is the token of the request still valid? */
bool http_request_may_stay(const struct http_request *request);

/* Replies without memory; with a status that the error does not imply. */
enum MHD_Result http_reply_plainly(struct http_request *request, enum error error);
enum MHD_Result http_reply_status(struct http_request *request, int status, enum error error,
                                  const char *why, const char *header);

/* ---- http_call.c ---- */

/* Calls an operation; the connection is suspended until route->answered is called. */
enum MHD_Result http_request_ask(struct http_request *request, struct str method,
                                 const json_t *params);

/* ---- http_dispatch.c ---- */

/* libmicrohttpd calls this for the head, for each piece of the body, at its end, and after each resume. `with` is the
 * HTTP server. */
enum MHD_Result http_request_handle(void *with, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data,
                                    size_t *size, void **state);
void http_request_completed(void *with, struct MHD_Connection *connection, void **state,
                            enum MHD_RequestTerminationCode why);
