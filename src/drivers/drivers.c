/* SPDX-License-Identifier: Apache-2.0 */
/* The table of drivers: one row for each kind of agent. */
#include "base/seam.h"
#include "drivers/drive.h"

static const struct driver *const ALL[] = {&DRIVER_ACP,      &DRIVER_CLAUDE,  &DRIVER_TMUX,
                                           &DRIVER_OPENCLAW, &DRIVER_COMMAND, &DRIVER_ADOPTED,
                                           &DRIVER_PRETEND};

const struct driver *driver_named(struct str name) {
    for (size_t i = 0; i < count_of(ALL); i++)
        if (str_equal(str_of(ALL[i]->name), name))
            return ALL[i];
    return NULL;
}
