/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that start, block, unblock, complete, cancel or override a node. PLAN-34: the node's id is enough if only
 * one goal has it. */
#include "ops/all.h"

#include "ops/view.h"

#include <stdio.h>

#define NODE_AND_GOAL \
    PARAM("node", FIELD_TEXT, node, LIMIT_NODE_ID, FIELD_REQUIRED, \
          "the node's id, such as S1.1.1"), \
        PARAM_GOAL(0)
#define REST PARAM_VERSION, PARAM_KEY, PARAM_TRACE

static const struct field PARAMS[] = {NODE_AND_GOAL, PARAM_REASON(0), REST};
static const struct field DONE[] = {
    NODE_AND_GOAL, PARAM_REASON(FIELD_REQUIRED),
    PARAM("evidence", FIELD_TEXT, text, LIMIT_REPORT, 0, "a commit, a test, a handoff"), REST};
static const struct field BLOCK[] = {
    NODE_AND_GOAL, PARAM_REASON(FIELD_REQUIRED),
    PARAM_ENUM("by", blocked, &BLOCKED_NAMES, 0, "person, credential, external, failure or other"),
    REST};
static const struct field OVERRIDE[] = {
    NODE_AND_GOAL,
    PARAM_ENUM("status", status, &NODE_STATUS_NAMES, FIELD_REQUIRED, "the new status"),
    PARAM_REASON(FIELD_REQUIRED), REST};

static const struct field UPDATES[] = {
    NODE_AND_GOAL,
    PARAM_ENUM("status", status, &NODE_STATUS_NAMES, FIELD_REQUIRED, "the new status"),
    PARAM_REASON(0),
    PARAM_ENUM("by", blocked, &BLOCKED_NAMES, 0, "blocked: person, credential, external …"),
    PARAM("evidence", FIELD_TEXT, text, LIMIT_REPORT, 0, "done: a commit, a test, a handoff"),
    REST};

static bool request(struct op_call *call, struct store_request *ret_request) {
    static const struct id NONE;
    if (!id_equal(call->args.goal_id, NONE)) /* named, or the run's own goal */
        return false;
    ret_request->verb = STORE_FIND;
    ret_request->part = PART_NODE;
    ret_request->name = call->args.node;
    ret_request->limit = LIMIT_FOUND;
    return true;
}

static bool goal_is_clear(struct op_call *call, const struct store_answer *answer,
                          struct id *ret_goal) {
    if (!answer || answer->found_count == 1) {
        *ret_goal = answer ? answer->found[0] : call->args.goal_id;
        return true;
    }
    if (answer->found_count == 0)
        return op_refuse(call, ERROR_NOT_FOUND, "No goal has a node %.*s.",
                         STR_ARG(call->args.node));
    op_refuse(call, ERROR_INVALID,
              "Several goals have a node %.*s; choose one with --goal:", STR_ARG(call->args.node));
    return view_name_found(call, answer);
}

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    const struct op_args *args = &call->args;
    bool overrides = call->op == &OP_WORK_OVERRIDE;
    bool is_given = overrides || call->op == &OP_WORK_UPDATE;
    if (!goal_is_clear(call, answer, &ret->goal))
        return false;
    ret->kind = call->op == &OP_WORK_FOLLOW  ? SIGNAL_WORK_FOLLOW
                : call->op == &OP_WORK_RETRY ? SIGNAL_WORK_RETRY
                                             : SIGNAL_WORK_MOVE;
    ret->work.node = args->node;
    ret->to = is_given ? args->status : call->op->to;
    ret->work.override = overrides;
    ret->reason = args->reason;
    ret->text = args->text;
    ret->work.blocked = args->blocked;
    ret->plan.expected = args->version;
    return true;
}

#define MOVE(verb, status, fields, roles, words, example) \
    { \
        .name = "work." verb, .summary = words, \
        .help = "Example: overseer work " verb " S1.1.1" example, .kind = OP_WRITES, \
        .may = (roles), .for_agents = ((roles)&MAY_RUN) != 0, OP_PARAMS(fields), .positional = 1, \
        .to = status, .asks_first = (status) == NODE_CANCELLED, \
        .stops = (status) == NODE_CANCELLED, .request = request, .signal = signal \
    }

const struct op OP_WORK_START = MOVE("start", NODE_IN_PROGRESS, PARAMS, MAY_MANAGE | MAY_RUN,
                                     "Mark a node as in progress.", "");
const struct op OP_WORK_BLOCK = MOVE("block", NODE_BLOCKED, BLOCK, MAY_MANAGE | MAY_RUN,
                                     "Mark a node as blocked, with the reason.",
                                     " --by credential --reason \"needs OPENAI_API_KEY in .env\"");
const struct op OP_WORK_UNBLOCK =
    MOVE("unblock", NODE_QUEUED, PARAMS, MAY_MANAGE, "Unblock a node.", "");
const struct op OP_WORK_DONE =
    MOVE("done", NODE_DONE, DONE, MAY_MANAGE, "Mark a node as done yourself; this is recorded.",
         " --reason \"checked by hand\"");
const struct op OP_WORK_CANCEL =
    MOVE("cancel", NODE_CANCELLED, PARAMS, MAY_MANAGE,
         "Cancel a node for good, and every open node below it.", " --yes");
const struct op OP_WORK_OVERRIDE =
    MOVE("override", NODE_STATUSES, OVERRIDE, MAY_MANAGE,
         "Set a node's status regardless of the allowed transitions; this is recorded.",
         " --status queued --reason \"the agent is gone\"");
const struct op OP_WORK_FOLLOW =
    MOVE("follow", NODE_STATUSES, PARAMS, MAY_MANAGE,
         "Remove an override: the node follows its children again.", "");
/* API-03: any move that the table allows, named by its target status. */
const struct op OP_WORK_UPDATE =
    MOVE("update", NODE_STATUSES, UPDATES, MAY_MANAGE,
         "Move a node to a status that its current status allows.", " --status in_progress");
/* RECOVER-11: the agent that works on it is stopped, and the node is started anew. */
const struct op OP_WORK_RETRY =
    MOVE("retry", NODE_STATUSES, PARAMS, MAY_HUMAN,
         "Retry a task with a new attempt; earlier attempts stay recorded.",
         " --reason \"the key is there now\"");
