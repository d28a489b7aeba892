/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a goal: checks that the same inputs give the same decisions. The goal's records are fed one after the other, from the
 * first on; the first record of a decision holds its inputs, and step() makes the decision again.
 *
 *     record ──▶ first of a decision? ──▶ step() from the state so far ──▶ its records, one by one, have to be these
 *
 * With a second policy, it also reports what that policy would have decided at each of these moments, each time from the
 * actual state, so that one difference does not hide the next. */
#pragma once

#include "core/step.h"

enum replayed {
    REPLAYED_SAME,       /* so far */
    REPLAYED_DIFFERS,    /* a different decision */
    REPLAYED_CUT,        /* the first record, or one in between, is no longer kept */
    REPLAYED_NO_INPUT,   /* the record has no input: it is older than that feature */
    REPLAYED_NO_POLICY,  /* the policy is not known: supply it, and feed the record once more */
    REPLAYED_OTHER_CORE, /* another version of the rules decided */
    REPLAYEDS
};
extern const struct names REPLAYED_NAMES;

/* Looks policies and texts up by hash. False: not found. */
struct replay_sources {
    bool (*policy)(void *with, const struct hash *hash, const struct policy **ret);
    bool (*text)(void *with, const struct hash *hash, struct str *ret);
    void *with;
};

/* A difference between what was decided and what would be decided. Points into the replay; to be used at once. */
struct replay_difference {
    const struct record *record;  /* the actual one; for what-if: the first of the decision */
    const struct record *instead; /* NULL: none */
    const struct signal *signal;  /* input of the decision */
    const struct decision *was, *would;
    int64_t
        due; /* what-if: nothing else differs, but the goal would have been looked at then, earlier than it was; 0: no */
};

struct replay {
    struct replay_sources from;
    const struct policy *other; /* what-if: the other policy; NULL: none */
    void (*differs)(void *with, const struct replay_difference *difference);
    void *with;

    struct goal goal; /* the state so far */
    struct live live;
    bool exists;
    uint64_t records, decisions, differences;
    enum replayed verdict; /* once it is not REPLAYED_SAME, no more records are accepted */

    /* the decision whose records are being compared */
    struct arena kept[2]; /* hold the state, alternating */
    struct arena made, other_made;
    struct decision decision, instead;
    struct signal signal;
    struct evidence evidence;
    const struct policy *policy;
    uint32_t compared;      /* number of its records */
    int64_t due, other_due; /* when the goal wanted to be looked at again */
};

/* `goal` is its id. The struct starts zeroed except for from, other, differs and with. */
void replay_begin(struct replay *replay, struct id goal);

/* Feeds the next record, in order. False: the replay ends there; `verdict` says why. With REPLAYED_NO_POLICY the record
 * was not accepted, and may be fed again. */
bool replay_take(struct replay *replay, const struct record *record);

/* To be called after the last record. */
enum replayed replay_conclude(struct replay *replay);

/* Makes the last decision once more with this policy, from the state before it. True: it would have been different.
 * `*ret_would` is valid until the next call. */
bool replay_would_differ(struct replay *replay, const struct policy *policy,
                         const struct decision **ret_would);

void replay_end(struct replay *replay);
