/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads plans in an export: phases with their tasks with their subtasks, as in the seed's format. */
#include "ops/portable/goal_item.h"

#include "ops/op.h"

#include <stdio.h>
#include <stdlib.h>

struct tier_line {
    const char *id;       /* name of its id member */
    const char *children; /* name of its list of children */
};

static const struct tier_line TIER[TIERS + 1] = {[TIER_PHASE] = {"phaseId", "tasks"},
                                                 [TIER_TASK] = {"taskId", "subtasks"},
                                                 [TIER_SUBTASK] = {"subtaskId", NULL}};

/* Fields of NODE that the item represents in another way. */
static const char *const OTHERWISE[] = {"id", "tier", "blockedBy", "retired", NULL};

static bool is_otherwise(const char *name) {
    for (const char *const *at = OTHERWISE; *at; at++)
        if (strcmp(*at, name) == 0)
            return true;
    return false;
}

/* ---- writing ---- */

struct plan_out {
    const struct goal *goal;
    const struct plan *plan;
    const struct goal_rows *rows;
    bool *shown; /* by index: the node is part of the tree */
};

static json_t *names_json(const struct plan_out *out, const struct node *node, bool waits) {
    json_t *names = json_array();
    for (uint32_t i = 0; i < out->plan->count; i++) {
        const struct node *other = &out->plan->nodes[i];
        if (waits ? node_waits_for(node, other->n) : node_waits_for(other, node->n))
            json_array_append_new(names, json_string(other->id));
    }
    return names;
}

static json_t *blocked_json(const struct plan_out *out, const struct node *node) {
    json_t *reason = json_object();
    struct str why;
    json_object_set_new(reason, "kind", json_string(name_of(&BLOCKED_NAMES, node->blocked)));
    if (text_shown(out->rows, &node->why, NULL, NULL, &why))
        json_object_set_new(reason, "text", json_stringn(why.at, why.len));
    return reason;
}

static void node_fields_put(json_t *item, const struct node *node) {
    json_t *all = json_object();
    const char *name;
    json_t *value;
    fields_put(all, &NODE, FIELDS_SHOWN, node);
    json_object_foreach(all, name, value) {
        if (!is_otherwise(name))
            json_object_set(item, name, value);
    }
    json_decref(all);
}

/* Adds the fields of a node that only the daemon reads, if they are not empty. */
static void hidden_put(json_t *ours, const struct node *node) {
    static const char *const NAMES[] = {"startHash", "completion", "confidence", "reportHash",
                                        "proof",     "landedHash", "verdictHash"};
    static const struct node EMPTY;
    for (size_t i = 0; i < count_of(NAMES); i++) {
        const struct field *field = json_field_named(NODE.fields, NODE.count, NAMES[i]);
        const char *at = (const char *)node + field->offset,
                   *none = (const char *)&EMPTY + field->offset;
        size_t size = field->type == FIELD_HASH ? sizeof(struct hash) : sizeof(uint32_t);
        if (memcmp(at, none, size) != 0)
            json_object_set_new(ours, field->name, json_of(field, at));
    }
}

static json_t *node_ours(const struct node *node) {
    json_t *ours =
        json_pack("{s:I, s:I}", "n", (json_int_t)node->n, "place", (json_int_t)node->place);
    struct field hash = {.type = FIELD_HASH};
    if (!hash_is_zero(&node->text))
        json_object_set_new(ours, "textHash", json_of(&hash, &node->text));
    if (!hash_is_zero(&node->why))
        json_object_set_new(ours, "whyHash", json_of(&hash, &node->why));
    hidden_put(ours, node);
    return ours;
}

static json_t *node_json(const struct plan_out *out, const struct node *node) {
    struct node_text *words = arena_new(out->rows->arena, struct node_text, 1);
    const struct node *parent = plan_parent(out->plan, node);
    struct str body;
    json_t *item = json_object();
    json_object_set_new(item, TIER[node->tier].id, json_string(node->id));
    if (parent)
        json_object_set_new(item, "parentId", json_string(parent->id));
    if (text_shown(out->rows, &node->text, &NODE_TEXT, words, &body))
        fields_put(item, &NODE_TEXT, FIELDS_SHOWN, words);
    json_object_set_new(item, "dependsOn", names_json(out, node, true));
    json_object_set_new(item, "blocks", names_json(out, node, false));
    node_fields_put(item, node);
    if (node->blocked || !hash_is_zero(&node->why))
        json_object_set_new(item, "blockedReason", blocked_json(out, node));
    json_object_set_new(item, "percent", json_integer(plan_percent(out->plan, node)));
    json_object_set_new(item, "overseer", node_ours(node));
    return item;
}

