/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that list and show assignments: the agent, its status, and what it was last sent. ASSIGN-01 to ASSIGN-16,
 * REQUEST-06, REQUEST-07. */
#include "ops/assignment.h"

#include "ops/agent_report.h"
#include "ops/all.h"
#include "ops/instruction.h"
#include "ops/json.h"
#include "ops/view.h"

#include <stdio.h>

enum { LIST_GOALS = 200, LIST_DEFAULT = 50, LIST_MOST = 1000 };

/* ---- naming an assignment ---- */

bool assignment_parse(struct str text, uint32_t *ret_n) {
    uint64_t n = 0;
    if (text.len < 3 || text.len > 12 || memcmp(text.at, "A_", 2) != 0)
        return false;
    for (size_t i = 2; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text.at[i] - '0');
    }
    *ret_n = (uint32_t)n;
    return n < UINT32_MAX;
}

bool assignment_named(struct op_call *call, uint32_t *ret_assignment) {
    const struct caller *caller = call->caller;
    uint32_t n;
    *ret_assignment = caller->role == ROLE_RUN ? caller->assignment : 0;
    if (call->args.assignment.len == 0)
        return true;
    if (!assignment_parse(call->args.assignment, &n))
        return op_refuse(call, ERROR_INVALID, "\"assignment\" must look like A_3.");
    if (caller->role == ROLE_RUN && n + 1 != caller->assignment)
        return op_refuse(call, ERROR_UNAUTHORIZED, "A run may name only its own assignment.");
    *ret_assignment = n + 1;
    return true;
}

/* ---- one assignment ---- */

static uint32_t requests_of(const struct goal_loaded *loaded, const struct assignment *assignment) {
    const struct questions *questions = &loaded->live.questions;
    uint32_t count = 0;
    for (uint32_t i = 0; i < questions->count; i++)
        count += questions->at[i].kind == QUESTION_REQUEST &&
                 questions->at[i].state == QUESTION_OPEN &&
                 questions->at[i].assignment == assignment->n + 1;
    return count;
}

/* REQUEST-07 */
static const char *run_status(const struct assignment *assignment, uint32_t requests) {
    if (assignment->run == 0)
        return "queued";
    if (assignment->ended)
        return "ended";
    return requests > 0 ? "blocked" : "running";
}

static void effect_name(const struct goal *goal, uint32_t effect, char text[ID_TEXT + 1]) {
    text[0] = 0;
    if (effect)
        id_format(effect_id(goal->id, effect - 1), text);
}

/* The fields that a finished assignment has too. */
static void row_put(json_t *json, const struct goal_loaded *loaded,
                    const struct assignment *assignment, struct arena *scratch) {
    struct assignment_row row =
        assignment_row_make(assignment, &loaded->plan, loaded->goal.id, scratch);
    json_put_fields(json, ASSIGNMENT_ROW.fields, ASSIGNMENT_ROW.count, &row);
    json_object_del(json, "lastInstructionText"); /* see assignment_words() */
}

json_t *progress_json(const struct assignment *assignment) {
    json_t *json = assignment && assignment->progress.at ? json_object() : json_null();
    if (json_is_null(json))
        return json;
    json_object_set_new(json, "phase", json_string(assignment->progress.phase));
    json_object_set_new(json, "percentComplete",
                        assignment->progress.percent
                            ? json_integer(assignment->progress.percent - 1)
                            : json_null());
    json_object_set_new(json, "updatedAt", json_of_time(assignment->progress.at));
    return json;
}

