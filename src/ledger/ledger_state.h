/* SPDX-License-Identifier: Apache-2.0 */
/* State of a ledger between two turns. Shared by ledger.c, batch.c, decide.c, lease.c and order.c only. */
#pragma once

#include "base/due.h"
#include "base/map.h"
#include "ledger/ledger.h"
#include "ledger/order.h"
#include "sys/crash_guard.h"

#include <stdatomic.h>

/* A goal in memory, in a list by age. A cache: it may be dropped at any time. */
struct warm {
    struct goal goal;
    struct live live; /* its rows follow in the same block */
    struct warm *older, *newer;
};

enum batch_stage {
    BATCH_NONE,
    BATCH_LOAD,    /* goals that are not warm, and sources that may have been applied */
    BATCH_ADOPT,   /* goals whose owner is gone */
    BATCH_NUMBERS, /* numbers for the names of goals, if too few are left */
    BATCH_COMMIT,  /* commits[from, to) */
    BATCH_RESOLVE, /* the outcome of that commit is unknown */
    BATCH_RECHECK, /* it was committed: which goals were in it? */
    BATCH_FORWARD, /* signals for goals of other hosts */
};

/* The inputs for one goal, next to each other in the batch. */
struct group {
    uint32_t from, to; /* inputs[from, to) */
    struct goal goal;  /* before the batch */
    struct live live;  /* the same; from the batch's arena */
    bool exists, whole;
    bool forward;   /* another host owns it */
    bool adopt;     /* its owner is gone */
    uint32_t owner; /* in that case: the previous owner */
    uint64_t owner_epoch;
    uint32_t commit; /* its index in commits[], or NO_COMMIT */
};

enum { NO_COMMIT = UINT32_MAX };

struct batch {
    enum batch_stage stage;
    struct arena arena;
    struct input *inputs[LIMIT_BATCH_SIGNALS]; /* in order of goal, then of arrival */
    bool seen[LIMIT_BATCH_SIGNALS];            /* its source has been applied */
    bool key_used
        [LIMIT_BATCH_SIGNALS]; /* not its source, but another request with its key has been applied */
    uint32_t input_count;
    struct group *groups;
    uint32_t group_count;
    struct goal_commit *commits;
    uint32_t *commit_group;    /* index of its group */
    struct live *commit_lives; /* after the commit */
    uint32_t commit_count;
    uint32_t from, to;  /* range of commits[] that is being committed now */
    uint64_t number;    /* batch number under which it was sent */
    bool numbers_taken; /* once for each batch */
    bool after_join;    /* in doubt while deposed: only answers can still be given */
};

struct neighbour {
    struct host_row row;
    int64_t since; /* boot clock: when this beat was first seen */
};

enum known { KNOWN_QUEUED = 1, KNOWN_FLYING /* + its effect class */ };

struct act_list {
    struct act *first, *last;
    uint32_t count;
};

enum { LOST_KNOWN = 16 }; /* if more are lost, an alert stays until a person closes it */

struct ledger {
    struct ledger_config config;
    struct store_self self;
    bool joined;
    uint64_t batch_number;             /* of the last batch known to be committed */
    struct store_known row_known;      /* P13 */
    uint64_t timeline;                 /* of the server, as last reported; 0: not yet */
    bool timeline_changed;             /* since this host first knew one: */
    struct host_row first[LOST_KNOWN]; /* neighbours, as first seen on the present timeline */
    uint32_t first_count;
    uint64_t backs, back_from, back_to;
    bool trusts_notes;     /* P14: an effect that is claimed and not noted was not begun */
    bool settled;          /* P14: the claims from before this process have been checked */
    bool unsettled;        /* P14: not all of them could be decided */
    uint32_t lost_pending; /* P14: claims from before this process that are to be decided */
    struct instant now;
    int64_t retry_at; /* boot clock: after a failure, no request is made before */
    char trouble[LIMIT_WHY];
    int64_t trouble_since;        /* boot clock */
    int64_t away_for, away_until; /* the last trouble that is over: duration and end */
    char deposition[LIMIT_WHY];   /* how the host row was lost the last time, once known */
    bool deposition_open;         /* it was lost, and the row has not been read since */
    uint64_t depositions_reported;

    /* The current request, which the next answer belongs to. */
    struct store_request request;
    int64_t request_sent;

