/* SPDX-License-Identifier: Apache-2.0 */
/* Where are requests carried out, one statement at a time if it can be had? A pretend network lies between:
 * a session can go on although nobody waits for it any more. */
#pragma once

#include "lib/dump.h"

enum session_state { SESSION_RUNS, SESSION_BLOCKED, SESSION_DONE };

struct session {
    struct session *next;
    struct arena arena;
    struct store_request *request; /* a copy: it may outlive its ledger */
    struct store_answer answer;
    uint32_t host;
    uint32_t place; /* the next statement */
    bool done;
    bool ghost; /* nobody waits for its answer */
    bool stuck; /* the rest of its statements never arrived: only the server can end it */
    void *own;  /* the backend's */
};

struct backend {
    const char *name;
    /* One atom. Blocked: nothing happened, somebody else holds a lock. */
    enum session_state (*advance)(struct backend *, struct session *);
    void (*abort)(struct backend *, struct session *);  /* the server rolls it back */
    void (*host_died)(struct backend *, uint32_t host); /* its process is gone */
    void (*dump)(struct backend *, struct dump *, struct arena *);
    /* Somebody else changes a goal: one version and one record more, in a transaction of its own. False: the row
     * is locked, nothing was done. */
    bool (*meddle)(struct backend *, const struct dump_goal *goal, const struct record *record);
    /* A copy of everything, and going back to it: nobody may be connected then, and it is a new era. */
    void (*back_up)(struct backend *); /* NULL: cannot */
    void (*restore)(struct backend *);
    /* P13: the store is that of so many commits ago, as if an asynchronous standby had been promoted; hosts are not told. False: it does not
     * reach that far. The model only. */
    void (*keep_past)(struct backend *);
    bool (*go_back)(struct backend *, uint32_t commits);
    void (*free)(struct backend *);
    bool single_statements; /* sessions can interleave inside a transaction */
};

struct backend *model_backend(void);
struct backend *sqlite_backend(uint64_t seed);     /* three handles on a disk in memory */
struct backend *postgres_backend(const char *uri); /* empties the tables first */
struct pg_conn;
void postgres_empty(struct pg_conn *server); /* everything goes but the store's own row */

struct backend *sqlite_file_backend(const char *path);

/* Real engines only: a connection for whoever needs no pretend network. */
struct store *real_backend_store(struct backend *);

/* Just these goals, their records only behind the given seq; or of each goal only its row and what lists show,
 * and what is not about one goal. */
void real_dump_some(struct backend *, const struct record_mark *marks, uint32_t count,
                    struct dump *dump, struct arena *arena);
void real_dump_rest(struct backend *, struct dump *dump, struct arena *arena);

/* SQLite only: its disk, for faults; and a power cut, which ends every connection. */
struct memdisk *sqlite_backend_disk(struct backend *);
void sqlite_backend_power_cut(struct backend *);
