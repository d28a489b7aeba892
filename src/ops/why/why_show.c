/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that explains why something is as it is, from the records alone: EVENT-05, CLI-15, OBSERVE-04.
 *
 *     of ──▶ an id, "desk" (admission) ─────▶ show ──▶ [ the record that decided, if it is older ] ──▶ [ replay ] ──▶ the answer
 *        ├─▶ a prefix of an id ────▶ named ───┘ ▲
 *        └─▶ a node, A_n, Q_n ──▶ find ─────────┘ */
#include "ops/account/account.h"
#include "ops/all.h"
#include "ops/assignment.h"
#include "ops/json.h"
#include "ops/repository.h"
#include "ops/why/differ.h"
#include "ops/why/explain.h"

#include <stdio.h>

enum { WHY_DEFAULT = 20, WHY_RECORDS = LIMIT_LIST_PAGE, WHY_REPLAYED = 5000 };

static const struct field PARAMS[] = {
    PARAM(
        "of", FIELD_TEXT, node, LIMIT_QUESTION_NAME, FIELD_REQUIRED,
        "a goal such as T7, its id or a unique prefix of it, a node such as S1.1.1, an assignment A_3, a question Q7.1, or admission"),
    PARAM_GOAL(0),
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many lines, at most 200; default: 20"),
};

static const struct op_member MEMBERS[] = {
    {"goalId", MEMBER_TEXT, true, "the goal"},
    {"name", MEMBER_TEXT, false, "its name, such as T7"},
    {"title", MEMBER_TEXT, true, "the title"},
    {"repo", MEMBER_TEXT, false, "the repository"},
    {"node", MEMBER_TEXT, false, "the node that it is about"},
    {"assignment", MEMBER_TEXT, false, "the assignment that it is about"},
    {"question", MEMBER_TEXT, false, "the question that it is about"},
    {"state", MEMBER_TEXT, true, "the display state"},
    {"status", MEMBER_TEXT, true, "its status"},
    {"proof", MEMBER_ANY, false,
     "the evidence for done: unverified, accepted, verified, landed; null: it is not done"},
    {"landed", MEMBER_TEXT, false, "where the work landed"},
    {"since", MEMBER_TIME, true, "since when"},
    {"rule", MEMBER_TEXT, false, "the rule that decided it"},
    {"record", MEMBER_NUMBER, false, "the number of the record that says so"},
    {"sentence", MEMBER_TEXT, true, "the explanation in one sentence"},
    {"lines", MEMBER_LIST, true,
     "oldest first: at, what, kind (measured, acted, decided or said), type, rule, record, actor, by"},
    {"kept", MEMBER_TEXT, true, "what is stored about it"},
    {"nextTimer", MEMBER_TIME, true, "when it is checked next even without an event; null: never"},
    {"waitsFor", MEMBER_TEXT, true, "what it waits for"},
    {"policy", MEMBER_TEXT, false, "hash of the settings of that decision"},
    {"core", MEMBER_NUMBER, false, "version of the rules of that decision"},
    {"wouldDiffer", MEMBER_LIST, false,
     "settings that mattered: setting, was, value, and the decision with another value"},
    {"do", MEMBER_LIST, true, "commands that can be run next"},
};

enum about { ABOUT_GOAL, ABOUT_NODE, ABOUT_ASSIGNMENT, ABOUT_QUESTION, ABOUT_ADMISSION };

struct telling {
    char waits_account[LIMIT_AGENT + 1]; /* empty: nothing waits for its turn */
    struct id waits_admission;
    uint32_t waits_mark;
    bool account_asked;
    struct id goal;
    enum about about;
    struct str node; /* or the name of the assignment or question */
    bool by_name;    /* T7 is a goal; its plan may have a node that is called that, too */
    bool shown;      /* the goal has been read; the request now is for the record that decided */
    bool decided_is_old;          /* that record is not among the newest */
    enum record_type first, last; /* range of its type */
    struct replaying *replaying;  /* repeats the decision; NULL: not needed */
};

static bool is_about(const struct telling *it, const struct evidence *evidence) {
    switch (it->about) {
    case ABOUT_NODE: return str_equal(evidence->node, it->node);
    case ABOUT_ASSIGNMENT: return str_equal(evidence->assignment, it->node);
    case ABOUT_QUESTION: return str_equal(evidence->question, it->node);
    default: return true;
    }
}

