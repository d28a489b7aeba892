/* SPDX-License-Identifier: Apache-2.0 */
/* Executes store requests, one statement at a time where the backend allows it. A simulated network lies in between: a
 * session can continue although its host no longer waits for it. */
#pragma once

#include "lib/dump.h"

enum session_state { SESSION_RUNS, SESSION_BLOCKED, SESSION_DONE };

struct session {
    struct session *next;
    struct arena arena;
    struct store_request *request; /* a copy: it may outlive its ledger */
    struct store_answer answer;
    uint32_t host;
    uint32_t place; /* index of the next statement */
    bool done;
    bool ghost; /* its host no longer waits for the answer */
    bool stuck; /* the rest of its statements never arrived: only the server can end it */
    void *own;  /* owned by the backend */
};

struct backend {
    const char *name;
    /* Executes one atom. Blocked: nothing happened, another session holds a lock. */
    enum session_state (*advance)(struct backend *, struct session *);
    void (*abort)(struct backend *, struct session *);  /* the server rolls it back */
    void (*host_died)(struct backend *, uint32_t host); /* the host's process is gone */
    void (*dump)(struct backend *, struct dump *, struct arena *);
    /* Simulates a manual change of a goal: adds one version and one record in a separate transaction. False: the row is
     * locked, nothing was done. */
    bool (*meddle)(struct backend *, const struct dump_goal *goal, const struct record *record);
    /* Copies everything, and restores that copy. No host may be connected during a restore, and it begins a new era. */
    void (*back_up)(struct backend *); /* NULL: not supported */
    void (*restore)(struct backend *);
    /* P13: resets the store to its state so many commits ago, as if an asynchronous standby had been promoted; hosts
     * are not notified. False: the history does not reach that far. Model only. */
    void (*keep_past)(struct backend *);
    bool (*go_back)(struct backend *, uint32_t commits);
    void (*free)(struct backend *);
    bool single_statements; /* sessions can interleave inside a transaction */
};

struct backend *model_backend(void);
struct backend *sqlite_backend(uint64_t seed);     /* three handles on a disk in memory */
struct backend *postgres_backend(const char *uri); /* empties the tables first */
struct pg_conn;
void postgres_empty(struct pg_conn *server); /* deletes everything except the store's own row */

struct backend *sqlite_file_backend(const char *path);

/* Real engines only: a connection for callers that need no simulated network. */
struct store *real_backend_store(struct backend *);

/* Dumps only these goals, with only their records after the given seq; or (real_dump_rest) only the row and list
 * entries of each goal, and the tables that do not belong to one goal. */
void real_dump_some(struct backend *, const struct record_mark *marks, uint32_t count,
                    struct dump *dump, struct arena *arena);
void real_dump_rest(struct backend *, struct dump *dump, struct arena *arena);

/* SQLite only: its disk, for fault injection; and a power cut, which ends every connection. */
struct memdisk *sqlite_backend_disk(struct backend *);
void sqlite_backend_power_cut(struct backend *);
