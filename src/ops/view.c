/* SPDX-License-Identifier: Apache-2.0 */
/* Shows goals, plans and records as JSON. PLAN-13: one view for every interface. */
#include "ops/view.h"

#include "ops/assignment.h"
#include "ops/json.h"

json_t *goal_view_json(const struct goal_view *view) {
    char id[GOAL_ID_TEXT + 1];
    goal_id_format(view->id, id);
    json_t *json = json_pack("{s:s, s:s}", "goalId", id, "state",
                             name_of(&DISPLAY_STATE_NAMES, view->display_state));
    char at[TIME_TEXT + 1];
    goal_name_put(json, (uint64_t)view->number);
    time_format(view->created_at, at);
    json_object_set_new(json, "title",
                        json_stringn(view->title.at ? view->title.at : "", view->title.len));
    json_object_set_new(json, "status", json_string(GOAL_STATUS[view->status].name));
    json_object_set_new(json, "priority", json_string(name_of(&PRIORITY_NAMES, view->priority)));
    json_object_set_new(json, "percent", json_integer(view->percent));
    json_object_set_new(json, "createdAt", json_string(at));
    time_format(view->updated_at, at);
    json_object_set_new(json, "updatedAt", json_string(at));
    return json;
}

/* ---- records ---- */

/* PLAN-19: a plan event names the epic, the plan, its version, the author and the reason. */
static void plan_meta(json_t *json, const struct goal *goal, const struct evidence *evidence) {
    char text[GOAL_ID_TEXT + 1];
    goal_id_format(goal->id, text);
    json_object_set_new(json, "epic_id", json_string(text));
    id_format(goal_plan_id(goal), text);
    json_object_set_new(json, "plan_id", json_string(text));
    json_object_set_new(json, "version", json_integer((json_int_t)evidence->plan.version));
    json_object_set_new(json, "source", json_string(name_of(&WHO_NAMES, evidence->by)));
    json_object_set_new(json, "reasonCode",
                        json_string(name_of(&REASON_NAMES, evidence->plan.why)));
}

static bool field_is_zero(const struct field *field, const void *from) {
    static const struct hash ZERO;
    const void *at = (const char *)from + field->offset;
    switch (field->type) {
    case FIELD_TEXT: return ((const struct str *)at)->len == 0;
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_UINT: return *(const uint64_t *)at == 0;
    case FIELD_HASH: return memcmp(at, &ZERO, sizeof ZERO) == 0;
    case FIELD_ID: return memcmp(at, &ZERO, sizeof(struct id)) == 0;
    default: return *(const uint32_t *)at == 0;
    }
}

json_t *record_json(const struct goal *goal, const struct record *record) {
    char at[TIME_TEXT + 1];
    time_format(record->at, at);
    const char *type = record->type < RECORD_TYPES ? RECORDS[record->type].name : "unknown";
    json_t *json =
        json_pack("{s:I, s:s, s:s}", "seq", (json_int_t)record->seq, "at", at, "type", type);
    struct evidence evidence = {0};
    if (!json || !shape_decode(&EVIDENCE, record->body, &evidence))
        return json;
    for (size_t i = 0; i < EVIDENCE.count; i++)
        if (!field_is_zero(&EVIDENCE.fields[i], &evidence))
            json_put_fields(json, &EVIDENCE.fields[i], 1, &evidence);
    json_object_set_new(json, "by", json_string(name_of(&WHO_NAMES, evidence.by)));
    json_object_set(json, "signalId", json_object_get(json, "source"));
    json_object_del(json, "source");
    if (record->type == RECORD_EFFECT_ENDED)
        json_object_set_new(json, "exit", json_integer(evidence.exit));
    if (record->type >= RECORD_PLAN_CREATED && record->type <= RECORD_PLAN_REJECTED)
        plan_meta(json, goal, &evidence);
    return json;
}

/* ---- plans ---- */

static json_t *ids_json(const struct plan *plan, const struct node *node, bool blocks) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *other = &plan->nodes[i];
        if (blocks ? node_waits_for(other, node->n) && !other->retired
                   : node_waits_for(node, other->n))
            json_array_append_new(list, json_string(other->id));
    }
    return list;
}

static json_t *blocked_json(const struct goal_shown *shown, const struct node *node) {
    struct str why = shown_text(shown, &node->why);
    if (node->blocked == BLOCKED_BY_NOTHING)
        return json_null();
    return json_pack("{s:s, s:s%}", "kind", name_of(&BLOCKED_NAMES, node->blocked), "text",
                     why.at ? why.at : "", why.len);
}

static json_t *proof_json(enum proof proof) {
    return proof ? json_string(name_of(&PROOF_NAMES, proof)) : json_null();
}

/* Where it landed; null: it did not. */
static json_t *landed_json(const struct goal_shown *shown, const struct node *node) {
    struct str where = hash_is_zero(&node->result.landed) ? (struct str){0}
                                                          : shown_text(shown, &node->result.landed);
    return where.len > 0 ? json_stringn(where.at, where.len) : json_null();
}

