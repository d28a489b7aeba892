/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of a store: its requests and their answers.
 *
 * The ledger makes one request at a time, a driver performs it, and the answer goes back to the ledger. A request is
 * one transaction. So the same ledger runs on SQLite, on PostgreSQL, on the model of the tests, and on any of these
 * with injected failures. docs/protocol.md is the protocol; P1 to P9 below are its clauses. */
#pragma once

#include "base/planted.h"
#include "model/decision.h"
#include "model/store_address.h"

/* ---- the outcome of a request ---- */

enum store_outcome {
    STORE_DONE,    /* committed, or read */
    STORE_FAILED,  /* certainly not committed: lock time-out, disk full, not connected */
    STORE_UNKNOWN, /* the connection was lost before the answer */
    STORE_REFUSED, /* the database rejects this data: not committed, and never will be */
};

/* ---- the requesting host ---- */

struct store_self {
    uint32_t host;
    uint64_t
        instance; /* random number of this process: tells two daemons under one host id apart */
    uint64_t epoch;
};

/* ---- rows ---- */

struct host_row {
    uint32_t host;
    uint64_t epoch, beat, batch;
    enum host_state state;
    uint64_t instance; /* hosts: of the process that joined last */
    struct str
        addr; /* hosts: identity of the claimant of the number; empty: an older build joined */
};

struct effect_entry { /* an open effect with its body, as needed for claims */
    struct id goal;
    struct effect_slot slot;
    struct str body;
    bool damaged; /* its check fails: the body is empty */
};

struct due_row {
    struct id goal;
    int64_t due_at;
};

struct inbox_row {
    struct id source;
    struct id goal;
    struct str body; /* an encoded signal */
    bool
        may_wait; /* forward: its caller can retry, so it is rejected if LIMIT_INBOX signals already wait for the owner */
};

struct aside_row { /* a signal kept while its goal is quarantined */
    struct id source;
    int64_t at;
    struct str why;
    struct str body;
};

/* The changes of a batch to one goal. */
struct goal_commit {
    struct goal goal;          /* state after the commit */
    uint64_t expected;         /* version before; 0: the goal is new */
    bool view_changed;         /* list columns have changed: the row of goal_view is written */
    bool numbered;             /* its number is new */
    bool keep_hot;             /* quarantined: the stored bytes stay as evidence */
    struct str title;          /* new or changed; empty: unchanged */
    const struct tags *tags;   /* new or changed; NULL: unchanged */
    struct str hot;            /* encoded GOAL_HOT, sealed */
    struct part_change *parts; /* in order of kind, n; bodies sealed */
    uint32_t part_count;
    struct text_row *texts; /* to be stored separately; a text that exists already stays */
    uint32_t text_count;
    struct record *records;
    uint32_t record_count;
    struct effect_change *effects;
    uint32_t effect_count;
    struct id *inbox_done; /* inbox rows consumed by this commit */
    uint32_t inbox_count;
    struct id *seen; /* sources to remember */
    uint32_t seen_count;
    struct aside_row *aside;
    uint32_t aside_count;

    bool ok; /* answer: it was committed; otherwise another writer was first */
};

struct goal_loaded {
    struct goal goal;
    union {
        struct live live;
        struct plan plan;
    };
    bool exists;
    bool whole;       /* every part could be decoded, and its checks hold */
    bool owner_lives; /* the owner's host row says live */
    uint64_t owner_epoch;
};

struct goal_shown {
    struct str title;
    struct texts tags;
    struct str why_aside;   /* why it is quarantined; empty: it is not */
    struct record *records; /* the newest, newest first */
    uint32_t record_count;
    struct text_row *texts; /* those that the goal and its live rows name now, in order of hash */
    uint32_t text_count;
    struct part_shown
        *parts; /* of kinds that are not live, in order of kind, n; the live ones: loaded[0].live */
    uint32_t part_count;
};

struct part_shown {
    enum part_kind kind;
    uint32_t n;
    struct str name, body; /* unsealed */
};

/* Filter of a list: everything that is set must match. Newest first, by creation. */
struct list_filter {
    bool by_status, by_display_state;
    enum goal_status status;
    enum display_state display_state;
    struct str tag;    /* empty: any */
    struct str search; /* words that must all be in the title; empty: any */
    int64_t
        ended_since; /* only goals that are done and ended since then, latest end first; ignores the other filters */
    bool
        asking; /* only goals that need a person, longest waiting first; ignores the other filters */
    int64_t before; /* the page begins after (before, before_id); 0: at the newest */
    struct id before_id;
};

/* A place in the log, in the order of commits: everything at or before it has been seen. Written era.tx.n. The first
 * record of a transaction is n = 1, so (tx, 0) means that nothing of that transaction has been seen. */
struct cursor {
    uint64_t era;
    int64_t tx; /* below 0: written by a restore */
    uint32_t n;
    bool from_start; /* start at the oldest record that is kept */
    bool from_now;   /* skip everything that exists already */
    bool held; /* by a reader that has read continuously: nothing after it can have been dropped */
};