/* ---- the subject ---- */

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

/* People write Q1 for Q_1. */
static struct str name_whole(struct str of, struct arena *arena) {
    bool short_id = of.len > 1 && of.len < 12 && (of.at[0] == 'Q' || of.at[0] == 'A');
    for (size_t i = 1; short_id && i < of.len; i++)
        short_id = of.at[i] >= '0' && of.at[i] <= '9';
    return short_id ? arena_format(arena, "%c_%.*s", of.at[0], (int)of.len - 1, of.at + 1) : of;
}

/* A_3, Q_1: a letter, an underscore and a number. */
static enum about about_of(struct str of) {
    bool numbered = of.len > 2 && of.at[1] == '_';
    for (size_t i = 2; numbered && i < of.len; i++)
        numbered = of.at[i] >= '0' && of.at[i] <= '9';
    if (numbered && of.at[0] == 'A')
        return ABOUT_ASSIGNMENT;
    return numbered && of.at[0] == 'Q' ? ABOUT_QUESTION : ABOUT_NODE;
}

static bool find_ask(struct op_call *call, struct store_request *ret_request) {
    static const enum part_kind PARTS_OF[] = {[ABOUT_NODE] = PART_NODE,
                                              [ABOUT_ASSIGNMENT] = PART_ASSIGNMENT,
                                              [ABOUT_QUESTION] = PART_QUESTION};
    struct telling *it = call->own;
    it->node = call->args.node;
    it->about = about_of(it->node);
    *ret_request = (struct store_request){
        .verb = STORE_FIND, .part = PARTS_OF[it->about], .name = it->node, .limit = LIMIT_FOUND};
    return true;
}

static bool is_whole(const struct question_name *name) {
    return name->number || name->host || name->repository.len > 0;
}

/* T7, Q7.3, QH1.3, Q-core.3. */
static bool name_ask(struct op_call *call, struct store_request *ret_request) {
    struct telling *it = call->own;
    struct question_name question;
    struct str of = call->args.node;
    uint64_t number;
    if (task_name_parse(of, &number)) {
        it->by_name = true;
        it->about = ABOUT_NODE;
        it->node = arena_format(&call->arena, "T%llu", (unsigned long long)number);
    } else if (question_name_parse(of, &question) && is_whole(&question)) {
        number = question.number;
        it->about = ABOUT_QUESTION;
        it->node = arena_format(&call->arena, "Q_%u", question.n);
    } else
        return false;
    *ret_request =
        (struct store_request){.verb = STORE_NAMED, .number = number, .limit = LIMIT_NAMED};
    if (number)
        return true;
    it->goal = admission_id(question.host);
    if (question.repository.len > 0 &&
        !repository_find_workspace(call, question.repository, &it->goal))
        return op_refuse(call, ERROR_NOT_FOUND, "No repository is called %.*s.",
                         STR_ARG(question.repository));
    return show_ask(it, 0, 0, ret_request);
}

static bool request(struct op_call *call, struct store_request *ret_request) {
    struct telling *it = arena_new(&call->arena, struct telling, 1);
    struct question_name question;
    struct str of = name_whole(call->args.node, &call->arena);
    call->own = it;
    call->args_read.node = of;
    if (str_equal(of, STR("desk")) || str_equal(of, STR("admission"))) {
        it->about = ABOUT_ADMISSION;
        it->goal = admission_id(call->facts ? call->facts->host : 0);
        return show_ask(it, 0, 0, ret_request);
    }
    if (call->args.goal.len > 0) {
        it->goal = call->args.goal_id;
        it->node = of;
        it->about = about_of(of);
        if (question_name_parse(of, &question) && is_whole(&question)) {
            it->node = arena_format(&call->arena, "Q_%u", question.n);
            it->about = ABOUT_QUESTION;
        }
        return show_ask(it, 0, 0, ret_request);
    }
    if (goal_id_parse(of, &it->goal))
        return show_ask(it, 0, 0, ret_request);
    if (name_ask(call, ret_request))
        return true;
    if (!goal_id_range(of, &ret_request->first_id, &ret_request->last_id))
        return find_ask(call, ret_request);
    ret_request->verb = STORE_NAMED;
    ret_request->limit = LIMIT_NAMED;
    return true;
}

