/* SPDX-License-Identifier: Apache-2.0 */
/* What does the daemon know of itself? For operations that say it beside what they read. */
#pragma once

#include "daemon/house.h"
#include "ops/op.h"

/* From any thread. */
void facts_read(struct house *house, struct op_facts *ret);
