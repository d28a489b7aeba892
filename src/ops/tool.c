/* SPDX-License-Identifier: Apache-2.0 */
/* What is an operation called as a tool of agents? */
#include "ops/tool.h"

#include <stdio.h>

static const struct {
    const char *tool, *op;
} ALSO[] = {
    {"report_progress", "goal.report"},
    {"request_orchestrator", "request.send"}, /* REQUEST-01 */
    {"respond_orchestrator_request", "request.respond"},
    {"overseer_update", "agent.update"},     /* UPDATE-11 */
    {"report_completion", "agent.complete"}, /* API-07 */
};

void tool_name(const struct op *op, char name[TOOL_NAME]) {
    snprintf(name, TOOL_NAME, "%s", op->name);
    for (char *dot = name; (dot = strchr(dot, '.'));)
        *dot = '_';
}

const char *tool_also(const struct op *op) {
    for (size_t i = 0; i < count_of(ALSO); i++)
        if (strcmp(ALSO[i].op, op->name) == 0)
            return ALSO[i].tool;
    return NULL;
}

const struct op *tool_find(struct str name) {
    for (size_t i = 0; i < OP_COUNT; i++) {
        char tool[TOOL_NAME];
        const char *also = tool_also(OPS[i]);
        tool_name(OPS[i], tool);
        if (str_equal(str_of(tool), name) || (also && str_equal(str_of(also), name)))
            return OPS[i];
    }
    return NULL;
}

bool tool_is_seen(const struct op *op, enum role role) {
    return (op->may & 1u << role) && (role != ROLE_RUN || op->for_agents);
}