/* What its agent has answered; null: nothing, or a change is wanted. */
json_t *answer_json(const struct goal_shown *shown, const struct node *node) {
    struct str answer = hash_is_zero(&node->result.answer)
                            ? (struct str){0}
                            : shown_text(shown, &node->result.answer);
    return answer.len > 0 ? json_stringn(answer.at, answer.len) : json_null();
}

/* PROGRESS-06, REPORT-07: what its agent reports, which proves nothing. */
static void report_put(json_t *json, const struct assignments *assignments,
                       const struct node *node) {
    const struct assignment *assignment = assignments_of_node(assignments, node->n);
    uint32_t completion = assignment ? assignment->progress.completion : node->result.completion,
             confidence = assignment ? assignment->progress.confidence : node->result.confidence;
    json_object_set_new(json, "latestProgress", progress_json(assignment));
    json_object_set_new(json, "completion",
                        completion ? json_string(name_of(&COMPLETION_NAMES, completion - 1))
                                   : json_null());
    json_object_set_new(json, "confidence",
                        confidence ? json_string(name_of(&CONFIDENCE_NAMES, confidence - 1))
                                   : json_null());
}

static json_t *node_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                         const struct node *node, struct arena *scratch) {
    static const char *const ID_NAME[TIERS] = {"phaseId", "taskId", "subtaskId"};
    const struct plan *plan = &loaded->plan;
    const struct node *parent = plan_parent(plan, node);
    struct node_text text = {0};
    json_t *json = json_object();
    shape_decode_in(&NODE_TEXT, shown_text(shown, &node->text), scratch, &text);
    json_object_set_new(json, ID_NAME[node->tier], json_string(node->id));
    json_put_fields(json, NODE.fields, NODE.count, node);
    json_object_set_new(json, "parentId", parent ? json_string(parent->id) : json_null());
    json_put_fields(json, NODE_TEXT.fields, NODE_TEXT.count, &text);
    json_object_set_new(json, "dependsOn", ids_json(plan, node, false));
    json_object_set_new(json, "blocks", ids_json(plan, node, true));
    json_object_set_new(json, "blockedReason", blocked_json(shown, node));
    json_object_set_new(json, "percent", json_integer(plan_percent(plan, node)));
    report_put(json, &loaded->live.assignments, node);
    json_object_set_new(
        json, "proof", proof_json(plan_has_children(plan, node) ? PROOF_NONE : node->result.proof));
    json_object_set_new(json, "landed", landed_json(shown, node));
    json_object_set_new(json, "answer", answer_json(shown, node));
    json_object_set_new(
        json, "verification",
        plan_has_children(plan, node)
            ? json_null()
            : verification_json(shown, node,
                                assignments_of_node(&loaded->live.assignments, node->n), scratch));
    return json;
}

/* In the order of the plan, children below their parents. */
static json_t *children_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                             const struct node *parent, struct arena *scratch) {
    static const char *const BELOW[TIERS] = {"tasks", "subtasks", ""};
    const struct plan *plan = &loaded->plan;
    json_t *list = json_array();
    uint32_t want = parent ? parent->n + 1 : 0;
    int64_t last = -1;
    for (;;) {
        const struct node *next = NULL;
        for (uint32_t i = 0; i < plan->count; i++) {
            const struct node *node = &plan->nodes[i];
            bool candidate = !node->retired && node->parent == want && (int64_t)node->place > last;
            if (candidate && (!next || node->place < next->place))
                next = node;
        }
        if (!next)
            return list;
        last = next->place;
        json_t *json = node_json(loaded, shown, next, scratch);
        if (next->tier != TIER_SUBTASK)
            json_object_set_new(json, BELOW[next->tier],
                                children_json(loaded, shown, next, scratch));
        json_array_append_new(list, json);
    }
}

json_t *plan_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                  struct arena *scratch) {
    char text[GOAL_ID_TEXT + 1];
    const struct goal *goal = &loaded->goal;
    static const struct hash NONE;
    id_format(goal_plan_id(goal), text);
    json_t *json = json_pack("{s:s, s:I, s:i, s:b, s:b}", "planId", text, "version",
                             (json_int_t)goal->plan.version, "percent", (int)goal->progress.percent,
                             "reviewNeeded", (int)goal->plan.review, "proposalWaits",
                             memcmp(&goal->plan.proposal, &NONE, sizeof NONE) != 0);
    json_object_set_new(json, "phases", children_json(loaded, shown, NULL, scratch));
    return json;
}

/* ---- what the status done is based on ---- */

static bool is_completed_by_hand(const struct goal_shown *shown) {
    struct evidence evidence;
    for (uint32_t i = 0; i < shown->record_count; i++)
        if (shown->records[i].type == RECORD_GOAL_COMPLETED)
            return shape_decode(&EVIDENCE, shown->records[i].body, &evidence) &&
                   str_equal(evidence.rule, STR("goal.move"));
    return false;
}

