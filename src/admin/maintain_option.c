/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an option of a maintenance verb. */
#include "admin/maintain.h"

#include <string.h>

const char *maintain_option(const struct maintain *maintain, const char *name) {
    for (int i = 0; i < maintain->option_count; i++)
        if (strcmp(maintain->names[i], name) == 0)
            return maintain->values[i];
    return NULL;
}
