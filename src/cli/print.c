/* SPDX-License-Identifier: Apache-2.0 */
/* What do people see? */
#include "cli/print.h"

#include "ops/op.h"

#include <stdio.h>
#include <stdlib.h>

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static long long number_of(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

static void print_written(const json_t *result) {
    printf("%s\n", text_of(result, "goalId"));
    if (json_is_true(json_object_get(result, "forwarded")))
        fprintf(stderr, "Kept for the host that owns this goal; it is applied there.\n");
}

static bool done_by_person(const json_t *goal) {
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(goal, "records"), i,
                       record) if (strcmp(text_of(record, "type"), "goal.completed") ==
                                   0) return strcmp(text_of(record, "rule"), "goal.move") == 0;
    return false;
}

/* A done goal always says what the word rests on. */
static void print_state(const json_t *goal) {
    printf("%s is %s", text_of(goal, "title"), text_of(goal, "state"));
    if (strcmp(text_of(goal, "state"), "done") == 0)
        printf(done_by_person(goal) ? ", by you"
               : json_object_get(goal, "plan")
                   ? ", unverified: every phase of its plan is called done"
                   : ", unverified: its command ended with status 0");
    if (strcmp(text_of(goal, "need"), "failed") == 0)
        printf(": its command ended with status %lld", number_of(goal, "lastExit"));
    if (strcmp(text_of(goal, "need"), "unconfirmed") == 0)
        printf(": it is not known whether its command was carried out; look before you repeat it");
    printf("\n");
    if (json_object_get(goal, "quarantined"))
        printf("  set aside: %s\n", text_of(goal, "quarantined"));
}

static void print_record(const json_t *record) {
    printf("  %.19s  %-20s", text_of(record, "at"), text_of(record, "type"));
    if (*text_of(record, "node"))
        printf("  %s", text_of(record, "node"));
    if (*text_of(record, "to"))
        printf(" %s → %s", text_of(record, "from"), text_of(record, "to"));
    if (*text_of(record, "text"))
        printf("  %s", text_of(record, "text"));
    if (*text_of(record, "reason"))
        printf("  \"%s\"", text_of(record, "reason"));
    printf("  [%s", text_of(record, "rule"));
    if (*text_of(record, "actor"))
        printf(", %s", text_of(record, "actor"));
    printf("]\n");
}

static void print_plan(const json_t *plan);

static void print_goal(const json_t *goal) {
    print_state(goal);
    printf("  %s  created %.19s  version %lld  reports %lld  host %lld\n", text_of(goal, "goalId"),
           text_of(goal, "createdAt"), number_of(goal, "version"), number_of(goal, "reports"),
           number_of(goal, "host"));
    if (json_object_get(goal, "plan"))
        print_plan(json_object_get(goal, "plan"));
    const json_t *records = json_object_get(goal, "records");
    for (size_t i = json_array_size(records); i > 0; i--)
        print_record(json_array_get(records, i - 1));
}

/* ---- plans ---- */

static void print_nodes(const json_t *nodes, int depth) {
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node) {
        printf("%*s%-8s %-11s %3lld%%  %s", 2 + 2 * depth, "", text_of(node, "id"),
               text_of(node, "status"), number_of(node, "percent"), text_of(node, "name"));
        const json_t *reason = json_object_get(node, "blockedReason");
        if (json_is_object(reason))
            printf("  (%s: %s)", text_of(reason, "kind"), text_of(reason, "text"));
        printf("\n");
        print_nodes(json_object_get(node, "tasks"), depth + 1);
        print_nodes(json_object_get(node, "subtasks"), depth + 1);
    }
}

static void print_plan(const json_t *plan) {
    printf(
        "plan version %lld, %lld%% done%s%s\n", number_of(plan, "version"),
        number_of(plan, "percent"),
        json_is_true(json_object_get(plan, "reviewNeeded")) ? ", somebody should look at it" : "",
        json_is_true(json_object_get(plan, "proposalWaits")) ? ", a new version waits for approval"
                                                             : "");
    print_nodes(json_object_get(plan, "phases"), 0);
}

/* ---- lists ---- */

static void print_list(const json_t *result) {
    size_t i;
    json_t *goal;
    json_array_foreach(json_object_get(result, "goals"), i, goal)
        printf("%s  %-9s %3lld%%  %s\n", text_of(goal, "goalId"), text_of(goal, "state"),
               number_of(goal, "percent"), text_of(goal, "title"));
    if (json_object_get(result, "next"))
        printf("more: overseer goal list --after %s\n", text_of(result, "next"));
}

static void print_history(const json_t *result) {
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(result, "planRevisionHistory"), i, record)
        print_record(record);
}

/* Anything else: name and value, a line each. */
static void print_members(const json_t *result) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)result, name, value) {
        char *text =
            json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        printf("%-16s %s\n", name, text ? text : json_string_value(value));
        free(text);
    }
}

void print_result(const struct op *op, const json_t *result) {
    if (json_object_get(result, "records") && json_object_get(result, "effects"))
        print_goal(result);
    else if (json_object_get(result, "phases"))
        print_plan(result);
    else if (json_object_get(result, "goals"))
        print_list(result);
    else if (json_object_get(result, "planRevisionHistory"))
        print_history(result);
    else if (op->kind == OP_WRITES && json_object_get(result, "goalId"))
        print_written(result);
    else
        print_members(result);
}