static enum proof goal_proof(const struct goal_loaded *loaded, const struct goal_shown *shown) {
    if (loaded->goal.status != GOAL_COMPLETED)
        return PROOF_NONE;
    if (is_completed_by_hand(shown))
        return PROOF_PERSON;
    return loaded->goal.plan.version > 0 ? plan_proof(&loaded->plan) : PROOF_CLAIMED;
}

/* Where the work landed: one place, or the number of places. Empty: nowhere. */
static struct str plan_landed(const struct plan *plan, const struct goal_shown *shown,
                              struct arena *scratch) {
    struct str where = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct hash *landed = &plan->nodes[i].result.landed;
        if (plan->nodes[i].retired || hash_is_zero(landed))
            continue;
        where = shown_text(shown, landed);
        count++;
    }
    return count > 1 ? arena_format(scratch, "%u landed", count) : where;
}

void proof_put(json_t *json, const struct goal_loaded *loaded, const struct goal_shown *shown,
               struct arena *scratch) {
    struct str landed = plan_landed(&loaded->plan, shown, scratch);
    json_object_set_new(json, "proof", proof_json(goal_proof(loaded, shown)));
    json_object_set_new(json, "landed", json_stringn(landed.at ? landed.at : "", landed.len));
}

/* ---- goals ---- */

static json_t *effect_json(const struct effect_slot *slot) {
    return json_pack("{s:i, s:s, s:s, s:i}", "effect", (int)slot->n + 1, "kind",
                     EFFECTS[slot->kind % EFFECT_KINDS].name, "state",
                     EFFECT_STATE[slot->state].name, "host", (int)slot->run_host);
}

static void parts_json(json_t *json, const struct goal_shown *shown, struct arena *scratch) {
    for (uint32_t i = 0; i < shown->part_count; i++) {
        const struct part_row *row = &PART[shown->parts[i].kind];
        json_t *list = json_object_get(json, row->collection);
        if (!list) {
            list = json_array();
            json_object_set_new(json, row->collection, list);
        }
        void *part = arena_take(scratch, row->shape->size, alignof(max_align_t));
        json_t *one = json_object();
        if (shape_decode_in(row->shape, shown->parts[i].body, scratch, part))
            json_put_fields(one, row->shape->fields, row->shape->count, part);
        json_array_append_new(list, one);
    }
}

static void words_json(json_t *json, const struct goal *goal, const struct goal_shown *shown,
                       struct arena *scratch) {
    struct goal_text words = {0};
    struct tags tags = {shown->tags};
    struct str body = shown_text(shown, &goal->text);
    if (body.len > 0 && shape_decode_in(&GOAL_TEXT, body, scratch, &words))
        json_put_fields(json, GOAL_TEXT.fields, GOAL_TEXT.count, &words);
    json_put_fields(json, TAGS.fields, TAGS.count, &tags);
}

json_t *goal_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                  struct arena *scratch) {
    const struct goal *goal = &loaded->goal;
    char id[GOAL_ID_TEXT + 1];
    goal_id_format(goal->id, id);
    json_t *json = json_pack("{s:s, s:s%, s:s, s:I, s:I, s:i, s:I}", "goalId", id, "title",
                             shown->title.at ? shown->title.at : "", shown->title.len, "state",
                             name_of(&DISPLAY_STATE_NAMES, goal_display_state(goal)), "version",
                             (json_int_t)goal->version, "seq", (json_int_t)goal->records.seq,
                             "host", (int)goal->owner, "fence", (json_int_t)goal->fence);
    if (!json)
        return NULL;
    goal_name_put(json, goal->kind.number);
    json_put_fields(json, GOAL_HOT.fields, GOAL_HOT.count, goal);
    words_json(json, goal, shown, scratch);
    json_t *effects = json_array(), *records = json_array();
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        json_array_append_new(effects, effect_json(&goal->effects.open[i]));
    for (uint32_t i = 0; i < shown->record_count; i++)
        json_array_append_new(records, record_json(goal, &shown->records[i]));
    json_object_set_new(json, "effects", effects);
    if (!loaded->whole)
        json_object_set_new(json, "damaged", json_true());
    else if (goal->plan.version > 0)
        json_object_set_new(json, "plan", plan_json(loaded, shown, scratch));
    proof_put(json, loaded, shown, scratch);
    parts_json(json, shown, scratch);
    json_object_set_new(json, "records", records);
    if (goal->quarantined && shown->why_aside.len > 0)
        json_object_set_new(json, "quarantined",
                            json_stringn(shown->why_aside.at, shown->why_aside.len));
    return json;
}

bool view_name_found(struct op_call *call, const struct store_answer *answer) {
    for (uint32_t i = 0; i < answer->found_count; i++) {
        char id[GOAL_ID_TEXT + 1];
        size_t used = strlen(call->why);
        goal_id_format(answer->found[i], id);
        snprintf(call->why + used, sizeof call->why - used, " %s", id);
    }
    return false;
}
