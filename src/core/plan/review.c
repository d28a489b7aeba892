/* SPDX-License-Identifier: Apache-2.0 */
/* Handles requests to review a plan, and a person's decision to keep it as it is. */
#include "core/goal.h"
#include "core/rules.h"

/* PLAN-22, C-17: anyone may request a review, also an agent or a guard; it is requested once. */
void rule_review(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    if (!goal_is_open(goal) || goal->plan.review)
        return;
    goal->plan.review = 1;
    decide_record(
        d, RECORD_PLAN_REVIEW_NEEDED,
        (struct evidence){.rule = STR("plan.review"),
                          .plan.why = d->signal->plan.why ? d->signal->plan.why : REASON_REVIEW,
                          .plan.version = goal->plan.version,
                          .node = d->signal->work.node,
                          .reason = d->signal->reason});
}

/* PLAN-33: a person declines a proposal, or says that the plan stands. */
void rule_reject(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    static const struct hash NONE;
    if (d->signal->sender.by != WHO_HUMAN) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (!goal->plan.review && memcmp(&goal->plan.proposal, &NONE, sizeof NONE) == 0)
        return;
    goal->plan.review = 0;
    goal->plan.proposal = NONE;
    goal->plan.proposal_base = 0;
    decide_record(d, RECORD_PLAN_REJECTED,
                  (struct evidence){.rule = STR("plan.rejected"),
                                    .plan.why = REASON_REVIEW,
                                    .plan.version = goal->plan.version,
                                    .reason = d->signal->reason});
    goal_settle(d);
}
