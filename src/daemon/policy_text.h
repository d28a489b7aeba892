/* SPDX-License-Identifier: Apache-2.0 */
/* How is a policy read back from the text that is kept of it? For replay: the records name it by hash. */
#pragma once

#include "model/policy.h"

/* `set` are settings as they would be, name=value; NULL: none. With any, the hash is that of a policy that never was in
 * force. False: `why` says what is wrong. Everything comes from the arena. */
bool policy_of_text(struct str text, const struct texts *set, struct arena *arena,
                    struct policy *ret, char *why, size_t why_size);
