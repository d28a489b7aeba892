/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lookup.h"

#include "sys/crash_guard.h"

#include <errno.h>
#include <time.h>

enum {
    REST_AFTER_SECONDS = 20
}; /* after this time without a lookup, the connection is given back */

struct asking {
    struct lookups *lookups;
    struct lookup *lookup;
    struct store_answer *answer;
    struct arena *arena;
};

static void ask_call(void *with) {
    struct asking *asking = with;
    store_perform(asking->lookups->store, &asking->lookup->request, asking->answer, asking->arena);
}

static void ask(struct lookups *lookups, struct lookup *lookup, struct arena *arena) {
    struct store_answer answer;
    struct asking asking = {lookups, lookup, &answer, arena};
    struct crash_guard_report report;
    arena_reset(arena);
    if (crash_guard_run(ask_call, &asking, &report) != CRASH_GUARD_WHOLE)
        answer = (struct store_answer){.outcome = STORE_FAILED, .error = str_of(report.why)};
    lookup->done(lookup, &answer);
}

/* The lock is held. True: no lookup came for some time. */
static bool await(struct lookups *lookups) {
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += REST_AFTER_SECONDS;
    while (!lookups->first && !lookups->stopping && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&lookups->changed, &lookups->lock, &until);
    return !lookups->first && !lookups->stopping;
}

static struct lookup *next_lookup(struct lookups *lookups) {
    pthread_mutex_lock(&lookups->lock);
    if (await(lookups)) {
        store_rest(
            lookups->store); /* a lookup that comes now waits at most for the next connection */
        while (!lookups->first && !lookups->stopping)
            pthread_cond_wait(&lookups->changed, &lookups->lock);
    }
    struct lookup *lookup = lookups->first;
    if (lookup)
        lookups->first = lookup->next;
    if (!lookups->first)
        lookups->last = NULL;
    pthread_mutex_unlock(&lookups->lock);
    return lookup;
}

static void *lookups_run(void *with) {
    struct lookups *lookups = with;
    struct arena arena = {0};
    for (struct lookup *lookup; (lookup = next_lookup(lookups));)
        ask(lookups, lookup, &arena);
    arena_free(&arena);
    return NULL;
}

bool lookups_start(struct lookups *lookups, struct store *store) {
    pthread_condattr_t clock;
    *lookups = (struct lookups){.store = store};
    pthread_mutex_init(&lookups->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&lookups->changed, &clock);
    pthread_condattr_destroy(&clock);
    return pthread_create(&lookups->thread, NULL, lookups_run, lookups) == 0;
}

bool lookups_ask(struct lookups *lookups, struct lookup *lookup) {
    lookup->next = NULL;
    pthread_mutex_lock(&lookups->lock);
    bool answered = !lookups->stopping;
    if (answered && lookups->last)
        lookups->last->next = lookup;
    else if (answered)
        lookups->first = lookup;
    if (answered)
        lookups->last = lookup;
    pthread_cond_signal(&lookups->changed);
    pthread_mutex_unlock(&lookups->lock);
    return answered;
}

void lookups_stop(struct lookups *lookups) {
    pthread_mutex_lock(&lookups->lock);
    lookups->stopping = true;
    pthread_cond_signal(&lookups->changed);
    pthread_mutex_unlock(&lookups->lock);
    pthread_join(lookups->thread, NULL);
}
