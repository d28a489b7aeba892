/* SPDX-License-Identifier: Apache-2.0 */
/* Formats and parses positions in the log and filters of events, identically for every interface. */
#pragma once

#include "ops/op.h"

enum { PLACE_TEXT = 64 };

/* era.tx.n: the position with which a follower resumes. */
void place_format(const struct cursor *place, char text[PLACE_TEXT]);
/* Also accepts "now", and an empty text: the oldest record that is kept. */
bool place_parse(struct str text, struct cursor *ret);
/* Is a before b, within one era? */
bool place_is_before(const struct cursor *a, const struct cursor *b);

/* "goal.created", "plan.*", several separated by commas or spaces. False: no record type has that name. */
bool types_parse(struct str text, bool ret_types[RECORD_TYPES]);

/* A time, or how long ago: 90s, 15m, 2h, 3d. */
bool since_parse(struct str text, int64_t now, int64_t *ret_at);

/* EVENT-02: a record as an event, with its position and its goal. */
json_t *event_json(const struct logged *row);
