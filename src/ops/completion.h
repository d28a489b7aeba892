/* SPDX-License-Identifier: Apache-2.0 */
/* What does an agent say of its end? REPORT-01; and REPORT-05: in words, where it has no tool to say it with. */
#pragma once

#include "model/update.h"

#include <jansson.h>

/* The last report between the two lines of core/words.h that stands in no fenced block, upper case or lower. `beside`: there
 * is an update already, and only what is said of the end is added to it. False: there is none, or it is malformed. */
bool completion_read(struct str reply, bool beside, struct arena *arena, struct update *update);

/* What follows from the end that it tells: its status, and its artifacts are files to look at. */
void completion_follow(struct update *update, struct arena *arena);

/* The report that an UPDATE holds, as JSON; null: it holds none. */
json_t *completion_json(const struct update *update);
