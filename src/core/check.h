/* SPDX-License-Identifier: Apache-2.0 */
/* Checking and landing work that is reported as done. */
#pragma once

#include "core/deciding.h"

/* check.c: checks work that an agent calls done. */
void work_effect(struct deciding *, struct assignment *assignment, enum effect_kind kind,
                 struct str rule);
struct assignment *assignment_waited(struct deciding *, const struct effect_slot *slot);
void verdict_record(struct deciding *, enum record_type type, const struct assignment *assignment,
                    struct str rule, struct str verdict);
void candidate_forget(struct deciding *, struct assignment *assignment);
void done_forget(struct deciding *, struct assignment *assignment); /* its candidate and report */
/* Nothing is due before wait.until: its target fails its own check. */
bool check_waits(const struct assignment *assignment, int64_t at);
void check_begin(struct deciding *, struct assignment *assignment);
bool check_go_on(struct deciding *, struct assignment *assignment); /* true: it waits for a check */

/* land.c: lands work that passed its checks. */
void work_passed(struct deciding *, struct assignment *assignment, struct str rule);
void land_go_on(struct deciding *, struct assignment *assignment);
void slot_leave(struct deciding *, struct assignment *assignment, struct str why);

/* agent_update.c, ladder.c: a person is asked to accept the work, or what to do if it does not land. */
void done_ask(struct deciding *, struct assignment *assignment, struct str summary);
void landing_ask(struct deciding *, struct assignment *assignment, struct str rule, struct str more,
                 struct str why); /* "try again" lands it again */
