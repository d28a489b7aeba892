/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/question/question_view.h"

#include "model/cause.h"
#include "ops/json.h"
#include "ops/repository.h"

#include <stdio.h>

const struct op_member QUESTION_MEMBERS[QUESTION_MEMBER_COUNT] = {
    {"questionId", MEMBER_TEXT, true, "its name, such as Q7.3: question 3 of T7"},
    {"goalId", MEMBER_TEXT, true, "the goal"},
    {"name", MEMBER_TEXT, false, "the goal's name, such as T7"},
    {"kind", MEMBER_TEXT, true, "decide, approve, alert or request"},
    {"state", MEMBER_TEXT, true, "open, or answered and not yet in effect"},
    {"asked", MEMBER_TEXT, true, "who is asked: person, parent or overseer"},
    {"level", MEMBER_TEXT, true, "info, warning, critical or emergency"},
    {"cause", MEMBER_TEXT, true, "the same cause is asked once"},
    {"title", MEMBER_TEXT, true, "the question in a line"},
    {"text", MEMBER_TEXT, false, "and in full"},
    {"options", MEMBER_LIST, true, "the options; the first is a"},
    {"default", MEMBER_TEXT, false, "the letter of the option that applies without an answer"},
    {"askedAt", MEMBER_TIME, true, "since when"},
    {"expiresAt", MEMBER_TIME, false, "until when it can be answered"},
    {"snoozedUntil", MEMBER_TIME, false, "until when no reminders are sent"},
    {"acknowledged", MEMBER_FLAG, true, "a person has acknowledged it"},
    {"answer", MEMBER_TEXT, false, "the letter of the answer"},
    {"appliesAt", MEMBER_TIME, false, "when the answer takes effect; until then it can be undone"},
    {"node", MEMBER_TEXT, false, "the node that it is about"},
    {"assignmentId", MEMBER_TEXT, false, "the assignment that waits for it"},
    {"commit", MEMBER_TEXT, false, "the commit that lands if the answer is yes"},
    {"onto", MEMBER_TEXT, false, "the tip of the target that the commit was built and checked on"},
    {"why", MEMBER_TEXT, false, "the rule that asks"},
    {"reason", MEMBER_TEXT, false, "the reason in words"},
    {"evidence", MEMBER_TEXT, false, "JSON"},
    {"who", MEMBER_TEXT, false, "who may answer; absent: any person"},
    {"recommendations", MEMBER_LIST, false, "possible actions"},
    {"repo", MEMBER_TEXT, false, "the repository, if it is about no single task"},
    {"host", MEMBER_TEXT, false, "the host that was denied, with its port"},
    {"tasks", MEMBER_LIST, false, "names of the tasks that were denied it"},
    {"tries", MEMBER_NUMBER, false, "how often they were denied it"},
    {"times", MEMBER_NUMBER, true, "how often it was sent"},
    {"said", MEMBER_LIST, true,
     "deliveries on channels, newest first: at, channel, result, reference, url, why"},
};
/* ---- naming a question ---- */

static bool goal_is_known(const struct op_call *call) {
    static const struct id NONE;
    return !id_equal(call->args.goal_id, NONE);
}

/* Undo takes the name of a task, too: an answer that is not in effect yet is rarely one of several. All other operations
 * name the question: another one may have been asked since a person looked. */
static bool names_task(const struct op_call *call, uint64_t *ret_number) {
    return str_equal(str_of(call->op->name), STR("question.undo")) &&
           task_name_parse(call->args.question, ret_number);
}