    struct input_list waiting; /* gathered signals */
    struct input_list
        claims[EFFECT_CLASSES]; /* ready effects that wait for their claim, each with its act */
    struct act_list repeats[EFFECT_CLASSES]; /* effects that need no claim, and wait for room */
    struct input_list answered;              /* to be taken by the caller */
    struct act *acts, **acts_end;
    struct map known; /* effects that wait for a claim or are being carried out, by effect_id */
    uint32_t acting[EFFECT_CLASSES]; /* number of those that are being carried out */
    int64_t joined_at;               /* wall clock: this host has watched since then */
    struct batch batch;
    struct arena scratch; /* what the current request points to */

    struct map warm;
    struct warm *oldest, *newest;
    size_t warm_bytes; /* size of all their rows */
    struct due due;

    /* reading the goals of this host: at start, after a take-over in doubt, after an overflow */
    bool reading, read_again;
    struct id read_after;
    struct id meet[LIMIT_BATCH_SIGNALS]; /* goals that were resumed: their effects are read again */
    uint32_t meet_count;
    struct store_mark mark;      /* era and level, as last reported by the store */
    struct number_block numbers; /* P15: for the names of goals */

    /* the claim of the number, before each join: host_claim.h */
    struct host_row claim; /* the row as it was read; epoch 0: there was none */
    int64_t claim_since;   /* boot clock: unchanged since then */
    bool claimed;          /* a join may be tried */
    bool contested;        /* another process beats under this number */

    /* leases */
    int64_t beat_at, poll_at, last_poll;
    uint64_t pulse_beaten;
    struct neighbour neighbour[LIMIT_NEIGHBOURS];
    uint32_t neighbour_count;
    struct host_row victim;
    uint32_t lost[LOST_KNOWN]; /* hosts that were taken over and have not returned; 0: free */
    bool taking, adopting;
    bool
        fencing; /* an adoption of unknown outcome may still be pending: fence it, then read again */
    uint32_t inbox_pending;
    bool inbox_more;    /* a page was read: the next is requested when this one is done, */
    int64_t inbox_rest; /* and after this time */
    struct id
        inbox_first; /* first row of the newest page: a page that begins with it again has made no progress */

    atomic_int_least64_t act_until; /* boot clock */
    atomic_uint_least64_t reign;    /* raised whenever the host row is lost */
    atomic_uint_least64_t joins;    /* raised by each join */
    atomic_bool held;

    /* orders of the operator */
    struct input_list orders;
    struct input *ordering;       /* the order whose answer is awaited */
    struct policy_kept *policies; /* the newest is in force */
    const struct policy *_Atomic policy;
    bool unrecorded; /* this host's own chain does not yet record under which policy it decides */
    atomic_bool stopped;

    /* steps of the wall clock */
    int64_t stepped;                    /* the sum that was last passed in */
    bool due_doubt;                     /* stored due times may be too late: step each goal once */
    int64_t observe_since;              /* boot clock: when observing last began; 0: never */
    atomic_int_least64_t observe_until; /* boot clock: nothing is claimed or carried out before */

    struct lateness late;
    uint64_t turns, commits, conflicts, quarantined, takeovers, deposed, dropped;
};

/* ledger.c */
void ledger_deposed(struct ledger *ledger);
void ledger_confirm(struct ledger *ledger);       /* P13: more is known of the host row */
bool ledger_is_held(const struct ledger *ledger); /* nothing is claimed or carried out now */
void ledger_act(struct ledger *ledger, struct act *act, uint64_t fence);
void ledger_repeat(
    struct ledger *ledger); /* releases effects that need no claim, as far as there is room */
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
bool lease_claims(const struct ledger *ledger); /* true: the row is read before the join */
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

void numbers_absorb(struct ledger *ledger, const struct store_answer *answer);
uint64_t numbers_left(const struct ledger *ledger); /* of those that may be given now */
void ledger_repeats_free(struct act_list *list);
bool ledger_acts_are_off(const struct ledger *ledger); /* no effect may be carried out now */
void batch_end(struct ledger *ledger);
void batch_input_again(struct ledger *ledger, struct input *input); /* it goes into a later batch */
void deposition_report(struct ledger *ledger, const char *how);     /* once for each deposition */
