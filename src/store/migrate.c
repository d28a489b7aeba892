/* SPDX-License-Identifier: Apache-2.0 */
#include "store/migrate.h"

#include <stdio.h>

bool schema_is_ours(struct schema_mark mark, char *why, size_t why_size) {
    uint32_t known = SCHEMA_VERSION, level = SCHEMA_LEVEL;
    if (mark.version > known && mark.oldest > known) {
        snprintf(
            why, why_size,
            "This store was written by a newer version of Overseer (tables %u; this build knows %u). Update "
            "this build; nothing was changed.",
            mark.version, known);
        return false;
    }
    return schema_may_join(mark.level, level, why, why_size);
}

bool schema_may_join(uint32_t level, uint32_t speaks, char *why, size_t why_size) {
    if (level <= speaks)
        return true;
    snprintf(
        why, why_size,
        "This store is used by a newer version of Overseer (level %u; this build supports %u). Update this "
        "build; nothing was changed.",
        level, speaks);
    return false;
}
