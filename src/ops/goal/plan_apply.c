/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that applies a plan to a goal, or only tries it out. PLAN-27. */
#include "core/step.h"
#include "ops/all.h"
#include "ops/json.h"
#include "ops/scope.h"
#include "ops/view.h"

#include <stdio.h>

static const struct field PARAMS[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    {"nodes", FIELD_ROWS, 0, FIELD_OF(op_args, plan.rows), 0, FIELD_REQUIRED, NULL,
     "phases, tasks and subtasks: id, parentId, tier, name, acceptanceCriteria, dependsOn …",
     LIMIT_NODES, &PLAN_ROW},
    PARAM_ENUM("mode", mode, &MODE_NAMES, 0,
               "draft only shows what would change; apply changes the plan"),
    PARAM_VERSION,
    PARAM_ENUM("why", why, &REASON_NAMES, 0, "replan, human_edit …"),
    PARAM_REASON(0),
    PARAM_KEY,
    PARAM_TRACE,
};

static bool request(struct op_call *call, struct store_request *ret_request) {
    return call->args.mode == MODE_DRAFT && show_request(call, ret_request);
}

/* Performs the same step as an apply, and discards the decision. */
static bool draft(struct op_call *call, const struct store_answer *answer,
                  const struct signal *signal) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    if (!view_is_whole(call, answer))
        return false;
    struct world world = {.goal = &loaded->goal, .live = &loaded->live, .era = loaded->goal.era};
    struct signal as_human = *signal;
    as_human.sender.by = WHO_HUMAN;
    as_human.at = call->at;
    struct decision decision = step(&world, &as_human, call->policy, &call->arena);
    if (decision.error)
        return op_refuse(call, decision.error, "%.*s%s", STR_ARG(decision.why),
                         decision.why.len ? "." : "");
    struct evidence evidence = {0};
    for (uint32_t i = 0; i < decision.record_count; i++)
        if (decision.records[i].type == RECORD_PLAN_CREATED ||
            decision.records[i].type == RECORD_PLAN_UPDATED) {
            shape_decode(&EVIDENCE, decision.records[i].body, &evidence);
            break;
        }
    call->result = json_pack("{s:s, s:I, s:s%, s:i}", "mode", "draft", "wouldBeVersion",
                             (json_int_t)decision.goal.plan.version, "change",
                             evidence.text.at ? evidence.text.at : "", evidence.text.len, "records",
                             (int)decision.record_count);
    return false;
}

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    const struct op_args *args = &call->args;
    struct plan_text plan = args->plan;
    if (!scope_inherit(call, &plan))
        return false;
    ret->kind = SIGNAL_PLAN_APPLY;
    ret->goal = args->goal_id;
    ret->body = shape_encode(&PLAN_TEXT, &plan, &call->arena);
    ret->plan.expected = args->version;
    ret->plan.why = args->why;
    ret->reason = args->reason;
    if (ret->body.len > LIMIT_PLAN)
        return op_refuse(call, ERROR_INVALID_PLAN,
                         "The plan has %zu bytes; at most %d are allowed.", ret->body.len,
                         LIMIT_PLAN);
    return args->mode == MODE_APPLY || draft(call, answer, ret);
}

static const struct op_member MEMBERS[] = {
    {"goalId", MEMBER_TEXT, false, "the goal whose plan it is"},
    {"name", MEMBER_TEXT, false, "its name, such as T7"},
    {"version", MEMBER_NUMBER, false, "version of the goal, afterwards"},
    {"seq", MEMBER_NUMBER, false, "of the newest record"},
    {"forwarded", MEMBER_FLAG, false, "stored for the host that owns the goal, which applies it"},
    {"mode", MEMBER_TEXT, false, "draft: nothing was stored"},
    {"wouldBeVersion", MEMBER_NUMBER, false, "of the plan, if it were applied"},
    {"change", MEMBER_TEXT, false, "which nodes would be added, removed and changed"},
    {"records", MEMBER_NUMBER, false, "how many there would be"},
};

const struct op OP_PLAN_APPLY = {
    .name = "plan.apply",
    .summary = "Set a goal's plan or a new version of it, or preview one with --mode draft.",
    .help =
        "Nodes with an existing id keep their state; nodes that are left out are retired. --version is the version\n"
        "that you read: if the plan has changed since, nothing is changed.\n"
        "A node may name files that must exist before it is done, which are checked in a clean checkout:\n"
        "\"artifacts\": [{\"path\": \"out/report.json\", \"json\": true, \"minItems\": 3, \"requiredKeys\": [\"id\"]}].\n"
        "\"onFailure\" says what happens if they do not: mend (its agent is told and continues), retry_once, escalate\n"
        "or fail. \"requireCompletionReport\" also requires report_completion. `overseer plan show` shows the results of the checks.\n"
        "Example: overseer plan apply 01JC7Q4T9Z --nodes @plan.json --version 1",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN, /* PLAN-23: the policy says which runs */
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    .request = request,
    .signal = signal,
};
