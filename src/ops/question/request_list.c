/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that lists the agents that wait for an answer, and what they ask. REQUEST-06, REQUEST-07 */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/question/question_view.h"

#include <stdio.h>

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED)};
static const struct op_member MEMBERS[] = {
    {"sessions", MEMBER_LIST, true,
     "assignmentId, workNodeId, agentId, sessionKey, runStatus, pendingRequestCount, blockedReason"},
    {"requests", MEMBER_LIST, true,
     "as in question.show; a run sees its own requests and those that are addressed to it"},
};

static uint32_t pending(const struct questions *questions, uint32_t assignment) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < questions->count; i++)
        count +=
            questions->at[i].assignment == assignment && questions->at[i].state == QUESTION_OPEN;
    return count;
}

/* REQUEST-07: an agent that waits for an answer is blocked, whatever else is known about it. */
static const char *run_status(const struct assignment *assignment, uint32_t waits) {
    if (waits > 0 || assignment->status == ASSIGNMENT_BLOCKED)
        return "blocked";
    return assignment->status == ASSIGNMENT_QUEUED ? "queued" : "running";
}

static struct str blocked_reason(const struct assignment *assignment,
                                 const struct store_answer *answer, struct arena *arena) {
    const struct questions *questions = &answer->loaded[0].live.questions;
    for (uint32_t i = 0; i < questions->count; i++) {
        struct question_text text;
        if (questions->at[i].assignment == assignment->n + 1 &&
            questions->at[i].state == QUESTION_OPEN &&
            question_words(&answer->shown, &questions->at[i], arena, &text))
            return text.title;
    }
    return str_of(assignment->wait.reason);
}

static json_t *session_json(const struct assignment *assignment, const struct store_answer *answer,
                            struct arena *arena) {
    const struct live *live = &answer->loaded[0].live;
    const struct node *node = plan_node(&live->plan, assignment->node);
    uint32_t waits = pending(&live->questions, assignment->n + 1);
    const char *status = run_status(assignment, waits);
    char id[16];
    snprintf(id, sizeof id, "A_%u", assignment->n);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "assignmentId", id, "workNodeId",
                  node ? node->id : "", "agentId", assignment->agent, "sessionKey",
                  assignment->session, "runStatus", status, "pendingRequestCount", (int)waits);
    struct str reason = blocked_reason(assignment, answer, arena);
    if (strcmp(status, "blocked") == 0 && reason.len > 0)
        json_object_set_new(json, "blockedReason", json_stringn(reason.at, reason.len));
    return json;
}

static bool is_seen(const struct op_call *call, const struct question *question) {
    uint32_t assignment = call->caller->assignment;
    if (question->state == QUESTION_OVER || question->kind != QUESTION_REQUEST)
        return false;
    return call->caller->role != ROLE_RUN || question->assignment == assignment ||
           (question->parent == assignment && assignment != 0);
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    if (!view_is_whole(call, answer))
        return NULL;
    const struct live *live = &answer->loaded[0].live;
    json_ran_short();
    json_t *sessions = json_array(), *requests = json_array();
    for (uint32_t i = 0; i < live->assignments.count; i++)
        json_array_append_new(sessions,
                              session_json(&live->assignments.at[i], answer, &call->arena));
    for (uint32_t i = 0; i < live->questions.count; i++)
        if (is_seen(call, &live->questions.at[i]))
            json_array_append_new(requests, question_json(&answer->loaded[0], &answer->shown,
                                                          &live->questions.at[i], &call->arena));
    return view_checked(call, json_pack("{s:o, s:o}", "sessions", sessions, "requests", requests));
}

const struct op OP_REQUEST_LIST = {
    .name = "request.list",
    .summary = "Show which agents of a goal wait for an answer, and what they ask.",
    .help = "Example: overseer request list 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    .request = show_request,
    .result = result,
};
