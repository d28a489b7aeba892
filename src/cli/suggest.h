/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests the name that the user probably meant. */
#pragma once

#include <stdbool.h>

/* The nearest of several names: initialise with {.typed = …}, offer each name, then read `name`. */
struct nearest {
    const char *typed;
    const char *name; /* NULL: nothing is near enough */
    unsigned distance;
};
void nearest_offer(struct nearest *nearest, const char *name);

/* Are two names equal except for case, dashes and underscores? --parent-id is parentId. */
bool name_is(const char *typed, const char *name);
