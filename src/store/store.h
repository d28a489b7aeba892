/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a store, and what may it answer?
 *
 * The ledger asks one thing at a time: it makes a request, somebody performs it, the answer goes back to
 * the ledger. A request is one transaction. So the same ledger runs on SQLite, on PostgreSQL, on the
 * model of the tests, and on any of these with failures in between. docs/protocol.md is the protocol;
 * P1 to P9 below are its clauses. */
#pragma once

#include "model/decision.h"

/* ---- what came of a request ---- */

enum store_outcome {
    STORE_DONE,    /* committed, or read */
    STORE_FAILED,  /* certainly not committed: lock time-out, disk full, not connected */
    STORE_UNKNOWN, /* the connection broke before the answer */
    STORE_REFUSED, /* the database will not have this data: not committed, and never will be */
};

/* ---- who asks ---- */

struct store_self {
    uint32_t host;
    uint64_t instance; /* of this process, random: two daemons under one host id are told apart */
    uint64_t epoch;
};

/* ---- rows ---- */

struct host_row {
    uint32_t host;
    uint64_t epoch, beat, batch;
    enum host_state state;
    uint64_t instance; /* hosts: of the process that joined last */
    struct str addr;   /* hosts: who claimed the number; empty: an older build joined */
};

struct effect_entry { /* an open effect with its body, as the claims need it */
    struct id goal;
    struct effect_slot slot;
    struct str body;
    bool damaged; /* its check does not hold: the body is empty */
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
        may_wait; /* forward: its caller can come back, so it is not taken when the owner has LIMIT_INBOX */
};

struct aside_row { /* a signal kept while its goal is quarantined */
    struct id source;
    int64_t at;
    struct str why;
    struct str body;
};

/* What a batch does to one goal. */
struct goal_commit {
    struct goal goal;          /* afterwards */
    uint64_t expected;         /* version before; 0: the goal is new */
    bool view_changed;         /* what lists show has changed: the row of goal_view is written */
    bool keep_hot;             /* quarantined: the stored bytes stay as evidence */
    struct str title;          /* new or changed; empty: as it was */
    const struct tags *tags;   /* new or changed; NULL: as they were */
    struct str hot;            /* encoded GOAL_HOT, sealed */
    struct part_change *parts; /* in order of kind, n; bodies sealed */
    uint32_t part_count;
    struct text_row *texts; /* to be kept apart; one that is there already stays */
    uint32_t text_count;
    struct record *records;
    uint32_t record_count;
    struct effect_change *effects;
    uint32_t effect_count;
    struct id *inbox_done; /* inbox rows that are hereby consumed */
    uint32_t inbox_count;
    struct id *seen; /* sources to remember */
    uint32_t seen_count;
    struct aside_row *aside;
    uint32_t aside_count;

    bool ok; /* answer: it was committed; otherwise somebody else was first */
};

struct goal_loaded {
    struct goal goal;
    union {
        struct live live;
        struct plan plan;
    };
    bool exists;
    bool whole;       /* every part of it could be decoded, and its checks hold */
    bool owner_lives; /* the owner's host row says live */
    uint64_t owner_epoch;
};

struct goal_shown {
    struct str title;
    struct texts tags;
    struct str why_aside;   /* why it was quarantined; empty: it is not */
    struct record *records; /* the newest, newest first */
    uint32_t record_count;
    struct text_row *texts; /* those that the goal and its live rows name now, in order of hash */
    uint32_t text_count;
    struct part_shown
        *parts; /* of kinds that are not live, in order of kind, n; the others: loaded[0].live */
    uint32_t part_count;
};

struct part_shown {
    enum part_kind kind;
    uint32_t n;
    struct str name, body; /* unsealed */
};

/* What a list is to show: everything that is set has to hold. Newest first, by creation. */
struct list_filter {
    bool by_status, by_face;
    enum goal_status status;
    enum face face;
    struct str tag;    /* empty: any */
    struct str search; /* words that the title has all of; empty: any */
    int64_t
        ended_since; /* those that are done and ended since then, the newest end first, whatever else is set */
    bool
        asking; /* those that need a person, the one that has for longest first, whatever else is set */
    int64_t before; /* the page begins behind (before, before_id); 0: at the newest */
    struct id before_id;
};

