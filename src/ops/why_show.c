/* SPDX-License-Identifier: Apache-2.0 */
/* Why is it as it is? From the records alone: EVENT-05, CLI-15, OBSERVE-04.
 *
 *     of ──▶ an id ─────────────────────────▶ show ──▶ [ the record that decided, if it is older ] ──▶ the answer
 *        ├─▶ the beginning of one ──▶ named ──┘ ▲
 *        └─▶ a node ──▶ find ───────────────────┘
 */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/told.h"

#include <stdio.h>

enum { WHY_DEFAULT = 20, WHY_RECORDS = LIMIT_LIST_PAGE };

static const struct field PARAMS[] = {
    PARAM("of", FIELD_TEXT, node, 64, FIELD_REQUIRED,
          "a goal's id, the beginning of one, or a node such as S1.1.1"),
    PARAM_GOAL(0),
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many lines, at most 200; 20 if not said"),
};

static const struct op_member MEMBERS[] = {
    {"goalId", MEMBER_TEXT, true, "the goal"},
    {"title", MEMBER_TEXT, true, "what is wanted, in a line"},
    {"node", MEMBER_TEXT, false, "the node that it is about"},
    {"state", MEMBER_TEXT, true, "the one word that people see"},
    {"status", MEMBER_TEXT, true, "where it stands"},
    {"since", MEMBER_TIME, true, "since when"},
    {"rule", MEMBER_TEXT, false, "the rule that decided it"},
    {"record", MEMBER_NUMBER, false, "the number of the record that says so"},
    {"sentence", MEMBER_TEXT, true, "all of that in a sentence"},
    {"lines", MEMBER_LIST, true,
     "oldest first: at, what, kind (measured, acted, decided or said), type, rule, record, actor, by"},
    {"kept", MEMBER_TEXT, true, "what is kept of it"},
    {"nextTimer", MEMBER_TIME, true, "when it is looked at even if nothing happens; null: never"},
    {"waitsFor", MEMBER_TEXT, true, "what it waits for"},
    {"policy", MEMBER_TEXT, false, "hash of the settings under which that was decided"},
    {"core", MEMBER_NUMBER, false, "version of the rules under which that was decided"},
    {"do", MEMBER_LIST, true, "what can be typed next"},
};

struct telling {
    struct id goal;
    struct str node;
    bool shown;          /* the goal has been read; what is asked now is the record that decided */
    bool decided_is_old; /* it is not among the newest */
    enum record_type first, last; /* of which type is it? */
};

/* ---- what is asked ---- */

static bool show_ask(struct telling *it, enum record_type first, enum record_type last,
                     struct store_request *ret_request) {
    *ret_request = (struct store_request){.verb = STORE_SHOW,
                                          .ids = &it->goal,
                                          .id_count = 1,
                                          .limit = WHY_RECORDS,
                                          .first_type = first,
                                          .last_type = last};
    return true;
}

static bool find_ask(struct op_call *call, struct store_request *ret_request) {
    struct telling *it = call->own;
    it->node = call->args.node;
    *ret_request = (struct store_request){
        .verb = STORE_FIND, .part = PART_NODE, .name = it->node, .limit = LIMIT_FOUND};
    return true;
}

static bool request(struct op_call *call, struct store_request *ret_request) {
    struct telling *it = arena_new(&call->arena, struct telling, 1);
    struct str of = call->args.node;
    call->own = it;
    if (call->args.goal.len > 0) {
        it->goal = call->args.goal_id;
        it->node = of;
        return show_ask(it, 0, 0, ret_request);
    }
    if (goal_id_parse(of, &it->goal))
        return show_ask(it, 0, 0, ret_request);
    if (!goal_id_range(of, &ret_request->first_id, &ret_request->last_id))
        return find_ask(call, ret_request);
    ret_request->verb = STORE_NAMED;
    ret_request->limit = LIMIT_NAMED;
    return true;
}

static bool refuse_several(struct op_call *call, const struct store_answer *answer) {
    op_refuse(call, ERROR_AMBIGUOUS, "%.*s may be:", STR_ARG(call->args.node));
    for (uint32_t i = 0; i < answer->found_count; i++) {
        char id[GOAL_ID_TEXT + 1];
        size_t used = strlen(call->why);
        goal_id_format(answer->found[i], id);
        snprintf(call->why + used, sizeof call->why - used, " %s", id);
    }
    return false;
}

