/* SPDX-License-Identifier: Apache-2.0 */
/* What does a ledger remember between two turns? Shared by ledger.c, batch.c and lease.c only. */
#pragma once

#include "base/due.h"
#include "base/map.h"
#include "daemon/guard.h"
#include "daemon/ledger.h"
#include "daemon/order.h"

#include <stdatomic.h>

/* A goal in memory, in a list by age. A cache: it may be thrown away at any time. */
struct warm {
    struct goal goal;
    struct live live; /* its rows stand behind it, in the same block */
    struct warm *older, *newer;
};

enum batch_stage {
    BATCH_NONE,
    BATCH_LOAD,    /* goals that are not warm, and sources that may have been applied */
    BATCH_ADOPT,   /* goals whose owner is gone */
    BATCH_COMMIT,  /* commits[from, to) */
    BATCH_RESOLVE, /* the outcome of that commit is unknown */
    BATCH_RECHECK, /* it was committed: which goals were in it? */
    BATCH_FORWARD, /* what belongs to other hosts */
};

/* The inputs for one goal, next to each other in the batch. */
struct group {
    uint32_t from, to; /* inputs[from, to) */
    struct goal goal;  /* before */
    struct live live;  /* the same; from the batch's arena */
    bool exists, whole;
    bool forward;   /* another host owns it */
    bool adopt;     /* nobody does */
    uint32_t owner; /* then: whose it was */
    uint64_t owner_epoch;
    uint32_t commit; /* its place in commits[], or NO_COMMIT */
};

enum { NO_COMMIT = UINT32_MAX };

struct batch {
    enum batch_stage stage;
    struct arena arena;
    struct input *inputs[LIMIT_BATCH_SIGNALS]; /* in order of goal, then of arrival */
    bool seen[LIMIT_BATCH_SIGNALS];            /* its source has been applied */
    bool key_used[LIMIT_BATCH_SIGNALS];        /* not that, but another one with its key */
    uint32_t input_count;
    struct group *groups;
    uint32_t group_count;
    struct goal_commit *commits;
    uint32_t *commit_group;    /* whose it is */
    struct live *commit_lives; /* afterwards */
    uint32_t commit_count;
    uint32_t from, to; /* what is being committed now */
    uint64_t number;   /* under which number it was sent */
    bool after_join;   /* in doubt while deposed: only answers can still be given */
};

struct watched {
    struct host_row row;
    int64_t since; /* boot clock at which this beat was first known */
};

enum known { KNOWN_QUEUED = 1, KNOWN_FLYING /* + its lane */ };

struct act_list {
    struct act *first, *last;
    uint32_t count;
};

enum { LOST_KNOWN = 16 }; /* of more, an alert stays until a person closes it */

struct ledger {
    struct ledger_config config;
    struct store_self self;
    bool joined;
    uint64_t batch_number;             /* of the last batch known to be committed */
    struct store_known row_known;      /* P13 */
    uint64_t timeline;                 /* of the server, as last heard; 0: not yet */
    bool timeline_changed;             /* since this host knows of one: */
    struct host_row first[LOST_KNOWN]; /* neighbours, as they were first seen on this one */
    uint32_t first_count;
    uint64_t backs, back_from, back_to;
    bool trusts_notes; /* P14: what is claimed and not noted was not begun */
    bool settled;      /* P14: what was claimed before this process has been looked at */
    bool unsettled;    /* P14: not all of it could be decided about */
    struct instant now;
    int64_t retry_at; /* boot clock: after a failure, nothing is asked before */
    char trouble[LIMIT_WHY];
    int64_t trouble_since;        /* boot clock */
    int64_t away_for, away_until; /* the last trouble that is over: how long, and when it ended */
    char deposition[LIMIT_WHY];   /* how the host row was lost the last time, once it is known */
    bool deposition_open;         /* it was lost, and the row has not been looked at since */
    uint64_t depositions_told;

    /* What the answer to the request in hand belongs to. */
    struct store_request request;
    int64_t request_sent;

    struct input_list waiting;       /* gathered signals */
    struct input_list claims[LANES]; /* ready effects that want to be claimed, each with its act */
    struct act_list repeats[LANES];  /* those that need no claim, and wait for room */
    struct input_list answered;      /* let go of */
    struct act *acts, **acts_end;
    struct map known; /* effects that wait for a claim or are being carried out, by effect_id */
    uint32_t acting[LANES]; /* of those, carried out */
    int64_t joined_at;      /* wall clock: since then this host has watched */
    struct batch batch;
    struct arena scratch; /* what the request in hand points to */

    struct map warm;
    struct warm *oldest, *newest;
    size_t warm_bytes; /* of all their rows */
    struct due due;

    /* reading what is mine: at start, after a take-over in doubt, after an overflow */
    bool reading, read_again;
    struct id read_after;
    struct id
        meet[LIMIT_BATCH_SIGNALS]; /* goals that were resumed: their effects are wanted again */
    uint32_t meet_count;
    struct store_mark mark; /* era and level, as last heard */

