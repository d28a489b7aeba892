/* SPDX-License-Identifier: Apache-2.0 */
/* What do the doors find inside? Everything that answers a call, made once by main.c and the same for all of them. */
#pragma once

#include "daemon/keeper.h"
#include "daemon/lookup.h"

struct tokens;        /* token.h */
struct follow;        /* follow.h: who wants to hear of records */
struct spool;         /* spool.h */
struct pool;          /* pool.h */
struct runs;          /* runs.h */
struct settings;      /* model/setting.h */
struct sessions;      /* mcp_session.h */
struct door;          /* door.h */
struct config_source; /* config/config.h */
struct op_call;       /* ops/op.h */
struct op_wait;       /* the same */

struct house {
    struct keeper *keeper;
    struct lookups *lookups;
    struct lookups *run_lookups; /* for runs of agents; NULL: the same */
    struct pool *slow;           /* pool.h: operations that take long; NULL: there are none */
    struct tokens *tokens;
    struct follow *follow;
    struct runs *runs; /* runs.h; NULL: no agent is held here */
    struct spool *spool;
    struct sessions *sessions;
    struct door *doors[3]; /* by enum door_kind; NULL: it is not open */
    const struct settings
        *settings; /* as they are now: replaced whole by a reload, see house_settings() */
    const struct config_source *config;  /* where a reload reads them from */
    int64_t started_at;                  /* wall clock */
    void (*reload)(struct house *house); /* asks the main loop for it, from any thread */
    void (*stop)(struct house *house);   /* the same */
    void (*hurry)(struct house *house);  /* calls_sweep() soon; NULL: nobody sweeps */
    void *with;                          /* the daemon's own */
    /* what only the host of a run knows joins the answer; NULL: nobody knows more. On a reader's thread; of operations that
     * are slow, on one of the pool's. */
    void (*finish)(struct house *house, struct op_call *call);
    /* a stop is about to be committed; NULL: nothing runs here. SYSTEM_GOAL: of everything */
    void (*stop_first)(struct house *house, struct id goal);
    /* what this host waits for; NULL: nothing is known */
    unsigned (*waits)(struct house *house, struct op_wait *ret, unsigned most);
    /* policy_text.h; NULL: policies of the past cannot be read */
    bool (*policy_read)(struct str text, const struct texts *set, struct arena *arena,
                        struct policy *ret, char *why, size_t why_size);
};
