/* SPDX-License-Identifier: Apache-2.0 */
/* Paid extra usage of an account: it is never entered unless it is allowed. docs/decisions/0019.
 *
 *   none ──first sign──▶ asked ──answer──▶ waits │ allowed │ stopped ──the included usage begins again──▶ none
 *
 * The host freezes the account's runs at the first sign by itself, before it reports (runs/quota/run_quota.c). Here nothing
 * of the account begins or is sent until a person has answered, or until the included usage begins again. */
#include "core/admission/quota.h"

#include "core/deciding.h"

void overage_record(struct deciding *d, const struct account *account, const char *rule) {
    decide_record(d, RECORD_ACCOUNT_OVERAGE,
                  (struct evidence){.rule = str_of(rule),
                                    .text = arena_copy(d->out, str_of(account->name)),
                                    .to = str_of(name_of(&OVERAGE_NAMES, account->overage)),
                                    .count = account->in_flight,
                                    .until = account->overage_until});
}

bool overage_is_allowed(const struct deciding *d, const char *account) {
    const struct policy_account *policy = account_policy(d->policy, account);
    return policy && policy->extra;
}

void account_row_end(struct deciding *d, struct account *account) {
    if (account->limited_until == 0 && !account->guessed && !account->probe &&
        account->overage == OVERAGE_NONE)
        live_remove(d, PART_ACCOUNT, account);
    else
        live_touch(d, PART_ACCOUNT, account);
}

/* Without an option (the question was withdrawn, or answered in words only) the safe answer counts: to wait. */
void overage_answered(struct deciding *d, const struct question *question) {
    static const enum overage_state STATES[] = {
        OVERAGE_WAITS, [OVERAGE_ANSWER_WAIT] = OVERAGE_WAITS,
        [OVERAGE_ANSWER_ALLOW] = OVERAGE_ALLOWED, [OVERAGE_ANSWER_STOP] = OVERAGE_STOPPED};
    uint32_t option = question->answer.option;
    live_edit(d, PART_ACCOUNT, 0);
    struct account *account =
        accounts_find(&d->decision->live.accounts, str_of(cause_name(question)));
    if (!account || account->overage != OVERAGE_ASKED || option >= count_of(STATES))
        return;
    account->overage = STATES[option];
    live_touch(d, PART_ACCOUNT, account);
    overage_record(d, account, "overage.answered");
}

static bool is_over(const struct account *account, int64_t now) {
    return account->overage != OVERAGE_NONE && account->overage_until <= now;
}

bool overage_is_due(const struct deciding *d, const struct account *account) {
    bool held = account_is_held(account, d->signal->at);
    return is_over(account, d->signal->at) || (held && overage_is_allowed(d, account->name));
}

void overage_due(struct deciding *d, struct account *account) {
    bool over = is_over(account, d->signal->at);
    account->overage = over ? OVERAGE_NONE : OVERAGE_ALLOWED;
    if (over)
        account->overage_at = account->overage_until = account->in_flight = 0;
    overage_record(d, account, over ? "overage.reset" : "account.overage-allowed");
    account_row_end(d, account);
}
