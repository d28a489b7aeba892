/* SPDX-License-Identifier: Apache-2.0 */
/* What does the daemon stand on, when everything runs in one thread? A pretend HTTP server, I/O loop, command
 * runner, clock and threads, under the names of the real ones: http.c, executor.c, ledger_thread.c, lookup.c and
 * queue.c are the daemon's own, compiled as they are. */
#pragma once

#include "model/effect.h"

#include <microhttpd.h>

/* ---- time ---- */

int64_t pretend_now(void);
void pretend_pass(int64_t us);

/* ---- HTTP ---- */

struct MHD_Connection { /* one request */
    void *context;      /* who is at the other end */
    struct MHD_Connection *next;
    char *body;
    void *state; /* the daemon's */
    bool suspended, resumed, done;
    bool late;       /* its answer came after the process was dead */
    unsigned status; /* 0: closed without an answer */
    char *text;
};

struct MHD_Connection *http_post(const char *body);
void http_free(struct MHD_Connection *connection);
void http_resume_all(void);

/* ---- threads: they run when they are called ---- */

void thread_run(void *with); /* the one that was started with this argument */

/* Called whenever the ledger's thread would sleep. */
extern void (*pretend_idle)(void);

/* ---- the loop, and the world outside ---- */

void loop_run(void); /* acts that arrived, then a beat of the pulse */

/* Called for each command that is really started. */
extern void (*pretend_act)(const struct effect *effect);
bool commands_run(void);           /* is one under way? */
void commands_end(void);           /* all of them end well */
extern bool pretend_dead;          /* nothing that happens now happens outside */
extern char pretend_last_log[512]; /* the newest error */
