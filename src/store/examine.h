/* SPDX-License-Identifier: Apache-2.0 */
/* Examines whether a store is intact. Runs before any decision is made from the store, and never changes it.
 *
 * Four levels, from the outside in: the file (header, write-ahead log), the engine's own check, each row by itself, and
 * each goal against its records. The last level is the strongest: the records of a goal form a chain of hashes, so they
 * are known to be what was written, and everything else that is stored must agree with them. */
#pragma once

#include "store/store.h"

#include <stdatomic.h>

enum examine_verdict {
    EXAMINE_SOUND,
    EXAMINE_DAMAGED,     /* a store of ours, with content that is not what was written */
    EXAMINE_NOT_A_STORE, /* something else is at its place */
    EXAMINE_NEWER,       /* a store of ours, written by a newer build; left alone */
    EXAMINE_AWAY,        /* it cannot be read at the moment: not connected, no permission */
    EXAMINE_VERDICTS
};

extern const char *const EXAMINE_NAMES[EXAMINE_VERDICTS];

struct finding {
    char table[24];
    char key[64];
    char what[160];
};

struct examine_options {
    uint32_t host; /* PostgreSQL: the host whose goals are examined */
    bool was_open; /* SQLite: the last daemon did not close it, so its log must exist; */
    bool
        same_boot; /* and the machine has not restarted since, so the log's index tells how long the log was */
    bool
        unchanged; /* SQLite: the file is as a clean shutdown left it, so only data that would be acted on is examined */
    const atomic_bool
        *ending; /* SQLite: a ledger is writing; examine until this is true. NULL: nothing writes */
};

struct examination {
    enum examine_verdict verdict;
    bool missing;   /* no file, or no tables yet; counts as sound */
    bool older;     /* its tables must be migrated before its rows can be examined */
    bool deep;      /* every chain was followed, not only the chains of goals with open effects */
    bool unchecked; /* the engine's own check was skipped */
    char why[LIMIT_WHY]; /* if not sound: the reason, as a sentence */
    uint64_t found;      /* number of findings; only the first ones are kept */
    struct finding findings[LIMIT_FINDINGS];
    uint64_t goals, effects, records; /* number examined */
};

/* Bounds on the time of a start: a deep examination up to the first size and a quick check up to the second size take
 * about four seconds each. Larger files are not read to their end; whatever is read of them is still checked. */
#define EXAMINE_DEEP_BYTES ((int64_t)64 << 20)
#define EXAMINE_QUICK_BYTES ((int64_t)1 << 30)

void store_examine(struct str where, const struct examine_options *options,
                   struct examination *ret);
void sqlite_examine(const char *path, const struct examine_options *options,
                    struct examination *ret);
void postgres_examine(const char *uri, const struct examine_options *options,
                      struct examination *ret);

void examine_found(struct examination *it, const char *table, const char *key, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
void examine_verdict_set(struct examination *it, enum examine_verdict verdict, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* ---- one goal against its records ---- */

struct log_visitor;

struct audit_effect {
    uint32_t n;
    bool claimed;
    bool command; /* other kinds end once their outcome is unknowable */
};

struct audit {
    struct id goal;
    uint64_t seq;     /* of the newest record that continues the chain */
    struct hash head; /* its hash */
    uint64_t records, milestones;
    bool bodies;        /* no body has been dropped so far */
    const char *broken; /* description of the first break */
    uint64_t broken_at;
    struct audit_effect open[LIMIT_OPEN_EFFECTS]; /* decided and not ended, in order of n */
    uint32_t open_count;
    char title[LIMIT_TITLE]; /* according to the records */
    size_t title_length;
    bool quarantined;                  /* according to the records */
    const struct log_visitor *visitor; /* may be NULL */
};

/* A row of the log as it is stored: `has_body` is false once retention has dropped the body. */
struct audit_row {
    struct record record;
    struct hash stored; /* the hash as stored */
    bool has_body;
};

void audit_begin(struct audit *audit, struct id goal);
void audit_record(struct audit *audit, const struct audit_row *row); /* in order of seq */

/* Processes a milestone, which replaces records that retention deleted: the chain continues from their last hash. */
void audit_milestone(struct audit *audit, uint64_t from, uint64_t to, const struct hash *last);

/* Access that an engine provides, so that the examination of goals is written only once. */
struct audit_source {
    struct store *store; /* for loading goals the way the ledger does */
    /* the ids of a page of goals after `after`; `busy`: only goals with open effects */
    bool (*goals)(struct audit_source *source, struct id after, bool busy, struct id *ids,
                  uint32_t *ret_count);
    /* the same for every id that has records */
    bool (*chains)(struct audit_source *source, struct id after, struct id *ids,
                   uint32_t *ret_count);
    /* passes every record of one goal to audit_record() */
    bool (*records)(struct audit_source *source, struct id goal, struct audit *audit);
    /* describes an error in the columns beside the hot part, or in the list columns; NULL: none. May be NULL */
    const char *(*columns)(struct audit_source *source, const struct goal *goal,
                           const struct audit *audit);
    /* after false is returned: describes the error; true: the data is damaged, false: it could not be reached */
    bool (*trouble)(struct audit_source *source, char *text, size_t size);
};

enum { AUDIT_PAGE = 256 };

/* Examine every goal of the source: it must load, decode, satisfy its own invariants, and agree with its records. */
void examine_goals(struct audit_source *source, bool busy, struct examination *it);

/* The same with a callback for each goal: `wrong` is NULL for an intact goal. False: the source could not be read
 * further. */
typedef void audit_judge(void *with, const struct audit *audit, const struct goal *goal,
                         const char *wrong);
bool audit_each(struct audit_source *source, bool busy, struct examination *it, audit_judge *judge,
                void *with);

/* ---- the log alone, offline ---- */

struct log_report {
    uint64_t records, goals, broken;
    bool failed; /* the log could not be read to its end */
    char why[LIMIT_WHY];
};

struct log_visitor {
    void *with;
    /* called for each record that continues the chain, so that an older end can be looked up in the middle of a chain */
    void (*record)(void *with, struct id goal, uint64_t seq, const struct hash *hash);
    /* called after each chain, in order of goal ids; `wrong`: the error, and at which record it begins */
    void (*chain)(void *with, const struct audit *audit, const char *wrong);
};

/* G-25: verify every chain of the store, and compare its end with the goal's row. */
void store_verify_log(struct str where, const struct log_visitor *visitor, struct log_report *ret);
void sqlite_verify_log(const char *path, const struct log_visitor *visitor, struct log_report *ret);
void postgres_verify_log(const char *uri, const struct log_visitor *visitor,
                         struct log_report *ret);
void audit_chains(struct audit_source *source, const struct log_visitor *visitor,
                  struct log_report *ret);
