/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a held agent, receives its output and sends it input: the daemon's side of overseer-hold (docs/hold.md), on
 * the event loop.
 *
 * Call everything here on the loop's thread. Nothing blocks; the callbacks report the results. A lost connection loses
 * nothing: open another one with the offset that was read, and ask about the writes whose receipts did not arrive. */
#pragma once

#include "hold/wire.h"

#include <uv.h>

/* ---- starting ---- */

struct held_spec {
    const char *program;   /* path of overseer-hold */
    const char *dir, *cwd; /* of the run; of the agent */
    const char *cgroup;    /* NULL: none */
    const char *const *argv,
        *const *env;        /* both end with NULL; env is the agent's whole environment */
    uint32_t columns, rows; /* 0: pipes */
    uint64_t cap;           /* 0: the hold's default */
    uint64_t
        orphan_at_ms; /* CLOCK_BOOTTIME: at this time it freezes the agent unless renewed; 0: never */
    bool wrapped;     /* argv begins with a wrapper around the agent */
};

/* Called once, from the loop. stands: the hold runs, and held_open() finds it. Otherwise it does not run, `why` says
 * why, and the folder of a run that may have begun shows it (held_recall). */
typedef void held_started(void *with, bool stands, struct str why);

void held_start(uv_loop_t *loop, const struct held_spec *spec, held_started *started, void *with);

/* ---- communicating ---- */

struct held;

struct held_callbacks { /* any but lost may be NULL */
    void (*answer)(void *with, enum hold_kind to, enum hold_verdict verdict, uint64_t number);
    void (*data)(void *with, uint64_t offset, struct str bytes);
    void (*receipt)(void *with, struct id id, enum hold_written written);
    void (*status)(void *with, const struct hold_status *status);
    void (*end)(void *with, uint64_t offset);
    void (*lost)(
        void *with,
        int code); /* no more callbacks follow; a libuv error. Not called after held_close() */
};

/* Connects and sends a hello. Requests made before the connection is established are sent afterwards.
 * `callbacks` must stay valid. */
struct held *held_open(uv_loop_t *loop, const char *dir, uint64_t fence,
                       const struct held_callbacks *callbacks, void *with);
void held_close(struct held *held); /* closes the connection; the hold keeps running */

/* False: the connection is lost, and nothing was sent. True means only that it is on
 * its way: the caller keeps what has to arrive until its receipt or its answer came, and sends it again after a new
 * held_open(). The compiler rejects a caller that ignores the result. */
#define HELD_RESULT __attribute__((warn_unused_result))
bool held_attach(struct held *held, uint64_t offset) HELD_RESULT;
bool held_ack(struct held *held, uint64_t offset);
bool held_write(struct held *held, struct id id,
                struct str bytes) HELD_RESULT; /* at most HOLD_WRITE */
bool held_wrote(struct held *held, struct id id) HELD_RESULT;
bool held_look(struct held *held) HELD_RESULT;
bool held_stop(struct held *held, uint32_t grace_ms) HELD_RESULT;
bool held_collect(struct held *held) HELD_RESULT;
bool held_close_input(struct held *held) HELD_RESULT;

/* Adds or removes one reason to freeze: the agent runs when no reason is left (docs/hold.md). The answers name
 * HOLD_FREEZE_FOR and HOLD_THAW_FOR for holds of every version; number: processes that were still moving. In a hold of
 * version 1 nothing expires, so FREEZE_MEASURE is refused there (false, or an answer HOLD_FAILED with ENOTSUP): the
 * agent keeps running. Such a hold also keeps no reasons: after held_open() freeze again for those that persist, before
 * any thaw. */
bool held_freeze(struct held *held, enum freeze_reason reason,
                 uint32_t expires_ms /* 0: never */) HELD_RESULT;
bool held_thaw(struct held *held, enum freeze_reason reason) HELD_RESULT;
/* The agent is not an orphan until then, in milliseconds of CLOCK_BOOTTIME. A hold of version 1 freezes no orphan, so
 * nothing is sent to it. The renewal is sent with every renewal of the lease: a lost one is followed by another. */
bool held_renew(struct held *held, uint64_t boot_ms);

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
    bool forgot;               /* records of old writes are gone */
    enum hold_written written; /* of the id that was asked about */
};

/* Reads the folder's hold.state, a small file. False: there is none, or it cannot be read. */
bool held_recall(const char *dir, struct id id, struct held_memory *ret_memory);

/* Output of the agent that a dead hold has kept, from the offset on: the next piece, at most `size` bytes. 0: no more. */
size_t held_left(const char *dir, uint64_t offset, char *bytes, size_t size);