/* A place in the log, in the order of commits: what stands at or before it has been seen. Written era.tx.n. The
 * first record of a transaction is n = 1, so that (tx, 0) means: nothing of it yet. */
struct cursor {
    uint64_t era;
    int64_t tx; /* below 0: what a restore put there */
    uint32_t n;
    bool from_start; /* the oldest that is kept */
    bool from_now;   /* nothing that is there already */
    bool held;       /* by somebody who has read on ever since: nothing can have been dropped */
};

struct logged { /* a record with its place */
    struct cursor place;
    struct id goal;
    struct record record;
};

/* What an operator says to the whole fleet: kept in the store's own row, on the record of SYSTEM_GOAL. */
enum order { ORDER_POLICY, ORDER_STOP, ORDER_RESUME, ORDERS };

struct store_order {
    enum order order;
    struct record
        record; /* type, at, core, policy and body; the store gives it its place in the chain */
    struct str text; /* policy: as text, to be kept by its hash */
    struct str why;  /* stop: for people */
};

struct store_mark {     /* what the store says of itself */
    uint32_t version;   /* of its tables */
    uint32_t oldest;    /* the oldest build that may still use them */
    uint32_t level;     /* what is written: raised once every host speaks it */
    uint64_t era;       /* raised by each restore */
    struct id instance; /* STORE-21: made with the store */
    bool safe;          /* STORE-10: nothing is written until an operator says so */
    uint64_t timeline;  /* of the server: raised when a standby is promoted; 0: it has none */
    bool stopped;       /* an operator stopped the fleet: nothing new is claimed */
};

/* P13: what a host knows of its own row, at least. A row that is behind this is that of an earlier time. All 0: nothing. */
struct store_known {
    struct id instance; /* of the store */
    uint64_t era, epoch, beat, batch;
    bool back; /* the row was found behind it already */
};

struct record_mark { /* a record that would stand there if a commit had gone through */
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
    STORE_OWNED,   /* a page of open goals that are mine: when they are due, their open effects */
    STORE_BEAT,    /* P2 renew */
    STORE_POLL,    /* P3 my neighbours' rows, and my inbox */
    STORE_TAKE,    /* P4 first half: raise the epoch of a host that does not beat */
    STORE_ADOPT,   /* P4 second half: a page of its goals becomes mine */
    STORE_LOAD,    /* P5 goals, then their open effects */
    STORE_COMMIT,  /* P6 one batch */
    STORE_RESOLVE, /* P7 was that batch committed? and fence it if not */
    STORE_FORWARD, /* P9 put signals into the inbox of whoever owns the goal */
    STORE_SHOW,    /* one goal as people see it; on a reader's own connection */
    STORE_LIST,    /* a page of goals that fit a filter */
    STORE_FIND,    /* PLAN-34: which goals have a part with this name? */
    STORE_TALLY,   /* how many goals have which face? kept as a sum, never counted */
    STORE_FOLLOW,  /* what was recorded behind a place, in the order of commits */
    STORE_NAMED,   /* which goals have an id that begins like this? */
    STORE_ORDER,   /* an operator's order to the whole fleet; fenced as a commit is */
    STORE_HOSTS,   /* the rows of all hosts, or of self.host */
    STORE_HISTORY, /* a page of one goal's records in order, with the signals that are kept apart */
    STORE_BRIEF, /* several goals at once: titles, newest records, texts; no tags, no closed parts */
    STORE_VERBS
};

struct store_request {
    enum store_verb verb;
    struct store_self self;
    int64_t at; /* wall clock, for partitions and host rows */

