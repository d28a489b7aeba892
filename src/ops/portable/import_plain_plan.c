/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the plan of a plain document into a plan of ours. PLAN-01 to PLAN-06, PLANNER-05. */
#include "ops/portable/import_plain.h"

#include <stdlib.h>

struct tier_line {
    const char *id, *children;
};

static const struct tier_line TIER[TIERS] = {
    {"phaseId", "tasks"}, {"taskId", "subtasks"}, {"subtaskId", NULL}};

struct given { /* what the document says about a node, besides its text */
    struct node node;
    struct str why;
};

struct plain_rows {
    struct import *import;
    struct plan_row *rows;
    struct given *given;
    uint32_t count;
};

/* PLANNER-05: names that a planner uses. */
static const char *const ALIASES[][2] = {
    {"acceptance", "acceptanceCriteria"}, {"outcome", "expectedOutcome"}, {"deps", "dependsOn"}};

static bool is_known(const char *name, const struct shape *of) {
    static const char *const NAMES[] = {
        "id",       "phaseId",   "taskId", "subtaskId", "parentId", "path",          "tasks",
        "subtasks", "dependsOn", "blocks", "percent",   "overseer", "blockedReason", NULL};
    for (const char *const *at = NAMES; *at; at++)
        if (strcmp(*at, name) == 0)
            return true;
    for (size_t i = 0; i < count_of(ALIASES); i++)
        if (strcmp(ALIASES[i][0], name) == 0)
            return true;
    return shape_has(&NODE_TEXT, name) || shape_has(of, name);
}

static void aliases_resolve(json_t *item) {
    for (size_t i = 0; i < count_of(ALIASES); i++) {
        json_t *value = json_object_get(item, ALIASES[i][0]);
        if (value && !json_object_get(item, ALIASES[i][1]))
            json_object_set(item, ALIASES[i][1], value);
    }
}

/* A plain text, or { kind, text }. */
static bool blocked_take(struct reading *reading, const json_t *value, struct given *given) {
    static const struct field KIND = {.type = FIELD_ENUM, .names = &BLOCKED_NAMES};
    static const struct field WHY = {.type = FIELD_TEXT, .cap = LIMIT_REASON};
    const json_t *kind = json_object_get(value, "kind"), *text = json_object_get(value, "text");
    size_t before = reading_enter(reading, "blockedReason");
    if (json_is_string(value))
        text = value;
    if ((kind && !field_take(reading, &KIND, kind, &given->node.blocked)) ||
        (text && !field_take(reading, &WHY, text, &given->why)))
        return false;
    reading_leave(reading, before);
    return true;
}

static bool id_take(struct reading *reading, const json_t *item, enum tier tier, struct str *ret) {
    static const struct field ID = {.type = FIELD_TEXT, .cap = LIMIT_NODE_ID};
    const json_t *id = json_object_get(item, TIER[tier].id);
    if (!id)
        id = json_object_get(item, "id");
    size_t before = reading_enter(reading, TIER[tier].id);
    if (!id || !field_take(reading, &ID, id, ret))
        return reading_refuse(reading, "it is missing");
    reading_leave(reading, before);
    return true;
}

static bool row_read(struct plain_rows *in, json_t *item, enum tier tier, struct str parent) {
    static const struct field DEPENDS = {
        .type = FIELD_TEXTS, .cap = LIMIT_NODE_ID, .most = LIMIT_DEPENDS};
    struct reading *reading = &in->import->reading;
    if (!json_is_object(item) || in->count == LIMIT_NODES)
        return reading_refuse(reading, "it must be an object, and there may be at most %d",
                              LIMIT_NODES);
    struct plan_row *row = &in->rows[in->count];
    struct given *given = &in->given[in->count++];
    aliases_resolve(item);
    row->tier = tier;
    row->parent = parent;
    const json_t *depends = json_object_get(item, "dependsOn"),
                 *blocked = json_object_get(item, "blockedReason");
    if (!id_take(reading, item, tier, &row->id) ||
        !fields_take(reading, item, &NODE_TEXT, &row->text) ||
        !fields_take(reading, item, &NODE, &given->node) ||
        (blocked && !blocked_take(reading, blocked, given)))
        return false;
    plain_unknown(in->import, item, is_known, &NODE);
    size_t before = reading_enter(reading, "dependsOn");
    if (depends && !field_take(reading, &DEPENDS, depends, &row->depends_on))
        return false;
    reading_leave(reading, before);
    return true;
}

