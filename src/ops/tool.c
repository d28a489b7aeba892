/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/tool.h"

#include "ops/scope.h"
#include <stdio.h>

static const struct {
    const char *tool, *op;
} ALSO[] = {
    {"report_progress", "agent.progress"},    /* PROGRESS-01 */
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

/* ---- the scope of a run ---- */

enum { DENIED_WORD = 64 };

/* Matches a name as agents write our tools: the plain name, or with the server's name as prefix. */
static bool names_tool(struct str text, const char *name) {
    static const struct str FRONT[] = {
        {"mcp__overseer__", 15}, {"overseer__", 10}, {"overseer.", 9}, {"overseer/", 9}};
    for (size_t i = 0; i < count_of(FRONT); i++)
        if (str_begins(text, FRONT[i]) &&
            str_equal((struct str){text.at + FRONT[i].len, text.len - FRONT[i].len}, str_of(name)))
            return true;
    return str_equal(text, str_of(name)) || str_equal(text, STR("mcp__overseer"));
}

static bool is_named(const struct op *op, const struct str *list, uint32_t count) {
    char name[TOOL_NAME];
    const char *also = tool_also(op);
    tool_name(op, name);
    for (uint32_t i = 0; i < count; i++)
        if (names_tool(list[i], name) || (also && names_tool(list[i], also)))
            return true;
    return false;
}

static bool list_is_ours(const struct tool_scope *scope) {
    for (size_t i = 0; i < OP_COUNT; i++)
        if (tool_is_seen(OPS[i], ROLE_RUN) && is_named(OPS[i], scope->allow, scope->allow_count))
            return true;
    return false;
}

void tools_scope(const struct tool_scope *scope, struct caller *run) {
    bool chosen = list_is_ours(scope);
    scope_keep(scope, run);
    must(OP_COUNT <= count_of(run->denied) * DENIED_WORD);
    for (size_t i = 0; i < OP_COUNT; i++)
        if (is_named(OPS[i], scope->deny, scope->deny_count) ||
            (chosen && !is_named(OPS[i], scope->allow, scope->allow_count)))
            run->denied[i / DENIED_WORD] |= UINT64_C(1) << i % DENIED_WORD;
}

bool tool_is_denied(const struct op *op, const struct caller *caller) {
    if (caller->role != ROLE_RUN || (caller->denied[0] | caller->denied[1]) == 0)
        return false;
    for (size_t i = 0; i < OP_COUNT; i++)
        if (OPS[i] == op)
            return caller->denied[i / DENIED_WORD] >> i % DENIED_WORD & 1;
    return true;
}
