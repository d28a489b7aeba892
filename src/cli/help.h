/* SPDX-License-Identifier: Apache-2.0 */
/* What can be typed? All of it follows from the table of operations. */
#pragma once

#include "ops/op.h"

void help_print(void);                   /* every operation, a line each */
void help_print_op(const struct op *op); /* one of them, in full */
void help_print_man(void);               /* the manual page overseer(1) */
