/* SPDX-License-Identifier: Apache-2.0 */
/* What do people see? */
#include "cli/print.h"

#include "ops/op.h"

#include <stdio.h>

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static long long number_of(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

void print_written(const json_t *result) {
    printf("%s\n", text_of(result, "goalId"));
    if (json_is_true(json_object_get(result, "forwarded")))
        fprintf(stderr, "Kept for the host that owns this goal; it is applied there.\n");
}

/* A done goal always says what the word rests on. */
static void print_state(const json_t *goal) {
    printf("%s is %s", text_of(goal, "title"), text_of(goal, "state"));
    if (strcmp(text_of(goal, "state"), "done") == 0)
        printf(", unverified: its command ended with status 0");
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
    if (*text_of(record, "text"))
        printf("  %s", text_of(record, "text"));
    printf("  [%s", text_of(record, "rule"));
    if (*text_of(record, "actor"))
        printf(", %s", text_of(record, "actor"));
    printf("]\n");
}

void print_goal(const json_t *goal) {
    print_state(goal);
    printf("  %s  created %.19s  version %lld  reports %lld  host %lld\n", text_of(goal, "goalId"),
           text_of(goal, "createdAt"), number_of(goal, "version"), number_of(goal, "reports"),
           number_of(goal, "owner"));
    const json_t *records = json_object_get(goal, "records");
    for (size_t i = json_array_size(records); i > 0; i--)
        print_record(json_array_get(records, i - 1));
}

static void print_op(const struct op *op) {
    const char *dot = strchr(op->name, '.');
    printf("  overseer %.*s %s", (int)(dot - op->name), op->name, dot + 1);
    for (size_t i = 0; i < op->param_count; i++)
        if (i < op->positional)
            printf(" %s", op->params[i].name);
        else
            printf(" [--%s …]", op->params[i].name);
    printf("\n      %s\n", op->summary);
    for (size_t i = 0; i < op->param_count; i++)
        printf("        %-10s %s\n", op->params[i].name, op->params[i].text);
    for (const char *line = op->help; line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        printf("      %.*s\n", (int)strcspn(line, "\n"), line);
}

void print_help(void) {
    printf("usage: overseer NOUN VERB … [--json] [--socket PATH]\n\n");
    for (size_t i = 0; i < OP_COUNT; i++)
        print_op(OPS[i]);
    printf(
        "\n  --json prints the answer as JSON. The daemon is found by --socket, OVERSEER_SOCKET, or in the state\n"
        "  folder. Exit status: 0 done, 2 not valid, 3 not found, 4 conflict, 5 set aside, 6 try again,\n"
        "  7 no daemon.\n");
}
