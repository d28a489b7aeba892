/* SPDX-License-Identifier: Apache-2.0 */
/* Processes an agent's structured report, whether it came as a tool call or as a block in its reply. REPORT-01. */
#pragma once

#include "model/update.h"

#include <jansson.h>

/* Drops the placeholders of our own example from the update. False: nothing meaningful is left. */
bool update_clean(struct update *update, struct arena *arena);

/* Sets the status that follows from the reported completion; the artifacts become the list of files. */
void completion_follow(struct update *update, struct arena *arena);

/* The completion report in an UPDATE as JSON; null: it has none. */
json_t *completion_json(const struct update *update);
