/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parts of test_model_postgres. */
#pragma once

#include "lib/backend.h"
#include "lib/gen.h"

#include <libpq-fe.h>
#include <pthread.h>

enum { MAX_LANES = 4, MAX_HOSTS = 3, MAX_GOALS = 7, MAX_SOURCES = 6, MAX_VIEWS = 64 };

#define RC_AT SECONDS(1790000000) /* the wall clock of every request */

/* ---- lane.c: one session of the real driver, statement by statement ---- */

struct lane {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct store *store;
    const struct store_request *request; /* NULL: idle */
    struct store_answer answer;
    struct arena arena;  /* of the answer */
    int statements;      /* in the request */
    int allowed;         /* statements that may be sent */
    int reached;         /* statements that were about to be sent */
    bool sent;           /* all of them, and the sync */
    bool done;           /* answered */
    bool loose, closing; /* nothing is held back any more; the thread has to end */
    int socket, pid;
    bool blocked;  /* when last settled: it waits for a lock */
    bool deadlock; /* the server chose it as a victim */
};

void lane_open(struct lane *lane, const char *uri);
void lane_close(struct lane *lane);
void lane_ask(struct lane *lane, const struct store_request *request, int statements);
void lane_send(struct lane *lane); /* the next statement */
void lane_drain(struct lane *lane);
void lane_idle(struct lane *lane); /* its answer has been taken */

/* Waits until every lane has finished what was sent, or waits for a lock. False: the lanes never came to rest. */
bool lanes_settle(PGconn *monitor, struct lane *lanes, uint32_t count);

/* ---- ask.c: requests that a ledger might make, current or outdated ---- */

struct asker {
    struct arena *arena;
    struct dice dice;
    uint32_t hosts;
    struct id goals[MAX_GOALS]; /* in key order */
    struct inbox_row sources[MAX_SOURCES];
    uint64_t instances[MAX_HOSTS + 1][2]; /* of the newest join and the one before it */
    struct dump views[MAX_VIEWS];         /* past contents of the tables, oldest first */
    uint32_t view_count;
    struct store_request *batches[MAX_VIEWS]; /* commits requested so far */
    uint32_t batch_count;
    bool loose_batches; /* different batches may have the same number */
    uint64_t number;    /* of requests: makes their records differ */
};

uint32_t ask_pick(struct asker *asker, uint32_t count);
bool ask_chance(struct asker *asker, uint32_t percent);
void ask_begin(struct asker *asker, uint64_t seed, struct arena *arena);
struct store_request *ask_join(struct asker *asker, uint32_t host);
struct store_request *ask_make(struct asker *asker,
                               uint32_t host); /* all goals assigned to this host */
struct store_request *ask_forward(struct asker *asker);
struct store_request *ask_take(struct asker *asker, uint32_t host);
struct store_request *ask_anything(struct asker *asker);
struct store_request *ask_mail(struct asker *asker, uint32_t host);
struct store_request *ask_owned(struct asker *asker, uint32_t host);
struct store_request *ask_everything(struct asker *asker); /* loads everything */

/* ---- compare.c: NULL, or the difference as text from the arena ---- */

const char *answers_differ(const struct store_request *mine, const struct store_answer *model,
                           const struct store_request *theirs, const struct store_answer *real,
                           struct arena *arena);
const char *dumps_differ(const struct dump *model, const struct dump *real, struct arena *arena);
