/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that shows a goal with its records. */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED)};

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    if (answer->loaded[0].exists)
        return view_checked(call, goal_json(&answer->loaded[0], &answer->shown, &call->arena));
    call->error = ERROR_NOT_FOUND;
    return NULL;
}

static const struct op_member MEMBERS[] = {
    {"goalId", MEMBER_TEXT, true, "which"},
    {"title", MEMBER_TEXT, true, "what is wanted, in one line"},
    {"state", MEMBER_TEXT, true, "the one word that people see"},
    {"version", MEMBER_NUMBER, true, "counts every change"},
    {"seq", MEMBER_NUMBER, true, "of the newest record"},
    {"host", MEMBER_NUMBER, true, "which host decides about it"},
    {"fence", MEMBER_NUMBER, true, "counts the hosts that did"},
    {"effects", MEMBER_LIST, true, "what is being done for it"},
    {"records", MEMBER_LIST, true, "what was decided and why, newest first"},
    {"proof", MEMBER_ANY, false,
     "what the word done rests on: unverified, accepted, verified, landed; null: it is not done"},
    {"landed", MEMBER_TEXT, false,
     "where what was done is: a ref, a pull request, or how many of them"},
    {"plan", MEMBER_OBJECT, false, "as plan.show gives it, once there is one"},
    {"assignments", MEMBER_LIST, false, "who works on what"},
    {"dispatchIndex", MEMBER_LIST, false, "what was sent to whom"},
    {"crystallizations", MEMBER_LIST, false, "what was made of a session"},
    {"runs", MEMBER_LIST, false, "runs of agents"},
    {"damaged", MEMBER_FLAG, false, "a row of it is not as it was written"},
    {"quarantined", MEMBER_TEXT, false, "why it is set aside"},
};
static const struct op_shown SHOWN[] = {{&GOAL_HOT, true}, {&GOAL_TEXT, false}, {&TAGS, true}};

const struct op OP_GOAL_SHOW = {
    .name = "goal.show",
    .summary = "Show a goal, its plan, what is being done for it, and the records that say why.",
    .help = "Example: overseer goal show 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    OP_SHOWN(SHOWN),
    .request = show_request,
    .result = result,
};
