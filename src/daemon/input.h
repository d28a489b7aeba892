/* SPDX-License-Identifier: Apache-2.0 */
/* What travels to the ledger and back? A signal with whom to answer, and an act to be carried out. Each
 * is one block with one owner at a time, who frees it. */
#pragma once

#include "model/effect.h"
#include "model/error.h"
#include "model/signal.h"

struct act {
    struct act *next;
    struct effect effect; /* goal, n and the body's fields */
    enum effect_lane lane;
    uint64_t fence; /* of the goal, when it was claimed */
    uint64_t batch; /* that claimed it */
    uint64_t reign; /* of the ledger, when it was claimed: see ledger_may_act() */
    bool stranded;  /* P10: asked for by no effect: its outcome is not reported */
};

struct input {
    struct input *next;
    void *waiter;                      /* whom to answer; NULL: nobody waits */
    void (*done)(struct input *input); /* and how, where it is not a call; takes the input over */
    bool owed;                  /* nobody could come back with it later: there is always room */
    struct policy_kept *policy; /* an order: the new policy, see order.h */
    struct act *act;            /* claim: what is carried out once the claim is committed */
    uint32_t tries;             /* conflicts so far */
    bool stamped;               /* its signal's time was taken by the clock whose steps were */
    int64_t stepped;            /* this sum when it was offered */
    bool from_inbox;            /* its row is consumed by the commit that applies it */
    bool taken;                 /* its caller was told that it is kept, before anybody decided */
    bool applied;               /* it changed something in the batch in hand */
    bool claimed;               /* and that was the claim of its effect */
    uint32_t place;             /* order of arrival within a batch */
    bool tells;                 /* it is the message of an effect, which ends with it: */
    struct id told_by;          /* whose */
    uint32_t told_n;            /* and which */

    /* the answer */
    enum error error;
    uint64_t version, seq;
    bool forwarded; /* kept for the host that owns the goal */
    bool key_used;  /* refused: its key names another request */
    char why[160];

    struct signal signal; /* its texts follow in the same block */
};

/* STORE-14: the one way in for everything that is ever stored, so secrets are taken out here. NULL: no memory. */
struct input *input_make(const struct signal *signal, void *waiter);

/* Make the rules ready, with the operator's own patterns beside the built-in ones: once, before there are
 * threads. False: no memory. */
bool input_redacts(const struct str *custom, uint32_t count);
struct str input_redacted(struct str text, struct arena *arena); /* the same, for logs */
bool input_has_secret(struct str text);
void input_free(struct input *input);

/* Its source is remembered, so that it is applied once. A goal answers a create that is repeated without a key. */
static inline bool input_is_remembered(const struct input *input) {
    const struct signal *signal = &input->signal;
    return signal->keyed && (signal->kind != SIGNAL_GOAL_CREATE || id_is_set(signal->key));
}

/* Its key names another request. That refuses it, unless its caller was told that it is kept: then it is applied under its source. */
static inline bool input_key_refuses(struct input *input) {
    if (!input->taken && !input->from_inbox)
        return true;
    input->signal.key = (struct id){{0}};
    return false;
}

struct act *act_make(struct id goal, uint32_t n, uint32_t kind,
                     struct str body); /* NULL: no memory */

struct input_list {
    struct input *first, *last;
    uint32_t count;
};

void input_push(struct input_list *list, struct input *input);
struct input *input_pop(struct input_list *list);
void input_free_all(struct input_list *list);