/* A few letters may be the beginning of an id, and the name of a node as well. */
static bool found_next(struct op_call *call, const struct store_answer *answer,
                       struct store_request *ret_request) {
    struct telling *it = call->own;
    if (answer->found_count == 1) {
        it->goal = answer->found[0];
        return show_ask(it, 0, 0, ret_request);
    }
    if (answer->found_count > 1)
        return refuse_several(call, answer);
    if (it->node.len == 0)
        return find_ask(call, ret_request);
    return op_refuse(call, ERROR_NOT_FOUND, "No goal and no node is called %.*s.",
                     STR_ARG(call->args.node));
}

/* ---- which record decided? ---- */

struct type_range {
    enum record_type first, last;
};

static struct type_range face_types(const struct goal *goal) {
    switch (goal_face(goal)) {
    case FACE_DONE: return (struct type_range){RECORD_GOAL_COMPLETED, RECORD_GOAL_COMPLETED};
    case FACE_PAUSED: return (struct type_range){RECORD_GOAL_PAUSED, RECORD_GOAL_PAUSED};
    case FACE_CANCELLED: return (struct type_range){RECORD_GOAL_CANCELLED, RECORD_GOAL_CANCELLED};
    case FACE_ARCHIVED: return (struct type_range){RECORD_GOAL_ARCHIVED, RECORD_GOAL_ARCHIVED};
    case FACE_NEEDS_YOU: {
        enum record_type type = asks_record(goal_asks(goal));
        return (struct type_range){type, type};
    }
    case FACE_WORKING:
        if (goal_has_effect(goal, EFFECT_RUNNING))
            return (struct type_range){RECORD_EFFECT_CLAIMED, RECORD_EFFECT_CLAIMED};
        return (struct type_range){RECORD_WORK_STARTED, RECORD_WORK_STARTED};
    default: return (struct type_range){RECORD_GOAL_RESUMED, RECORD_GOAL_RELEASED};
    }
}

/* Of a node: whatever moved it to where it is, or holds it there. */
static bool decides(const struct telling *it, const struct node *node,
                    const struct record *record) {
    struct evidence evidence;
    if (record->type < it->first || record->type > it->last)
        return false;
    if (it->node.len == 0)
        return true;
    record_evidence(record, &evidence);
    return str_equal(evidence.node, it->node) &&
           (record->type == RECORD_WORK_TODO + node->status || record->type == RECORD_WORK_FOLLOWS);
}

static const struct record *decided(const struct telling *it, const struct store_answer *answer) {
    const struct node *node =
        it->node.len > 0 ? plan_find(&answer->loaded[0].plan, it->node) : NULL;
    for (uint32_t i = 0; i < answer->shown.record_count; i++)
        if (decides(it, node, &answer->shown.records[i]))
            return &answer->shown.records[i];
    return NULL;
}

/* A goal that nobody has touched is as it was made. */
static const struct record *decided_or_made(const struct telling *it,
                                            const struct store_answer *answer) {
    const struct record *record = decided(it, answer);
    struct evidence evidence;
    if (record || it->node.len > 0 || goal_face(&answer->loaded[0].goal) != FACE_QUEUED)
        return record;
    return record_newest(&answer->shown, RECORD_GOAL_CREATED, (struct str){0}, &evidence);
}

/* ---- the answer ---- */

static void lines_put(struct op_call *call, const struct store_answer *answer) {
    const struct telling *it = call->own;
    const struct goal_shown *shown = &answer->shown;
    uint32_t limit =
        call->args.limit && call->args.limit <= WHY_RECORDS ? call->args.limit : WHY_DEFAULT;
    json_t *lines = json_array();
    struct evidence evidence;
    for (uint32_t i = 0; i < shown->record_count && json_array_size(lines) < limit; i++) {
        record_evidence(&shown->records[i], &evidence);
        if (it->node.len == 0 || str_equal(evidence.node, it->node))
            json_array_insert_new(lines, 0, record_line(&shown->records[i]));
    }
    json_object_set_new(call->result, "lines", lines);
}

/* The nodes that a node still waits for, by name. */
static struct str depends_text(const struct plan *plan, const struct node *node,
                               struct arena *arena) {
    struct writer text = {.arena = arena};
    for (uint32_t i = 0; i < node->depend_count; i++) {
        const struct node *other = plan_node(plan, node->depends[i]);
        if (!other || other->status == NODE_DONE)
            continue;
        write_raw(&text, text.len > 0 ? STR(", ") : STR(""));
        write_raw(&text, str_of(other->id));
    }
    return (struct str){text.at, text.len};
}