bool question_request(struct op_call *call, struct store_request *ret_request) {
    struct question_name name;
    uint64_t task;
    if (names_task(call, &task) && !goal_is_known(call)) {
        *ret_request =
            (struct store_request){.verb = STORE_NAMED, .number = task, .limit = LIMIT_FOUND};
        return true;
    }
    if (names_task(call, &task))
        return show_request(call, ret_request);
    if (!question_name_parse(call->args.question, &name)) {
        op_refuse(call, ERROR_INVALID,
                  "\"%.*s\" is not a question; questions are called Q7.1, Q7.2 ….",
                  STR_ARG(str_cut_utf8(call->args.question, 32)));
        return false;
    }
    if (!goal_is_known(call) && name.repository.len > 0 &&
        !repository_find_workspace(call, name.repository, &call->args_read.goal_id))
        return op_refuse(call, ERROR_NOT_FOUND,
                         "No repository is called %.*s; see `overseer inbox`.",
                         STR_ARG(name.repository));
    if (!goal_is_known(call) && name.host)
        call->args_read.goal_id = admission_id(name.host);
    if (goal_is_known(call))
        return show_request(call, ret_request);
    ret_request->verb = name.number ? STORE_NAMED : STORE_FIND;
    ret_request->number = name.number;
    ret_request->part = PART_QUESTION;
    ret_request->name = arena_format(&call->arena, "Q_%u", name.n);
    ret_request->limit = LIMIT_FOUND;
    return true;
}

static bool several(struct op_call *call, const struct store_answer *answer) {
    op_refuse(call, ERROR_INVALID, "Several goals have a question %.*s; choose one with --goal:",
              STR_ARG(call->args.question));
    return view_name_found(call, answer);
}

bool question_next(struct op_call *call, const struct store_answer *answer,
                   struct store_request *ret_request) {
    if (goal_is_known(call))
        return false;
    if (answer->found_count == 0)
        return op_refuse(call, ERROR_NOT_FOUND, "No question %.*s is open; see `overseer inbox`.",
                         STR_ARG(call->args.question));
    if (answer->found_count > 1)
        return several(call, answer);
    call->args_read.goal_id = answer->found[0];
    return show_request(call, ret_request);
}

bool question_words(const struct goal_shown *shown, const struct question *question,
                    struct arena *arena, struct question_text *ret) {
    *ret = (struct question_text){0};
    struct str body = shown_text(shown, &question->text);
    return body.len > 0 && shape_decode_in(&QUESTION_TEXT, body, arena, ret);
}

/* The answer of the task that is not in effect yet. NULL: there is none, or there are several. */
static const struct question *answered_question(struct op_call *call,
                                                const struct goal_loaded *loaded) {
    const struct questions *questions = &loaded->live.questions;
    const struct question *found = NULL;
    struct writer names = {.arena = &call->arena};
    uint32_t count = 0;
    for (uint32_t i = 0; i < questions->count; i++)
        if (questions->at[i].state == QUESTION_ANSWERED) {
            char name[QUESTION_NAME];
            found = &questions->at[i];
            question_name_format(&loaded->goal, found->n, name);
            write_raw(&names, arena_format(&call->arena, "%s%s", count++ ? ", " : "", name));
        }
    if (count == 0)
        op_refuse(call, ERROR_NOT_FOUND, "%.*s has no answer that can be undone.",
                  STR_ARG(call->args.question));
    if (count > 1)
        op_refuse(call, ERROR_INVALID, "%.*s has several answers; name one: %.*s.",
                  STR_ARG(call->args.question), (int)names.len, names.at);
    return count == 1 ? found : NULL;
}

const struct question *question_given(struct op_call *call, const struct store_answer *answer,
                                      struct question_text *ret_text) {
    struct question_name name = {0};
    uint64_t task;
    if (!view_is_whole(call, answer))
        return NULL;
    if (names_task(call, &task)) {
        const struct question *found = answered_question(call, &answer->loaded[0]);
        if (found)
            question_words(&answer->shown, found, &call->arena, ret_text);
        return found;
    }
    question_name_parse(call->args.question, &name);
    const struct goal *goal = &answer->loaded[0].goal;
    bool here =
        (!name.number || name.number == goal->kind.number) &&
        (!name.repository.len ||
         (goal->kind.workspace && str_equal(name.repository, str_of(goal->kind.subject)))) &&
        (!name.host || (name.host == goal->kind.admission && !goal->kind.workspace));
    const struct question *question =
        here ? questions_find(&answer->loaded[0].live.questions, name.n) : NULL;
    if (!question || question->state == QUESTION_OVER) {
        op_refuse(call, ERROR_NOT_FOUND, "No question %.*s is open here; see `overseer inbox`.",
                  STR_ARG(call->args.question));
        return NULL;
    }
    question_words(&answer->shown, question, &call->arena, ret_text);
    return question;
}