static bool is_child(const struct node *node, const struct node *of) {
    return !node->retired && node->parent == (of ? of->n + 1 : 0);
}

static json_t *children_json(const struct plan_out *out, const struct node *of);

static json_t *tree_json(const struct plan_out *out, const struct node *node) {
    json_t *item = node_json(out, node);
    out->shown[node - out->plan->nodes] = true;
    if (TIER[node->tier].children)
        json_object_set_new(item, TIER[node->tier].children, children_json(out, node));
    return item;
}

/* In their order; nodes with the same place by age. Only nodes of the next lower tier are children here. */
static json_t *children_json(const struct plan_out *out, const struct node *of) {
    json_t *list = json_array();
    enum tier tier = of ? of->tier + 1 : TIER_PHASE;
    for (;;) {
        const struct node *next = NULL;
        for (uint32_t i = 0; i < out->plan->count; i++) {
            const struct node *node = &out->plan->nodes[i];
            if (is_child(node, of) && node->tier == tier && !out->shown[i] &&
                (!next || node->place < next->place))
                next = node;
        }
        if (!next)
            return list;
        json_array_append_new(list, tree_json(out, next));
    }
}

static json_t *others_json(const struct plan_out *out) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < out->plan->count; i++)
        if (!out->shown[i]) {
            json_t *item = node_json(out, &out->plan->nodes[i]);
            json_object_set_new(item, "retired", json_boolean(out->plan->nodes[i].retired));
            json_array_append_new(list, item);
        }
    return list;
}

json_t *plan_item_write(const struct goal *goal, const struct plan *plan,
                        const struct goal_rows *rows) {
    struct plan_out out = {goal, plan, rows, arena_new(rows->arena, bool, plan->count)};
    struct id id = goal_plan_id(goal);
    struct field field = {.type = FIELD_ID};
    json_t *item = json_object();
    json_object_set_new(item, "planId", json_of(&field, &id));
    json_object_set_new(item, "version", json_integer((json_int_t)goal->plan.version));
    json_object_set_new(item, "phases", children_json(&out, NULL));
    json_object_set_new(item, "retired", others_json(&out));
    return item;
}

/* ---- reading ---- */

struct node_in { /* one node, until the names of all nodes are known */
    struct node node;
    struct plan_words words;
    struct str parent;
    const json_t *depends, *blocks;
    char path[256];
};

struct plan_in {
    struct reading *reading;
    struct node_in *nodes;
    uint32_t count;
};

static bool node_id_take(struct reading *reading, const json_t *item, struct node *node,
                         const char *parent_of) {
    static const struct field ID = {.type = FIELD_NAME, .cap = LIMIT_NODE_ID};
    for (enum tier tier = 0; tier < TIERS; tier++) {
        const json_t *id = json_object_get(item, TIER[tier].id);
        if (!id || (parent_of && strcmp(parent_of, TIER[tier].id) != 0))
            continue;
        node->tier = tier;
        size_t before = reading_enter(reading, TIER[tier].id);
        if (!field_take(reading, &ID, id, node->id))
            return false;
        reading_leave(reading, before);
    }
    return node->id[0] ||
           reading_refuse(reading, "it has no \"%s\"", parent_of ? parent_of : "phaseId");
}