    /* the claim of the number, before each join: host_claim.h */
    struct host_row claim; /* the row as it was seen; epoch 0: there was none */
    int64_t claim_since;   /* boot clock: it has stood so since then */
    bool claimed;          /* a join may be tried */
    bool contested;        /* another process beats under this number */

    /* leases */
    int64_t beat_at, poll_at, last_poll;
    uint64_t pulse_beaten;
    struct watched watched[LIMIT_WATCHED_HOSTS];
    uint32_t watched_count;
    struct host_row victim;
    uint32_t lost[LOST_KNOWN]; /* hosts that were taken over and have not returned; 0: free */
    bool taking, adopting;
    bool
        fencing; /* an adoption of unknown outcome may still be on its way: fence it, then read again */
    uint32_t inbox_pending;
    bool inbox_more;       /* a page was read: the next is asked for when this one is done, */
    int64_t inbox_rest;    /* and after this time */
    struct id inbox_first; /* of the newest page: one that comes again has made no progress */

    atomic_int_least64_t act_until; /* boot clock */
    atomic_uint_least64_t reign;    /* raised whenever the host row is lost */
    atomic_uint_least64_t joins;    /* raised by each join */
    atomic_bool held;

    /* orders of the operator */
    struct input_list orders;
    struct input *ordering;       /* the one whose answer is awaited */
    struct policy_kept *policies; /* the newest is in force */
    const struct policy *_Atomic policy;
    bool unrecorded; /* this host's own chain does not say yet under which policy it decides */
    atomic_bool stopped;

    /* steps of the wall clock */
    int64_t stepped;       /* the sum that was last handed in */
    bool due_doubt;        /* stored due times may be too late: look at each goal once */
    int64_t observe_since; /* boot clock: when observing last began; 0: never */
    atomic_int_least64_t observe_until; /* boot clock: nothing is claimed or carried out before */

    struct lateness late;
    uint64_t turns, commits, conflicts, quarantined, takeovers, deposed, dropped;
};

/* ledger.c */
void ledger_deposed(struct ledger *ledger);
void ledger_confirm(struct ledger *ledger);       /* P13: what is known of the host row has grown */
bool ledger_is_held(const struct ledger *ledger); /* nothing is claimed or carried out now */
void ledger_act(struct ledger *ledger, struct act *act, uint64_t fence);
void ledger_repeat(
    struct ledger *ledger); /* let go of what needs no claim, as far as there is room */
uint32_t ledger_claims(const struct ledger *ledger);
void ledger_answer(struct ledger *ledger, struct input *input, enum error error, const char *why);
void ledger_retry_later(struct ledger *ledger, const struct store_answer *answer);
bool ledger_offer_internal(struct ledger *ledger, struct signal signal);
void ledger_meet_effect(struct ledger *ledger, const struct effect_entry *entry);
void ledger_meet_again(struct ledger *ledger, const struct goal *goal);
void ledger_forget_effect(struct ledger *ledger, struct id goal, uint32_t n);
const struct warm *warm_get(struct ledger *ledger, struct id id);
void warm_put(struct ledger *ledger, const struct goal *goal, const struct live *live);
void warm_drop(struct ledger *ledger, struct id id);
void warm_clear(struct ledger *ledger);

/* batch.c */
bool batch_begin(struct ledger *ledger);   /* false: nothing to do */
void batch_request(struct ledger *ledger); /* fills ledger->request for the stage */
void batch_absorb(struct ledger *ledger, const struct store_answer *answer);
void batch_abandon(struct ledger *ledger, enum error error); /* nothing of it was committed */
bool batch_was_sent(const struct ledger *ledger);
bool batch_may_note(const struct ledger *ledger, const struct act *act);
bool batch_never_began(const struct ledger *ledger, const struct effect_entry *entry);
bool batch_row_is_behind(const struct ledger *ledger, const struct store_answer *answer);
struct store_known batch_take_known(const struct ledger *ledger);
struct store_known batch_known(const struct ledger *ledger, bool beats);
void batch_after_join(struct ledger *ledger, uint64_t stored_batch);

/* lease.c */
bool lease_row_is_doubtful(const struct ledger *ledger, const struct host_row *row);
void lease_deposed(struct ledger *ledger);      /* the host row is lost: find out how */
bool lease_claims(const struct ledger *ledger); /* the row is looked at before the join */
void lease_claim(struct ledger *ledger);
void lease_absorb_claim(struct ledger *ledger, const struct store_answer *answer);
void lease_beat(struct ledger *ledger);
void lease_absorb_beat(struct ledger *ledger, const struct store_answer *answer);
void lease_poll(struct ledger *ledger);
void lease_absorb_poll(struct ledger *ledger, const struct store_answer *answer);
void lease_take(struct ledger *ledger);
void lease_absorb_take(struct ledger *ledger, const struct store_answer *answer);
void lease_adopt(struct ledger *ledger);
void lease_absorb_adopt(struct ledger *ledger, const struct store_answer *answer);
void lease_fence(struct ledger *ledger);
void lease_absorb_fence(struct ledger *ledger, const struct store_answer *answer);
void lease_adopt_failed(struct ledger *ledger, const struct store_answer *answer);
void lease_meet_owned(struct ledger *ledger, const struct store_answer *answer);
