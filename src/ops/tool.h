/* SPDX-License-Identifier: Apache-2.0 */
/* Maps operations to tools of agents and limits the tools of a run. goal.report becomes goal_report: not every client
 * accepts a dot. */
#pragma once

#include "ops/op.h"

enum { TOOL_NAME = 64 };

/* NULL: there is no such tool. */
const struct op *tool_find(struct str name);

void tool_name(const struct op *op, char name[TOOL_NAME]);

/* An alternative name that the requirements define (API-07); NULL: none. */
const char *tool_also(const struct op *op);

/* A role sees only tools that it may call; a run sees only those made for agents. */
bool tool_is_seen(const struct op *op, enum role role);

/* SCOPE-02, SCOPE-05: limits which of our tools a run may use. A list of allowed tools that names none of ours allows
 * all of ours: it is about the agent's own tools. `mcp__overseer` means all of ours. */
struct tool_scope {
    const struct str *allow, *deny;
    uint32_t allow_count, deny_count;
    bool listed; /* only those in `allow` */
};
void tools_scope(const struct tool_scope *scope, struct caller *run);
bool tool_is_denied(const struct op *op, const struct caller *caller);
