/* SPDX-License-Identifier: Apache-2.0 */
/* Under which policy was it decided? */
#include "model/decision.h"

#include <stdio.h>

struct policy policy_of(int64_t act_within) {
    char text[64];
    int length = snprintf(text, sizeof text, "act-within=%lld", (long long)act_within);
    return (struct policy){act_within, sha256((struct str){text, (size_t)length})};
}