static bool rows_read(struct plain_rows *in, const json_t *list, enum tier tier,
                      struct str parent) {
    struct reading *reading = &in->import->reading;
    if (list && !json_is_array(list))
        return reading_refuse(reading, "it must be a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        size_t before = reading_entry(reading, i);
        if (!row_read(in, item, tier, parent))
            return false;
        struct str id = in->rows[in->count - 1].id;
        const char *below = TIER[tier].children;
        size_t inside = below ? reading_enter(reading, below) : strlen(reading->path);
        if (below && !rows_read(in, json_object_get(item, below), tier + 1, id))
            return false;
        reading_leave(reading, inside);
        reading_leave(reading, before);
    }
    return true;
}

/* ---- statuses ---- */

/* Done nodes come last: once all nodes are done, the goal does not move any more. */
static const int RANK[NODE_STATUSES] = {
    [NODE_TODO] = -1,   [NODE_QUEUED] = -1,   [NODE_IN_PROGRESS] = 0,
    [NODE_BLOCKED] = 0, [NODE_CANCELLED] = 1, [NODE_DONE] = 2};

static bool is_parent(const struct plain_rows *in, const struct plan_row *row) {
    for (uint32_t i = 0; i < in->count; i++)
        if (str_equal(in->rows[i].parent, row->id))
            return true;
    return false;
}

static bool node_reach(struct plain_rows *in, struct plain_goal *goal, uint32_t i) {
    const struct given *given = &in->given[i];
    struct arena *kept = &in->import->kept;
    bool blocked = given->node.status == NODE_BLOCKED && given->why.len > 0;
    struct signal move = {.kind = SIGNAL_WORK_MOVE,
                          .at = goal->at,
                          .work.node = arena_copy(kept, in->rows[i].id),
                          .to = given->node.status,
                          .work.override = 1,
                          .work.blocked = given->node.blocked,
                          .reason = blocked ? arena_copy(kept, given->why) : STR("imported")};
    return plain_work(in->import, goal, move);
}

static bool statuses_reach(struct plain_rows *in, struct plain_goal *goal) {
    for (int rank = 0; rank <= RANK[NODE_DONE]; rank++)
        for (uint32_t i = 0; i < in->count; i++)
            if (RANK[in->given[i].node.status] == rank && !is_parent(in, &in->rows[i]) &&
                !node_reach(in, goal, i))
                return false;
    return true;
}

/* A parent's status is rolled up from its children and may differ from the document. */
static void parents_compare(struct plain_rows *in, const struct plain_goal *goal) {
    for (uint32_t i = 0; i < in->count; i++) {
        const struct node *node = plan_find(&goal->plan, in->rows[i].id);
        enum node_status given = in->given[i].node.status;
        if (node && node->status != given && (RANK[given] >= 0 || RANK[node->status] >= 0))
            import_warn(in->import, "%s: node %s has the status %s; its plan implies %s",
                        in->import->reading.path, node->id, NODE_STATUS[given].name,
                        NODE_STATUS[node->status].name);
    }
}

static void times_keep(struct plain_rows *in, struct plain_goal *goal) {
    for (uint32_t i = 0; i < in->count; i++) {
        struct node *node = plan_find(&goal->plan, in->rows[i].id);
        const struct node *given = &in->given[i].node;
        if (!node)
            continue;
        if (given->times.created_at > 0)
            node->times.created_at = given->times.created_at;
        if (given->times.updated_at > 0)
            node->times.updated_at = given->times.updated_at;
        if (given->times.started_at > 0)
            node->times.started_at = given->times.started_at;
        if (given->times.ended_at > 0 && node_is_over(node))
            node->times.ended_at = given->times.ended_at;
    }
}

bool plain_plan(struct import *import, struct plain_goal *goal, const json_t *item) {
    struct reading *reading = &import->reading;
    const json_t *plan = json_object_get(item, "plan"),
                 *phases = json_object_get(plan ? plan : item, "phases");
    struct plain_rows in = {import, arena_new(&import->arena, struct plan_row, LIMIT_NODES),
                            arena_new(&import->arena, struct given, LIMIT_NODES), 0};
    if (!plan && !phases)
        return true;
    size_t before = reading_enter(reading, plan ? "plan.phases" : "phases");
    if (!rows_read(&in, phases, TIER_PHASE, (struct str){0}))
        return false;
    struct plan_text text = {.rows = {in.rows, in.count}};
    struct signal apply = {.kind = SIGNAL_PLAN_APPLY,
                           .at = goal->at,
                           .plan.why = REASON_INITIAL_CREATE,
                           .body = shape_encode(&PLAN_TEXT, &text, &import->kept)};
    if (in.count == 0)
        import_warn(import, "%s has no nodes: the goal has no plan here", reading->path);
    else if (!plain_work(import, goal, apply) || !statuses_reach(&in, goal))
        return false;
    reading_leave(reading, before);
    parents_compare(&in, goal);
    times_keep(&in, goal);
    return true;
}
