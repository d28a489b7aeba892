/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests of the command line to the daemon. */
#pragma once

#include "cli/trouble.h"

#include <jansson.h>
#include <limits.h>

struct daemon_address { /* where the daemon listens and keeps its files: see place_find() */
    char socket[PATH_MAX];
    char folder[PATH_MAX]; /* for its registration, log and tokens */
    char store[PATH_MAX + 16];
    const char *url, *token; /* of a remote daemon; NULL: the socket */
};

/* Calls a method. Returns the result; NULL: the trouble says why. G-45: a request that only reads, or has a key, is
 * sent again when its answer is lost. */
json_t *daemon_call(const struct daemon_address *at, const char *method, json_t *params,
                    struct trouble *trouble);

/* Gets a path. The caller frees the text; NULL: no daemon answers, and the trouble says why. */
char *daemon_get(const struct daemon_address *at, const char *path, long *ret_status,
                 struct trouble *trouble);

/* Follows a stream of server-sent events until `each` returns false or the stream ends. Returns false, with the trouble
 * set, if no daemon answers or the answer is not a stream. */
struct sent {
    const char *id, *event, *data;
};
bool daemon_follow(const struct daemon_address *at, const char *path, const char *after,
                   bool (*each)(void *with, const struct sent *sent), void *with,
                   struct trouble *trouble);
