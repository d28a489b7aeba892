/* SPDX-License-Identifier: Apache-2.0 */
/* How are places in the log, and what is wanted of it, said? The same at every door. */
#pragma once

#include "ops/op.h"

enum { PLACE_TEXT = 64 };

/* era.tx.n: what a follower comes back with. */
void place_format(const struct cursor *place, char text[PLACE_TEXT]);
/* Also "now", and nothing: the oldest that is kept. */
bool place_parse(struct str text, struct cursor *ret);
/* Does a stand before b, in one era? */
bool place_is_before(const struct cursor *a, const struct cursor *b);

/* "goal.created", "plan.*", several with commas or spaces. False: nothing is called that. */
bool types_parse(struct str text, bool ret_types[RECORD_TYPES]);

/* A time, or how long ago: 90s, 15m, 2h, 3d. */
bool since_parse(struct str text, int64_t now, int64_t *ret_at);

/* EVENT-02: a record as an event: with its place and its goal. */
json_t *event_json(const struct logged *row);
