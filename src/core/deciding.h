/* SPDX-License-Identifier: Apache-2.0 */
/* The case being decided, and the functions that write its decision. Every rule uses them. */
#pragma once

#include "core/step.h"
#include "model/cause.h"
#include "model/repository.h"

struct record_names { /* what one record of the decision is about: step_check.c */
    struct str node, assignment, question;
    uint32_t effect; /* ordinal + 1; 0: none */
};

struct deciding {
    const struct world *world;
    const struct signal *signal;
    const struct policy *policy;
    struct arena *out;
    struct decision *decision;
    bool *touched[PARTS]; /* rows that changed, by index; NULL: they are still the world's */
    uint32_t room[PARTS]; /* rows that fit without moving the others */
    bool
        poisoned; /* the signal is set aside, not stored with the record: the store may refuse it again */
    bool gone_on; /* the admission or lane has answered what it could */
    struct record_names *named;
    uint32_t named_count, named_cap;
    uint32_t covered; /* kinds of rows that the record types cover, one bit each */
};

/* How the goal's work is checked and where it lands. */
static inline struct policy_repository its_repository(const struct deciding *d) {
    return policy_repository(d->policy, d->decision->goal.repository);
}

/* step_check.c: checks that each row that a step changes is stored, and that a record names it. */
void step_check(struct deciding *);

/* sample.c: what is stored without a record. */
void samples_keep(struct deciding *, struct evidence *evidence); /* puts them on the next record */
void samples_end(struct deciding *);                             /* they are on a record now */

/* Write one record about this decision. The evidence is completed from the signal. */
void decide_record(struct deciding *, enum record_type type, struct evidence evidence);
void decide_refuse(struct deciding *, enum error error);
void decide_refuse_because(struct deciding *, enum error error, struct str why);

/* PLAN-23: may the sender of this signal change plans? Otherwise the signal is refused here. */
bool decide_may_plan(struct deciding *);

/* Stores a text separately, under its hash. */
struct hash decide_text(struct deciding *, struct str body);
void decide_part(struct deciding *, struct part_change change);

/* Makes the rows this decision's own, with room for more. Pointers to them change. */
void live_edit(struct deciding *, enum part_kind kind, uint32_t more);
void live_touch(struct deciding *, enum part_kind kind, const void *row);
void *live_add(struct deciding *, enum part_kind kind,
               uint32_t n); /* zeroed; n is greater than all others */
void live_remove(struct deciding *, enum part_kind kind, const void *row);

/* The list, or a copy with twice the room if it is full. */
void *list_grown(struct arena *arena, const void *from, size_t size, uint32_t count, uint32_t *cap);
