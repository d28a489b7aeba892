/* SPDX-License-Identifier: Apache-2.0 */
/* A task as it is handed over, and the goal that it becomes. */
#pragma once

#include "ops/op.h"

extern const struct shape TASK_ROW;

/* The signal that creates the goal of a task. */
void task_signal(struct op_call *call, const struct task_row *task, struct signal *ret);