/* ---- questions as JSON ---- */

static void time_put(json_t *json, const char *name, int64_t at) {
    char text[TIME_TEXT + 1];
    if (at == 0)
        return;
    time_format(at, text);
    json_object_set_new(json, name, json_string(text));
}

static void option_letter_put(json_t *json, const char *name, uint32_t option) {
    char letter[2] = {(char)('a' + option - 1), 0};
    if (option > 0)
        json_object_set_new(json, name, json_string(letter));
}

static json_t *texts_json(const struct texts *texts) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < texts->count; i++)
        json_array_append_new(list, json_stringn(texts->at[i].at, texts->at[i].len));
    return list;
}

static void place_put(json_t *json, const struct goal_loaded *loaded,
                      const struct question *question) {
    char id[16];
    const struct node *node =
        question->node ? plan_node(&loaded->live.plan, question->node - 1) : NULL;
    if (node)
        json_put_text(json, "node", node_id(node));
    if (question->assignment) {
        snprintf(id, sizeof id, "A_%u", question->assignment - 1);
        json_put_text(json, "assignmentId", str_of(id));
    }
    const struct assignment *assignment =
        question->assignment ? assignments_find(&loaded->live.assignments, question->assignment - 1)
                             : NULL;
    if (assignment && cause_is(question, CAUSE_DONE)) {
        json_put_text(json, "commit", str_of(assignment->check.commit));
        json_put_text(json, "onto", str_of(assignment->check.onto));
    }
}

static void words_put(json_t *json, const struct question_text *text) {
    json_object_set_new(json, "title",
                        json_stringn(text->title.at ? text->title.at : "", text->title.len));
    json_put_text(json, "text", text->text);
    json_object_set_new(json, "options", texts_json(&text->options));
    json_put_text(json, "why", text->rule);
    json_put_text(json, "reason", text->reason);
    json_put_text(json, "evidence", text->evidence);
    if (text->recommendations.count > 0)
        json_object_set_new(json, "recommendations", texts_json(&text->recommendations));
}

/* A denied host: which tasks wanted it, and how often. */
static void denials_put(json_t *json, const struct goal_loaded *loaded,
                        const struct question *question) {
    const struct host_accesses *all = &loaded->live.host_accesses;
    json_t *tasks = json_array();
    uint64_t tries = 0;
    const char *host = "";
    for (uint32_t i = 0; i < all->count; i++) {
        char name[TASK_NAME];
        if (all->at[i].question != question->n + 1)
            continue;
        task_name_format(all->at[i].number, name);
        json_array_append_new(tasks, json_string(name));
        tries += all->at[i].tries;
        host = all->at[i].host;
    }
    json_put_text(json, "repo", str_of(loaded->goal.kind.subject));
    json_put_text(json, "host", str_of(host));
    json_object_set_new(json, "tasks", tasks);
    json_object_set_new(json, "tries", json_integer((json_int_t)tries));
}

json_t *question_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                      const struct question *question, struct arena *arena) {
    struct question_text text;
    char goal[GOAL_ID_TEXT + 1], name[QUESTION_NAME];
    goal_id_format(loaded->goal.id, goal);
    question_name_format(&loaded->goal, question->n, name);
    question_words(shown, question, arena, &text);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:i}", "questionId", name, "goalId",
                  goal, "kind", name_of(&QUESTION_KIND_NAMES, question->kind), "state",
                  name_of(&QUESTION_STATE_NAMES, question->state), "asked",
                  name_of(&ASKED_OF_NAMES, question->of), "level",
                  name_of(&ALARM_NAMES, question->alarm), "cause", question->cause, "acknowledged",
                  question->acknowledged != 0, "times", (int)question->sending.rounds);
    goal_name_put(json, loaded->goal.kind.number);
    words_put(json, &text);
    option_letter_put(json, "default", question->fallback.option);
    time_put(json, "askedAt", question->asked_at);
    time_put(json, "expiresAt", question->expires_at);
    time_put(json, "snoozedUntil", question->snoozed_until);
    if (question->state == QUESTION_ANSWERED) {
        option_letter_put(json, "answer", question->answer.option);
        time_put(json, "appliesAt", question->applies_at);
    }
    place_put(json, loaded, question);
    if (cause_is(question, CAUSE_NETWORK))
        denials_put(json, loaded, question);
    json_put_text(json, "who", str_of(question->who));
    return json;
}

