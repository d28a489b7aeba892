/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between retention and the engines; used by retain.c, sqlite_retain.c and postgres_retain.c only. */
#pragma once

#include "store/retain.h"

struct retain_key { /* key of a record */
    int32_t day;
    int64_t tx, n;
};

struct retain_row { /* a record, with the state of its goal */
    struct retain_key key;
    struct id goal;
    struct record record; /* seq, at, type, hash; the body if it is still there */
    bool has_body;
    bool known, open; /* the goal exists; it is open */
    uint64_t newest;  /* seq of the goal's newest record */
};

struct retain_text { /* to be deleted, if its goal is still as it was read */
    struct id goal;
    uint64_t version;
    struct hash hash;
};

/* The changes of one transaction. All records are of one day. */
struct retain_work {
    struct retain_row **goes, **moves, **bodies;
    struct hash *body_hashes; /* one for each of bodies */
    uint32_t goes_count, moves_count, bodies_count;
    struct milestone *puts;
    struct str *put_bodies;   /* one for each of puts */
    struct milestone *joined; /* milestones merged into another */
    uint32_t puts_count, joined_count;
    struct source_key *seen;
    uint32_t seen_count;
    struct retain_text *texts;
    uint32_t texts_count;
};

struct retain_pages { /* buffers for one page */
    struct retain_row *rows;
    struct source_key *seen;
    struct hash *hashes;
    struct str *bodies;
    struct id *goals;
    uint32_t count;
};

struct retain_driver {
    /* reads records after `after` and before day `before`, all of one day, in key order */
    bool (*page)(struct retain *, struct retain_key after, int32_t before, uint32_t limit,
                 struct retain_pages *ret);
    /* for each of these runs, the milestones that touch it; .to == 0: none */
    bool (*touching)(struct retain *, const struct milestone *runs, uint32_t count,
                     struct milestone *ret_before, struct milestone *ret_behind);
    /* sources after `after`: *ret_looked were examined, the last of them is *ret_last; the ret->count sources to delete
     * are in ret->seen */
    bool (*seen)(struct retain *, struct source_key after, int64_t before, uint32_t limit,
                 struct retain_pages *ret, uint32_t *ret_looked, struct source_key *ret_last);
    /* closed goals after `after` that have texts */
    bool (*text_goals)(struct retain *, struct id after, uint32_t limit, struct retain_pages *ret);
    /* the hashes of a goal's texts */
    bool (*texts)(struct retain *, struct id goal, struct retain_pages *ret);
    /* the bodies of a goal's records */
    bool (*bodies)(struct retain *, struct id goal, struct retain_pages *ret);
    bool (*apply)(struct retain *, const struct retain_work *work);
    /* drops the next past day after retain->day_after if it is empty; *ret_more: call again */
    bool (*day)(struct retain *, int32_t before, bool *ret_more);
    /* the approximate number of records */
    bool (*count)(struct retain *, uint64_t *ret_count);
    void (*close)(struct retain *);
};

enum retain_phase {
    RETAIN_ROWS,
    RETAIN_BODIES,
    RETAIN_SEEN,
    RETAIN_TEXTS,
    RETAIN_DAYS,
    RETAIN_OVER
};

struct retain {
    const struct retain_driver *driver;
    struct store *store; /* for loading goals */
    struct arena arena;  /* for one step */
    bool alone, failed;
    char why[LIMIT_WHY];
    int64_t took_us;    /* cost of the last transaction; on a busy machine less than its duration */
    int64_t held_us;    /* how long it kept others from writing */
    uint64_t wal_bytes; /* SQLite: length of the write-ahead log, */
    bool wal_grows;     /* and whether the last step made it longer */

    int64_t now;
    int32_t records_before, bodies_before; /* days */
    int64_t seen_before;                   /* a time */
    bool whole;
    enum retain_phase phase;
    uint32_t size; /* rows in the next step */
    struct retain_key after;
    struct source_key seen_after;
    struct id text_after;
    int32_t day_after;
    uint64_t
        most; /* approximate number of rows that the pass may drop; 0: all that are old enough */
    struct retain_report report;
};

bool retain_fail(struct retain *retain, const char *engine,
                 const char *why); /* always returns false */
int64_t retain_clock_us(void);
int64_t retain_cpu_us(void); /* CPU time of this thread */

/* Opens a connection of its own. */
bool sqlite_retain_open(struct retain **ret, const char *path, bool alone, char *error,
                        size_t error_size);
bool postgres_retain_open(struct retain **ret, const char *uri, char *error, size_t error_size);
