/* SPDX-License-Identifier: Apache-2.0 */
/* Settles everything that asks the same with one command. */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/task.h"
#include "model/goal.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST = 100 }; /* settled at once at most: as many as the inbox shows */

/* The text of a question without the name of its task. The caller frees it. */
static char *words_of(const json_t *item) {
    const char *question = text_of(item, "question"), *node = text_of(item, "node"), *at;
    size_t length = strlen(node), kept = 0;
    char *words = memory_new(strlen(question) + 1);
    while (length > 0 && (at = strstr(question, node))) {
        memcpy(words + kept, question, (size_t)(at - question));
        kept += (size_t)(at - question);
        question = at + length;
    }
    strcpy(words + kept, question);
    return words;
}

/* Alike: the same rule asks the same question, with the same options. */
static bool is_alike(const json_t *one, const json_t *other) {
    static const char *const SAME[] = {"kind", "why"};
    for (size_t i = 0; i < count_of(SAME); i++)
        if (strcmp(text_of(one, SAME[i]), text_of(other, SAME[i])) != 0)
            return false;
    if (!json_equal(json_object_get(one, "options"), json_object_get(other, "options")) &&
        (json_object_get(one, "options") || json_object_get(other, "options")))
        return false;
    char *question = words_of(one), *also = words_of(other);
    bool alike = strcmp(question, also) == 0;
    free(question);
    free(also);
    return alike;
}

/* Is it a question that can be answered this way, or a goal that can be released? */
static bool is_open(const json_t *item, bool questions) {
    if (questions)
        return strcmp(text_of(item, "kind"), "decide") == 0 && !json_object_get(item, "answer");
    return !*text_of(item, "questionId");
}

/* By its name, its id, or a prefix of that. */
static bool goal_is_meant(const json_t *item, const char *goal) {
    struct str id = str_of(text_of(item, "goalId")), with = str_of(goal);
    bool whole = str_begins(id, STR("goal_"));
    struct str bare = whole ? (struct str){id.at + 5, id.len - 5} : id;
    return str_begins(id, with) || str_begins(bare, with) ||
           strcasecmp(text_of(item, "name"), goal) == 0;
}

static bool question_is_meant(const json_t *item, const char *question) {
    struct question_name meant, has;
    if (!question_name_parse(str_of(question), &meant) ||
        !question_name_parse(str_of(text_of(item, "questionId")), &has))
        return false;
    bool whole = meant.number || meant.host ||
                 meant.repository.len > 0; /* otherwise it is named together with its goal */
    bool same = meant.number == has.number && meant.host == has.host &&
                str_equal(meant.repository, has.repository);
    return meant.n == has.n && (!whole || same);
}

static bool is_meant(const struct typed *typed, const json_t *item, bool questions) {
    const char *goal = typed_text(typed, "goal");
    bool there = goal_is_meant(item, goal ? goal : "");
    return questions ? question_is_meant(item, typed_text(typed, "question")) && there : there;
}

/* The item that was named; NULL: it is not waiting, or the name fits several. */
static const json_t *meant_find(const struct typed *typed, const json_t *items, bool questions) {
    const json_t *found = NULL;
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item) {
        if (!is_open(item, questions) || !is_meant(typed, item, questions))
            continue;
        if (found)
            return NULL;
        found = item;
    }
    return found;
}

static bool item_settle(struct typed *typed, const json_t *item, bool questions) {
    json_t *params = json_deep_copy(typed->params);
    const char *key = typed_text(typed, "key"), *goal = text_of(item, "goalId");
    json_object_del(params, "same");
    json_object_set_new(params, "goal", json_string(goal));
    if (questions)
        json_object_set_new(params, "question", json_string(text_of(item, "questionId")));
    if (key) /* each item is a separate request */
        json_object_set_new(params, "key",
                            json_sprintf("%s-%s%s", key, goal, text_of(item, "questionId")));
    json_t *result = typed_ask(typed, typed->command->op->name, params);
    json_decref(result);
    return result != NULL;
}

static void settled_say(const struct typed *typed, const json_t *settled) {
    size_t i;
    json_t *item;
    if (typed->as_json) {
        json_t *question = json_pack("{s:O}", "settled", settled);
        json_dumpf(question, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(question);
        return;
    }
    json_array_foreach(settled, i, item) printf("%-4s %s  %s\n", text_of(item, "questionId"),
                                                text_of(item, "goalId"), text_of(item, "title"));
    printf("%zu %s.\n", json_array_size(settled), typed->dry_run ? "would be settled" : "settled");
}

static json_t *short_of(const json_t *item) {
    return json_pack("{s:s, s:s, s:s}", "goalId", text_of(item, "goalId"), "questionId",
                     text_of(item, "questionId"), "title", text_of(item, "title"));
}

/* If one item fails, those that were settled before it are still reported. */
static bool all_settle(struct typed *typed, const json_t *items, const json_t *meant,
                       bool questions) {
    json_t *settled = json_array(), *item;
    bool good = true;
    size_t i;
    json_array_foreach(items, i, item) {
        if (!good || !is_open(item, questions) || !is_alike(item, meant))
            continue;
        good = typed->dry_run || item_settle(typed, item, questions);
        if (good)
            json_array_append_new(settled, short_of(item));
    }
    if (good || json_array_size(settled) > 0)
        settled_say(typed, settled);
    json_decref(settled);
    return good;
}

int alike_run(struct typed *typed) {
    bool questions = strcmp(typed->command->op->name, "question.answer") == 0, good = false;
    if (!typed_text(typed, questions ? "question" : "goal") ||
        !typed_text(typed, questions ? "answer" : "reason"))
        return op_run(typed); /* which reports what is missing */
    if (!task_goal_settle(typed, "goal"))
        return trouble_tell(&typed->trouble, typed->as_json);
    json_t *inbox = typed_ask(typed, "inbox.list", json_pack("{s:i}", "limit", MOST));
    const json_t *items = json_object_get(inbox, "items");
    const json_t *meant = inbox ? meant_find(typed, items, questions) : NULL;
    if (meant)
        good = all_settle(typed, items, meant, questions);
    else if (inbox) {
        if (json_is_true(json_object_get(inbox, "more")))
            trouble_make(&typed->trouble, ERROR_NOT_FOUND,
                         "It is not among the %d that have waited longest.", MOST);
        else
            trouble_make(&typed->trouble, ERROR_NOT_FOUND, "No open question matches.");
        trouble_next(&typed->trouble, "See what waits: overseer inbox");
    }
    bool more = good && json_is_true(json_object_get(inbox, "more"));
    json_decref(inbox);
    if (more && !typed->as_json)
        printf("More than %d wait. Repeat the command for the rest.\n", MOST);
    return good ? 0 : trouble_tell(&typed->trouble, typed->as_json);
}
