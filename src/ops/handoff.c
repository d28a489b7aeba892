/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that add, list and show handoffs, which record the state of the work so that another agent can continue.
 * CRYSTAL-01 to CRYSTAL-05. */
#include "ops/all.h"
#include "ops/assignment.h"
#include "ops/json.h"

#define TEXT(name, member, cap, flags, text) \
    { \
        name, FIELD_TEXT, 0, offsetof(struct op_args, handoff.member), cap, flags, NULL, text, 0, \
            NULL \
    }
#define LIST(name, member, text) \
    { \
        name, FIELD_TEXTS, 0, offsetof(struct op_args, handoff.member), LIMIT_LINE, 0, NULL, text, \
            LIMIT_LINES, NULL \
    }

/* ---- handoff.add ---- */

static const struct field ADD[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    TEXT("summary", summary, LIMIT_PROSE, FIELD_REQUIRED | FIELD_CUT, "what happened"),
    TEXT(
        "node", node, LIMIT_NODE_ID, 0,
        "the phase, task or subtask that it is about; default: a run's own node, otherwise the goal"),
    TEXT("currentState", state, LIMIT_PROSE, FIELD_CUT, "the current state"),
    LIST("decisions", decisions, "what was decided, and why"),
    LIST("nextActions", next_actions, "what comes next, in order"),
    LIST("openQuestions", open_questions, "open questions"),
    LIST("knownBlockers", blockers, "known blockers"),
    LIST("filesTouched", files, "evidence: files"),
    LIST("commandsRun", commands, "evidence: commands"),
    LIST("testsRun", tests, "evidence: tests and their results"),
    LIST("commits", commits, "evidence: commits"),
    LIST("prs", prs, "evidence: pull requests"),
    LIST("issues", issues, "evidence: issues"),
    LIST("externalRefs", refs, "evidence: addresses and anything else"),
    TEXT("sessionKey", session, LIMIT_NAME, 0, "where the transcript is"),
    TEXT("sessionId", session_id, LIMIT_NAME, 0, "the part of the transcript"),
    PARAM_KEY,
    PARAM_TRACE,
};

static bool is_of_run(const struct op_call *call) {
    return call->caller->role == ROLE_RUN && call->caller->assignment > 0;
}

/* A run need not name the node: its assignment determines it. */
static bool add_request(struct op_call *call, struct store_request *ret) {
    return is_of_run(call) && show_request(call, ret);
}

static bool add_signal(struct op_call *call, const struct store_answer *answer,
                       struct signal *ret) {
    struct handoff handoff = call->args.handoff;
    if (answer && !view_is_whole(call, answer))
        return false;
    ret->about.assignment = is_of_run(call) ? call->caller->assignment : 0;
    if (answer && handoff.node.len == 0) {
        const struct live *live = &answer->loaded[0].live;
        const struct assignment *assignment =
            assignments_find(&live->assignments, ret->about.assignment - 1);
        const struct node *node = assignment ? plan_node(&live->plan, assignment->node) : NULL;
        if (!node)
            return op_refuse(call, ERROR_CONFLICT, "Your assignment is over.");
        handoff.node = arena_copy(&call->arena, node_id(node));
    }
    ret->kind = SIGNAL_HANDOFF;
    ret->goal = call->args.goal_id;
    ret->work.node = handoff.node;
    ret->body = shape_encode(&HANDOFF, &handoff, &call->arena);
    return true;
}

const struct op OP_HANDOFF_ADD = {
    .name = "handoff.add",
    .summary = "Write a handoff: the state of the work, for the next agent or person.",
    .help =
        "The newest handoff of a node is part of the next instruction about it.\n"
        "Example: overseer handoff add 01JC7Q4T9Z \"tokens work, mail does not\" --node S1.1.1 --next-actions "
        "\"ask for the relay's password\"",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .for_agents = true,
    OP_PARAMS(ADD),
    .positional = 2,
    .request = add_request,
    .signal = add_signal,
};

/* ---- handoff.list, handoff.show ---- */

static const struct field LISTS[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("node", FIELD_TEXT, node, LIMIT_NODE_ID, 0, "only those about this node"),
};

static const struct op_member LISTED[] = {
    {"handoffs", MEMBER_LIST, true, "newest first: crystallizationId, workNodeId, summary, ts"},
};

static json_t *brief_json(const struct handoff *handoff) {
    char at[TIME_TEXT + 1];
    time_format(handoff->at, at);
    struct str summary = str_cut_utf8(handoff->summary, LIMIT_REPORT);
    return json_pack("{s:s%, s:s%, s:s%, s:i, s:s}", "crystallizationId",
                     handoff->id.at ? handoff->id.at : "", handoff->id.len, "workNodeId",
                     handoff->node.at ? handoff->node.at : "", handoff->node.len, "summary",
                     summary.at ? summary.at : "", summary.len, "nextActionCount",
                     (int)handoff->next_actions.count, "ts", at);
}

static json_t *list_result(struct op_call *call, const struct store_answer *answer) {
    const struct goal_shown *shown = &answer->shown;
    json_ran_short();
    if (!view_is_whole(call, answer))
        return NULL;
    json_t *list = json_array();
    for (uint32_t i = shown->part_count; i-- > 0;) {
        struct handoff handoff = {0};
        bool fits = shown->parts[i].kind == PART_HANDOFF &&
                    shape_decode_in(&HANDOFF, shown->parts[i].body, &call->arena, &handoff) &&
                    (call->args.node.len == 0 || str_equal(handoff.node, call->args.node));
        if (fits)
            json_array_append_new(list, brief_json(&handoff));
    }
    return view_checked(call, json_pack("{s:o}", "handoffs", list));
}

const struct op OP_HANDOFF_LIST = {
    .name = "handoff.list",
    .summary = "List the handoffs of a goal or a task, newest first.",
    .help = "Example: overseer handoff list 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(LISTS),
    .positional = 1,
    OP_MEMBERS(LISTED),
    .request = show_request,
    .result = list_result,
};

static const struct field SHOW[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("handoff", FIELD_TEXT, node, LIMIT_TAG, 0,
          "the handoff, such as C_2; default: the newest"),
};

static const struct op_shown SHOWN[] = {{&HANDOFF, true}};

static json_t *show_result(struct op_call *call, const struct store_answer *answer) {
    const struct goal_shown *shown = &answer->shown;
    json_ran_short();
    if (!view_is_whole(call, answer))
        return NULL;
    for (uint32_t i = shown->part_count; i-- > 0;) {
        struct handoff handoff = {0};
        bool is_it = shown->parts[i].kind == PART_HANDOFF &&
                     (call->args.node.len == 0 || str_equal(shown->parts[i].name, call->args.node));
        if (!is_it || !shape_decode_in(&HANDOFF, shown->parts[i].body, &call->arena, &handoff))
            continue;
        json_t *json = json_object();
        json_put_fields(json, HANDOFF.fields, HANDOFF.count, &handoff);
        return view_checked(call, json);
    }
    op_refuse(call, ERROR_NOT_FOUND, "The goal has no such handoff.");
    return NULL;
}

const struct op OP_HANDOFF_SHOW = {
    .name = "handoff.show",
    .summary = "Show one handoff in full: state, decisions, next actions, evidence.",
    .help = "Example: overseer handoff show 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(SHOW),
    .positional = 2,
    OP_SHOWN(SHOWN),
    .request = show_request,
    .result = show_result,
};
