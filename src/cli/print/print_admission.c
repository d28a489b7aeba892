/* SPDX-License-Identifier: Apache-2.0 */
/* Prints budgets, and what a host may begin. */
#include "cli/print/print.h"

/* Money is counted in millionths. */
static void amount_cell(struct table *table, const json_t *budget, const char *name) {
    long long amount = number_of(budget, name);
    if (strcmp(text_of(budget, "unit"), "money") == 0)
        table_cell(table, TINT_NONE, "$%lld.%02lld", amount / 1000000, amount % 1000000 / 10000);
    else
        table_cell(table, TINT_NONE, "%lld", amount);
}

static void budgets_print(const json_t *budgets) {
    static const struct column COLUMNS[] = {{.title = "budget"},
                                            {.title = "of"},
                                            {.title = "in"},
                                            {.title = "most", .right = true},
                                            {.title = "spent", .right = true},
                                            {.title = "reserved", .right = true},
                                            {.title = "left", .right = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    size_t i;
    json_t *budget;
    json_array_foreach(budgets, i, budget) {
        const char *window = text_of(budget, "window");
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", text_of(budget, "scope"));
        table_cell(&table, TINT_DIM, "%s", text_of(budget, "unit"));
        table_cell(&table, TINT_DIM, "%s", *window ? window : "all");
        amount_cell(&table, budget, "most");
        amount_cell(&table, budget, "spent");
        amount_cell(&table, budget, "reserved");
        amount_cell(&table, budget, "left");
    }
    table_print(&table);
}

static void accounts_print(const json_t *accounts) {
    size_t i;
    json_t *account;
    json_array_foreach(accounts, i, account) {
        char at[CLOCK_TEXT];
        int64_t until = time_of(account, "limitedUntil");
        printf("%s is at its limit", text_of(account, "account"));
        if (until)
            printf(" until %s", clock_format(until, clock_now(), at));
        printf("%s\n",
               flag_of(account, "guessed") ? " (estimated: the provider gave no reset time)" : "");
    }
}

void print_budgets(const struct typed *typed, const json_t *result) {
    const json_t *budgets = json_object_get(result, "budgets");
    (void)typed;
    if (json_array_size(budgets) == 0)
        printf("No budget is set: only the quotas of the accounts limit spending.\n");
    budgets_print(budgets);
    accounts_print(json_object_get(result, "accounts"));
}

static void permits_print(const char *title, const json_t *permits) {
    static const struct column COLUMNS[] = {
        {0}, {.bends = true}, {0}, {.right = true}, {.right = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    size_t i, length = ids_length(permits);
    json_t *permit;
    if (json_array_size(permits) == 0)
        return;
    printf("%s\n", title);
    json_array_foreach(permits, i, permit) {
        char id[ID_TEXT + 1], age[AGE_TEXT];
        table_row(&table);
        table_cell(&table, TINT_DIM, "%s", name_or_id(permit, length, id));
        table_cell(&table, TINT_NONE, "%s", text_of(permit, "title"));
        table_cell(&table, TINT_NONE, "%s", text_of(permit, "agentId"));
        table_cell(&table, TINT_DIM, "%lld", number_of(permit, "score"));
        table_cell(&table, TINT_DIM, "%s", age_of(permit, "askedAt", age));
    }
    table_print(&table);
}

void print_admission(const struct typed *typed, const json_t *result) {
    (void)typed;
    printf("host %lld: %lld at work, %lld waiting\n", number_of(result, "host"),
           number_of(result, "runningCount"), number_of(result, "waitingCount"));
    if (flag_of(result, "suspended"))
        printf(
            "This host has suspended itself: too many interventions at once. To continue: overseer desk release --reason \"…\"\n");
    permits_print("AT WORK", json_object_get(result, "running"));
    permits_print("WAITING", json_object_get(result, "waiting"));
    budgets_print(json_object_get(result, "budgets"));
    accounts_print(json_object_get(result, "accounts"));
}

void print_lane(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {{0}, {0}, {.bends = true}, {0}, {.right = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    const json_t *lane = json_object_get(result, "lane");
    size_t i, length = ids_length(lane);
    json_t *entry;
    (void)typed;
    if (flag_of(result, "held"))
        printf("The lane is held: nothing new lands. To continue: overseer lane release\n");
    if (json_array_size(lane) == 0)
        printf("Nothing waits to land.\n");
    json_array_foreach(lane, i, entry) {
        char id[ID_TEXT + 1], age[AGE_TEXT];
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", flag_of(entry, "slot") ? "lands" : "waits");
        table_cell(&table, TINT_DIM, "%s", name_or_id(entry, length, id));
        table_cell(&table, TINT_NONE, "%s", text_of(entry, "title"));
        table_cell(&table, TINT_NONE, "%s", text_of(entry, "agentId"));
        table_cell(&table, TINT_DIM, "%s", age_of(entry, "since", age));
    }
    table_print(&table);
}

void print_network(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {{0}, {.bends = true}, {0}, {.right = true}, {0}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    const json_t *hosts = json_object_get(result, "hosts");
    size_t i;
    json_t *entry;
    (void)typed;
    if (json_array_size(hosts) == 0)
        printf("No host was denied, and none was decided about.\n");
    json_array_foreach(hosts, i, entry) {
        const char *name = text_of(entry, "name");
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", text_of(entry, "decision"));
        table_cell(&table, TINT_NONE, "%s", text_of(entry, "host"));
        table_cell(&table, TINT_NONE, "%s", *name ? name : "every task");
        table_cell(&table, TINT_DIM, "%lld %s", number_of(entry, "tries"),
                   number_of(entry, "tries") == 1 ? "try" : "tries");
        table_cell(&table, TINT_DIM, "%s", text_of(entry, "questionId"));
    }
    table_print(&table);
}