static bool refuse_several(struct op_call *call, const struct store_answer *answer) {
    op_refuse(call, ERROR_AMBIGUOUS, "%.*s may be:", STR_ARG(call->args.node));
    return view_name_found(call, answer);
}

/* A short text may be a prefix of an id, and also the name of a node. */
static bool found_next(struct op_call *call, const struct store_answer *answer,
                       struct store_request *ret_request) {
    struct telling *it = call->own;
    if (answer->found_count == 1) {
        it->goal = answer->found[0];
        return show_ask(it, 0, 0, ret_request);
    }
    if (answer->found_count > 1)
        return refuse_several(call, answer);
    if (it->node.len == 0 || it->by_name) {
        it->by_name = false;
        return find_ask(call, ret_request);
    }
    return op_refuse(call, ERROR_NOT_FOUND,
                     it->about == ABOUT_NODE ? "There is no goal and no node %.*s."
                                             : "Nothing open is called %.*s; name its goal.",
                     STR_ARG(call->args.node));
}

/* ---- the record that decided ---- */

struct type_range {
    enum record_type first, last;
};

static struct type_range display_state_types(const struct goal *goal) {
    switch (goal_display_state(goal)) {
    case DISPLAY_DONE: return (struct type_range){RECORD_GOAL_COMPLETED, RECORD_GOAL_COMPLETED};
    case DISPLAY_PAUSED: return (struct type_range){RECORD_GOAL_PAUSED, RECORD_GOAL_PAUSED};
    case DISPLAY_CANCELLED:
        return (struct type_range){RECORD_GOAL_CANCELLED, RECORD_GOAL_CANCELLED};
    case DISPLAY_ARCHIVED: return (struct type_range){RECORD_GOAL_ARCHIVED, RECORD_GOAL_ARCHIVED};
    case DISPLAY_NEEDS_YOU: {
        enum asks asks = goal_asks(goal);
        enum record_type type = asks ? asks_record(asks) : RECORD_QUESTION_ASKED;
        return (struct type_range){type, type};
    }
    case DISPLAY_WORKING:
        if (goal->plan.version == 0 && goal_has_effect(goal, EFFECT_RUNNING))
            return (struct type_range){RECORD_EFFECT_CLAIMED, RECORD_EFFECT_CLAIMED};
        return (struct type_range){RECORD_WORK_STARTED, RECORD_WORK_STARTED};
    default: return (struct type_range){RECORD_GOAL_RESUMED, RECORD_GOAL_RELEASED};
    }
}

static const struct assignment *assignment_of(const struct telling *it, const struct live *live) {
    uint32_t n;
    bool named = it->about == ABOUT_ASSIGNMENT && assignment_parse(it->node, &n);
    return named ? assignments_find(&live->assignments, n) : NULL;
}

/* The types of record that lead to its current status. */
static struct type_range assignment_types(const struct assignment *assignment) {
    if (!assignment)
        return (struct type_range){RECORD_ASSIGNMENT_DONE, RECORD_ASSIGNMENT_CANCELLED};
    enum record_type type = RECORD_ASSIGNMENT_QUEUED + assignment->status;
    return (struct type_range){type, type};
}

static struct type_range about_types(const struct telling *it, const struct goal_loaded *loaded) {
    switch (it->about) {
    case ABOUT_NODE: return (struct type_range){RECORD_WORK_TODO, RECORD_WORK_FOLLOWS};
    case ABOUT_ASSIGNMENT: return assignment_types(assignment_of(it, &loaded->live));
    case ABOUT_QUESTION: return (struct type_range){RECORD_QUESTION_ASKED, RECORD_QUESTION_RAISED};
    case ABOUT_ADMISSION:
        return (struct type_range){RECORD_PERMIT_GRANTED, RECORD_ADMISSION_RELEASED};
    default: return display_state_types(&loaded->goal);
    }
}

/* For a node: the record that moved it to its current status, or keeps it there. */
static bool decides(const struct telling *it, const struct node *node,
                    const struct record *record) {
    struct evidence evidence;
    if (record->type < it->first || record->type > it->last)
        return false;
    if (it->about == ABOUT_GOAL || it->about == ABOUT_ADMISSION)
        return true;
    record_evidence(record, &evidence);
    return is_about(it, &evidence) && (!node || record->type == RECORD_WORK_TODO + node->status ||
                                       record->type == RECORD_WORK_FOLLOWS);
}

