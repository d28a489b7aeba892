/* SPDX-License-Identifier: Apache-2.0 */
/* Under which policy was it decided? */
#include "model/decision.h"

#include <stdio.h>

struct policy policy_seal(struct policy policy) {
    char text[512];
    int length = snprintf(text, sizeof text, "act-within=%lld", (long long)policy.act_within);
    if (policy.approve_plans)
        length += snprintf(text + length, sizeof text - (size_t)length, " approve-plans");
    if (policy.plan_agents.len > 0)
        length += snprintf(text + length, sizeof text - (size_t)length, " plan-agents=%.*s",
                           STR_ARG(str_cut(policy.plan_agents, 256)));
    policy.hash = sha256((struct str){text, (size_t)length});
    return policy;
}

struct policy policy_of(int64_t act_within) {
    return policy_seal((struct policy){.act_within = act_within});
}