json_t *assignment_json(const struct goal_loaded *loaded, const struct assignment *assignment,
                        struct arena *scratch) {
    char goal[GOAL_ID_TEXT + 1], dispatch[ID_TEXT + 1];
    uint32_t requests = requests_of(loaded, assignment);
    goal_id_format(loaded->goal.id, goal);
    effect_name(&loaded->goal, assignment->delivery.dispatch, dispatch);
    json_t *json = json_object();
    row_put(json, loaded, assignment, scratch);
    json_t *more = json_pack(
        "{s:s, s:s, s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:s, s:b, s:b}", "goalId", goal,
        "runStatus", run_status(assignment, requests), "pendingRequestCount", (int)requests,
        "waitsFor", name_of(&WAITING_NAMES, assignment->wait.on), "delivery",
        name_of(&DELIVERY_NAMES, assignment->delivery.result), "rung",
        name_of(&RUNG_NAMES, assignment->recovery.rung), "attempts",
        (int)assignment->delivery.attempts, "moves", (int)assignment->recovery.moves,
        "contextPercent", (int)assignment->liveness.context, "tokens",
        (json_int_t)assignment->usage.tokens, "cost", (json_int_t)assignment->usage.cost,
        "dispatchId", dispatch, "attached", (int)assignment->liveness.attached, "over", 0);
    json_object_update(json, more);
    json_decref(more);
    goal_name_put(json, loaded->goal.kind.number);
    json_object_set_new(json, "waitsUntil", json_of_time(assignment->wait.until));
    json_object_set_new(json, "latestProgress", progress_json(assignment));
    json_object_set_new(json, "sandbox", json_string(assignment->setup.sandbox));
    json_object_set_new(json, "scope", json_string(assignment->setup.scope));
    json_object_set_new(json, "limits", json_string(assignment->setup.limits));
    if (assignment->wait.question) {
        char question[QUESTION_NAME];
        question_name_format(&loaded->goal, assignment->wait.question - 1, question);
        json_object_set_new(json, "question", json_string(question));
    }
    return json;
}

/* REPORT-06 */
static json_t *report_json(const struct goal_shown *shown, const struct hash *report,
                           struct arena *scratch) {
    struct update outgoing = {0};
    struct str body = hash_is_zero(report) ? (struct str){0} : shown_text(shown, report);
    if (body.len == 0 || !shape_decode_in(&UPDATE, body, scratch, &outgoing))
        return json_null();
    return completion_json(&outgoing);
}

/* ASSIGN-19: the parameters of its first run, which later runs repeat. */
static json_t *beginning_json(const struct goal_shown *shown, const struct assignment *assignment,
                              struct arena *scratch) {
    struct beginning begun = {0};
    struct str body = hash_is_zero(&assignment->setup.start)
                          ? (struct str){0}
                          : shown_text(shown, &assignment->setup.start);
    if (body.len == 0 || !shape_decode_in(&BEGINNING, body, scratch, &begun))
        return json_null();
    json_t *json = json_object();
    json_put_fields(json, BEGINNING.fields, BEGINNING.count, &begun);
    return json;
}

/* VERIFY-11, VERIFY-14, VERIFY-18: what its run has to produce, what the checks found, and whether this is the second
 * attempt. */
static void checks_put(json_t *json, const struct goal_loaded *loaded,
                       const struct goal_shown *shown, const struct assignment *assignment,
                       struct arena *scratch) {
    const struct node *node = plan_node(&loaded->plan, assignment->node);
    char run[ID_TEXT + 1];
    json_object_set_new(json, "verificationContract", contract_json(shown, assignment, scratch));
    json_object_set_new(json, "verification",
                        node ? verification_json(shown, node, assignment, scratch) : json_null());
    json_object_set_new(json, "retryAttemptedAt",
                        assignment->check.retried_at ? json_of_time(assignment->check.retried_at)
                                                     : json_null());
    if (assignment->check.retry_of)
        id_format(effect_id(loaded->goal.id, assignment->check.retry_of - 1), run);
    json_object_set_new(json, "retryOf", json_string(assignment->check.retry_of ? run : ""));
}

json_t *assignment_words(const struct goal_loaded *loaded, const struct goal_shown *shown,
                         const struct assignment *assignment, struct arena *scratch) {
    const struct node *node = plan_node(&loaded->plan, assignment->node);
    if (!node || assignment->delivery.dispatch == 0)
        return json_null();
    struct instruction about = {.goal = loaded->goal.id,
                                .node = node_id(node),
                                .text = node->text,
                                .handoff = assignment->delivery.handoff,
                                .outgoing = assignment->delivery.words == WORDS_MESSAGE
                                                ? assignment->outgoing.message
                                                : assignment->outgoing.text,
                                .words = assignment->delivery.words};
    struct str text = instruction_text(&about, shown, scratch);
    return text.len > 0 ? json_stringn(text.at, text.len) : json_null();
}

/* ASSIGN-03: whom a question about it reaches besides the operator; null: there is no question, or only the operator is
 * asked. */