static const struct node *node_of(const struct telling *it, const struct goal_loaded *loaded) {
    return it->about == ABOUT_NODE ? plan_find(&loaded->plan, it->node) : NULL;
}

static const struct record *decided(const struct telling *it, const struct store_answer *answer) {
    const struct node *node = node_of(it, &answer->loaded[0]);
    for (uint32_t i = 0; i < answer->shown.record_count; i++)
        if (decides(it, node, &answer->shown.records[i]))
            return &answer->shown.records[i];
    return NULL;
}

/* A queued goal without such a record is as it was created. */
static const struct record *decided_or_made(const struct telling *it,
                                            const struct store_answer *answer) {
    const struct record *record = decided(it, answer);
    struct evidence evidence;
    if (record || it->about != ABOUT_GOAL ||
        goal_display_state(&answer->loaded[0].goal) != DISPLAY_QUEUED)
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
        if (is_about(it, &evidence) && !record_is_inside(&shown->records[i], &evidence))
            json_array_insert_new(lines, 0, record_line(&shown->records[i]));
    }
    json_object_set_new(call->result, "lines", lines);
}

/* The ids of the nodes that a node still waits for. */
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
        return depends.len > 0 ? depends : STR("its parent node, or a dependency of that");
    case NODE_QUEUED: return STR("an agent or person that starts it");
    case NODE_IN_PROGRESS: return STR("the agent that works on it");
    case NODE_BLOCKED:
        return arena_format(arena, "%s: %.*s", name_of(&BLOCKED_NAMES, node->blocked),
                            STR_ARG(str_cut_utf8(why, 160)));
    default: return STR("nothing: it is over");
    }
}

static struct str goal_waits(const struct goal *goal) {
    switch (goal_display_state(goal)) {
    case DISPLAY_NEEDS_YOU: return STR("you");
    case DISPLAY_WORKING:
        return goal_has_effect(goal, EFFECT_RUNNING) ? STR("the outcome of its command")
                                                     : STR("the agents that work on its plan");
    case DISPLAY_PAUSED: return STR("a person to resume it");
    case DISPLAY_QUEUED:
        if (goal_has_effect(goal, EFFECT_READY))
            return STR("a host to start its command");
        if (goal->plan.version == 0 && goal->effects.made > 0)
            return STR("you: its command is over; complete it, cancel it, or give it a plan");
        return goal->plan.version > 0 ? STR("an agent or person that starts its plan")
                                      : STR("a plan");
    default: return STR("nothing: it is over");
    }
}

/* ---- assignments and questions ---- */

static const struct question *question_of(const struct telling *it, const struct live *live) {
    for (uint32_t i = 0; it->about == ABOUT_QUESTION && i < live->questions.count; i++) {
        char id[16];
        snprintf(id, sizeof id, "Q_%u", live->questions.at[i].n);
        if (str_equal(str_of(id), it->node))
            return &live->questions.at[i];
    }
    return NULL;
}

static struct str part_waits(const struct assignment *assignment, const struct question *question) {
    static const char *const WAITS[WAIT_COUNT] = {
        [WAITS_FOR_NOTHING] = "its agent",
        [WAITS_FOR_PERMIT] = "a permit from its host: see overseer desk show",
        [WAITS_FOR_QUOTA] = "its account's quota",
        [WAITS_FOR_BACKOFF] = "the next attempt",
        [WAITS_FOR_ANSWER] = "an answer: see overseer inbox",
        [WAITS_FOR_PERSON] = "the person at its terminal",
        [WAITS_FOR_RETRY] = "the agent's own retry",
        [WAITS_FOR_OVERAGE] = "paid usage of its account: see overseer inbox",
        [WAITS_FOR_HOST] = "its lost host: the agent there may still be working",
    };
    if (assignment)
        return str_of(WAITS[assignment->wait.on]);
    if (question)
        return question->of == OF_PERSON ? STR("you") : STR("the agent that is asked");
    return STR("nothing: it is over");
}

/* When a timer acts on it; 0: the goal's timer applies. */
static int64_t assignment_timer(const struct assignment *assignment) {
    if (!assignment)
        return 0;
    int64_t times[] = {assignment->wait.until, assignment->recovery.backoff_until,
                       assignment->liveness.expected_next_at};
    for (size_t i = 0; i < count_of(times); i++)
        if (times[i] > assignment->updated_at)
            return times[i];
    return 0;
}

