/* SPDX-License-Identifier: Apache-2.0 */
/* Prints which agents work on what, and the handoffs that were written. */
#include "cli/print/print.h"

/* One word for the agent's state: what it waits for says more than its status. */
static const char *doing(const json_t *agent) {
    const char *waits = text_of(agent, "waitsFor"), *status = text_of(agent, "status");
    if (flag_of(agent, "attached"))
        return "attached";
    if (*waits && strcmp(waits, "nothing") != 0)
        return "waiting";
    return strcmp(status, "active") == 0 || strcmp(status, "dispatched") == 0 ? "working" : status;
}

static void waits_cell(struct table *table, const json_t *agent) {
    const char *waits = text_of(agent, "waitsFor"), *reason = text_of(agent, "blockedReason");
    char at[CLOCK_TEXT];
    int64_t until = time_of(agent, "waitsUntil");
    bool nothing = !*waits || strcmp(waits, "nothing") == 0;
    if (nothing || *reason)
        table_cell(table, TINT_NONE, "%s", reason);
    else if (until)
        table_cell(table, TINT_NONE, "%s until %s", waits, clock_format(until, clock_now(), at));
    else
        table_cell(table, TINT_NONE, "%s", waits);
}

void print_agents(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {{.title = "goal"},
                                            {.title = "task"},
                                            {.title = "agent"},
                                            {.title = "state"},
                                            {.title = "attempt", .right = true},
                                            {.title = "last sign", .right = true},
                                            {.title = "waits for", .bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    const json_t *agents = json_object_get(result, "assignments");
    size_t i, length = ids_length(agents);
    json_t *agent;
    (void)typed;
    if (json_array_size(agents) == 0) {
        printf("No agent is working now.\n");
        return;
    }
    json_array_foreach(agents, i, agent) {
        char id[ID_TEXT + 1], age[AGE_TEXT];
        table_row(&table);
        table_cell(&table, TINT_DIM, "%s", name_or_id(agent, length, id));
        table_cell(&table, TINT_NONE, "%s", text_of(agent, "workNodeId"));
        table_cell(&table, TINT_NONE, "%s", text_of(agent, "agentId"));
        table_cell(&table, state_tint(doing(agent)), "%s", doing(agent));
        table_cell(&table, TINT_NONE, "%lld", number_of(agent, "attempts"));
        table_cell(&table, TINT_DIM, "%s", age_of(agent, "lastObservedActivityAt", age));
        waits_cell(&table, agent);
    }
    table_print(&table);
    if (flag_of(result, "more"))
        hint("There are more: name a goal, or raise --limit.");
}

void print_handoffs(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {
        {.title = "handoff"}, {.title = "task"}, {.title = "when"}, {.title = "", .bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    const json_t *list = json_object_get(result, "handoffs");
    size_t i;
    json_t *handoff;
    (void)typed;
    if (json_array_size(list) == 0)
        printf("There is no handoff yet.\n");
    json_array_foreach(list, i, handoff) {
        char at[CLOCK_TEXT];
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", text_of(handoff, "crystallizationId"));
        table_cell(&table, TINT_NONE, "%s", text_of(handoff, "workNodeId"));
        table_cell(&table, TINT_DIM, "%s", clock_format(time_of(handoff, "ts"), clock_now(), at));
        table_cell(&table, TINT_NONE, "%s", text_of(handoff, "summary"));
    }
    table_print(&table);
}

static void list_print(const char *title, const json_t *list) {
    size_t i;
    json_t *one;
    if (json_array_size(list) == 0)
        return;
    printf("%s:\n", title);
    json_array_foreach(list, i, one) {
        printf("  %zu. ", i + 1);
        text_say(stdout, json_string_value(one));
        printf("\n");
    }
}

void print_handoff(const struct typed *typed, const json_t *result) {
    static const struct {
        const char *title, *name;
    } LISTS[] = {
        {"Next", "nextActions"},       {"Decided", "decisions"},  {"Open", "openQuestions"},
        {"Blockers", "knownBlockers"}, {"Files", "filesTouched"}, {"Commands", "commandsRun"},
        {"Tests", "testsRun"},         {"Commits", "commits"},    {"Pull requests", "prs"},
        {"Issues", "issues"},          {"See", "externalRefs"}};
    char at[CLOCK_TEXT];
    (void)typed;
    tint_on(stdout, TINT_BOLD);
    printf("%s", text_of(result, "crystallizationId"));
    tint_off(stdout, TINT_BOLD);
    printf("  ");
    text_say(stdout, text_of(result, "workNodeId"));
    printf("  %s\n", clock_format(time_of(result, "ts"), clock_now(), at));
    text_say(stdout, text_of(result, "summary"));
    printf("\n");
    fact_print("Now", text_of(result, "currentState"));
    for (size_t i = 0; i < count_of(LISTS); i++)
        list_print(LISTS[i].title, json_object_get(result, LISTS[i].name));
    fact_print("Transcript", text_of(result, "sessionKey"));
}