struct logged { /* a record with its place */
    struct cursor place;
    struct id goal;
    struct record record;
};

/* An operator's order to the whole fleet: kept in the store's own row, and recorded under SYSTEM_GOAL. */
enum order { ORDER_POLICY, ORDER_STOP, ORDER_RESUME, ORDERS };

struct store_order {
    enum order order;
    struct record
        record;      /* type, at, core, policy and body; the store assigns its place in the chain */
    struct str text; /* policy: its text, to be stored by its hash */
    struct str why;  /* stop: the reason, for people */
};

struct store_mark {     /* what the store declares about itself */
    uint32_t version;   /* of its tables */
    uint32_t oldest;    /* the oldest build that may still use them */
    uint32_t level;     /* format that is written: raised once every host speaks it */
    uint64_t era;       /* raised by each restore */
    struct id instance; /* STORE-21: created with the store */
    bool safe;          /* STORE-10: nothing is written until an operator allows it */
    uint64_t timeline;  /* of the server: raised when a standby is promoted; 0: it has none */
    bool stopped;       /* an operator stopped the fleet: nothing new is claimed */
};

/* P13: the minimum that a host knows about its own row. A row below these values is from an earlier time. All 0:
 * nothing is known. */
struct store_known {
    struct id instance; /* of the store */
    uint64_t era, epoch, beat, batch;
    bool back; /* the row was already found below these values */
};

/* P15: numbers [next, end) that one host may give to goals, each once; `era` is that of the store when they were taken. A
 * block of an earlier era is not used: a restore may have forgotten which of its numbers were given. */
struct number_block {
    uint64_t next, end, era;
};

/* How many numbers the first block after a restore leaves out: more than hosts may have given since the backup. */
static inline uint64_t number_gap(void) {
    return planted(NUMBERS_FORGOTTEN) ? 0 : LIMIT_NUMBER_GAP;
}

struct record_mark { /* a record that exists if a commit succeeded */
    struct id goal;
    uint64_t seq;
    struct hash hash;
};

struct source_key {
    struct id goal, source;
};

/* ---- requests ---- */

enum store_verb {
    STORE_NOTHING,
    STORE_JOIN,    /* take the host row: raise its epoch, learn the batch number */
    STORE_OWNED,   /* a page of this host's open goals: their due times and open effects */
    STORE_BEAT,    /* P2 renew */
    STORE_POLL,    /* P3 rows of this host's neighbours, and its inbox */
    STORE_TAKE,    /* P4 first half: raise the epoch of a host that no longer beats */
    STORE_ADOPT,   /* P4 second half: become the owner of a page of its goals */
    STORE_LOAD,    /* P5 goals, then their open effects */
    STORE_COMMIT,  /* P6 one batch */
    STORE_RESOLVE, /* P7 find out whether a batch was committed, and fence it if not */
    STORE_FORWARD, /* P9 put signals into the inbox of the goal's owner */
    STORE_SHOW,    /* one goal as people see it; on a reader's own connection */
    STORE_LIST,    /* a page of goals that match a filter */
    STORE_FIND,    /* PLAN-34: goals that have a part with this name */
    STORE_TALLY,   /* number of goals in each display state; kept as a sum, never counted */
    STORE_FOLLOW,  /* records after a place, in the order of commits */
    STORE_NAMED,   /* goals whose id begins with a given prefix, or with a given number */
    STORE_ORDER,   /* an operator's order to the whole fleet; fenced like a commit */
    STORE_HOSTS,   /* the rows of all hosts, or of self.host */
    STORE_HISTORY, /* a page of one goal's records in order, with the signals that are stored separately */
    STORE_BRIEF, /* several goals at once: titles, newest records, texts; no tags, no closed parts */
    STORE_NUMBERS, /* P15 take numbers for the names of goals; fenced like a commit */
    STORE_VERBS
};

struct store_request {
    enum store_verb verb;
    struct store_self self;
    int64_t at; /* wall clock, for partitions and host rows */

    struct str build, addr; /* join */
    bool claims; /* join: only while the row is as in `victim`; epoch 0: there was no row */
    struct store_known known; /* join, beat, take; take: with `back`, a new era begins */
    uint32_t speaks;          /* join: the highest level that this build knows */
    struct id after;          /* owned: the page begins after this id */
    uint32_t limit;           /* owned, adopt, poll, show, brief, history: rows in a page */
    struct host_row victim;   /* take: as last polled; adopt: its host and epoch now */
    const struct id *only;    /* adopt, owned: only these goals (else a page of all open ones) */
    uint32_t only_count;
    const struct id *ids; /* load, show, brief, history: in key order */
    uint32_t id_count;
    const struct source_key *keys; /* load: sources to look up as applied or not, in key order */
    uint32_t key_count;
    const struct record_mark *marks; /* load: records to look up as stored or not */
    uint32_t mark_count;
    struct goal_commit *commits; /* commit: in key order of the goals */
    uint32_t commit_count;
    uint64_t batch;               /* commit: its number */
    uint64_t number_next;         /* commit: this host has given all numbers of its block below */
    uint64_t number_from;         /* numbers: none below is wanted */
    uint32_t number_count;        /* numbers: how many more */
    const struct inbox_row *rows; /* forward */
    uint32_t row_count;
    struct list_filter filter;      /* list */
    uint32_t first_type, last_type; /* show, brief: only records of these types; 0: all */
    const struct hash *texts;       /* show: these texts of the goal too, whatever names them */
    uint32_t text_count;
    uint64_t after_seq;  /* history: the page begins after this record */
    enum part_kind part; /* find */
    struct str name;
    bool
        instruction; /* find, for dispatches: the name is the hash of an instruction, as 64 hexadecimal digits. ASSIGN-15 */
    struct cursor cursor;        /* follow; `ids` with one goal: only its records; `limit` */
    int64_t since;               /* follow: records before this time are left out */
    const bool *types;           /* follow: RECORD_TYPES flags; NULL: all types */
    struct id first_id, last_id; /* named: the range of ids with the prefix */
    uint64_t number;             /* named: this number; 0: the range */
    const struct store_order *order;
};