    struct str build, addr; /* join */
    bool claims; /* join: only while the row is as in `victim`; epoch 0: there was none */
    struct store_known known; /* join, beat, take; take: with `back`, a new era begins */
    uint32_t speaks;          /* join: the highest level that this build knows */
    struct id after;          /* owned: the page begins behind this id */
    uint32_t limit;           /* owned, adopt, poll, show, brief, history: rows in a page */
    struct host_row victim;   /* take: as last polled; adopt: its host and epoch now */
    const struct id *only;    /* adopt, owned: just these goals (else a page of all open ones) */
    uint32_t only_count;
    const struct id *ids; /* load, show, brief, history: in key order */
    uint32_t id_count;
    const struct source_key *keys; /* load: have these sources been applied? in key order */
    uint32_t key_count;
    const struct record_mark *marks; /* load: do these records stand? */
    uint32_t mark_count;
    struct goal_commit *commits; /* commit: in key order of the goals */
    uint32_t commit_count;
    uint64_t batch;               /* commit: its number */
    const struct inbox_row *rows; /* forward */
    uint32_t row_count;
    struct list_filter filter;      /* list */
    uint32_t first_type, last_type; /* show, brief: only records of these types; 0: all */
    const struct hash *texts;       /* show: these texts of the goal too, whoever names them */
    uint32_t text_count;
    uint64_t after_seq;  /* history: the page begins behind this record */
    enum part_kind part; /* find */
    struct str name;
    bool
        instruction; /* find, of dispatches: the name is the hash of an instruction, as 64 digits. ASSIGN-15 */
    struct cursor cursor;        /* follow; `ids` with one goal: only its records; `limit` */
    int64_t since;               /* follow: what was recorded before is left out */
    const bool *types;           /* follow: RECORD_TYPES of them; NULL: all */
    struct id first_id, last_id; /* named: the ids that begin like that */
    const struct store_order *order;
};

struct store_answer {
    enum store_outcome outcome;
    struct str error; /* what the engine said, when not done */
    bool damaged;     /* and it said that what is stored is damaged: STORE-09 */

    bool held;             /* join, beat, commit, resolve: the host row is ours; take: taken */
    uint64_t epoch, batch; /* join, resolve */
    uint64_t beat;         /* join */
    bool back; /* join: the row was behind what is known; a new era has begun, if none has since */
    uint64_t batch_was;     /* then: its batch */
    struct host_row *hosts; /* poll: neighbours first to last; hosts: by number */
    uint32_t host_count;
    struct inbox_row *inbox; /* poll; forward: what was taken, only its source, in any order */
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
    int64_t list_count;      /* list by ended_since, or asking: all of them, on this page or not */
    struct goal_shown *briefs; /* brief: one for each id, beside `loaded` */
    struct id *found;          /* find, named: in order, at most `limit` */
    uint32_t found_count;
    int64_t tally[FACES]; /* tally */
    bool
        unguarded; /* tally: there are standbys, and a commit waits for none of them: a failover loses commits */
    struct logged *log; /* follow: in order */
    uint32_t log_count; /* and `more` */
    struct cursor
        reached; /* follow: up to here everything has been given; never further than what is settled */
    int64_t
        settled; /* follow: without `more`, all that is wanted below this transaction was given */
    bool
        gone; /* follow: the cursor is of another era, or of days that are no longer kept: `reached` is now */
    struct store_mark mark; /* join, poll */
    struct hash policy;     /* join: the one that this host last recorded; zero: none */
    uint64_t seq;           /* order: of the newest record of SYSTEM_GOAL */
};

/* ---- the driver ---- */

struct store;

struct store_driver {
    const char *name;

    /* Carry one request out. Everything in the answer comes from the arena. Only allocates before the
     * transaction begins or after it has ended: see arena.h on what happens without memory. */
    void (*perform)(struct store *store, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena);
    void (*close)(struct store *store);
    void (*rest)(struct store *store); /* NULL: it holds nothing that another could use */
};

struct store {
    const struct store_driver *driver;
};

/* "sqlite:PATH" or a PostgreSQL URI. Creates the tables where there are none. NULL with an error that
 * says what to do. A store that is away can be opened: its requests fail until it is back. */
struct store *store_open(struct str where, char *error, size_t error_size);

/* The same for who works beside a daemon: what one that was killed left is found by its next start as it was. */
struct store *store_open_beside(struct str where, char *error, size_t error_size);

/* STORE-21: the instance (32 hexadecimal digits) that this process may write to; NULL or empty: any. Said once, before
 * a store is opened. */
void store_belongs_to(const char *instance);

static inline void store_perform(struct store *store, const struct store_request *request,
                                 struct store_answer *answer, struct arena *arena) {
    store->driver->perform(store, request, answer, arena);
}

/* Nothing is asked for some time: the connection is given back, and made again by the next request. */
static inline void store_rest(struct store *store) {
    if (store->driver->rest)
        store->driver->rest(store);
}

static inline void store_close(struct store *store) {
    if (store)
        store->driver->close(store);
}

extern const char *const STORE_VERB_NAMES[STORE_VERBS];
