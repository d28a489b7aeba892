/* SPDX-License-Identifier: Apache-2.0 */
/* What does retention ask of an engine? retain.c, sqlite_retain.c and postgres_retain.c only. */
#pragma once

#include "store/retain.h"

struct retain_key { /* of a record */
    int32_t day;
    int64_t tx, n;
};

struct retain_row { /* a record, with what its goal says about it */
    struct retain_key key;
    struct id goal;
    struct record record; /* seq, at, type, hash; the body if it is still there */
    bool has_body;
    bool known, open; /* there is such a goal; it is open */
    uint64_t newest;  /* seq of the goal's newest record */
};

struct retain_text { /* to go, if its goal is as it was read */
    struct id goal;
    uint64_t version;
    struct hash hash;
};

/* What one transaction does. All records are of one day. */
struct retain_work {
    struct retain_row **goes, **moves, **bodies;
    struct hash *body_hashes; /* one for each of bodies */
    uint32_t goes_count, moves_count, bodies_count;
    struct milestone *puts;
    struct str *put_bodies;   /* one for each of puts */
    struct milestone *joined; /* rows that became part of another */
    uint32_t puts_count, joined_count;
    struct source_key *seen;
    uint32_t seen_count;
    struct retain_text *texts;
    uint32_t texts_count;
};

struct retain_pages { /* what a page is read into */
    struct retain_row *rows;
    struct source_key *seen;
    struct hash *hashes;
    struct str *bodies;
    struct id *goals;
    uint32_t count;
};

struct retain_driver {
    /* records behind `after` and before that day, of one day, in order of their keys */
    bool (*page)(struct retain *, struct retain_key after, int32_t before, uint32_t limit,
                 struct retain_pages *ret);
    /* for each of these runs the milestones that touch it; .to == 0: there is none */
    bool (*touching)(struct retain *, const struct milestone *runs, uint32_t count,
                     struct milestone *ret_before, struct milestone *ret_behind);
    /* sources behind `after`: `ret->count` looked at, the last of them is *ret_last; those to go in ret->seen */
    bool (*seen)(struct retain *, struct source_key after, int64_t before, uint32_t limit,
                 struct retain_pages *ret, uint32_t *ret_looked, struct source_key *ret_last);
    /* closed goals behind `after` that have texts */
    bool (*text_goals)(struct retain *, struct id after, uint32_t limit, struct retain_pages *ret);
    /* the hashes of a goal's texts */
    bool (*texts)(struct retain *, struct id goal, struct retain_pages *ret);
    /* the bodies of a goal's records */
    bool (*bodies)(struct retain *, struct id goal, struct retain_pages *ret);
    bool (*apply)(struct retain *, const struct retain_work *work);
    /* the next day behind retain->day_after that is over goes if it is empty; *ret_more: ask again */
    bool (*day)(struct retain *, int32_t before, bool *ret_more);
    /* how many records there are, about */
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
    struct arena arena;  /* of one step */
    bool alone, failed;
    char why[LIMIT_WHY];
    int64_t took_us;    /* what the last transaction cost; on a busy machine less than it lasted */
    int64_t held_us;    /* how long nobody else could write because of it */
    uint64_t wal_bytes; /* SQLite: how long the log is, */
    bool wal_grows;     /* and whether it has grown by the last step */

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
    uint64_t most; /* rows that the pass may drop, about; 0: all that are old */
    struct retain_report report;
};

bool retain_fail(struct retain *retain, const char *engine, const char *why); /* always false */
int64_t retain_clock_us(void);
int64_t retain_cpu_us(void); /* of this thread */

/* With a connection of its own. */
bool sqlite_retain_open(struct retain **ret, const char *path, bool alone, char *error,
                        size_t error_size);
bool postgres_retain_open(struct retain **ret, const char *uri, char *error, size_t error_size);
