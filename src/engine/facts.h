/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what the daemon knows about itself, for operations that report it beside what they read. */
#pragma once

#include "engine/context.h"
#include "ops/op.h"

/* From any thread. */
void facts_read(struct daemon_context *context, struct op_facts *ret);
const struct op_repositories *repositories_read(struct daemon_context *context,
                                                struct arena *arena);
