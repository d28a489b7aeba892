/* SPDX-License-Identifier: Apache-2.0 */
/* How is a record told to people, in a line? And what of a goal waits for them? */
#pragma once

#include "ops/view.h"

/* What a line rests on. What an agent said is never a reason. */
enum told { TOLD_DECIDED, TOLD_MEASURED, TOLD_ACTED, TOLD_SAID, TOLDS };
extern const struct names TOLD_NAMES;

enum { TOLD_TEXT = 320 };

/* False: its evidence is no longer kept, or cannot be read. */
bool record_evidence(const struct record *record, struct evidence *ret);
enum told record_told(const struct record *record, const struct evidence *evidence);
/* Does it only say that something was carried out that other records are about? */
bool record_is_inside(const struct record *record, const struct evidence *evidence);
/* Where records are about the same command, the one that decided it says which command. */
void record_tell(const struct record *record, const struct evidence *evidence,
                 char text[TOLD_TEXT]);
/* {at, what, kind, type, rule, record, actor, by, node, assignment, question, threshold, traceId} */
json_t *record_line(const struct record *record);

/* The newest record that fits; NULL: it is not among those that were read. */
const struct record *record_newest(const struct goal_shown *shown, enum record_type type,
                                   struct str node, struct evidence *ret);

/* ---- what waits for a person ---- */

enum asks {
    ASKS_NOTHING,
    ASKS_QUARANTINED,
    ASKS_FAILED,
    ASKS_UNCONFIRMED,
    ASKS_PLAN,
    ASKS_REVIEW,
    ASKS
};
extern const struct names ASKS_NAMES;

enum asks goal_asks(const struct goal *goal);
enum record_type asks_record(enum asks asks); /* of which type is the record that says so? */
/* {goalId, title, kind, since, question, why, evidence, record, do}; NULL: it waits for nobody, or no memory. */
json_t *asks_json(const struct goal_loaded *loaded, const struct goal_shown *shown);
/* What can be typed next: a list of command lines. */
json_t *asks_do(enum asks asks, struct id goal);