static struct str node_waits(const struct goal_loaded *loaded, const struct goal_shown *shown,
                             const struct node *node, struct arena *arena) {
    struct str depends = depends_text(&loaded->plan, node, arena),
               why = shown_text(shown, &node->why);
    switch (node->status) {
    case NODE_TODO:
        return depends.len > 0 ? depends : STR("what is above it, or what that depends on");
    case NODE_QUEUED: return STR("somebody who begins with it");
    case NODE_IN_PROGRESS: return STR("whoever works on it");
    case NODE_BLOCKED:
        return arena_format(arena, "%s: %.*s", name_of(&BLOCKED_NAMES, node->blocked),
                            STR_ARG(str_cut_utf8(why, 160)));
    default: return STR("nothing: it is over");
    }
}

static struct str goal_waits(const struct goal *goal) {
    switch (goal_face(goal)) {
    case FACE_NEEDS_YOU: return STR("you");
    case FACE_WORKING:
        return goal_has_effect(goal, EFFECT_RUNNING) ? STR("the outcome of its command")
                                                     : STR("whoever works on its plan");
    case FACE_PAUSED: return STR("somebody who resumes it");
    case FACE_QUEUED:
        if (goal_has_effect(goal, EFFECT_READY))
            return STR("a host that starts its command");
        if (goal->plan_version == 0 && goal->effects_made > 0)
            return STR("you: its command is over; complete it, cancel it, or give it a plan");
        return goal->plan_version > 0 ? STR("somebody who begins with its plan") : STR("a plan");
    default: return STR("nothing: it is over");
    }
}

static json_t *do_json(const struct goal *goal, struct str node) {
    char id[GOAL_ID_TEXT + 1], line[160];
    enum asks asks = goal_asks(goal);
    goal_id_format(goal->id, id);
    if (asks != ASKS_NOTHING) {
        json_t *todo = asks_do(asks, goal->id);
        const char *first = json_string_value(json_array_get(todo, 0));
        if (first && strncmp(first, "overseer why", 12) == 0)
            json_array_remove(todo, 0);
        return todo;
    }
    json_t *list = json_array();
    if (node.len > 0)
        snprintf(line, sizeof line, "overseer plan show %s", id);
    else
        snprintf(line, sizeof line, "overseer goal show %s", id);
    json_array_append_new(list, json_string(line));
    if (goal->status != GOAL_ACTIVE && goal->status != GOAL_PAUSED)
        return list;
    bool paused = goal->status == GOAL_PAUSED;
    snprintf(line, sizeof line, "overseer goal %s %s", paused ? "resume" : "pause", id);
    json_array_append_new(list, json_string(line));
    if (goal_face(goal) == FACE_QUEUED && goal->plan_version == 0 && goal->effects_made > 0) {
        snprintf(line, sizeof line, "overseer goal complete %s --reason \"…\"", id);
        json_array_append_new(list, json_string(line));
    }
    snprintf(line, sizeof line, "overseer goal cancel %s", id);
    json_array_append_new(list, json_string(line));
    return list;
}

static void kept_put(json_t *json, const struct goal *goal) {
    char text[160];
    int len = snprintf(text, sizeof text, "%llu records, %u reports", (unsigned long long)goal->seq,
                       goal->reports);
    if (goal->plan_version > 0)
        snprintf(text + len, sizeof text - (size_t)len, ", plan version %llu (%u %% done)",
                 (unsigned long long)goal->plan_version, goal->percent);
    json_object_set_new(json, "kept", json_string(text));
}

static void goal_put(struct op_call *call, const struct store_answer *answer) {
    const struct telling *it = call->own;
    const struct goal_loaded *loaded = &answer->loaded[0];
    const struct goal *goal = &loaded->goal;
    const struct goal_shown *shown = &answer->shown;
    const struct node *node = it->node.len > 0 ? plan_find(&loaded->plan, it->node) : NULL;
    char id[GOAL_ID_TEXT + 1], due[TIME_TEXT + 1];
    struct str waits = node ? node_waits(loaded, shown, node, &call->arena) : goal_waits(goal);
    goal_id_format(goal->id, id);
    time_format(goal->due_at, due);
    call->result = json_pack("{s:s, s:s%, s:s, s:s, s:s%, s:o, s:o}", "goalId", id, "title",
                             shown->title.at ? shown->title.at : "", shown->title.len, "state",
                             name_of(&FACE_NAMES, goal_face(goal)), "status",
                             node ? NODE_STATUS[node->status].name : GOAL_STATUS[goal->status].name,
                             "waitsFor", waits.at, waits.len, "nextTimer",
                             goal->due_at == TIME_NEVER ? json_null() : json_string(due), "do",
                             do_json(goal, it->node));
    if (node)
        json_object_set_new(call->result, "node", json_string(node->id));
    kept_put(call->result, goal);
    lines_put(call, answer);
}

