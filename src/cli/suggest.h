/* SPDX-License-Identifier: Apache-2.0 */
/* What did the person probably mean? */
#pragma once

#include <stdbool.h>

/* The nearest of several names; begin with {.typed = …}, offer each, then look. */
struct nearest {
    const char *typed;
    const char *name; /* NULL: nothing is near enough */
    unsigned distance;
};
void nearest_offer(struct nearest *nearest, const char *name);

/* Are two names the same but for case, dashes and underscores? --parent-id is parentId. */
bool name_is(const char *typed, const char *name);
