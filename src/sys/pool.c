/* SPDX-License-Identifier: Apache-2.0 */
/* Runs slow jobs on threads of their own, and chooses the next one. */
#include "sys/pool.h"

#include "base/must.h"
#include "sys/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct slot { /* what one thread runs; the job itself may be freed already */
    struct pool_view view;
    char key[POOL_KEY];
    bool busy;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t threads[POOL_THREADS];
    struct slot slots[POOL_THREADS];
    unsigned thread_count, per_key, most, waiting;
    struct pool_job *first, **last;
    atomic_bool stopping;
    bool joined;
};

struct beginning { /* start arguments of one thread */
    struct pool *pool;
    struct slot *slot;
};

static unsigned running_with(const struct pool *pool, const char *key) {
    unsigned count = 0;
    for (unsigned i = 0; i < pool->thread_count; i++)
        count += pool->slots[i].busy && strcmp(pool->slots[i].key, key) == 0;
    return count;
}

/* The oldest job whose key leaves room. While the pool stops, keys do not count. NULL: none. */
static struct pool_job *job_take(struct pool *pool) {
    for (struct pool_job **at = &pool->first; *at; at = &(*at)->next) {
        struct pool_job *job = *at;
        if (job->key[0] && !atomic_load(&pool->stopping) &&
            running_with(pool, job->key) >= pool->per_key)
            continue;
        *at = job->next;
        if (!job->next)
            pool->last = at;
        pool->waiting--;
        return job;
    }
    return NULL;
}

static void view_make(const struct pool_job *job, bool running, struct pool_view *ret) {
    *ret = (struct pool_view){.goal = job->goal, .since = job->since, .running = running};
    memcpy(ret->what, job->what, sizeof ret->what);
}

static void job_run(struct pool *pool, struct slot *slot, struct pool_job *job) {
    view_make(job, true, &slot->view);
    memcpy(slot->key, job->key, sizeof slot->key);
    slot->busy = true;
    pthread_mutex_unlock(&pool->lock);
    job->run(job);
    pthread_mutex_lock(&pool->lock);
    slot->busy = false;
    pthread_cond_broadcast(&pool->changed); /* its key has room again */
}

static void *thread_run(void *with) {
    struct beginning own = *(struct beginning *)with;
    struct pool *pool = own.pool;
    free(with);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct pool_job *job = job_take(pool);
        if (job)
            job_run(pool, own.slot, job);
        else if (atomic_load(&pool->stopping))
            break;
        else
            pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool thread_start(struct pool *pool, unsigned number) {
    struct beginning *own = malloc(sizeof *own);
    if (!own)
        return false;
    *own = (struct beginning){pool, &pool->slots[number]};
    if (pthread_create(&pool->threads[number], NULL, thread_run, own) == 0)
        return true;
    free(own);
    return false;
}

struct pool *pool_start(unsigned threads, unsigned per_key, unsigned most) {
    must(threads > 0 && threads <= POOL_THREADS && per_key > 0 && per_key <= threads);
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->per_key = per_key;
    pool->most = most;
    pool->last = &pool->first;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pthread_mutex_lock(&pool->lock);
    while (pool->thread_count < threads && thread_start(pool, pool->thread_count))
        pool->thread_count++;
    pthread_mutex_unlock(&pool->lock);
    if (pool->thread_count > 0)
        return pool;
    pool_free(pool);
    return NULL;
}

void pool_name(struct pool_job *job, struct id goal, struct str key, struct str what) {
    job->goal = goal;
    snprintf(job->key, sizeof job->key, "%.*s", STR_ARG(key));
    snprintf(job->what, sizeof job->what, "%.*s", STR_ARG(str_cut_utf8(what, POOL_WHAT - 1)));
}

bool pool_put(struct pool *pool, struct pool_job *job) {
    pthread_mutex_lock(&pool->lock);
    bool taken = !atomic_load(&pool->stopping) && pool->waiting < pool->most;
    if (taken) {
        job->next = NULL;
        job->since = clock_boot();
        *pool->last = job;
        pool->last = &job->next;
        pool->waiting++;
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

unsigned pool_look(struct pool *pool, struct pool_view *ret, unsigned most) {
    unsigned count = 0;
    pthread_mutex_lock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count && count < most; i++)
        if (pool->slots[i].busy)
            ret[count++] = pool->slots[i].view;
    for (const struct pool_job *job = pool->first; job && count < most; job = job->next)
        view_make(job, false, &ret[count++]);
    pthread_mutex_unlock(&pool->lock);
    return count;
}

const atomic_bool *pool_is_stopping(const struct pool *pool) {
    return &pool->stopping;
}

void pool_stop(struct pool *pool) {
    if (!pool || pool->joined)
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pool->joined = true;
}

void pool_free(struct pool *pool) {
    if (!pool)
        return;
    pool_stop(pool);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
