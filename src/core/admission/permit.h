/* SPDX-License-Identifier: Apache-2.0 */
/* The goal's side of admission and of the landing lane. */
#pragma once

#include "core/deciding.h"

void lane_go_on(struct deciding *); /* lane.c: grants the slot to the next one */
bool workspace_open(struct deciding *, uint64_t repository); /* lane.c; false: it is none */

/* permit.c: the goal's side of an admission. */
void permit_ask(struct deciding *, struct assignment *assignment); /* to begin, or to continue */
void permit_act(struct deciding *, struct assignment *assignment,
                enum permit_kind kind); /* to act on a running agent */
enum permit_kind
permit_answer(struct deciding *,
              struct assignment *assignment); /* PERMIT_NONE: it answers an older ask */
void permit_limited(struct deciding *, struct assignment *assignment,
                    int64_t until); /* its account is at its limit; 0: end not known */
void permit_return(struct deciding *, struct assignment *assignment,
                   bool over); /* settles; over: returns the permit */
void permit_measure(
    struct deciding *, struct assignment *assignment,
    const struct observation *seen);      /* what it has spent; settled once it is much */
void permits_catch_up(struct deciding *); /* makes asks that found no room among the effects */
void permit_decline(struct deciding *);   /* returns a permit that no assignment waits for */
void admission_go_on(
    struct deciding
        *); /* admission.c: something of an admission ended: sends the answers that waited */
