/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the newest report about each quota window of an account. docs/decisions/0019. */
#include "core/admission/quota.h"

#include "core/deciding.h"
#include "core/rules.h"

enum {
    USED_STEP = 50,        /* per 10,000: a smaller change is stored once its row is old */
    SEEN_STEP_SECONDS = 60 /* that old */
};

static bool account_is_used(const struct policy *policy, const char *name) {
    for (uint32_t i = 0; i < policy->dispatch.agent_count; i++)
        if (name[0] && name_same(policy->dispatch.agents[i].account, name))
            return true;
    return false;
}

/* Reports come often. One that changes nothing for a decision or a reader is not stored. */
static bool window_is_news(const struct account *known, const struct quota_window *seen,
                           int64_t now) {
    if (!known)
        return true;
    uint32_t change =
        known->used > seen->used ? known->used - seen->used : seen->used - known->used;
    bool known_now = known->used > 0, seen_now = seen->used > 0;
    return now - known->seen_at >= SECONDS(SEEN_STEP_SECONDS) || change >= USED_STEP ||
           known_now != seen_now || known->resets_at != seen->resets_at ||
           known->status != seen->status;
}

/* A provider that drops a window, or calls it otherwise, leaves a row behind: the oldest one gives up its place. */
static struct account *window_add(struct deciding *d, const char *name, const char *kind) {
    struct accounts *accounts = &d->decision->live.accounts;
    struct account *oldest = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < accounts->count; i++) {
        struct account *row = &accounts->at[i];
        if (!row->window[0] || !name_same(row->name, name))
            continue;
        count++;
        oldest = !oldest || row->seen_at < oldest->seen_at ? row : oldest;
    }
    if (count >= LIMIT_QUOTA_WINDOWS)
        live_remove(d, PART_ACCOUNT, oldest);
    if (accounts->count >= LIMIT_ACCOUNT_ROWS)
        return NULL;
    struct account *row = live_add(d, PART_ACCOUNT, d->decision->goal.parts_made++);
    name_put(row->name, sizeof row->name, str_of(name));
    name_put(row->window, sizeof row->window, str_of(kind));
    return row;
}

static void window_put(struct deciding *d, const char *name, const struct quota_window *seen) {
    live_edit(d, PART_ACCOUNT, 1);
    struct account *row =
        accounts_window(&d->decision->live.accounts, str_of(name), str_of(seen->kind));
    if (!row)
        row = window_add(d, name, seen->kind);
    if (!row)
        return;
    row->used = seen->used;
    row->resets_at = seen->resets_at;
    row->status = seen->status;
    row->seen_at = d->signal->at;
    live_touch(d, PART_ACCOUNT, row);
    decide_record(d, RECORD_ACCOUNT_SEEN,
                  (struct evidence){.rule = STR("account.seen"),
                                    .text = arena_format(d->out, "%s %s", name, seen->kind),
                                    .to = str_of(name_of(&QUOTA_STATUS_NAMES, seen->status)),
                                    .count = seen->used > 0 ? seen->used - 1 : 0,
                                    .until = seen->resets_at});
}

/* A reset time that no window can have is not believed. */
static void window_check(struct quota_window *window, int64_t now) {
    int64_t most = time_after(now, SECONDS(86400) * LIMIT_RESET_DAYS);
    if (window->resets_at <= now || window->resets_at > most)
        window->resets_at = 0;
}

static bool quota_take(struct deciding *d, struct quota *ret) {
    *ret = (struct quota){.overage = OVERAGE_NOT_SEEN};
    return shape_decode(&QUOTA, d->signal->body, ret) && account_is_used(d->policy, ret->account);
}

void rule_account_seen(struct deciding *d) {
    struct quota quota;
    bool read = quota_take(d, &quota);
    if (read && d->world->level < LEVEL_TASK_BATCHES)
        return; /* an older host would lose it, or take a window for the account */
    if (!read || !admission_open(d)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    for (uint32_t i = 0; i < LIMIT_QUOTA_WINDOWS && quota.windows[i].kind[0]; i++) {
        struct quota_window *seen = &quota.windows[i];
        const struct account *known =
            accounts_window(&d->decision->live.accounts, str_of(quota.account), str_of(seen->kind));
        window_check(seen, d->signal->at);
        if ((!known || known->seen_at <= d->signal->at) &&
            window_is_news(known, seen, d->signal->at))
            window_put(d, quota.account, seen);
    }
    if (quota.overage == OVERAGE_YES)
        overage_seen(d, &quota);
}
