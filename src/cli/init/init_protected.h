/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of a repository that decide whether work is right. */
#pragma once

#include "model/setting/setting.h"

/* Either verify.protect or verify.rules. */
struct judged_list {
    struct str at[LIMIT_LINES]; /* the whole setting */
    uint32_t count;
    bool is_written; /* it differs from the default */
    struct str
        besides[LIMIT_LINES]; /* patterns that were found and that the default does not cover */
    uint32_t beside_count;
};

struct judged {
    struct judged_list protect, rules;
};

/* Keeps what the operator has set, if it is not the default. */
void judged_keep(struct judged *judged, const struct settings *old, struct arena *arena);

/* Searches the files that git has in this folder for those that the default does not cover. Finds nothing if git has
 * none there. */
void judged_find(struct judged *judged, const char *folder, struct arena *arena);
