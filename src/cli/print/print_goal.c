/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one goal, or a list of goals. */
#include "cli/print/print.h"

#include <stdlib.h>

/* Promise 3: a done goal always says what that word is based on. */
const char *proof_say(const json_t *goal) {
    static const struct {
        const char *proof, *words;
    } WORDS[] = {
        {"landed", ", verified and landed"}, {"verified", ", verified"}, {"accepted", ", by you"}};
    for (size_t i = 0; i < count_of(WORDS); i++)
        if (strcmp(text_of(goal, "proof"), WORDS[i].proof) == 0)
            return WORDS[i].words;
    return ", unverified";
}

static void done_print(const json_t *goal) {
    const char *proof = text_of(goal, "proof"), *landed = text_of(goal, "landed");
    printf("%s", proof_say(goal));
    if (strcmp(proof, "unverified") == 0)
        printf("%s", json_object_get(goal, "plan") ? ": every phase of its plan is marked as done"
                                                   : ": its command ended with status 0");
    if (*landed) {
        printf(": ");
        text_say(stdout, landed);
    }
}

static void print_state(const json_t *goal) {
    const char *state = text_of(goal, "state"), *need = text_of(goal, "need");
    tint_on(stdout, TINT_BOLD);
    text_say(stdout, text_of(goal, "title"));
    tint_off(stdout, TINT_BOLD);
    state_say(state);
    if (strcmp(state, "done") == 0)
        done_print(goal);
    if (strcmp(need, "failed") == 0)
        printf(": its command ended with status %lld", number_of(goal, "lastExit"));
    if (strcmp(need, "unconfirmed") == 0)
        printf(
            ": it is unknown whether its command was carried out; check that before you repeat it");
    printf("\n");
    if (json_object_get(goal, "quarantined")) {
        printf("  quarantined: ");
        text_say(stdout, text_of(goal, "quarantined"));
        printf("\n");
    }
}

static void print_records(const json_t *records) {
    size_t length = ID_TEXT;
    for (size_t i = json_array_size(records); i > 0; i--)
        print_event(json_array_get(records, i - 1), length);
}

/* Usual values are not printed. */
static void print_facts(const json_t *goal) {
    char created[CLOCK_TEXT];
    const char *priority = text_of(goal, "priority");
    tint_on(stdout, TINT_DIM);
    printf("  %s  created %s", text_of(goal, "goalId"),
           clock_format(time_of(goal, "createdAt"), clock_now(), created));
    if (*text_of(goal, "repo")) {
        printf("  in ");
        text_say(stdout, text_of(goal, "repo"));
    }
    if (*priority && strcmp(priority, "normal") != 0)
        printf("  %s", priority);
    if (number_of(goal, "reports") > 0)
        printf("  %lld reports", number_of(goal, "reports"));
    if (number_of(goal, "host") > 1)
        printf("  host %lld", number_of(goal, "host"));
    tint_off(stdout, TINT_DIM);
    printf("\n");
}

/* The answers of tasks that wanted one: nothing has checked them. */
static void print_answers(const json_t *nodes) {
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node) {
        const char *answer = text_of(node, "answer");
        if (*answer) {
            printf("ANSWER, unverified\n");
            lines_say(answer);
        }
        print_answers(json_object_get(node, "tasks"));
        print_answers(json_object_get(node, "subtasks"));
    }
}

void print_goal(const struct typed *typed, const json_t *goal) {
    print_state(goal);
    print_facts(goal);
    if (json_object_get(goal, "plan"))
        print_plan(typed, json_object_get(goal, "plan"));
    print_answers(json_object_get(json_object_get(goal, "plan"), "phases"));
    print_records(json_object_get(goal, "records"));
}

/* A goal without a plan has no percentage. */
void percent_cell(struct table *table, const json_t *goal) {
    long long percent = number_of(goal, "percent");
    if (percent > 0)
        table_cell(table, TINT_NONE, "%lld%%", percent);
    else
        table_cell(table, TINT_NONE, "%s", "");
}

void print_goals(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {{.title = "id"},
                                            {.title = "state"},
                                            {.title = "done", .right = true},
                                            {.title = "prio"},
                                            {.title = "age", .right = true, .least = AGE_WIDE},
                                            {.title = "title", .bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    const json_t *goals = json_object_get(result, "goals");
    size_t i, length = ids_length(goals);
    json_t *goal;
    char id[ID_TEXT + 1], age[AGE_TEXT], repo[REPO_TEXT];
    bool differ = repos_differ(goals);
    (void)typed;
    json_array_foreach(goals, i, goal) {
        const char *state = text_of(goal, "state"), *priority = text_of(goal, "priority");
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", name_or_id(goal, length, id));
        table_cell(&table, state_tint(state), "%s", state);
        percent_cell(&table, goal);
        table_cell(&table, TINT_NONE, "%s", strcmp(priority, "normal") == 0 ? "" : priority);
        table_cell(&table, TINT_DIM, "%s", age_of(goal, "createdAt", age));
        table_cell(&table, TINT_NONE, "%s%s", repo_before(goal, differ, repo),
                   text_of(goal, "title"));
    }
    table_print(&table);
    if (json_array_size(goals) == 0)
        hint("No goal matches. Create one with: overseer goal create \"…\"");
    if (*text_of(result, "next"))
        hint("More: overseer goal list --after %s", text_of(result, "next"));
}
