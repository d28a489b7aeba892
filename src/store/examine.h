/* SPDX-License-Identifier: Apache-2.0 */
/* Is this store whole? Looked at before anything is decided from it, and never changed by looking.
 *
 * Four circles, from the outside in: the file (header, write-ahead log), the engine's own check, each row
 * by itself, and each goal against its records. The last one is the strongest: the records of a goal form a
 * chain of hashes, so what they say is what was written; whatever else is stored has to agree with it. */
#pragma once

#include "store/store.h"

#include <stdatomic.h>

enum examine_verdict {
    EXAMINE_SOUND,
    EXAMINE_DAMAGED,     /* ours, and something in it is not what was written */
    EXAMINE_NOT_A_STORE, /* something else stands in its place */
    EXAMINE_NEWER,       /* ours, written by a newer build; left alone */
    EXAMINE_AWAY,        /* it cannot be read now: not connected, no permission */
    EXAMINE_VERDICTS
};

extern const char *const EXAMINE_NAMES[EXAMINE_VERDICTS];

struct finding {
    char table[24];
    char key[64];
    char what[160];
};

struct examine_options {
    uint32_t host; /* PostgreSQL: whose goals */
    bool was_open; /* SQLite: its last daemon did not get to close it, so its log must be there; */
    bool
        same_boot; /* and the machine has not restarted since, so the log's index tells how long it was */
    bool
        unchanged; /* SQLite: the file is as a clean end left it, so only what would be acted on is examined */
    const atomic_bool
        *ending; /* SQLite: beside a ledger that writes, until this is true; NULL: nothing writes */
};

struct examination {
    enum examine_verdict verdict;
    bool missing;   /* there is no file, or there are no tables yet; sound */
    bool older;     /* its tables have to be brought up to date before its rows can be looked at */
    bool deep;      /* every chain was followed, not only those of goals with open effects */
    bool unchecked; /* the engine's own check was left out */
    char why[LIMIT_WHY]; /* not sound: in a sentence */
    uint64_t found;      /* findings; the first ones are kept */
    struct finding findings[LIMIT_FINDINGS];
    uint64_t goals, effects, records; /* looked at */
};

/* What a start may take: about four seconds for a file of the first size, and for one of the second. Larger ones are
 * not read to their end; what is read of them is still checked. */
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
    bool command; /* the others are over once nobody can tell what came of them */
};

struct audit {
    struct id goal;
    uint64_t seq;     /* of the newest record that follows */
    struct hash head; /* its hash */
    uint64_t records, milestones;
    bool bodies;        /* none has been dropped so far */
    const char *broken; /* the first break, in words */
    uint64_t broken_at;
    struct audit_effect open[LIMIT_OPEN_EFFECTS]; /* decided and not ended, in order of n */
    uint32_t open_count;
    char title[LIMIT_TITLE]; /* as the records tell it */
    size_t title_length;
    bool quarantined;                  /* the same */
    const struct log_visitor *visitor; /* may be NULL */
};

/* A row of the log as it is stored: `has_body` is false once retention has dropped the body. */
struct audit_row {
    struct record record;
    struct hash stored; /* the hash that stands there */
    bool has_body;
};

void audit_begin(struct audit *audit, struct id goal);
void audit_record(struct audit *audit, const struct audit_row *row); /* in order of seq */

/* What stands in for records that retention has taken out: the chain goes on from their last hash. */
void audit_milestone(struct audit *audit, uint64_t from, uint64_t to, const struct hash *last);

/* What an engine supplies, so that goals are examined in one place. */
struct audit_source {
    struct store *store; /* for loading goals as the ledger does */
    /* the ids of a page of goals behind `after`; `busy`: only of those with open effects */
    bool (*goals)(struct audit_source *source, struct id after, bool busy, struct id *ids,
                  uint32_t *ret_count);
    /* the same of everything that has records */
    bool (*chains)(struct audit_source *source, struct id after, struct id *ids,
                   uint32_t *ret_count);
    /* every record of one goal, handed to audit_record() */
    bool (*records)(struct audit_source *source, struct id goal, struct audit *audit);
    /* what the columns beside the hot part, and those that lists show, have wrong; NULL: nothing. May be NULL */
    const char *(*columns)(struct audit_source *source, const struct goal *goal,
                           const struct audit *audit);
    /* after a false: what is wrong; true: with the data, not with the way to it */
    bool (*trouble)(struct audit_source *source, char *text, size_t size);
};

enum { AUDIT_PAGE = 256 };

/* Every goal of the source: loaded, decoded, whole by its own promises, in step with its records. */
void examine_goals(struct audit_source *source, bool busy, struct examination *it);

/* The same for whoever has another use for it: `wrong` is NULL for a goal that is whole. False: the source could
 * not be read on. */
typedef void audit_judge(void *with, const struct audit *audit, const struct goal *goal,
                         const char *wrong);
bool audit_each(struct audit_source *source, bool busy, struct examination *it, audit_judge *judge,
                void *with);

/* ---- the log alone, offline ---- */

struct log_report {
    uint64_t records, goals, broken;
    bool failed; /* it could not be read to its end */
    char why[LIMIT_WHY];
};

struct log_visitor {
    void *with;
    /* for each record that follows: so an older end can be looked for in the middle of a chain */
    void (*record)(void *with, struct id goal, uint64_t seq, const struct hash *hash);
    /* after each chain, in order of goal ids; `wrong`: what does not hold, from which record on */
    void (*chain)(void *with, const struct audit *audit, const char *wrong);
};

/* G-25: follow every chain of the store, and compare its end with the goal's row. */
void store_verify_log(struct str where, const struct log_visitor *visitor, struct log_report *ret);
void sqlite_verify_log(const char *path, const struct log_visitor *visitor, struct log_report *ret);
void postgres_verify_log(const char *uri, const struct log_visitor *visitor,
                         struct log_report *ret);
void audit_chains(struct audit_source *source, const struct log_visitor *visitor,
                  struct log_report *ret);