static const char *status_of(const struct telling *it, const struct goal_loaded *loaded) {
    const struct assignment *assignment = assignment_of(it, &loaded->live);
    const struct question *question = question_of(it, &loaded->live);
    const struct node *node = node_of(it, loaded);
    if (it->about == ABOUT_ADMISSION)
        return loaded->goal.pace.suspended ? "suspended" : "open";
    if (node)
        return NODE_STATUS[node->status].name;
    if (assignment)
        return ASSIGNMENT_STATUS[assignment->status].name;
    if (question)
        return name_of(&QUESTION_STATE_NAMES, question->state);
    return it->about == ABOUT_GOAL ? GOAL_STATUS[loaded->goal.status].name : "over";
}

static struct str waits_of(const struct telling *it, const struct goal_loaded *loaded,
                           const struct goal_shown *shown, struct arena *arena) {
    const struct node *node = node_of(it, loaded);
    if (node)
        return node_waits(loaded, shown, node, arena);
    if (it->about == ABOUT_ADMISSION)
        return loaded->goal.pace.suspended ? STR("you: overseer desk release --reason \"…\"")
                                           : STR("goals that want to start something");
    if (it->about == ABOUT_GOAL)
        return goal_waits(&loaded->goal);
    return part_waits(assignment_of(it, &loaded->live), question_of(it, &loaded->live));
}

static json_t *admission_do(const struct goal *admission) {
    return admission->pace.suspended
               ? json_pack("[s, s]", "overseer desk show", "overseer desk release --reason \"…\"")
               : json_pack("[s, s]", "overseer desk show", "overseer agents");
}

