/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules do with effects. */
#pragma once

#include "core/deciding.h"

struct
    effect_about { /* what the record of an effect names: n + 1 of an assignment or question; 0: none */
    uint32_t assignment, question;
};
struct effect_slot *effect_make(struct deciding *,
                                struct effect effect); /* about the assignment of its agent */
struct effect_slot *effect_make_about(struct deciding *, struct effect effect,
                                      struct effect_about about);
void effect_move(struct deciding *, struct effect_slot *slot, enum effect_state to);
void effect_until(struct deciding *, struct effect_slot *slot, int64_t until);

/* outcome.c: the outcome will not be known; the deadline is over. */
void effect_lose(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);
void effect_expire(struct deciding *, struct effect_slot *slot);

/* The effect's name on its records, so that it is not taken for a command; empty: it is one. */
struct str effect_text(const struct effect_slot *slot);

/* Withdraws the effects that no host has claimed, and records it. */
void effects_withdraw(struct deciding *d);

/* An effect with an unknown outcome becomes unconfirmed, and a person is asked. */
void effect_doubt(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);

/* Sends a signal to another aggregate; it is applied once, however often it is delivered. */
void decide_tell(struct deciding *, struct signal signal);

bool dispatch_has_room(const struct deciding *); /* for one more effect that is not urgent */
