/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a policy back from its stored text. For replay: records name policies by hash. */
#pragma once

#include "model/policy.h"

/* `set`: hypothetical settings, name=value; NULL: none. If there are any, the hash is that of a policy that was never
 * in force. False: `why` says what is wrong. All memory comes from the arena. */
bool policy_of_text(struct str text, const struct texts *set, struct arena *arena,
                    struct policy *ret, char *why, size_t why_size);