struct store_answer {
    enum store_outcome outcome;
    struct str error; /* the engine's message, when not done */
    bool damaged;     /* the engine reports that stored data is damaged: STORE-09 */

    bool held;             /* join, beat, commit, resolve: the host row is ours; take: taken */
    uint64_t epoch, batch; /* join, resolve */
    uint64_t beat;         /* join */
    bool
        back; /* join: the row was below what its host knows; a new era has begun, unless one had begun since */
    uint64_t batch_was;     /* then: the batch of that row */
    struct host_row *hosts; /* poll: neighbours first to last; hosts: by number */
    uint32_t host_count;
    struct inbox_row *inbox; /* poll; forward: the accepted ones, only their source, in any order */
    uint32_t inbox_count;
    struct due_row *owned; /* owned, adopt */
    uint32_t owned_count;
    bool more;                    /* owned, adopt: another page may follow */
    struct effect_entry *effects; /* owned, adopt */
    uint32_t effect_count;
    struct goal_loaded *loaded; /* load: one for each id, in the same order */
    bool *seen;                 /* load: one for each key */
    bool *stands;               /* load: one for each mark */
    struct goal_shown
        shown; /* show: beside loaded[0]; history: records, oldest first, texts, and `more` */
    struct goal_view *views; /* list */
    uint32_t view_count;     /* and `more` */
    int64_t list_count; /* list by ended_since, or asking: the total number, on this page or not */
    struct goal_shown *briefs; /* brief: one for each id, beside `loaded` */
    struct id *found;          /* find, named: in order, at most `limit` */
    uint32_t found_count;
    int64_t tally[DISPLAY_STATES]; /* tally */
    bool
        unguarded; /* tally: there are standbys, and commits wait for none of them: a failover loses commits */
    struct logged *log; /* follow: in order */
    uint32_t log_count; /* and `more` */
    struct cursor
        reached; /* follow: everything up to here has been returned; never beyond what is settled */
    int64_t
        settled; /* follow: without `more`, everything wanted below this transaction was returned */
    bool
        gone; /* follow: the cursor is from another era, or from days that are no longer kept: `reached` is now */
    struct store_mark mark;      /* join, poll */
    struct hash policy;          /* join: the policy that this host last recorded; zero: none */
    uint64_t seq;                /* order: seq of the newest record of SYSTEM_GOAL */
    struct number_block numbers; /* join: what is left of this host's block; numbers: its block */
};

/* ---- the driver ---- */

struct store;

struct store_driver {
    const char *name;

    /* Perform one request. Everything in the answer is allocated from the arena. Allocates only before the transaction
     * begins or after it has ended: see arena.h on what happens without memory. */
    void (*perform)(struct store *store, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena);
    void (*close)(struct store *store);
    void (*rest)(struct store *store); /* NULL: it holds no resource that others could use */
};

struct store {
    const struct store_driver *driver;
};

/* Open "sqlite:PATH" or a PostgreSQL URI. Creates the tables if there are none. NULL with an error that says what to
 * do. An unreachable store can be opened: its requests fail until it is back. */
struct store *store_open(struct str where, char *error, size_t error_size);

/* The same for a process that works beside a daemon: what a killed daemon left stays unchanged for its next start. */
struct store *store_open_beside(struct str where, char *error, size_t error_size);

/* STORE-21: set the instance (32 hexadecimal digits) that this process may write to; NULL or empty: any. Call once,
 * before a store is opened. */
void store_belongs_to(const char *instance);

static inline void store_perform(struct store *store, const struct store_request *request,
                                 struct store_answer *answer, struct arena *arena) {
    store->driver->perform(store, request, answer, arena);
}

/* Release the connection when no request is expected for some time; the next request opens it again. */
static inline void store_rest(struct store *store) {
    if (store->driver->rest)
        store->driver->rest(store);
}

static inline void store_close(struct store *store) {
    if (store)
        store->driver->close(store);
}

extern const char *const STORE_VERB_NAMES[STORE_VERBS];
