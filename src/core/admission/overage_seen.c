/* SPDX-License-Identifier: Apache-2.0 */
/* The first sign of paid extra usage of an account. What follows: overage.c. */
#include "core/admission/quota.h"

#include "core/deciding.h"

#define UNTIL_UNKNOWN (SECONDS(3600) * 5) /* the shortest window that is known of */

static void overage_ask(struct deciding *d, const struct account *account) {
    struct str words = arena_format(
        d->out,
        "Account %s has used up what is included, and a request of it was counted as paid extra "
        "usage. Its runs are frozen; nothing is sent with it. %u of them had an open turn: requests "
        "that were under way may be charged. To allow paid usage always, set extra_usage = true "
        "for it in [[accounts]].",
        account->name, account->in_flight);
    question_ask(
        d, (struct asking){.kind = QUESTION_DECIDE,
                           .of = OF_PERSON,
                           .alarm = ALARM_CRITICAL,
                           .cause = cause_text(CAUSE_OVERAGE, account->name, d->out),
                           .text = {.title = arena_format(d->out, "Account %s begins to cost extra",
                                                          account->name),
                                    .text = words,
                                    .options = cause_options(CAUSE_OVERAGE),
                                    .rule = STR("account.overage"),
                                    .reason = STR("paid extra usage is not allowed")}});
}

/* One question for each time that the included usage is used up, however many runs report it. A report that is read again
 * after a restart may be about usage that is over. */
void overage_seen(struct deciding *d, const struct quota *quota) {
    int64_t now = d->signal->at, most = time_after(now, SECONDS(86400) * LIMIT_RESET_DAYS);
    struct accounts *accounts = &d->decision->live.accounts;
    struct account *account = accounts_find(accounts, str_of(quota->account));
    bool over = quota->overage_until > 0 && quota->overage_until <= now;
    if (over || (account && account->overage != OVERAGE_NONE && account->overage_until > now))
        return;
    if (!account && accounts->count >= LIMIT_ACCOUNT_ROWS)
        return;
    live_edit(d, PART_ACCOUNT, 1);
    account = accounts_find(accounts, str_of(quota->account));
    if (!account) {
        account = live_add(d, PART_ACCOUNT, d->decision->goal.parts_made++);
        memcpy(account->name, quota->account, sizeof account->name);
    }
    bool known = quota->overage_until > now && quota->overage_until <= most;
    bool allowed = overage_is_allowed(d, account->name);
    account->overage = allowed ? OVERAGE_ALLOWED : OVERAGE_ASKED;
    account->overage_at = now;
    account->overage_until = known ? quota->overage_until : time_after(now, UNTIL_UNKNOWN);
    account->in_flight = quota->in_flight;
    live_touch(d, PART_ACCOUNT, account);
    overage_record(d, account, allowed ? "account.overage-allowed" : "account.overage");
    if (!allowed)
        overage_ask(d, account);
}
