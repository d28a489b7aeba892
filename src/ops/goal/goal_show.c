/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that shows a goal with its records. */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/repository.h"
#include "ops/view.h"

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED)};

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    if (!answer->loaded[0].exists) {
        call->error = ERROR_NOT_FOUND;
        return NULL;
    }
    json_t *json = goal_json(&answer->loaded[0], &answer->shown, &call->arena);
    repository_put(call, json, answer->loaded[0].goal.repository);
    return view_checked(call, json);
}

static const struct op_member MEMBERS[] = {
    {"goalId", MEMBER_TEXT, true, "which"},
    {"name", MEMBER_TEXT, false, "its name, such as T7"},
    {"title", MEMBER_TEXT, true, "the title, in one line"},
    {"repo", MEMBER_TEXT, false, "the repository"},
    {"state", MEMBER_TEXT, true, "the display state"},
    {"version", MEMBER_NUMBER, true, "counts every change"},
    {"seq", MEMBER_NUMBER, true, "of the newest record"},
    {"host", MEMBER_NUMBER, true, "the host that decides about it"},
    {"fence", MEMBER_NUMBER, true, "raised each time the owner changes"},
    {"effects", MEMBER_LIST, true, "open effects"},
    {"records", MEMBER_LIST, true, "decisions and their reasons, newest first"},
    {"proof", MEMBER_ANY, false,
     "the evidence for done: unverified, accepted, verified, landed; null: it is not done"},
    {"landed", MEMBER_TEXT, false,
     "where the work landed: a ref, a pull request, or how many of them"},
    {"plan", MEMBER_OBJECT, false, "the plan as in plan.show, if there is one"},
    {"assignments", MEMBER_LIST, false, "assignments"},
    {"dispatchIndex", MEMBER_LIST, false, "dispatches: messages to agents"},
    {"crystallizations", MEMBER_LIST, false, "handoffs"},
    {"runs", MEMBER_LIST, false, "runs of agents"},
    {"damaged", MEMBER_FLAG, false, "a stored row of it is damaged"},
    {"quarantined", MEMBER_TEXT, false, "why it is quarantined"},
};
static const struct op_shown SHOWN[] = {{&GOAL_HOT, true}, {&GOAL_TEXT, false}, {&TAGS, true}};

const struct op OP_GOAL_SHOW = {
    .name = "goal.show",
    .summary = "Show a goal, its plan, its open work, and the records that explain it.",
    .help = "Example: overseer goal show 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .wants_repositories = true,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    OP_SHOWN(SHOWN),
    .request = show_request,
    .result = result,
};