static bool node_words_take(struct reading *reading, const json_t *item, struct node_in *in) {
    struct node_text *words = arena_new(reading->arena, struct node_text, 1);
    const json_t *reason = json_object_get(item, "blockedReason");
    const json_t *why = json_object_get(reason, "text"), *kind = json_object_get(reason, "kind");
    struct field kinds = {.type = FIELD_ENUM, .names = &BLOCKED_NAMES};
    struct field text = {.type = FIELD_TEXT, .cap = LIMIT_PROSE};
    if (json_object_get(item, NODE_TEXT.fields[0].name)) {
        if (!fields_take(reading, item, &NODE_TEXT, words))
            return false;
        in->words.text = shape_encode(&NODE_TEXT, words, reading->arena);
        in->words.has_text = true;
        node_contract_take(&in->node, words);
    }
    size_t before = reading_enter(reading, "blockedReason");
    if ((kind && !field_take(reading, &kinds, kind, &in->node.blocked)) ||
        (why && !field_take(reading, &text, why, &in->words.why)))
        return false;
    in->words.has_why = why;
    reading_leave(reading, before);
    return true;
}

static bool node_ours_take(struct reading *reading, const json_t *item, struct node *node) {
    static const struct field NUMBER = {.type = FIELD_U32};
    const json_t *ours = json_object_get(item, "overseer"), *n = json_object_get(ours, "n"),
                 *retired = json_object_get(item, "retired");
    node->retired = json_is_true(retired);
    size_t before = reading_enter(reading, "overseer");
    if (!n || !field_take(reading, &NUMBER, n, &node->n) ||
        !fields_take(reading, ours, &NODE, node))
        return reading_refuse(reading, "it has no \"n\"");
    reading_leave(reading, before);
    return true;
}

static bool node_take(struct plan_in *in, const json_t *item, const char *id_name,
                      const struct node_in *parent) {
    struct reading *reading = in->reading;
    static const struct field PARENT = {.type = FIELD_TEXT, .cap = LIMIT_NODE_ID};
    const json_t *above = json_object_get(item, "parentId");
    if (!json_is_object(item))
        return reading_refuse(reading, "it must be an object");
    if (in->count == LIMIT_NODES)
        return reading_refuse(reading, "a plan has at most %d nodes", LIMIT_NODES);
    struct node_in *node = &in->nodes[in->count++];
    node->depends = json_object_get(item, "dependsOn");
    node->blocks = json_object_get(item, "blocks");
    snprintf(node->path, sizeof node->path, "%s", reading->path);
    if (above && !field_take(reading, &PARENT, above, &node->parent))
        return false;
    if (!node_id_take(reading, item, &node->node, id_name) ||
        !fields_take(reading, item, &NODE, &node->node) || !node_words_take(reading, item, node) ||
        !node_ours_take(reading, item, &node->node))
        return false;
    return !parent || str_equal(node->parent, node_id(&parent->node)) ||
           reading_refuse(reading, "its parentId is not its parent");
}

static bool nodes_take(struct plan_in *in, const json_t *list, const char *id_name, int tier,
                       const struct node_in *parent) {
    if (list && !json_is_array(list))
        return reading_refuse(in->reading, "it must be a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const struct node_in *node = &in->nodes[in->count];
        size_t before = reading_entry(in->reading, i);
        if (!node_take(in, item, id_name, parent))
            return false;
        const char *below = tier >= 0 ? TIER[tier].children : NULL;
        size_t inside = below ? reading_enter(in->reading, below) : strlen(in->reading->path);
        if (below &&
            !nodes_take(in, json_object_get(item, below), TIER[tier + 1].id, tier + 1, node))
            return false;
        reading_leave(in->reading, inside);
        reading_leave(in->reading, before);
    }
    return true;
}

static struct node_in *node_named(struct plan_in *in, struct str id) {
    for (uint32_t i = 0; i < in->count; i++)
        if (str_equal(node_id(&in->nodes[i].node), id))
            return &in->nodes[i];
    return NULL;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool depends_link(struct plan_in *in, struct node_in *node) {
    struct node *of = &node->node;
    size_t count = json_array_size(node->depends);
    if (count > LIMIT_DEPENDS || (node->depends && !json_is_array(node->depends)))
        return reading_refuse(in->reading, "its dependencies are too many or not a list");
    of->depend_count = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *name = json_array_get(node->depends, i);
        struct str id = {json_string_value(name), json_string_length(name)};
        const struct node_in *on = json_is_string(name) ? node_named(in, id) : NULL;
        if (!on)
            return reading_refuse(in->reading, "it depends on \"%.*s\", which does not exist",
                                  (int)(id.len > 40 ? 40 : id.len), id.at ? id.at : "");
        of->depends[of->depend_count++] = on->node.n;
    }
    qsort(of->depends, of->depend_count, sizeof *of->depends, by_number);
    return true;
}

