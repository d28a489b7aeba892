/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts as people see them: windows with their age, marks, limits, paid usage. */
#pragma once

#include "ops/op.h"

/* The accounts of the agents, and what an admission knows about each. */
json_t *accounts_shown(const struct op_call *call, const struct live *live);

/* What keeps work of this account from beginning, in words; empty: nothing that is known. */
struct str account_waits(const struct op_call *call, const struct live *live, const char *account,
                         uint32_t mark, int64_t *ret_until);

/* Has any window of the account been reported? */
bool account_is_known(const struct live *live, const char *account);

/* A quota mark (args->quota) is only as good as the reports that it is compared with: the admission is read first if
 * there is one, and it is refused where no window of the agent's account is known. */
bool quota_request(struct op_call *call, struct store_request *ret);
bool quota_is_kept(struct op_call *call, const struct store_answer *answer, struct str agent);

#define PARAM_QUOTA \
    PARAM( \
        "quota", FIELD_U32, quota, 0, 0, \
        "percent of the account's quota windows from which none of its work begins; refused if the account's " \
        "windows are unknown")
