/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that an operator gives to the whole ledger and the whole fleet: a new policy; stop; resume. Each is a signal
 * about SYSTEM_GOAL that the ledger takes between two batches, so that one batch is decided under one policy. */
#pragma once

#include "ledger/input.h"
#include "model/decision.h"

/* A policy as it was passed in: one block. It stays until the ledger ends, because other threads read it. */
struct policy_kept {
    struct policy_kept *older;
    struct policy policy;
    struct str text; /* canonical; its hash is policy.hash. Empty: not recorded */
};

struct policy_kept *policy_keep(const struct policy *policy, struct str text); /* NULL: no memory */

/* Makes the input that puts a policy into force once its record stands. `what` says in words what is new. Takes
 * ownership of `kept`; NULL: no memory. */
struct input *order_policy_input(struct policy_kept *kept, struct str actor, struct str what);

struct ledger;
struct store_answer;

bool order_is(enum signal_kind kind);
bool order_is_wanted(const struct ledger *ledger);
void order_request(struct ledger *ledger);
void order_absorb(struct ledger *ledger, const struct store_answer *answer);

/* Absorbs what the store reports of itself: acts are held while the fleet is stopped. */
void order_heard(struct ledger *ledger, const struct store_answer *answer);
