/* SPDX-License-Identifier: Apache-2.0 */
/* What may a run give to others? Never more than it has itself: SCOPE-07. */
#pragma once

#include "ops/op.h"
#include "ops/tool.h"

void scope_keep(const struct tool_scope *scope, struct caller *run);

/* The nodes of a plan that a run hands in get its own scope where they say nothing, and what it may not use is denied to them. False: one of them asks for more; it is refused. */
bool scope_inherit(struct op_call *call, struct plan_text *plan);
