/* SPDX-License-Identifier: Apache-2.0 */
/* Operations with which a person approves or rejects a plan, or requests a review of it. PLAN-33, PLAN-22. */
#include "ops/all.h"
#include "ops/view.h"

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED), PARAM_REASON(0), PARAM_KEY,
                                      PARAM_TRACE};

/* The signal contains the approved plan, so that exactly the plan that the person saw is decided on. */
static bool approve(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    const struct goal *goal = &answer->loaded[0].goal;
    struct str body = shown_text(&answer->shown, &goal->plan.proposal);
    if (!view_is_whole(call, answer))
        return false;
    if (body.len == 0)
        return op_refuse(call, ERROR_CONFLICT, "No plan waits for approval.");
    ret->kind = SIGNAL_PLAN_APPROVE;
    ret->goal = call->args.goal_id;
    ret->body = body;
    ret->reason = call->args.reason;
    return true;
}

static bool reject(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    ret->kind = SIGNAL_PLAN_REJECT;
    ret->goal = call->args.goal_id;
    ret->reason = call->args.reason;
    return true;
}

static bool review(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    ret->kind = SIGNAL_PLAN_REVIEW;
    ret->goal = call->args.goal_id;
    ret->reason = call->args.reason;
    return true;
}

#define OP(verb, roles, words, ask, make) \
    { \
        .name = "plan." verb, .summary = words, \
        .help = "Example: overseer plan " verb " 01JC7Q4T9Z", .kind = OP_WRITES, .may = (roles), \
        .for_agents = ((roles)&MAY_RUN) != 0, OP_PARAMS(PARAMS), .positional = 1, .request = ask, \
        .signal = make \
    }

const struct op OP_PLAN_APPROVE =
    OP("approve", MAY_HUMAN, "Accept the plan that waits for you.", show_request, approve);
const struct op OP_PLAN_REJECT =
    OP("reject", MAY_HUMAN,
       "Reject the plan that waits for you, or confirm that the current plan stays.", NULL, reject);
const struct op OP_PLAN_REVIEW =
    OP("review", MAY_MANAGE | MAY_RUN, "Ask a person to review the plan.", NULL, review);
