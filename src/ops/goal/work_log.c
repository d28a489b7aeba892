/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that show what an agent said and did, and what it changed. This file finds the attempt; the host that has
 * the transcript and the worktree adds them to the answer (runs/run_answer.c). */
#include "ops/all.h"
#include "ops/assignment.h"
#include "ops/json.h"
#include "ops/view.h"

#include <stdio.h>

#define WHICH \
    PARAM_GOAL(FIELD_REQUIRED), PARAM("assignment", FIELD_TEXT, assignment, 16, 0, \
                                      "the attempt, such as A_3; default: the newest")

static const struct field LOG[] = {
    WHICH,
    PARAM("from", FIELD_UINT, from, 0, 0, "where to begin: `next` of the previous page"),
    PARAM("last", FIELD_FLAG, last, 0, 0, "only the newest page"),
};
static const struct field DIFF[] = {
    WHICH,
    PARAM("worktree", FIELD_FLAG, worktree, 0, 0,
          "show the current worktree, even while a commit waits to land"),
};

#define ATTEMPT \
    {"goalId", MEMBER_TEXT, true, "the goal"}, \
        {"assignmentId", MEMBER_TEXT, false, "the attempt; empty: the work is not assigned yet"}, \
        {"workNodeId", MEMBER_TEXT, false, "the task"}, {"agentId", MEMBER_TEXT, false, "who"}, \
        {"runId", MEMBER_TEXT, false, "the run"}, { \
        "over", MEMBER_FLAG, true, "the attempt is over" \
    }

static const struct op_member LOG_MEMBERS[] = {
    ATTEMPT,
    {"lines", MEMBER_LIST, true, "at, kind (said, told, tool, asks, ended, failed) and text"},
    {"next", MEMBER_NUMBER, true, "`from` of the next page"},
    {"more", MEMBER_FLAG, true, "there is more output already"},
    {"terminal", MEMBER_TEXT, false, "for an agent in a terminal: the socket of its tmux server"},
};
static const struct op_member DIFF_MEMBERS[] = {
    ATTEMPT,
    {"base", MEMBER_TEXT, true,
     "the base of the diff: the target's tip, or the commit that it started from; empty: no worktree"},
    {"commit", MEMBER_TEXT, true, "the commit that waits to land; or everything as it is now"},
    {"waits", MEMBER_FLAG, true, "that commit passed its checks and will land"},
    {"moved", MEMBER_FLAG, true, "the worktree has changed since that commit"},
    {"added", MEMBER_LIST, true, "commits that the target gets: commit, subject"},
    {"files", MEMBER_NUMBER, true, "number of changed files"},
    {"insertions", MEMBER_NUMBER, true, "lines added"},
    {"deletions", MEMBER_NUMBER, true, "lines removed"},
    {"diff", MEMBER_TEXT, true, "the diff in git's format"},
    {"cut", MEMBER_FLAG, true, "the diff is truncated"},
    {"answer", MEMBER_TEXT, false,
     "for a task that wants an answer: what its agent answered, unverified. The diff never lands"},
};

static json_t *attempt_json(struct id goal, uint32_t n, struct str node, struct str agent,
                            struct str run, bool over) {
    char id[16], text[GOAL_ID_TEXT + 1];
    snprintf(id, sizeof id, "A_%u", n);
    goal_id_format(goal, text);
    return json_pack("{s:s, s:s, s:s%, s:s%, s:s%, s:b}", "goalId", text, "assignmentId", id,
                     "workNodeId", node.at ? node.at : "", node.len, "agentId",
                     agent.at ? agent.at : "", agent.len, "runId", run.at ? run.at : "", run.len,
                     "over", over);
}

static json_t *assignment_attempt(const struct goal_loaded *loaded,
                                  const struct assignment *assignment) {
    const struct node *node = plan_node(&loaded->plan, assignment->node);
    char run[ID_TEXT + 1] = "";
    if (assignment->run)
        id_format(effect_id(loaded->goal.id, assignment->run - 1), run);
    return attempt_json(loaded->goal.id, assignment->n, node ? node_id(node) : STR(""),
                        str_of(assignment->agent), str_of(run), false);
}

