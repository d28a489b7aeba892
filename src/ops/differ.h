/* SPDX-License-Identifier: Apache-2.0 */
/* Which setting decided? The last decision is made again with each setting that its limit may have come from, doubled and
 * ten times as large: what then comes out otherwise depended on it. */
#pragma once

#include "ops/replaying.h"

/* Adds "wouldDiffer": [{setting, was, value, instead}] where there is any. */
void differ_put(json_t *json, struct replaying *replaying);
