/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the inbox: what waits for the user. */
#include "cli/print/print.h"

#include <stdio.h>
#include <string.h>

/* "a) drop  b) keep" */
static void options_write(const json_t *item, char *text, size_t size) {
    const json_t *options = json_object_get(item, "options");
    size_t i;
    json_t *option;
    text[0] = 0;
    json_array_foreach(options, i, option) {
        size_t used = strlen(text);
        if (used + 8 < size)
            snprintf(text + used, size - used, "%s%c) %s", i ? "  " : "", (char)('a' + i),
                     json_string_value(option));
    }
}

/* A question as one row of the status. */
void question_cells(struct table *table, const json_t *item, size_t id_length) {
    char age[AGE_TEXT], options[256], goal[ID_TEXT + 1];
    bool approve = strcmp(text_of(item, "kind"), "approve") == 0;
    bool alert = strcmp(text_of(item, "kind"), "alert") == 0;
    bool narrow = term_width() > 0 && term_width() < 100;
    const char *node = text_of(item, "node"), *question = text_of(item, "question");
    size_t length = strlen(node);
    if (length > 0 && strncmp(question, node, length) == 0 &&
        strncmp(question + length, ": ", 2) == 0)
        question += length + 2; /* the node has its own cell before the question */
    options_write(item, options, sizeof options);
    table_cell(table, TINT_BOLD, "%s", text_of(item, "questionId"));
    table_cell(table, TINT_DIM, "%s", age_of(item, "since", age));
    table_cell(table, TINT_WARN, "%s", *node ? node : text_of(item, "kind"));
    table_cell(table, TINT_NONE, "%s", question);
    table_cell(table, TINT_DIM, "%s", approve || narrow ? "" : options);
    if (strncmp(text_of(item, "cause"), "done.", 5) == 0) {
        table_cell(table, TINT_DIM, "overseer diff|land|reject %s",
                   name_or_id(item, id_length, goal));
        return;
    }
    const char *verb = approve ? "approve|reject" : alert ? "ack" : "answer";
    const char *name = text_of(item, "questionId");
    if (strchr(name, '.'))
        table_cell(table, TINT_DIM, "overseer %s %s", verb, name);
    else /* other goals may have a question that is called the same */
        table_cell(table, TINT_DIM, "overseer %s %s --goal %s", verb, name,
                   name_or_id(item, id_length, goal));
}

static void line_say(const char *before, const char *text) {
    if (!*text)
        return;
    int used = printf("      %s", before);
    text_wrap(stdout, text, (size_t)used, 8);
}

static void deadline_say(const json_t *item) {
    char at[CLOCK_TEXT];
    int64_t expires = time_of(item, "expiresAt"), snoozed = time_of(item, "snoozedUntil"),
            applies = time_of(item, "appliesAt");
    const char *fallback = text_of(item, "default");
    if (applies)
        printf("      answered %s, takes effect %s: it can be undone until then\n",
               text_of(item, "answer"), clock_format(applies, clock_now(), at));
    else if (expires && *fallback)
        printf("      default at %s: %s\n", clock_format(expires, clock_now(), at), fallback);
    else if (expires)
        printf("      expires %s\n", clock_format(expires, clock_now(), at));
    if (snoozed > clock_now())
        printf("      put off until %s\n", clock_format(snoozed, clock_now(), at));
    if (flag_of(item, "acknowledged"))
        printf("      acknowledged by a person\n");
}

static void denials_say(const json_t *item) {
    long long tries = number_of(item, "tries");
    if (*text_of(item, "host"))
        printf("      %lld %s of %s, no work waits for it\n", tries, tries == 1 ? "try" : "tries",
               text_of(item, "host"));
}

static void detail_print(const json_t *item, size_t id_length) {
    size_t i;
    json_t *command;
    char options[512];
    options_write(item, options, sizeof options);
    if (!*text_of(item, "questionId"))
        line_say("", text_of(item, "question"));
    else if (strcmp(text_of(item, "text"), text_of(item, "question")) != 0)
        line_say("", text_of(item, "text"));
    denials_say(item);
    line_say("", options);
    deadline_say(item);
    line_say("why asked: ", text_of(item, "why"));
    line_say("evidence: ", text_of(item, "evidence"));
    json_array_foreach(json_object_get(item, "do"), i, command) {
        tint_on(stdout, TINT_DIM);
        printf("      %s", i ? "  " : "→ ");
        command_say(json_string_value(command), id_length);
        tint_off(stdout, TINT_DIM);
        printf("\n");
    }
}

/* "T11 T13": the tasks that a question of a repository is about; otherwise the name of its goal. */
static void tasks_write(const json_t *item, size_t id_length, char *text, size_t size) {
    const json_t *tasks = json_object_get(item, "tasks");
    size_t i;
    json_t *task;
    text[0] = 0;
    json_array_foreach(tasks, i, task) {
        size_t used = strlen(text);
        if (used + 40 > size) {
            snprintf(text + used, size - used, " and %zu more", json_array_size(tasks) - i);
            break;
        }
        snprintf(text + used, size - used, "%s%s", i ? " " : "", json_string_value(task));
    }
    if (!tasks) {
        char id[ID_TEXT + 1];
        snprintf(text, size, "%s", name_or_id(item, id_length, id));
    }
}

/* A question is named by its short id, any other item by the short id of its goal. */
static void head_print(const json_t *item, size_t id_length, bool repos) {
    char id[ID_TEXT + 1], age[AGE_TEXT], repo[REPO_TEXT], tasks[128], *name = id;
    const char *question = text_of(item, "questionId"), *node = text_of(item, "node");
    name_or_id(item, id_length, id);
    if (*question)
        name = (char *)(uintptr_t)question;
    tint_on(stdout, TINT_BOLD);
    printf("  %-*s", (int)(*question ? 4 : id_length), name);
    tint_off(stdout, TINT_BOLD);
    printf("  %6s  ", age_of(item, "since", age));
    tint_on(stdout, TINT_WARN);
    text_print(stdout, str_of(text_of(item, "kind")), 0, *question ? 8 : 11);
    tint_off(stdout, TINT_WARN);
    printf("  %s%s", node, *node ? "  " : "");
    text_say(stdout, repo_before(item, repos, repo));
    text_say(stdout, text_of(item, *question ? "question" : "title"));
    if (*question) {
        tint_on(stdout, TINT_DIM);
        tasks_write(item, id_length, tasks, sizeof tasks);
        printf("  (%s ", tasks);
        text_say(stdout, text_of(item, "title"));
        printf(")");
        tint_off(stdout, TINT_DIM);
    }
    printf("\n");
}

static int64_t first_expiry(const json_t *items) {
    int64_t first = 0;
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item) {
        int64_t at = time_of(item, "expiresAt");
        first = at && (first == 0 || at < first) ? at : first;
    }
    return first;
}

void print_inbox(const struct typed *typed, const json_t *result) {
    const json_t *items = json_object_get(result, "items");
    size_t i, length = ids_length(items);
    json_t *item;
    char age[AGE_TEXT], at[CLOCK_TEXT];
    int64_t expires = first_expiry(items);
    (void)typed;
    if (json_array_size(items) == 0) {
        printf("Nothing waits for you.\n");
        return;
    }
    printf("%zu%s open, oldest %s", json_array_size(items), flag_of(result, "more") ? "+" : "",
           age_of(json_array_get(items, 0), "since", age));
    if (expires)
        printf(", the first expires %s", clock_format(expires, clock_now(), at));
    printf("\n");
    json_array_foreach(items, i, item) {
        head_print(item, length, repos_differ(items));
        detail_print(item, length);
    }
}
