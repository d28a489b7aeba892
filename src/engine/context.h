/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon context: everything that answers a call. main.c makes it once, and all interfaces share it. */
#pragma once

#include "engine/ledger_thread.h"
#include "engine/lookup.h"

struct tokens;        /* token.h */
struct follow;        /* follow.h: followers of the log */
struct spool;         /* spool.h */
struct pool;          /* pool.h */
struct run_table;     /* run_table.h */
struct settings;      /* model/setting/setting.h */
struct sessions;      /* mcp_session.h */
struct http_server;   /* http_server.h */
struct config_source; /* config/config.h */
struct op_call;       /* ops/op.h */
struct op_wait;       /* ops/op.h */
struct op_logins;     /* ops/op.h */

struct daemon_context {
    struct ledger_thread *ledger_thread;
    struct lookups *lookups;
    struct lookups *run_lookups; /* for agent runs; NULL: `lookups` serves them, too */
    struct pool *slow;           /* pool.h: slow operations; NULL: there are none */
    struct tokens *tokens;
    struct follow *follow;
    struct run_table *runs; /* run_table.h; NULL: this host holds no agents */
    struct spool *spool;
    struct sessions *sessions;
    struct http_server *servers[3]; /* by enum http_server_kind; NULL: not open */
    char mcp_url
        [96]; /* of the TCP server, if it needs no certificate; empty: none. Set before runs begin */
    const struct settings
        *settings; /* current settings: a reload replaces them as a whole, see context_settings() */
    const struct config_source *config; /* where a reload reads the settings from */
    int64_t started_at;                 /* wall clock */
    /* the settings were reloaded: the main loop reopens the log; from any thread */
    void (*reloaded)(struct daemon_context *context);
    void (*stop)(struct daemon_context *context); /* requests a stop; from any thread */
    void (*sweep_soon)(
        struct daemon_context *context); /* requests calls_sweep() soon; NULL: there is no sweep */
    void *with;                          /* of the daemon */
    /* adds to the answer what only the host of a run knows; NULL: nothing to add. On a lookup thread; for slow
     * operations, on a thread of the pool. */
    void (*finish)(struct daemon_context *context, struct op_call *call);
    /* called before a stop is committed; NULL: nothing runs here. SYSTEM_GOAL: everything is stopped */
    void (*stop_first)(struct daemon_context *context, struct id goal);
    /* what this host waits for; NULL: not known */
    unsigned (*waits)(struct daemon_context *context, struct op_wait *ret, unsigned most);
    /* how runs log in; NULL: not known */
    void (*logins)(struct daemon_context *context, struct op_logins *ret);
    /* policy_text.h; NULL: earlier policies cannot be read */
    bool (*policy_read)(struct str text, const struct texts *set, struct arena *arena,
                        struct policy *ret, char *why, size_t why_size);
};
