/* SPDX-License-Identifier: Apache-2.0 */
/* Runs slow jobs (git against a remote, the diff of a worktree) on a bounded number of threads of their own, so that no
 * thread that serves people, and none of the event loop's own workers, waits for them.
 *
 * Jobs run in the order in which they were put, but at most `per_key` jobs with the same key run at once: one remote
 * that does not answer cannot take every thread. Waiting and running jobs can be listed, for `status`. */
#pragma once

#include "base/id.h"
#include "base/str.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    POOL_THREADS = 16, /* of one pool, at most */
    POOL_KEY = 64,     /* bytes of a key; a longer one is cut */
    POOL_WHAT = 96     /* bytes of a job's description */
};

struct pool;

struct pool_job { /* owned by its caller again once `run` is called */
    struct pool_job *next;
    void (*run)(struct pool_job *job); /* on a thread of the pool; may free the job */
    char key[POOL_KEY];                /* empty: no limit but the threads */
    char what[POOL_WHAT];              /* for people: "push to origin" */
    struct id goal;                    /* zero: for no goal in particular */
    int64_t since;                     /* boot clock: when it was put */
};

struct pool_view { /* copy of a job's state */
    char what[POOL_WHAT];
    struct id goal;
    int64_t since;
    bool running; /* false: it waits for a thread */
};

/* NULL: no memory, or no thread. `most`: jobs that may wait. */
struct pool *pool_start(unsigned threads, unsigned per_key, unsigned most);

/* From any thread. False: too many wait, or the pool stops; the caller keeps the job. */
bool pool_put(struct pool *pool, struct pool_job *job);
void pool_name(struct pool_job *job, struct id goal, struct str key, struct str what);

/* Running jobs first, then waiting ones. */
unsigned pool_look(struct pool *pool, struct pool_view *ret, unsigned most);

/* True from the moment that pool_stop() begins: long jobs check it, and end. */
const atomic_bool *pool_is_stopping(const struct pool *pool);

/* Waiting jobs are run, too: each sees that the pool stops. Returns once the last one has ended. */
void pool_stop(struct pool *pool);
void pool_free(struct pool *pool);
