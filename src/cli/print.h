/* SPDX-License-Identifier: Apache-2.0 */
/* What do people see? */
#pragma once

#include <jansson.h>

void print_written(const json_t *result);
void print_goal(const json_t *goal);
void print_help(void);
