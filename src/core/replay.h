/* SPDX-License-Identifier: Apache-2.0 */
/* Would the same things happening give the same decisions? A goal's records are taken in one after the other, from the
 * first on; what each decision was made of is on its first record, and step() makes it again.
 *
 *     record ──▶ first of a decision? ──▶ step() from the state so far ──▶ its records, one by one, have to be these
 *
 * With another policy beside it: what would have been decided at each of these moments? Each time from the state that
 * really was, so that one difference does not hide the next. */
#pragma once

#include "core/step.h"

enum replayed {
    REPLAYED_SAME,       /* so far */
    REPLAYED_DIFFERS,    /* another decision */
    REPLAYED_CUT,        /* the beginning, or one in between, is no longer kept */
    REPLAYED_NO_INPUT,   /* the record does not say what had happened: it is older than that */
    REPLAYED_NO_POLICY,  /* the policy is not known: hand it over, and take the record once more */
    REPLAYED_OTHER_CORE, /* other rules decided */
    REPLAYEDS
};
extern const struct names REPLAYED_NAMES;

/* Where policies and texts are, by hash. False: they are not. */
struct replay_sources {
    bool (*policy)(void *with, const struct hash *hash, const struct policy **ret);
    bool (*text)(void *with, const struct hash *hash, struct str *ret);
    void *with;
};

/* Where what was decided and what would be decided part. Points into the replay; to be used at once. */
struct replay_difference {
    const struct record *record;  /* as it was; of what-if: the first of the decision */
    const struct record *instead; /* NULL: none */
    const struct signal *signal;  /* what had happened */
    const struct decision *was, *would;
    int64_t
        due; /* what-if: nothing else differs, but it would have been looked at then, earlier than it was; 0: no */
};

struct replay {
    struct replay_sources from;
    const struct policy *other; /* what if this had been the policy? NULL: not asked */
    void (*differs)(void *with, const struct replay_difference *difference);
    void *with;

    struct goal goal; /* the state so far */
    struct live live;
    bool exists;
    uint64_t records, decisions, differences;
    enum replayed verdict; /* once it is not REPLAYED_SAME, nothing more is taken in */

    /* the decision whose records are being compared */
    struct arena kept[2]; /* of the state: they take turns */
    struct arena made, other_made;
    struct decision decision, instead;
    struct signal signal;
    struct evidence evidence;
    const struct policy *policy;
    uint32_t compared;      /* of its records */
    int64_t due, other_due; /* when it wanted to be asked again */
};

/* `goal` names it. The struct starts zeroed but for sources, other, differs and with. */
void replay_begin(struct replay *replay, struct id goal);

/* The next record, in order. False: that is where it ends; `verdict` says why. Of REPLAYED_NO_POLICY nothing was taken
 * in, and it may be tried again. */
bool replay_take(struct replay *replay, const struct record *record);

/* That was the last record. */
enum replayed replay_conclude(struct replay *replay);

/* The last decision that was taken in, once more with this policy: would it have been another one? From the state
 * before it. `ret_would` stays until the next call. */
bool replay_would_differ(struct replay *replay, const struct policy *policy,
                         const struct decision **ret_would);

void replay_end(struct replay *replay);