/* ---- questions in the inbox ---- */

static void do_add(json_t *list, const char *command, const char *name, const char *rest,
                   const char *goal) {
    char line[192];
    int len = snprintf(line, sizeof line, "overseer %s %s%s", command, name, rest);
    if (!strchr(name, '.')) /* other goals may have a question that is called the same */
        snprintf(line + len, sizeof line - (size_t)len, " --goal %s", goal);
    json_array_append_new(list, json_string(line));
}

static json_t *question_do(const struct question *question, const char *name, const char *goal) {
    json_t *list = json_array();
    char letters[2 * LIMIT_CHOICES + 2] = "";
    for (uint32_t i = 0; i < question->options && i < LIMIT_CHOICES; i++)
        snprintf(letters + strlen(letters), sizeof letters - strlen(letters), "%c%c", i ? '|' : ' ',
                 (char)('a' + i));
    if (question->state == QUESTION_ANSWERED) {
        do_add(list, "undo", name, "", goal);
        return list;
    }
    if (cause_is(question, CAUSE_DONE)) { /* work that waits to land */
        json_array_append_new(list, json_sprintf("overseer diff %s", goal));
        json_array_append_new(list, json_sprintf("overseer land %s", goal));
        json_array_append_new(list, json_sprintf("overseer reject %s \"…\"", goal));
        return list;
    }
    switch (question->kind) {
    case QUESTION_APPROVE:
        do_add(list, "approve", name, "", goal);
        do_add(list, "reject", name, " --reason \"…\"", goal);
        break;
    case QUESTION_ALERT: do_add(list, "ack", name, "", goal); break;
    default: do_add(list, "answer", name, question->options ? letters : " \"…\"", goal);
    }
    do_add(list, "snooze", name, " 2h", goal);
    return list;
}

static json_t *item_json(const struct goal_loaded *loaded, const struct goal_shown *shown,
                         const struct question *question, struct arena *arena) {
    json_t *item = question_json(loaded, shown, question, arena);
    json_t *title = json_object_get(item, "title"), *reason = json_object_get(item, "reason");
    json_object_set(item, "question", title);
    if (cause_is(question, CAUSE_NETWORK))
        json_object_set_new(item, "title", json_string("nothing waits for it"));
    else if (loaded->goal.kind.workspace)
        json_object_set_new(item, "title", json_string("the landing lane"));
    else if (loaded->goal.kind.admission)
        json_object_set_new(item, "title", json_sprintf("host %u", loaded->goal.kind.admission));
    else
        json_object_set_new(item, "title",
                            json_stringn(shown->title.at ? shown->title.at : "", shown->title.len));
    if (reason)
        json_object_set(item, "why", reason);
    json_object_set(item, "since", json_object_get(item, "askedAt"));
    char called[GOAL_ID_TEXT + 1];
    goal_name_or_id(&loaded->goal, called);
    json_object_set_new(
        item, "do",
        question_do(question, json_string_value(json_object_get(item, "questionId")), called));
    return item;
}

void questions_append(json_t *items, const struct goal_loaded *loaded,
                      const struct goal_shown *shown) {
    struct arena arena = {0};
    const struct questions *questions = &loaded->live.questions;
    for (uint32_t i = 0; loaded->exists && i < questions->count; i++)
        if (questions->at[i].of == OF_PERSON && questions->at[i].state != QUESTION_OVER)
            json_array_append_new(items, item_json(loaded, shown, &questions->at[i], &arena));
    arena_free(&arena);
}
