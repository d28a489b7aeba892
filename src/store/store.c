/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a store with the driver that serves it. */
#include "store/store.h"

#include "store/postgres/postgres.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>

const char *const STORE_VERB_NAMES[STORE_VERBS] = {
    [STORE_NOTHING] = "nothing", [STORE_JOIN] = "join",       [STORE_OWNED] = "owned",
    [STORE_BEAT] = "beat",       [STORE_POLL] = "poll",       [STORE_TAKE] = "take",
    [STORE_ADOPT] = "adopt",     [STORE_LOAD] = "load",       [STORE_COMMIT] = "commit",
    [STORE_RESOLVE] = "resolve", [STORE_FORWARD] = "forward", [STORE_SHOW] = "show",
    [STORE_LIST] = "list",       [STORE_FIND] = "find",       [STORE_TALLY] = "tally",
    [STORE_FOLLOW] = "follow",   [STORE_NAMED] = "named",     [STORE_NUMBERS] = "numbers",
    [STORE_ORDER] = "order",     [STORE_HISTORY] = "history", [STORE_HOSTS] = "hosts",
    [STORE_BRIEF] = "brief",
};

static struct store *open_as(struct str where, bool beside, char *error, size_t error_size) {
    struct sqlite_options options = {
        .path = store_address_file(where.at), .busy_ms = 2000, .keeps_log = beside};
    if (options.path)
        return sqlite_open(&options, error, error_size);
    if (store_address_is_postgres(where.at))
        return postgres_open(where.at, error, error_size);
    snprintf(error, error_size,
             "\"%.*s\" is not a store. Use sqlite:PATH, or postgresql://USER@HOST/DATABASE.",
             STR_ARG(where));
    return NULL;
}

struct store *store_open(struct str where, char *error, size_t error_size) {
    return open_as(where, false, error, error_size);
}

struct store *store_open_beside(struct str where, char *error, size_t error_size) {
    return open_as(where, true, error, error_size);
}
