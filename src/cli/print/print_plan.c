/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a plan, its history, and its advice. */
#include "cli/print/print.h"

static const struct column NODES[] = {{.title = "task"},
                                      {.title = "status"},
                                      {.title = "done", .right = true},
                                      {.title = "name", .bends = true},
                                      {.title = "waits for", .bends = true}};
/* These columns are shown if any row has a value in them. */
static const struct column CHECKS = {.title = "checks"}, SAYS = {.title = "says", .bends = true};

struct extra {
    bool checks, says;
};

static void waits_for(const json_t *node, char *text, size_t size) {
    const json_t *reason = json_object_get(node, "blockedReason");
    size_t i, used = 0;
    json_t *other;
    text[0] = 0;
    if (json_is_object(reason)) {
        snprintf(text, size, "%s: %s", text_of(reason, "kind"), text_of(reason, "text"));
        return;
    }
    if (strcmp(text_of(node, "status"), "todo") != 0)
        return;
    json_array_foreach(json_object_get(node, "dependsOn"), i, other) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
                                 json_string_value(other));
        if (used >= size)
            return;
    }
}

/* What the node's agent reports, which proves nothing: its progress, and at the end its outcome. */
static void override_write(const json_t *node, char *text, size_t size) {
    const json_t *progress = json_object_get(node, "latestProgress");
    const char *ended = text_of(node, "completion"), *confidence = text_of(node, "confidence");
    text[0] = 0;
    if (*ended)
        snprintf(text, size, "%s%s%s", ended, *confidence ? ", confidence " : "", confidence);
    else if (json_is_integer(json_object_get(progress, "percentComplete")))
        snprintf(text, size, "%lld%%: %s", number_of(progress, "percentComplete"),
                 text_of(progress, "phase"));
    else if (json_is_object(progress))
        snprintf(text, size, "%s", text_of(progress, "phase"));
}

/* VERIFY-20, VERIFY-22: the state of its checks; a node that nothing has checked is called unverified. */
static const char *checks_of(const json_t *node, enum tint *ret_tint) {
    const char *state = text_of(json_object_get(node, "verification"), "state");
    bool skipped = strcmp(state, "skipped") == 0;
    *ret_tint = skipped || strcmp(state, "failed") == 0 ? TINT_WARN
                : strcmp(state, "passed") == 0          ? TINT_GOOD
                                                        : TINT_DIM;
    return skipped ? "unverified" : state;
}

static struct extra extra_of(const json_t *nodes) {
    static const char *const BELOW[] = {"tasks", "subtasks"};
    struct extra extra = {0};
    size_t i;
    json_t *node;
    char override_text[256];
    enum tint tint;
    json_array_foreach(nodes, i, node) {
        override_write(node, override_text, sizeof override_text);
        extra.says = extra.says || override_text[0];
        extra.checks = extra.checks || *checks_of(node, &tint);
        for (size_t k = 0; k < count_of(BELOW); k++) {
            struct extra below = extra_of(json_object_get(node, BELOW[k]));
            extra.says = extra.says || below.says;
            extra.checks = extra.checks || below.checks;
        }
    }
    return extra;
}

static void nodes_add(struct table *table, const json_t *nodes, int depth, struct extra extra) {
    size_t i;
    json_t *node;
    char waits[512], override_text[256];
    enum tint tint;
    json_array_foreach(nodes, i, node) {
        const char *status = text_of(node, "status"), *checks = checks_of(node, &tint);
        table_row(table);
        table_cell(table, TINT_NONE, "%*s%s", 2 * depth, "", text_of(node, "id"));
        table_cell(table, state_tint(status), "%s",
                   strcmp(status, "in_progress") == 0 ? "working" : status);
        table_cell(table, TINT_NONE, "%lld%%", number_of(node, "percent"));
        table_cell(table, TINT_NONE, "%s", text_of(node, "name"));
        waits_for(node, waits, sizeof waits);
        table_cell(table, TINT_WARN, "%s", waits);
        if (extra.checks)
            table_cell(table, tint, "%s", checks);
        override_write(node, override_text, sizeof override_text);
        if (extra.says)
            table_cell(table, TINT_DIM, "%s", override_text);
        nodes_add(table, json_object_get(node, "tasks"), depth + 1, extra);
        nodes_add(table, json_object_get(node, "subtasks"), depth + 1, extra);
    }
}

void print_plan(const struct typed *typed, const json_t *plan) {
    const json_t *phases = json_object_get(plan, "phases");
    struct extra extra = extra_of(phases);
    struct column columns[count_of(NODES) + 2];
    size_t count = count_of(NODES);
    (void)typed;
    memcpy(columns, NODES, sizeof NODES);
    if (extra.checks)
        columns[count++] = CHECKS;
    if (extra.says)
        columns[count++] = SAYS;
    struct table table = {.columns = columns, .column_count = count, .indent = 2};
    printf("plan version %lld, %lld%% done%s%s\n", number_of(plan, "version"),
           number_of(plan, "percent"), flag_of(plan, "reviewNeeded") ? ", needs a review" : "",
           flag_of(plan, "proposalWaits") ? ", a new version waits for approval" : "");
    nodes_add(&table, phases, 0, extra);
    table_print(&table);
}

void print_history(const struct typed *typed, const json_t *result) {
    size_t i;
    json_t *record;
    (void)typed;
    json_array_foreach(json_object_get(result, "planRevisionHistory"), i, record)
        print_event(record, ID_TEXT);
}

/* ---- its advice ---- */

static void ids_print(const char *title, const json_t *ids) {
    size_t i;
    json_t *id;
    printf("%-14s", title);
    json_array_foreach(ids, i, id) {
        printf(" ");
        text_say(stdout, json_string_value(id));
    }
    printf("%s\n", json_array_size(ids) ? "" : " none");
}

void print_insights(const struct typed *typed, const json_t *result) {
    size_t i;
    json_t *one, *value;
    const char *name;
    (void)typed;
    ids_print("critical path", json_object_get(result, "criticalPath"));
    printf("%-14s %lld of %lld minutes\n", "takes", number_of(result, "criticalMinutes"),
           number_of(result, "workMinutes"));
    ids_print("in parallel", json_object_get(result, "parallel"));
    json_array_foreach(json_object_get(result, "bottlenecks"), i, one)
        printf("%-14s %s, %lld wait for it\n", "bottleneck", text_of(one, "node"),
               number_of(one, "waiting"));
    json_object_foreach(json_object_get(result, "leaves"), name, value) {
        if (json_integer_value(value) > 0)
            printf("%-14s %lld\n", name, (long long)json_integer_value(value));
    }
}

void print_picks(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {{.title = "next"},
                                            {.title = "score", .right = true},
                                            {.title = "on the path", .right = true},
                                            {.title = "unblocks", .right = true},
                                            {.title = "waited", .right = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    const json_t *next = json_object_get(result, "next");
    size_t i;
    json_t *pick;
    char waited[AGE_TEXT];
    (void)typed;
    json_array_foreach(next, i, pick) {
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", text_of(pick, "node"));
        table_cell(&table, TINT_NONE, "%lld", number_of(pick, "score"));
        table_cell(&table, TINT_NONE, "%lld", number_of(pick, "critical"));
        table_cell(&table, TINT_NONE, "%lld", number_of(pick, "unblocks"));
        table_cell(&table, TINT_NONE, "%s", age_format(number_of(pick, "waited") * 60, waited));
    }
    table_print(&table);
    if (json_array_size(next) == 0)
        hint("Nothing is ready: every open task is in progress or waits.");
}
