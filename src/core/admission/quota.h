/* SPDX-License-Identifier: Apache-2.0 */
/* Quota windows of accounts, and their paid extra usage, as the rest of admission sees them. */
#pragma once

#include "core/admission/admission.h"

/* quota.c; the reports: account_seen.c */
const struct policy_account *account_policy(const struct policy *policy, const char *name);
uint32_t quota_mark(const struct policy *policy, const char *account, uint32_t of_goal);
/* The window that keeps work from beginning, the one that ends last; NULL: none does. */
const struct account *quota_bound(const struct accounts *accounts, const char *name, uint32_t mark,
                                  int64_t now);
/* For people. */
struct str quota_words(const struct account *window, uint32_t mark, struct arena *arena);
int64_t quota_next(const struct live *live, int64_t now); /* the next end of a known window */

/* overage_seen.c */
void overage_seen(struct deciding *, const struct quota *quota);

/* overage.c */
void overage_record(struct deciding *, const struct account *account, const char *rule);
bool overage_is_allowed(const struct deciding *, const char *account);
void overage_answered(struct deciding *, const struct question *question);
/* Ends what is over, or allows what the settings allow by now. */
void overage_due(struct deciding *, struct account *account);
bool overage_is_due(const struct deciding *, const struct account *account);
/* Removes the row of an account that says nothing any more. */
void account_row_end(struct deciding *, struct account *account);
