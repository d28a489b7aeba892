/* SPDX-License-Identifier: Apache-2.0 */
/* Describes records to people in one line each, and what of a goal waits for a person. */
#pragma once

#include "ops/view.h"

/* What a line is based on. A statement of an agent is never a reason. */
enum record_kind {
    RECORD_KIND_DECIDED,
    RECORD_KIND_MEASURED,
    RECORD_KIND_ACTED,
    RECORD_KIND_REPORTED,
    RECORD_KINDS
};
extern const struct names RECORD_KIND_NAMES;

enum { EXPLAIN_TEXT = 320 };

/* False: its evidence is no longer kept, or cannot be read. */
bool record_evidence(const struct record *record, struct evidence *ret);
enum record_kind record_kind_of(const struct record *record, const struct evidence *evidence);
/* Does the record only say that an effect was executed which other records describe? */
bool record_is_inside(const struct record *record, const struct evidence *evidence);
/* If several records are about the same command, only the record of the decision names the command. */
void record_tell(const struct record *record, const struct evidence *evidence,
                 char text[EXPLAIN_TEXT]);
/* {at, what, kind, type, rule, record, actor, by, node, assignment, question, threshold, traceId} */
json_t *record_line(const struct record *record);

/* The newest matching record; NULL: none among the records that were read. */
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
enum record_type asks_record(enum asks asks); /* type of the record that caused it */
/* {goalId, title, kind, since, question, why, evidence, record, do}; NULL: the goal waits for no person, or no memory. */
json_t *asks_json(const struct goal_loaded *loaded, const struct goal_shown *shown);
/* The commands that can be entered next: a list of command lines. */
json_t *asks_do(enum asks asks, const struct goal *goal);