static bool shown_next(struct op_call *call, const struct store_answer *answer,
                       struct store_request *ret_request) {
    struct telling *it = call->own;
    const struct goal_loaded *loaded = &answer->loaded[0];
    if (it->shown)
        return false;
    json_ran_short();
    it->shown = true;
    if (!loaded->exists)
        return op_refuse(call, ERROR_NOT_FOUND, "%s", "");
    if (it->node.len > 0 && !plan_find(&loaded->plan, it->node))
        return op_refuse(call, ERROR_NOT_FOUND, "The goal has no node %.*s.", STR_ARG(it->node));
    struct type_range range = face_types(&loaded->goal);
    if (it->node.len > 0)
        range = (struct type_range){RECORD_WORK_TODO, RECORD_WORK_FOLLOWS};
    it->first = range.first;
    it->last = range.last;
    goal_put(call, answer);
    it->decided_is_old = !decided_or_made(it, answer) && answer->shown.record_count == WHY_RECORDS;
    return it->decided_is_old && show_ask(it, it->first, it->last, ret_request);
}

static bool next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request) {
    return answer->loaded ? shown_next(call, answer, ret_request)
                          : found_next(call, answer, ret_request);
}

static void hash_text(const struct hash *hash, char text[65]) {
    for (size_t i = 0; i < sizeof hash->bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", hash->bytes[i]);
}

static void sentence_put(json_t *json, const struct telling *it, const char *since,
                         const struct evidence *evidence, const char *what) {
    const char *title = json_string_value(json_object_get(json, "title")),
               *state = json_string_value(json_object_get(json, "state")),
               *status = json_string_value(json_object_get(json, "status"));
    char text[2 * TOLD_TEXT + LIMIT_TITLE];
    int len = it->node.len > 0
                  ? snprintf(text, sizeof text, "%.*s of \"%s\" is %s since %s", STR_ARG(it->node),
                             title ? title : "", status ? status : "", since)
                  : snprintf(text, sizeof text, "\"%s\" %s%s since %s", title ? title : "",
                             state && strcmp(state, "needs you") == 0 ? "" : "is ",
                             state ? state : "", since);
    if (evidence->rule.len > 0)
        snprintf(text + len, sizeof text - (size_t)len, ", by rule %.*s: %s",
                 STR_ARG(evidence->rule), what);
    json_object_set_new(json, "sentence", json_string(text));
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    const struct telling *it = call->own;
    json_t *json = call->result;
    char since[TIME_TEXT + 1], what[TOLD_TEXT] = "", policy[65];
    struct evidence evidence = {0};
    if (call->error)
        return NULL;
    call->result = NULL;
    const struct record *record = decided_or_made(it, answer);
    time_format(record ? record->at : answer->loaded[0].goal.updated_at, since);
    json_object_set_new(json, "since", json_string(since));
    if (record) {
        if (record_evidence(record, &evidence))
            record_tell(record, &evidence, what);
        hash_text(&record->policy, policy);
        json_object_set_new(json, "record", json_integer((json_int_t)record->seq));
        json_object_set_new(json, "core", json_integer(record->core));
        json_object_set_new(json, "policy", json_string(policy));
        if (evidence.rule.len > 0)
            json_object_set_new(json, "rule", json_stringn(evidence.rule.at, evidence.rule.len));
    }
    sentence_put(json, it, since, &evidence, what);
    return view_checked(call, json);
}

const struct op OP_WHY_SHOW = {
    .name = "why.show",
    .also = "why",
    .summary = "Explain why a goal or a node is as it is, from the records alone.",
    .help =
        "Each line says what it rests on: measured, acted, decided, or said. What an agent said is shown, and is never\n"
        "the reason for anything.\n"
        "Example: overseer why 01JC7Q4T9Z\n"
        "Example: overseer why S1.1.1",
    .kind = OP_READS,
    .may = MAY_LOOK,
    .params = PARAMS,
    .param_count = count_of(PARAMS),
    .positional = 1,
    .members = MEMBERS,
    .member_count = count_of(MEMBERS),
    .request = request,
    .next = next,
    .result = result,
};
