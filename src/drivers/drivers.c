/* SPDX-License-Identifier: Apache-2.0 */
/* The table of drivers, made from the list in model/driver_list.h. */
#include "base/seam.h"
#include "drivers/drive.h"

#define ROW(constant, name, remark) &DRIVER_##constant,
static const struct driver *const ALL[] = {&DRIVER_ADOPTED, DRIVER_LIST(ROW)};

const struct driver *driver_named(struct str name) {
    for (size_t i = 0; i < count_of(ALL); i++)
        if (str_equal(str_of(ALL[i]->name), name))
            return ALL[i];
    return NULL;
}

const struct driver *driver_usual(struct str kind) {
    const struct driver *found = driver_named(kind);
    return found && found->usual ? found : &DRIVER_ACP;
}
