/* SPDX-License-Identifier: Apache-2.0 */
/* What do people see? */
#pragma once

#include "ops/op.h"

void print_result(const struct op *op, const json_t *result);
