/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an agent's reply says about the end of its work: REPORT-01; and REPORT-05: as text, for an agent that has
 * no tool to report it. */
#pragma once

#include "model/update.h"

/* Reads the last report between the two marker lines of core/people/words.h that is in no fenced block; case does not matter.
 * `beside`: there is already an update, and only the completion is added to it. False: there is no report, or it is
 * malformed. */
bool completion_read(struct str reply, bool beside, struct arena *arena, struct update *update);
