/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that analyze a plan and recommend what to do next. PLAN-29. */
#include "core/plan/graph.h"
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED)};

static json_t *ids_json(const struct node *const *nodes, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(nodes[i]->id));
    return list;
}

static json_t *leaves_json(const uint32_t *leaves) {
    json_t *json = json_object();
    for (uint32_t status = 0; status < NODE_STATUSES; status++)
        json_object_set_new(json, NODE_STATUS[status].name, json_integer(leaves[status]));
    return json;
}

static json_t *insights(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    if (!view_is_whole(call, answer))
        return NULL;
    struct graph_insights found = graph_insights(&answer->loaded[0].plan, &call->arena);
    json_t *bottlenecks = json_array();
    for (uint32_t i = 0; i < found.bottleneck_count; i++)
        json_array_append_new(bottlenecks,
                              json_pack("{s:s, s:i}", "node", found.bottlenecks[i].node->id,
                                        "waiting", (int)found.bottlenecks[i].waiting));
    json_t *json = json_pack(
        "{s:o, s:I, s:I, s:o, s:o, s:o}", "criticalPath", ids_json(found.path, found.path_count),
        "criticalMinutes", (json_int_t)found.path_minutes, "workMinutes",
        (json_int_t)found.work_minutes, "bottlenecks", bottlenecks, "parallel",
        ids_json(found.parallel, found.parallel_count), "leaves", leaves_json(found.leaves));
    return view_checked(call, json);
}

static json_t *recommend(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    if (!view_is_whole(call, answer))
        return NULL;
    const struct goal_loaded *loaded = &answer->loaded[0];
    struct graph_picks picks =
        graph_recommend(&loaded->plan, &loaded->goal, call->at, &call->arena);
    json_t *list = json_array();
    for (uint32_t i = 0; i < picks.count; i++) {
        const struct graph_pick *pick = &picks.at[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:i, s:i, s:i, s:I}", "node",
                                              pick->node->id, "score", (json_int_t)pick->score,
                                              "critical", (int)pick->critical, "unblocks",
                                              (int)pick->unblocks, "priority", (int)pick->priority,
                                              "waited", (json_int_t)pick->waited));
    }
    return view_checked(call, json_pack("{s:o}", "next", list));
}

static const struct op_member INSIGHTS[] = {
    {"criticalPath", MEMBER_LIST, true, "nodes, first to last"},
    {"criticalMinutes", MEMBER_NUMBER, true, "their total duration in minutes"},
    {"workMinutes", MEMBER_NUMBER, true, "total of all open nodes, in minutes"},
    {"bottlenecks", MEMBER_LIST, true, "a node, and how many wait for it"},
    {"parallel", MEMBER_LIST, true, "nodes that can be worked on now"},
    {"leaves", MEMBER_OBJECT, true, "number of nodes in each status"},
};
static const struct op_member RECOMMEND[] = {
    {"next", MEMBER_LIST, true, "a node, its score, and the reasons; best first"},
};

const struct op OP_PLAN_INSIGHTS = {
    .name = "plan.insights",
    .summary =
        "Show a plan's critical path, its bottlenecks, and what can be done at the same time.",
    .help = "Example: overseer plan insights 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(INSIGHTS),
    .request = show_request,
    .result = insights,
};

const struct op OP_PLAN_RECOMMEND = {
    .name = "plan.recommend",
    .summary = "Rank the nodes that are ready, with the reasons for each.",
    .help = "Example: overseer plan recommend 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(RECOMMEND),
    .request = show_request,
    .result = recommend,
};