/* `blocks` is the inverse of `dependsOn`: it is not needed, and must not contradict it. */
static bool blocks_check(struct plan_in *in, const struct node_in *node) {
    size_t others = 0, count = json_array_size(node->blocks);
    for (uint32_t i = 0; i < in->count; i++)
        others += node_waits_for(&in->nodes[i].node, node->node.n);
    for (size_t i = 0; i < count; i++) {
        const json_t *name = json_array_get(node->blocks, i);
        struct str id = {json_string_value(name), json_string_length(name)};
        const struct node_in *other = json_is_string(name) ? node_named(in, id) : NULL;
        if (!other || !node_waits_for(&other->node, node->node.n))
            return reading_refuse(in->reading, "it blocks a node that does not depend on it");
    }
    return !node->blocks || count == others ||
           reading_refuse(in->reading, "a node depends on it that it does not block");
}

static bool node_link(struct plan_in *in, struct node_in *node) {
    struct reading *reading = in->reading;
    snprintf(reading->path, sizeof reading->path, "%s", node->path);
    const struct node_in *parent = node->parent.len > 0 ? node_named(in, node->parent) : NULL;
    if (node->parent.len > 0 && !parent)
        return reading_refuse(reading, "its parentId names nothing");
    if (node_named(in, node_id(&node->node)) != node)
        return reading_refuse(reading, "another node has the same id");
    node->node.parent = parent ? parent->node.n + 1 : 0;
    return depends_link(in, node);
}

static int by_n(const void *a, const void *b) {
    return by_number(&((const struct node_in *)a)->node.n, &((const struct node_in *)b)->node.n);
}

static size_t nodes_count(const json_t *list) {
    size_t count = json_array_size(list), below = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *node = json_array_get(list, i);
        below += nodes_count(json_object_get(node, TIER[TIER_PHASE].children)) +
                 nodes_count(json_object_get(node, TIER[TIER_TASK].children));
    }
    return count + below;
}

bool plan_item_read(struct reading *reading, const json_t *item, struct plan *ret_plan,
                    struct plan_words **ret_words) {
    size_t count = nodes_count(json_object_get(item, "phases")) +
                   nodes_count(json_object_get(item, "retired"));
    size_t room = count < LIMIT_NODES ? count : LIMIT_NODES;
    struct plan_in in = {reading, arena_new(reading->arena, struct node_in, room + 1), 0};
    char path[sizeof reading->path];
    snprintf(path, sizeof path, "%s", reading->path);
    size_t before = reading_enter(reading, "phases");
    bool good =
        nodes_take(&in, json_object_get(item, "phases"), TIER[TIER_PHASE].id, TIER_PHASE, NULL);
    if (good)
        reading_leave(reading, before);
    before = good ? reading_enter(reading, "retired") : 0;
    good = good && nodes_take(&in, json_object_get(item, "retired"), NULL, -1, NULL);
    for (uint32_t i = 0; i < in.count && good; i++)
        good = node_link(&in, &in.nodes[i]);
    for (uint32_t i = 0; i < in.count && good; i++)
        good = blocks_check(&in, &in.nodes[i]);
    if (!good)
        return false;
    snprintf(reading->path, sizeof reading->path, "%s", path);
    qsort(in.nodes, in.count, sizeof *in.nodes, by_n);
    ret_plan->nodes = arena_new(reading->arena, struct node, in.count);
    *ret_words = arena_new(reading->arena, struct plan_words, in.count);
    for (uint32_t i = 0; i < in.count; i++) {
        if (i > 0 && in.nodes[i].node.n == in.nodes[i - 1].node.n)
            return reading_refuse(reading, "two nodes have the same number");
        ret_plan->nodes[i] = in.nodes[i].node;
        (*ret_words)[i] = in.nodes[i].words;
    }
    ret_plan->count = in.count;
    return true;
}
