/* SPDX-License-Identifier: Apache-2.0 */
/* What is an operation called as a tool of agents? goal.report is goal_report: not every client takes a dot. */
#pragma once

#include "ops/op.h"

enum { TOOL_NAME = 64 };

/* NULL: there is no such tool. */
const struct op *tool_find(struct str name);

void tool_name(const struct op *op, char name[TOOL_NAME]);

/* Another name of it that requirements have (API-07); NULL: none. */
const char *tool_also(const struct op *op);

/* Who may not call it does not see it; and a run sees only what was made for it. */
bool tool_is_seen(const struct op *op, enum role role);

/* SCOPE-02, SCOPE-05: what is left of our tools to a run. A list of allowed tools that names none of ours leaves all of them: it
 * is about the agent's own. `mcp__overseer` means all of ours. */
struct tool_scope {
    const struct str *allow, *deny;
    uint32_t allow_count, deny_count;
    bool listed; /* nothing but `allow` */
};
void tools_scope(const struct tool_scope *scope, struct caller *run);
bool tool_is_denied(const struct op *op, const struct caller *caller);
