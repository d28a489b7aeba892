/* SPDX-License-Identifier: Apache-2.0 */
/* How is a held agent started, heard and spoken to? The daemon's side of overseer-hold (docs/hold.md), on the event loop.
 *
 * Everything here is called on the loop's thread. Nothing waits; what comes of it is told to the ears. A connection that is lost
 * loses nothing: open another one with the offset that was read, and ask for the writes whose receipts did not come. */
#pragma once

#include "hold/wire.h"

#include <uv.h>

/* ---- starting ---- */

struct held_spec {
    const char *program;                  /* path of overseer-hold */
    const char *dir, *cwd;                /* of the run; of the agent */
    const char *cgroup;                   /* NULL: none */
    const char *const *argv, *const *env; /* both end with NULL; env is all that the agent gets */
    uint32_t columns, rows;               /* 0: pipes */
    uint64_t cap;                         /* 0: the hold's own */
    uint32_t orphan_after_s;              /* 0: never */
    bool wrapped;                         /* argv begins with a wrapper around the agent */
};

/* Called once, from the loop. stands: it runs, and held_open() finds it. Otherwise `why`: it does not, and the folder of a run
 * that may have begun says so (held_recall). */
typedef void held_started(void *with, bool stands, struct str why);

void held_start(uv_loop_t *loop, const struct held_spec *spec, held_started *started, void *with);

/* ---- speaking ---- */

struct held;

struct held_ears { /* any may be NULL but lost */
    void (*answer)(void *with, enum hold_kind to, enum hold_verdict verdict, uint64_t number);
    void (*data)(void *with, uint64_t offset, struct str bytes);
    void (*receipt)(void *with, struct id id, enum hold_written written);
    void (*status)(void *with, const struct hold_status *status);
    void (*end)(void *with, uint64_t offset);
    void (*lost)(void *with,
                 int code); /* nothing more comes; a libuv error. Not after held_close() */
};

/* Connects and says hello; NULL: no memory. What is asked before the connection stands is sent when it does. `ears` stay. */
struct held *held_open(uv_loop_t *loop, const char *dir, uint64_t fence,
                       const struct held_ears *ears, void *with);
void held_close(struct held *held); /* the connection; the hold stays */

/* False: it cannot be sent (no memory, or the connection is lost); nothing was. */
bool held_attach(struct held *held, uint64_t offset);
bool held_ack(struct held *held, uint64_t offset);
bool held_write(struct held *held, struct id id, struct str bytes); /* at most HOLD_WRITE */
bool held_wrote(struct held *held, struct id id);
bool held_signal(struct held *held, uint32_t signal);
bool held_freeze(struct held *held, bool freeze);
bool held_look(struct held *held);
bool held_stop(struct held *held, uint32_t grace_ms);
bool held_collect(struct held *held);
bool held_resize(struct held *held, uint32_t columns, uint32_t rows);
bool held_close_input(struct held *held);

/* ---- a hold that does not answer ---- */

struct held_memory {
    bool begun; /* a run began here */
    bool alive; /* its hold has the lock */
    bool exited, ended, collected;
    uint32_t exit;
    uint64_t end, fence; /* end: only when ended */
    uint32_t pid, agent_pid;
    uint64_t started, agent_started;
    struct id boot;
    enum hold_written written; /* of the id that was asked for */
};

/* Reads the folder, a small file. false: there is none, or it cannot be read. */
bool held_recall(const char *dir, struct id id, struct held_memory *ret_memory);

/* What a hold that is gone has kept of what its agent said, from the offset on: the next piece of it, at most `size` bytes. 0: there
 * is no more. */
size_t held_left(const char *dir, uint64_t offset, char *bytes, size_t size);
