/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of a repository decide whether work is right? */
#pragma once

#include "model/setting.h"

/* One of verify.protect and verify.rules. */
struct judged_list {
    struct str at[LIMIT_LINES]; /* all of the setting */
    uint32_t count;
    bool is_written;                 /* it differs from the default */
    struct str besides[LIMIT_LINES]; /* what was found that the default does not mean */
    uint32_t beside_count;
};

struct judged {
    struct judged_list protect, rules;
};

/* What the operator has set, if it is not the default, stands. */
void judged_keep(struct judged *judged, const struct settings *old, struct arena *arena);

/* What the default does not mean is looked for among the files that git has in this folder. Nothing is found where git does not
 * know any. */
void judged_find(struct judged *judged, const char *folder, struct arena *arena);
