/* SPDX-License-Identifier: Apache-2.0 */
/* Answers read requests on a thread with its own connection, which never waits for the ledger. */
#pragma once

#include "store/store.h"

#include <pthread.h>

struct lookup { /* one read request; owned by the caller */
    struct lookup *next;
    struct store_request request;
    void (*done)(struct lookup *lookup, const struct store_answer *answer);
};

struct lookups {
    struct store *store;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lookup *first, *last;
    bool stopping;
};

bool lookups_start(struct lookups *lookups, struct store *store);
bool lookups_ask(struct lookups *lookups,
                 struct lookup *lookup);    /* false: the thread is stopping */
void lookups_stop(struct lookups *lookups); /* answers what waits first */
