/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the tools that a run may pass on to others: never more than it has itself. SCOPE-07. */
#pragma once

#include "ops/op.h"
#include "ops/tool.h"

void scope_keep(const struct tool_scope *scope, struct caller *run);

/* Nodes of a plan that a run submits inherit its scope where they specify none, and tools that the run may not use are
 * denied to them. False: a node asks for more, and the plan is refused. */
bool scope_inherit(struct op_call *call, struct plan_text *plan);
