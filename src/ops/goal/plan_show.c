/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that show the plan of a goal and its history. */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED)};

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    if (!view_is_whole(call, answer))
        return NULL;
    return view_checked(call, plan_json(&answer->loaded[0], &answer->shown, &call->arena));
}

static const struct op_member MEMBERS[] = {
    {"planId", MEMBER_TEXT, true, "which"},
    {"version", MEMBER_NUMBER, true, "counts its changes; 0: there is no plan"},
    {"percent", MEMBER_NUMBER, true, "percent that is done"},
    {"reviewNeeded", MEMBER_FLAG, true, "a review was requested"},
    {"proposalWaits", MEMBER_FLAG, true, "a new version waits for approval"},
    {"phases", MEMBER_LIST, true, "each with its tasks, each with its subtasks"},
};

const struct op OP_PLAN_SHOW = {
    .name = "plan.show",
    .summary =
        "Show a goal's plan: phases, tasks, subtasks, where each stands and what it waits for.",
    .help = "Example: overseer plan show 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    .request = show_request,
    .result = result,
};

/* PLAN-32: what changed in each version, and why. */
static bool history_request(struct op_call *call, struct store_request *ret_request) {
    show_request(call, ret_request);
    ret_request->limit = LIMIT_LIST_PAGE;
    ret_request->first_type = RECORD_PLAN_CREATED;
    ret_request->last_type = RECORD_PLAN_REJECTED;
    return true;
}

static json_t *history_result(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    if (!view_is_whole(call, answer))
        return NULL;
    json_t *list = json_array();
    const struct goal_shown *shown = &answer->shown;
    for (uint32_t i = shown->record_count; i-- > 0;)
        json_array_append_new(list, record_json(&answer->loaded[0].goal, &shown->records[i]));
    return view_checked(call, json_pack("{s:o}", "planRevisionHistory", list));
}

static const struct op_member HISTORY[] = {
    {"planRevisionHistory", MEMBER_LIST, true, "records, oldest first"},
};

const struct op OP_PLAN_HISTORY = {
    .name = "plan.history",
    .summary =
        "Show every version of a plan: what was added, removed and changed, by whom and why.",
    .help = "Example: overseer plan history 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(HISTORY),
    .request = history_request,
    .result = history_result,
};
