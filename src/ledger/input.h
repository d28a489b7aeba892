/* SPDX-License-Identifier: Apache-2.0 */
/* Defines what travels to the ledger and back: inputs, which are signals with their callers, and acts to be carried
 * out. Each is one block with one owner at a time, which frees it. */
#pragma once

#include "model/effect.h"
#include "model/error.h"
#include "model/signal.h"

struct act {
    struct act *next;
    struct effect effect; /* goal, n and the body's fields */
    enum effect_class class;
    uint64_t fence; /* of the goal, when it was claimed */
    uint64_t batch; /* the batch that claimed it */
    uint64_t reign; /* of the ledger, when it was claimed: see ledger_may_act() */
    bool stranded;  /* P10: no effect asked for it: its outcome is not reported */
};

struct input {
    struct input *next;
    void *waiter; /* caller to answer; NULL: none */
    void (*done)(
        struct input
            *input); /* how to answer a waiter that is not a call; takes ownership of the input */
    bool must_fit;   /* it could not be sent again later: there is always room */
    struct policy_kept *policy; /* an order: the new policy, see order.h */
    struct act *act;            /* claim: carried out once the claim is committed */
    uint32_t tries;             /* conflicts so far */
    bool stamped; /* `stepped` is set: the time of its signal is corrected for later clock steps */
    int64_t stepped;      /* sum of the clock's steps when the input was offered */
    bool from_inbox;      /* the commit that applies it consumes its row */
    bool taken;           /* its caller was told that it is kept, before it was decided */
    bool applied;         /* it changed something in the current batch */
    bool claimed;         /* and that change was the claim of its effect */
    uint32_t place;       /* order of arrival within a batch */
    bool tells;           /* it is the message of an effect, which ends when it is delivered: */
    struct id note_goal;  /* the goal of that effect */
    uint32_t note_effect; /* and its number */

    /* the answer */
    enum error error;
    uint64_t version, seq;
    uint64_t number; /* of the goal's name; 0: it has none */
    bool forwarded;  /* stored for the host that owns the goal */
    bool key_used;   /* refused: its key names another request */
    char why[160];

    struct signal signal; /* its texts follow in the same block */
};

/* STORE-14: everything that is ever stored comes through here, so secrets are removed here. NULL: no memory. */
struct input *input_make(const struct signal *signal, void *waiter);

void input_free(struct input *input);

/* Its source is remembered, so that it is applied once. A create that is repeated without a key is recognised by its
 * goal. */
static inline bool input_is_remembered(const struct input *input) {
    const struct signal *signal = &input->signal;
    return signal->once.keyed &&
           (signal->kind != SIGNAL_GOAL_CREATE || id_is_set(signal->once.key));
}

/* Its key names another request. That refuses it, unless its caller was told that it is kept: then it is applied under its source. */
static inline bool input_key_refuses(struct input *input) {
    if (!input->taken && !input->from_inbox)
        return true;
    input->signal.once.key = (struct id){{0}};
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