static json_t *do_json(const struct goal *goal, struct str node) {
    char id[GOAL_ID_TEXT + 1], line[160];
    if (goal->kind.admission)
        return admission_do(goal);
    enum asks asks = goal_asks(goal);
    goal_name_or_id(goal, id);
    if (asks != ASKS_NOTHING) {
        json_t *todo = asks_do(asks, goal);
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
    if (goal_display_state(goal) == DISPLAY_QUEUED && goal->plan.version == 0 &&
        goal->effects.made > 0) {
        snprintf(line, sizeof line, "overseer goal complete %s --reason \"…\"", id);
        json_array_append_new(list, json_string(line));
    }
    snprintf(line, sizeof line, "overseer goal cancel %s", id);
    json_array_append_new(list, json_string(line));
    return list;
}

static void kept_put(json_t *json, const struct goal *goal) {
    char text[160];
    int len = snprintf(text, sizeof text, "%llu records, %u reports",
                       (unsigned long long)goal->records.seq, goal->progress.reports);
    if (goal->plan.version > 0)
        snprintf(text + len, sizeof text - (size_t)len, ", plan version %llu (%u %% done)",
                 (unsigned long long)goal->plan.version, goal->progress.percent);
    json_object_set_new(json, "kept", json_string(text));
}

static void subject_put(struct op_call *call) {
    static const char *const NAMES[] = {
        [ABOUT_NODE] = "node", [ABOUT_ASSIGNMENT] = "assignment", [ABOUT_QUESTION] = "question"};
    const struct telling *it = call->own;
    if (it->about != ABOUT_GOAL && it->about != ABOUT_ADMISSION)
        json_object_set_new(call->result, NAMES[it->about],
                            json_stringn(it->node.at, it->node.len));
}

/* The account of the first assignment that waits for its turn. */
static void account_note(struct telling *it, const struct goal_loaded *loaded) {
    for (uint32_t i = 0; i < loaded->live.assignments.count; i++) {
        const struct assignment *assignment = &loaded->live.assignments.at[i];
        const struct node *node = node_of(it, loaded);
        bool waits = assignment->wait.on == WAITS_FOR_PERMIT ||
                     assignment->wait.on == WAITS_FOR_QUOTA ||
                     assignment->wait.on == WAITS_FOR_OVERAGE;
        if (!waits || assignment->permit.host == 0 || (node && assignment->node != node->n))
            continue;
        memcpy(it->waits_account, assignment->account, sizeof it->waits_account);
        it->waits_admission = admission_id(assignment->permit.host);
        it->waits_mark = loaded->goal.kind.quota_mark;
        return;
    }
}

static void goal_put(struct op_call *call, const struct store_answer *answer) {
    const struct telling *it = call->own;
    const struct goal_loaded *loaded = &answer->loaded[0];
    const struct goal *goal = &loaded->goal;
    const struct goal_shown *shown = &answer->shown;
    char id[GOAL_ID_TEXT + 1], due[TIME_TEXT + 1];
    struct str waits = waits_of(it, loaded, shown, &call->arena);
    struct str title =
        it->about == ABOUT_ADMISSION ? STR("the admission state of this host") : shown->title;
    int64_t timer = assignment_timer(assignment_of(it, &loaded->live));
    timer = timer ? timer : goal->due_at;
    goal_id_format(goal->id, id);
    time_format(timer, due);
    call->result =
        json_pack("{s:s, s:s%, s:s, s:s, s:s%, s:o, s:o}", "goalId", id, "title",
                  title.at ? title.at : "", title.len, "state",
                  goal->kind.admission ? status_of(it, loaded)
                                       : name_of(&DISPLAY_STATE_NAMES, goal_display_state(goal)),
                  "status", status_of(it, loaded), "waitsFor", waits.at, waits.len, "nextTimer",
                  timer == TIME_NEVER ? json_null() : json_string(due), "do",
                  do_json(goal, it->about == ABOUT_GOAL ? (struct str){0} : it->node));
    goal_name_put(call->result, goal->kind.number);
    account_note(call->own, loaded);
    subject_put(call);
    if (it->about != ABOUT_ADMISSION)
        repository_put(call, call->result, goal->repository);
    kept_put(call->result, goal);
    proof_put(call->result, loaded, shown, &call->arena);
    lines_put(call, answer);
}

static void sentence_put(json_t *json, const struct telling *it, const char *since,
                         const struct evidence *evidence, const char *what) {
    const char *title = json_string_value(json_object_get(json, "title")),
               *state = json_string_value(json_object_get(json, "state")),
               *status = json_string_value(json_object_get(json, "status"));
    char text[2 * EXPLAIN_TEXT + LIMIT_TITLE];
    int len = it->about != ABOUT_GOAL && it->about != ABOUT_ADMISSION
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

static void decided_put(struct op_call *call, const struct store_answer *answer,
                        const struct record *record) {
    const struct telling *it = call->own;
    json_t *json = call->result;
    char since[TIME_TEXT + 1], what[EXPLAIN_TEXT] = "", policy[65];
    struct evidence evidence = {0};
    time_format(record ? record->at : answer->loaded[0].goal.times.updated_at, since);
    json_object_set_new(json, "since", json_string(since));
    if (record) {
        if (record_evidence(record, &evidence))
            record_tell(record, &evidence, what);
        hex_write(policy, record->policy.bytes, sizeof record->policy.bytes);
        json_object_set_new(json, "record", json_integer((json_int_t)record->seq));
        json_object_set_new(json, "core", json_integer(record->core));
        json_object_set_new(json, "policy", json_string(policy));
        if (evidence.rule.len > 0)
            json_object_set_new(json, "rule", json_stringn(evidence.rule.at, evidence.rule.len));
    }
    sentence_put(json, it, since, &evidence, what);
}

/* If a limit was compared, the decision is repeated with other limits, provided that its log is short enough. */
static bool replay_ask(struct op_call *call, const struct record *record,
                       struct store_request *ret_request) {
    struct telling *it = call->own;
    struct evidence evidence;
    if (!record || !call->policy_read || record->seq > WHY_REPLAYED ||
        !record_evidence(record, &evidence) || evidence.threshold <= 0)
        return false;
    it->replaying = replaying_new(call, it->goal, NULL);
    it->replaying->until = record->seq;
    replaying_ask(it->replaying, ret_request);
    return true;
}

/* The record that decided is known, or known to be no longer kept. */
static bool explain_next(struct op_call *call, const struct store_answer *answer,
                         struct store_request *ret_request) {
    const struct record *record = decided_or_made(call->own, answer);
    decided_put(call, answer, record);
    return replay_ask(call, record, ret_request);
}

static bool is_explained(const struct telling *it, const struct goal_shown *shown) {
    struct evidence evidence;
    for (uint32_t i = 0; i < shown->record_count; i++)
        if (record_evidence(&shown->records[i], &evidence) && is_about(it, &evidence))
            return true;
    return false;
}

static bool subject_is_there(struct op_call *call, const struct store_answer *answer) {
    struct telling *it = call->own;
    const struct goal_loaded *loaded = &answer->loaded[0];
    if (it->by_name && !plan_find(&loaded->plan, it->node)) {
        it->about = ABOUT_GOAL;
        it->node = (struct str){0};
    }
    if (!loaded->exists)
        return op_refuse(call, ERROR_NOT_FOUND, "%s",
                         it->about == ABOUT_ADMISSION ? "This host has started nothing yet." : "");
    if (it->about == ABOUT_NODE && !plan_find(&loaded->plan, it->node))
        return op_refuse(call, ERROR_NOT_FOUND, "The goal has no node %.*s.", STR_ARG(it->node));
    bool is_part = it->about == ABOUT_ASSIGNMENT || it->about == ABOUT_QUESTION;
    if (is_part && !is_explained(it, &answer->shown))
        return op_refuse(call, ERROR_NOT_FOUND,
                         "The newest records of the goal do not mention %.*s.", STR_ARG(it->node));
    return true;
}

static bool shown_next(struct op_call *call, const struct store_answer *answer,
                       struct store_request *ret_request) {
    struct telling *it = call->own;
    if (it->shown)
        return explain_next(call, answer, ret_request);
    json_ran_short();
    it->shown = true;
    if (!subject_is_there(call, answer))
        return false;
    struct type_range range = about_types(it, &answer->loaded[0]);
    it->first = range.first;
    it->last = range.last;
    goal_put(call, answer);
    it->decided_is_old = !decided_or_made(it, answer) && answer->shown.record_count == WHY_RECORDS;
    if (it->decided_is_old)
        return show_ask(it, it->first, it->last, ret_request);
    return explain_next(call, answer, ret_request);
}

/* Work that waits for its turn may wait for its account: only the admission knows. */
static bool account_ask(struct op_call *call, struct store_request *ret_request) {
    struct telling *it = call->own;
    if (call->error || !call->result || !it->waits_account[0] || it->account_asked)
        return false;
    it->account_asked = true;
    *ret_request = (struct store_request){
        .verb = STORE_SHOW, .ids = &it->waits_admission, .id_count = 1, .limit = 1};
    return true;
}

static void account_take(struct op_call *call, const struct store_answer *answer) {
    const struct telling *it = call->own;
    int64_t until = 0;
    char at[TIME_TEXT + 1];
    struct str words = {0};
    if (answer->loaded && answer->loaded[0].exists)
        words =
            account_waits(call, &answer->loaded[0].live, it->waits_account, it->waits_mark, &until);
    if (words.len == 0)
        return;
    json_object_set_new(call->result, "waitsFor", json_stringn(words.at, words.len));
    time_format(until, at);
    json_object_set_new(call->result, "nextTimer", json_string(at));
}

static bool next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request) {
    struct telling *it = call->own;
    if (it->account_asked) {
        account_take(call, answer);
        return false;
    }
    bool more = it->replaying    ? replaying_next(it->replaying, answer, ret_request)
                : answer->loaded ? shown_next(call, answer, ret_request)
                                 : found_next(call, answer, ret_request);
    return more || account_ask(call, ret_request);
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    struct telling *it = call->own;
    json_t *json = call->result;
    (void)answer;
    if (call->error)
        return NULL;
    call->result = NULL;
    if (it->replaying)
        differ_put(json, it->replaying);
    return view_checked(call, json);
}

static void close(struct op_call *call) {
    struct telling *it = call->own;
    if (it->replaying)
        replaying_end(it->replaying);
}

const struct op OP_WHY_SHOW = {
    .name = "why.show",
    .also = "why",
    .summary = "Explain the state of a goal or a task from the records.",
    .help =
        "Each line names its basis: measured, acted, decided, or said. What an agent said is shown, but is never\n"
        "the reason for a decision.\n"
        "If a limit decided, the decision is made again with another limit, to show whether it would differ.\n"
        "Example: overseer why T7\n"
        "Example: overseer why S1.1.1",
    .kind = OP_READS,
    .may = MAY_LOOK,
    .wants_repositories = true,
    OP_PARAMS(PARAMS),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    .wants_facts = true,
    .request = request,
    .next = next,
    .result = result,
    .close = close,
};