static json_t *delivery_context(const struct goal_loaded *loaded, const struct goal_shown *shown,
                                const struct assignment *assignment, struct arena *scratch) {
    struct goal_text text = {0};
    struct str body = shown_text(shown, &loaded->goal.text);
    if (assignment->wait.question == 0 || body.len == 0 ||
        !shape_decode_in(&GOAL_TEXT, body, scratch, &text) || text.channel.len == 0)
        return json_null();
    return json_pack("{s:s%, s:s%, s:s%, s:s%}", "channel", text.channel.at, text.channel.len, "to",
                     text.to.at ? text.to.at : "", text.to.len, "thread",
                     text.thread.at ? text.thread.at : "", text.thread.len, "account",
                     text.account.at ? text.account.at : "", text.account.len);
}

/* ---- all assignments of a goal ---- */

static json_t *over_json(const struct goal_loaded *loaded, const struct part_shown *part,
                         struct arena *scratch) {
    char goal[GOAL_ID_TEXT + 1];
    struct assignment_row row = {0};
    json_t *json = json_object();
    goal_id_format(loaded->goal.id, goal);
    if (shape_decode_in(&ASSIGNMENT_ROW, part->body, scratch, &row))
        json_put_fields(json, ASSIGNMENT_ROW.fields, ASSIGNMENT_ROW.count, &row);
    json_object_set_new(json, "goalId", json_string(goal));
    goal_name_put(json, loaded->goal.kind.number);
    json_object_set_new(json, "over", json_true());
    return json;
}

json_t *assignments_json(const struct goal_loaded *loaded, const struct goal_shown *shown, bool all,
                         struct arena *scratch) {
    const struct assignments *assignments = &loaded->live.assignments;
    json_t *list = json_array();
    for (uint32_t i = 0; i < assignments->count; i++)
        json_array_append_new(list, assignment_json(loaded, &assignments->at[i], scratch));
    for (uint32_t i = shown->part_count; all && i-- > 0;)
        if (shown->parts[i].kind == PART_ASSIGNMENT_ROW &&
            !assignments_find(assignments, shown->parts[i].n))
            json_array_append_new(list, over_json(loaded, &shown->parts[i], scratch));
    return list;
}

/* ---- assignment.list ---- */

struct listing {
    struct id goals[LIST_GOALS];
    uint32_t count, shown, limit;
    bool one, listed, more;
};

static bool goal_ask(struct listing *it, struct store_request *ret) {
    if (it->shown == it->count)
        return false;
    *ret = (struct store_request){
        .verb = STORE_SHOW, .ids = &it->goals[it->shown++], .id_count = 1, .limit = 1};
    return true;
}

static bool list_request(struct op_call *call, struct store_request *ret) {
    static const struct id NONE;
    struct listing *it = arena_new(&call->arena, struct listing, 1);
    uint32_t limit = call->args.limit ? call->args.limit : LIST_DEFAULT;
    call->own = it;
    it->limit = limit < LIST_MOST ? limit : LIST_MOST;
    it->one = !id_equal(call->args.goal_id, NONE);
    if (it->one) {
        it->goals[it->count++] = call->args.goal_id;
        it->listed = true;
        return goal_ask(it, ret);
    }
    *ret = (struct store_request){.verb = STORE_LIST, .limit = LIST_GOALS};
    ret->filter.by_status = true;
    ret->filter.status = GOAL_ACTIVE;
    return true;
}

static void goal_take(struct op_call *call, const struct store_answer *answer) {
    struct listing *it = call->own;
    const struct goal_loaded *loaded = &answer->loaded[0];
    json_t *list = json_object_get(call->result, "assignments");
    if (!loaded->exists && it->one)
        op_refuse(call, ERROR_NOT_FOUND, "%s", "");
    if (!loaded->exists || !loaded->whole)
        return;
    json_t *these = assignments_json(loaded, &answer->shown, it->one, &call->arena);
    json_array_extend(list, these);
    json_decref(these);
}

static bool list_next(struct op_call *call, const struct store_answer *answer,
                      struct store_request *ret) {
    struct listing *it = call->own;
    if (!call->result) {
        json_ran_short();
        call->result = json_pack("{s:[]}", "assignments");
    }
    if (it->listed)
        goal_take(call, answer);
    else {
        it->listed = true;
        it->more = answer->more;
        for (uint32_t i = 0; i < answer->view_count && i < LIST_GOALS; i++)
            it->goals[it->count++] = answer->views[i].id;
    }
    bool enough = json_array_size(json_object_get(call->result, "assignments")) >= it->limit;
    return !call->error && !enough && goal_ask(it, ret);
}