/* The named attempt, or the newest one; open attempts come first. */
static json_t *attempt_find(const struct store_answer *answer, uint32_t named) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    const struct assignments *assignments = &loaded->live.assignments;
    json_t *found = NULL;
    for (uint32_t i = assignments->count; i-- > 0 && !found;)
        if (!named || assignments->at[i].n + 1 == named)
            found = assignment_attempt(loaded, &assignments->at[i]);
    for (uint32_t i = answer->shown.part_count; i-- > 0 && !found;) {
        const struct part_shown *part = &answer->shown.parts[i];
        struct assignment_row row = {0};
        uint32_t n;
        if (part->kind == PART_ASSIGNMENT_ROW && assignment_parse(part->name, &n) &&
            (!named || n + 1 == named) && shape_decode(&ASSIGNMENT_ROW, part->body, &row))
            found = attempt_json(loaded->goal.id, n, row.node, row.agent, row.run, true);
    }
    return found;
}

static json_t *attempt_result(struct op_call *call, const struct store_answer *answer) {
    uint32_t named;
    char goal[GOAL_ID_TEXT + 1];
    json_ran_short();
    if (!view_is_whole(call, answer) || !assignment_named(call, &named))
        return NULL;
    json_t *json = attempt_find(answer, named);
    if (!json && named) {
        op_refuse(call, ERROR_NOT_FOUND, "The goal has no such assignment.");
        return NULL;
    }
    goal_id_format(answer->loaded[0].goal.id, goal);
    return json ? json : json_pack("{s:s, s:b}", "goalId", goal, "over", 0);
}

static json_t *log_result(struct op_call *call, const struct store_answer *answer) {
    json_t *json = attempt_result(call, answer);
    json_t *rest =
        json_pack("{s:[], s:I, s:b}", "lines", "next", (json_int_t)call->args.from, "more", 0);
    json_object_update(json, rest);
    json_decref(rest);
    return json ? view_checked(call, json) : NULL;
}

/* The commit of this attempt that waits to land, for the code that computes the diff; NULL: none. */
static void *candidate_of(struct op_call *call, const struct assignments *assignments,
                          const json_t *json) {
    const char *name = json_string_value(json_object_get(json, "assignmentId"));
    uint32_t n;
    if (!name || !assignment_parse(str_of(name), &n))
        return NULL;
    const struct assignment *assignment = assignments_find(assignments, n);
    if (!assignment || !assignment->check.commit[0] || !assignment->check.onto[0])
        return NULL;
    struct diff_candidate *candidate = arena_new(&call->arena, struct diff_candidate, 1);
    *candidate = (struct diff_candidate){
        .commit = arena_copy(&call->arena, str_of(assignment->check.commit)),
        .onto = arena_copy(&call->arena, str_of(assignment->check.onto)),
        .snapshot = arena_copy(&call->arena, str_of(assignment->check.snapshot))};
    return candidate;
}

/* The answer of the attempt's node. */
static void answer_put(json_t *json, const struct store_answer *answer) {
    const char *name = json_string_value(json_object_get(json, "workNodeId"));
    const struct node *node = name ? plan_find(&answer->loaded[0].plan, str_of(name)) : NULL;
    if (node && !hash_is_zero(&node->result.answer))
        json_object_set_new(json, "answer", answer_json(&answer->shown, node));
}

static json_t *diff_result(struct op_call *call, const struct store_answer *answer) {
    json_t *json = attempt_result(call, answer);
    if (json && !call->args.worktree)
        call->own = candidate_of(call, &answer->loaded[0].live.assignments, json);
    json_t *rest = json_pack("{s:s, s:s, s:b, s:b, s:[], s:i, s:i, s:i, s:s, s:b}", "base", "",
                             "commit", "", "waits", 0, "moved", 0, "added", "files", 0,
                             "insertions", 0, "deletions", 0, "diff", "", "cut", 0);
    json_object_update(json, rest);
    json_decref(rest);
    if (json)
        answer_put(json, answer);
    return json ? view_checked(call, json) : NULL;
}

const struct op OP_WORK_LOG = {
    .name = "work.log",
    .summary = "Show an agent's output and tool calls, a page at a time.",
    .help =
        "This is the output of one attempt, with secrets redacted, as long as its host keeps it.\n"
        "Example: overseer work log 01JC7Q4T9Z --last",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(LOG),
    .positional = 1,
    OP_MEMBERS(LOG_MEMBERS),
    .request = show_request,
    .result = log_result,
};

const struct op OP_WORK_DIFF = {
    .name = "work.diff",
    .slow = true,
    .summary = "Show what an agent has changed: the commit that waits to land, or its worktree.",
    .help =
        "While a commit waits to land, this shows exactly that commit against the tip of its target, commit by commit. Before that, it shows everything in the worktree, including uncommitted changes, against the commit that it started from. Nothing is changed.\n"
        "Example: overseer work diff 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(DIFF),
    .positional = 1,
    OP_MEMBERS(DIFF_MEMBERS),
    .request = show_request,
    .result = diff_result,
};
