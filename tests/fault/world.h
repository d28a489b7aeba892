/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the whole path of a request in one thread: the daemon's own HTTP server, queue, ledger thread, ledger, executor
 * and lookups, on the replacements of pretend.h, with a real store; and clients that remember their answers. */
#pragma once

#include "engine/call.h"
#include "http/http_server.h"
#include "lib/backend.h"
#include "lib/memvfs.h"
#include "runs/executor.h"

struct acted { /* an effect that was really carried out */
    struct id goal;
    uint32_t n, times;
};

enum { WORLD_ACTED = 512, ANSWER_SIZE = 16384 };

struct world {
    struct backend *backend; /* reads the store from outside */
    struct memdisk *disk;    /* NULL: PostgreSQL */
    const char *uri;
    int64_t act_within;
    struct policy policy; /* made before anything fails */
    int wal_pages;        /* not 0: a checkpoint whenever the log has this many pages */
    int checkpoint_every;

    void (*script)(struct world *); /* runs whenever the ledger has nothing to do */
    void *with;                     /* argument of the script */

    struct ledger_thread ledger_thread;
    struct lookups lookups;
    struct executor executor;
    struct daemon_context context;
    struct http_server *server;
    struct store *reader, *writer, *checkpoints;
    uv_loop_t loop;
    uint64_t idles;
    uint64_t died_in_checkpoint;

    struct acted acted[WORLD_ACTED];
    uint32_t acted_count;
    char violation[512]; /* the first; empty: none */
};

void violated(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Starts a life of the daemon. False: it could not be started, and the error says why. */
bool world_open(struct world *world, char *error, size_t error_size);
void world_run(struct world *world); /* until the script stops it */
void world_stop(struct world *world);
void world_close(struct world *world);

bool world_is_quiet(struct world *world); /* nothing waits, nothing is in progress */

/* ---- clients ---- */

/* Longer than what jansson stores without growing a buffer, so that growing can fail. */
#define ASK_TITLE "tidy the changelog, for"
#define ASK_COMMAND "make changelog && git add changelog && echo tidied at last"
#define ASK_TEXT "half of the entries have been sorted, and some of them twice"

enum ask_kind { ASK_CREATE, ASK_REPORT, ASK_SHOW };

struct ask {
    enum ask_kind kind;
    char key[32];
    bool with_command;
    struct id goal, source;
    struct MHD_Connection *sent; /* in progress */
    uint32_t times;              /* how often it was sent */
    bool acknowledged;
    enum error error;         /* in the last answer */
    char answer[ANSWER_SIZE]; /* the last answer that was a result */
};

struct ask ask_create(const char *key, bool with_command);
struct ask ask_report(const char *key, struct id goal); /* "": without a key, sent only once */
struct ask ask_show(struct id goal);

void ask_send(struct ask *ask);
/* True: the request is no longer in progress. An answer that is neither a result nor an error from the table is a
 * violation. */
bool ask_settled(struct world *world, struct ask *ask);
void ask_forget(struct ask *ask); /* after its process died */

/* ---- reading the store ---- */

/* Checks that the store contradicts neither itself, nor the answers to clients, nor what was done outside. */
void world_judge(struct world *world, const struct ask *asks, uint32_t count);

struct fate { /* of an effect, according to the store */
    struct dump_life life;
    enum effect_state state;
};
struct fate world_fate(struct world *world, struct id goal, uint32_t n);
uint32_t world_acted(const struct world *world, struct id goal, uint32_t n);

void worlds_end(void); /* call after the last world */
