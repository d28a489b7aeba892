/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces what the daemon runs on, so that everything runs in one thread: a pretend HTTP server, I/O loop, command
 * runner, clock and threads, under the names of the real ones. http_server.c, executor.c, ledger_thread.c, lookup.c and
 * queue.c are the daemon's own, compiled unchanged. */
#pragma once

#include "model/effect.h"

#include <microhttpd.h>

/* ---- time ---- */

int64_t pretend_now(void);
void pretend_pass(int64_t us);

/* ---- HTTP ---- */

struct MHD_Connection { /* one request */
    void *context;      /* the daemon's context of the connection: its peer */
    struct MHD_Connection *next;
    char *body;
    void *state; /* the daemon's state of the request */
    bool suspended, resumed, done;
    bool late;    /* its answer came after the process had died */
    bool refused; /* the daemon shut the connection down when it began, without a context for it */
    unsigned status; /* 0: closed without an answer */
    char *text;
};

struct MHD_Connection *http_post(const char *body);
void http_free(struct MHD_Connection *connection);
void http_resume_all(void);

/* ---- threads: they run only when they are called ---- */

void thread_run(void *with); /* runs the thread that was started with this argument */

/* Called whenever the ledger thread would sleep. */
extern void (*pretend_idle)(void);

/* ---- the loop, and the outside world ---- */

void loop_run(void); /* runs acts that arrived, then one beat of the timer */

/* Called for each command that is really started. */
extern void (*pretend_act)(const struct effect *effect);
bool commands_run(void);           /* true: a command is in progress */
void commands_end(void);           /* ends all commands with success */
extern bool pretend_dead;          /* the process is dead: nothing has an effect outside any more */
extern char pretend_last_log[512]; /* the newest error */