static json_t *list_result(struct op_call *call, const struct store_answer *answer) {
    const struct listing *it = call->own;
    json_t *json = call->result;
    (void)answer;
    call->result = NULL;
    json_object_set_new(json, "more", json_boolean(it->more || it->shown < it->count));
    return view_checked(call, json);
}

static const struct field LIST[] = {
    PARAM_GOAL(0),
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many, at most 1000; default: 50"),
};

static const struct op_member LISTED[] = {
    {"assignments", MEMBER_LIST, true,
     "assignmentId, goalId, workNodeId, agentId, status, runStatus, pendingRequestCount, blockedReason, waitsFor …"},
    {"more", MEMBER_FLAG, true, "some goals were not searched"},
};

const struct op OP_ASSIGNMENT_LIST = {
    .name = "assignment.list",
    .summary = "List the working agents: their task, its state, and what they wait for.",
    .help = "With a goal, assignments that have ended are listed, too.\n"
            "Example: overseer agents\n"
            "Example: overseer agents 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(LIST),
    .positional = 1,
    OP_MEMBERS(LISTED),
    .request = list_request,
    .next = list_next,
    .result = list_result,
};

/* ---- assignment.show, agent.status ---- */

static const struct field SHOW[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("assignment", FIELD_TEXT, assignment, LIMIT_TAG, 0,
          "the assignment, such as A_3; for a run: its own"),
};

#define T(name, text) \
    { name, MEMBER_TEXT, false, text }
#define N(name, text) \
    { name, MEMBER_NUMBER, false, text }
#define AT(name, text) \
    { name, MEMBER_TIME, false, text }
static const struct op_member SHOWN[] = {
    {"assignmentId", MEMBER_TEXT, true, "which"},
    {"goalId", MEMBER_TEXT, true, "the goal"},
    {"name", MEMBER_TEXT, false, "the goal's name, such as T7"},
    T("workNodeId", "the node that it works on"),
    T("agentId", "who"),
    T("sessionKey", "where"),
    {"deliveryContext", MEMBER_ANY, false,
     "channel, to, thread and account of the recipient of questions about it; null: the operator alone"},
    {"status", MEMBER_TEXT, true,
     "queued, dispatched, active, stalled, blocked, done or cancelled"},
    T("runStatus", "running, blocked by a request of its own, queued or ended"),
    N("pendingRequestCount", "its own requests without an answer"),
    T("blockedReason", "why it does not continue"),
    T("waitsFor", "nothing, permit, quota, backoff, answer, person or retry"),
    AT("waitsUntil", "until when"),
    T("question", "the question that holds it"),
    T("delivery", "what is known about the last message"),
    T("dispatchId", "its id"),
    T("instructionHash", "hash of the text that was sent"),
    {"lastInstructionText", MEMBER_ANY, false, "the text itself; null: nothing was sent yet"},
    T("runId", "the run"),
    T("recoveryPolicy", "the first recovery step"),
    T("rung", "the current recovery step"),
    N("retryCount", "attempts at this recovery step"),
    N("attempts", "how many messages were sent"),
    N("moves", "how often the work was reassigned to another agent"),
    T("sandbox", "the sandbox of its run: bwrap+landlock, bwrap, landlock or none; empty: unknown"),
    T("scope", "how its list of tools is enforced: enforced, advisory or none"),
    {"startedWith", MEMBER_ANY, false,
     "agentId, model, thinking, label, timeout, toolsAllow and toolsDeny of its first run, which every later run repeats; null: no run has started"},
    {"verificationContract", MEMBER_ANY, false,
     "artifacts, requireCompletionReport, onFailure and verificationTimeoutMs that its run started with; null: none"},
    {"verification", MEMBER_ANY, false,
     "state (pending, running, passed, failed, skipped), status, checks (type, target, passed, reason) and verifiedAt; null: nothing is checked"},
    AT("retryAttemptedAt", "when it was restarted because its checks failed; null: it was not"),
    T("retryOf", "the run before that; empty: there is none"),
    T("limits",
      "limits of its run for memory, CPU and processes, and how each is enforced; empty: no limits"),
    {"latestProgress", MEMBER_ANY, false,
     "phase, percentComplete and updatedAt of its last progress report; null: none"},
    {"completionReport", MEMBER_ANY, false,
     "status, confidence, summary, artifacts, blockers, warnings and evidence of its completion report; null: none"},
    N("contextPercent", "percent of its context window that is used"),
    N("tokens", "tokens used so far"),
    N("cost", "cost so far, in millionths"),
    N("idleAfter", "microseconds of silence that are allowed"),
    {"attached", MEMBER_FLAG, false, "a person is attached to its terminal"},
    {"over", MEMBER_FLAG, true, "it is done or cancelled"},
    AT("createdAt", "when it was created"),
    AT("updatedAt", "when it last changed"),
    AT("lastDispatchAt", "when the last message was sent"),
    AT("lastObservedActivityAt", "when its last sign of life was seen"),
    AT("expectedNextUpdateAt", "when the next sign of life is expected"),
    AT("lastRetryAt", "when it was last retried"),
    AT("backoffUntil", "the earliest time of the next retry"),
};

