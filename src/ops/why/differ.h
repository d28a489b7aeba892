/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the settings that a decision depended on. The last decision is repeated with each setting that its limit may
 * have come from, doubled and ten times as large: if the outcome differs, the decision depended on that setting. */
#pragma once

#include "ops/why/replaying.h"

/* Adds "wouldDiffer": [{setting, was, value, instead}] if there are any. */
void differ_put(json_t *json, struct replaying *replaying);
