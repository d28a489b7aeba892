/* SPDX-License-Identifier: Apache-2.0 */
/* How does the command line speak to the daemon? */
#pragma once

#include "cli/trouble.h"

#include <jansson.h>
#include <limits.h>

struct door_at { /* where it listens, and where it keeps its things: see place_find() */
    char socket[PATH_MAX];
    char folder[PATH_MAX]; /* of its registration, log and tokens */
    char store[PATH_MAX + 16];
    const char *url, *token; /* of a daemon elsewhere; NULL: the socket */
};

/* Calls a method. The result, or NULL with the trouble. G-45: what only looks, or has a key, is sent again when its
 * answer is lost. */
json_t *daemon_call(const struct door_at *at, const char *method, json_t *params,
                    struct trouble *trouble);

/* Gets a path. The text is to be freed; NULL with the trouble: nobody answers. */
char *daemon_get(const struct door_at *at, const char *path, long *ret_status,
                 struct trouble *trouble);

/* Follows a stream of server-sent events until `each` says false or it ends. Returns false with the trouble when
 * nobody answers, or not with a stream. */
struct sent {
    const char *id, *event, *data;
};
bool daemon_follow(const struct door_at *at, const char *path, const char *after,
                   bool (*each)(void *with, const struct sent *sent), void *with,
                   struct trouble *trouble);
