/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about a goal, and why is it as it is? */
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

const struct op OP_GOAL_SHOW = {
    .name = "goal.show",
    .summary = "Show a goal, its plan, what is being done for it, and the records that say why.",
    .help = "Example: overseer goal show GOAL",
    .kind = OP_READS,
    .params = PARAMS,
    .param_count = count_of(PARAMS),
    .positional = 1,
    .request = show_request,
    .result = result,
};
