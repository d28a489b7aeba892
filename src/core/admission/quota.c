/* SPDX-License-Identifier: Apache-2.0 */
/* Begins nothing while a quota window of the account is used up to the mark. docs/decisions/0019. */
#include "core/admission/quota.h"

#include "base/planted.h"
#include "core/deciding.h"

const struct policy_account *account_policy(const struct policy *policy, const char *name) {
    for (uint32_t i = 0; i < policy->spending.account_count; i++)
        if (name_same(policy->spending.accounts[i].name, name))
            return &policy->spending.accounts[i];
    return NULL;
}

/* ---- the mark ---- */

/* The lower one of the account's mark and of the goal's. */
uint32_t quota_mark(const struct policy *policy, const char *account, uint32_t of_goal) {
    const struct policy_account *row = account_policy(policy, account);
    uint32_t mark = row ? row->mark : 0;
    return of_goal > 0 && (mark == 0 || of_goal < mark) ? of_goal : mark;
}

static bool is_at_mark(const struct account *window, uint32_t mark, int64_t now) {
    uint32_t used = window->used - 1;
    if (window->used == 0 || account_holds_until(window) <= now)
        return false;
    return planted(MARK_STRICT) ? used > mark * 100 : used >= mark * 100;
}

/* UX, quota: work that has begun may finish; nothing begins while a known window of its account is at the mark. A
 * window that has been reset since counts as unknown, and does not keep anything from beginning. */
const struct account *quota_bound(const struct accounts *accounts, const char *name, uint32_t mark,
                                  int64_t now) {
    const struct account *last = NULL;
    for (uint32_t i = 0; i < accounts->count && mark > 0 && !planted(MARK_FORGOTTEN); i++) {
        const struct account *window = &accounts->at[i];
        if (window->window[0] && name_same(window->name, name) && is_at_mark(window, mark, now) &&
            (!last || account_holds_until(window) > account_holds_until(last)))
            last = window;
    }
    return last;
}

struct str quota_words(const struct account *window, uint32_t mark, struct arena *arena) {
    return arena_format(arena,
                        "account %s has used %u %% of its %s window, and begins nothing from %u %%",
                        window->name, (window->used - 1) / 100, window->window, mark);
}

int64_t quota_next(const struct live *live, int64_t now) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 0; i < live->accounts.count && !planted(RESET_UNNOTICED); i++) {
        const struct account *window = &live->accounts.at[i];
        int64_t until = window->window[0] ? account_holds_until(window) : TIME_NEVER;
        next = until > now && until < next ? until : next;
    }
    return next;
}
