/* SPDX-License-Identifier: Apache-2.0 */
/* Operations with which an agent reports its state, without any text to be parsed. UPDATE-11: equivalent to the block
 * in its reply. */
#include "ops/agent_report.h"
#include "ops/all.h"
#include "ops/assignment.h"

#define WHICH \
    PARAM("assignment", FIELD_TEXT, assignment, LIMIT_TAG, 0, \
          "the assignment, such as A_3; for a run: its own")
#define UPDATE_LIST(name, member, text) \
    { \
        name, FIELD_TEXTS, 0, offsetof(struct op_args, update.member), LIMIT_LINE, 0, NULL, text, \
            LIMIT_LINES, NULL \
    }
#define EVIDENCE_LISTS \
    UPDATE_LIST("filesTouched", files, "evidence: files"), \
        UPDATE_LIST("testsRun", tests, "evidence: tests and their results"), \
        UPDATE_LIST("commits", commits, "evidence: commits")

static const struct field UPDATES[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    WHICH,
    PARAM("goalId", FIELD_TEXT, update.goal, LIMIT_NAME, 0,
          "as in the overseerUpdate block; must be the same goal"),
    PARAM("workNodeId", FIELD_TEXT, update.node, LIMIT_NODE_ID, 0,
          "the node; default: that of the assignment"),
    PARAM("status", FIELD_TEXT, update.status, LIMIT_TAG, 0, "in_progress, blocked or done"),
    PARAM("summary", FIELD_TEXT, update.summary, LIMIT_PROSE, 0, "what changed"),
    PARAM("next", FIELD_TEXT, update.next, LIMIT_PROSE, 0, "the next concrete action"),
    UPDATE_LIST("blockers", blockers, "blockers"),
    EVIDENCE_LISTS,
    PARAM_KEY,
    PARAM_TRACE,
};

static const struct field COMPLETES[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("summary", FIELD_TEXT, update.summary, LIMIT_PROSE, FIELD_REQUIRED, "what was done"),
    WHICH,
    PARAM_ENUM("status", completion, &COMPLETION_NAMES, 0,
               "complete, partial or failed; default: complete"),
    PARAM_ENUM("confidence", confidence, &CONFIDENCE_NAMES, 0, "high, medium or low"),
    {"artifacts", FIELD_ROWS, 0, offsetof(struct op_args, update.artifacts), 0, 0, NULL,
     "what was made: path, description", LIMIT_LINES, &ARTIFACT_CLAIM},
    UPDATE_LIST("blockers", blockers, "blockers"),
    UPDATE_LIST("warnings", warnings, "warnings: what a person should check"),
    EVIDENCE_LISTS,
    PARAM_KEY,
    PARAM_TRACE,
};

static const struct field PROGRESSES[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("phase", FIELD_TEXT, progress.phase, LIMIT_PHASE, FIELD_REQUIRED, "the current phase"),
    PARAM("percentComplete", FIELD_U32, progress.percent, 0, 0, "how much is done, 0 to 100"),
    PARAM_ENUM("level", progress.level, &PROGRESS_LEVEL_NAMES, 0,
               "L0_operational, L1_plan_update or L2_detail"),
    {"metrics", FIELD_TEXTS, 0, offsetof(struct op_args, progress.metrics), LIMIT_NAME, FIELD_PAIRS,
     NULL, "metrics by name: strings and numbers", LIMIT_METRICS, NULL},
    WHICH,
    PARAM_KEY,
    PARAM_TRACE,
};

static bool is_about(struct op_call *call) {
    struct str given = call->args.update.goal;
    struct id named;
    if (given.len == 0 || (goal_id_parse(given, &named) && id_equal(named, call->args.goal_id)))
        return true;
    return op_refuse(call, ERROR_INVALID, "\"goalId\" must be the goal of this request.");
}

static bool update_send(struct op_call *call, struct update update, struct signal *ret) {
    if (!assignment_named(call, &ret->about.assignment) || !is_about(call))
        return false;
    if (!update_clean(&update, &call->arena))
        return op_refuse(call, ERROR_INVALID, "The update is empty: give at least one field.");
    ret->kind = SIGNAL_AGENT_UPDATE;
    ret->goal = call->args.goal_id;
    ret->work.node = update.node;
    ret->to = 1;
    ret->body = shape_encode(&UPDATE, &update, &call->arena);
    return true;
}

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    (void)answer;
    return update_send(call, call->args.update, ret);
}

/* REPORT-01: translates a completion report into an update. */
static bool complete_signal(struct op_call *call, const struct store_answer *answer,
                            struct signal *ret) {
    struct update update = call->args.update;
    (void)answer;
    update.completion = call->args.completion + 1;
    update.by_tool = 1;
    update.confidence = json_object_get(call->params, "confidence") ? call->args.confidence + 1 : 0;
    completion_follow(&update, &call->arena);
    return update_send(call, update, ret);
}

static bool progress_signal(struct op_call *call, const struct store_answer *answer,
                            struct signal *ret) {
    struct progress progress = call->args.progress;
    (void)answer;
    if (progress.percent > 100)
        return op_refuse(call, ERROR_INVALID, "\"percentComplete\" must be between 0 and 100.");
    if (!assignment_named(call, &ret->about.assignment))
        return false;
    if (json_object_get(call->params, "percentComplete"))
        progress.percent++; /* stored plus 1: 0 means not given */
    ret->kind = SIGNAL_AGENT_PROGRESS;
    ret->goal = call->args.goal_id;
    ret->body = shape_encode(&PROGRESS, &progress, &call->arena);
    return true;
}

const struct op OP_AGENT_UPDATE = {
    .name = "agent.update",
    .summary = "Report the state of the work: what changed, what is next, blockers, evidence.",
    .help =
        "Fields that are not given stay as they were. This is the same as the overseerUpdate block at the end of a reply.\n"
        "Example: overseer agent update 01JC7Q4T9Z --assignment A_0 --summary \"half of it works\"",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .for_agents = true,
    OP_PARAMS(UPDATES),
    .positional = 1,
    .signal = signal,
};

const struct op OP_AGENT_COMPLETE = {
    .name = "agent.complete",
    .summary = "Report the end of the work: complete, partial or failed, with evidence.",
    .help =
        "An agent's report alone never makes work done: the work is checked, or shown as unverified.\n"
        "Example: overseer agent complete 01JC7Q4T9Z \"tokens expire now\" --assignment A_0 --commits 3fa2c1d",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .for_agents = true,
    OP_PARAMS(COMPLETES),
    .positional = 2,
    .signal = complete_signal,
};

const struct op OP_AGENT_PROGRESS = {
    .name = "agent.progress",
    .summary = "Report progress: the current phase, and how much of it is done.",
    .help =
        "The report is stored as given; it proves only that the agent is alive. At most one in 30 seconds is stored.\n"
        "Example: overseer agent progress 01JC7Q4T9Z \"converting files\" --percentComplete 40 --assignment A_0",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .answer = ANSWER_AT_ONCE,
    .for_agents = true,
    OP_PARAMS(PROGRESSES),
    .positional = 2,
    .signal = progress_signal,
};