/* By name: an imported assignment may be stored under another number. */
static const struct part_shown *over_find(const struct goal_shown *shown, uint32_t n) {
    char name[16];
    snprintf(name, sizeof name, "A_%u", n);
    for (uint32_t i = 0; i < shown->part_count; i++)
        if (shown->parts[i].kind == PART_ASSIGNMENT_ROW &&
            str_equal(shown->parts[i].name, str_of(name)))
            return &shown->parts[i];
    return NULL;
}

/* Only for the assignment that completed the work: its node keeps the report. */
static json_t *over_report(const struct goal_loaded *loaded, const struct goal_shown *shown,
                           const struct part_shown *over, struct arena *scratch) {
    struct assignment_row row = {0};
    shape_decode_in(&ASSIGNMENT_ROW, over->body, scratch, &row);
    const struct node *node = plan_find(&loaded->plan, row.node);
    bool did_it = node && str_equal(row.status, str_of(ASSIGNMENT_STATUS[ASSIGNMENT_DONE].name));
    return did_it ? report_json(shown, &node->result.report, scratch) : json_null();
}

static json_t *show_result(struct op_call *call, const struct store_answer *answer) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    uint32_t named;
    json_ran_short();
    if (!view_is_whole(call, answer) || !assignment_named(call, &named))
        return NULL;
    const struct assignment *assignment =
        named ? assignments_find(&loaded->live.assignments, named - 1) : NULL;
    const struct part_shown *over =
        named && !assignment ? over_find(&answer->shown, named - 1) : NULL;
    if (!assignment && !over) {
        op_refuse(call, ERROR_NOT_FOUND,
                  named ? "The goal has no such assignment."
                        : "\"assignment\" is missing: name one, such as A_3.");
        return NULL;
    }
    json_t *json = assignment ? assignment_json(loaded, assignment, &call->arena)
                              : over_json(loaded, over, &call->arena);
    json_object_set_new(
        json, "completionReport",
        assignment ? report_json(&answer->shown, &assignment->progress.report, &call->arena)
                   : over_report(loaded, &answer->shown, over, &call->arena));
    if (assignment) {
        json_object_set_new(json, "lastInstructionText",
                            assignment_words(loaded, &answer->shown, assignment, &call->arena));
        json_object_set_new(json, "startedWith",
                            beginning_json(&answer->shown, assignment, &call->arena));
        checks_put(json, loaded, &answer->shown, assignment, &call->arena);
        json_object_set_new(json, "deliveryContext",
                            delivery_context(loaded, &answer->shown, assignment, &call->arena));
    }
    return view_checked(call, json);
}

const struct op OP_ASSIGNMENT_SHOW = {
    .name = "assignment.show",
    .summary = "Show one assignment: its state and the last message to its agent.",
    .help = "Example: overseer assignment show 01JC7Q4T9Z A_0",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(SHOW),
    .positional = 2,
    OP_MEMBERS(SHOWN),
    .request = show_request,
    .result = show_result,
};

const struct op OP_AGENT_STATUS = {
    .name = "agent.status",
    .summary = "Show the state of an agent's own work as Overseer sees it.",
    .help = "An agent need not name its assignment: its token is bound to it.\n"
            "Example: overseer agent status 01JC7Q4T9Z A_0",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(SHOW),
    .positional = 2,
    OP_MEMBERS(SHOWN),
    .request = show_request,
    .result = show_result,
};
