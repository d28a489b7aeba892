/* SPDX-License-Identifier: Apache-2.0 */
/* How does an agent say where it stands? */
#include "model/update.h"

#define TEXT(name, number, member, cap, text) \
    { name, FIELD_TEXT, number, FIELD_OF(update, member), cap, 0, NULL, text, 0, NULL }
#define LIST(name, number, member, text) \
    { \
        name, FIELD_TEXTS, number, FIELD_OF(update, member), LIMIT_LINE, 0, NULL, text, \
            LIMIT_LINES, NULL \
    }

static const struct field FIELDS[] = {
    TEXT("goalId", 1, goal, LIMIT_NAME, "which goal"),
    TEXT("workNodeId", 2, node, LIMIT_NODE_ID, "which node of its plan"),
    TEXT("status", 3, status, LIMIT_TAG, "in_progress, blocked or done"),
    TEXT("summary", 4, summary, LIMIT_PROSE, "what changed"),
    TEXT("next", 5, next, LIMIT_PROSE, "the next concrete action"),
    LIST("blockers", 6, blockers, "what is in the way"),
    LIST("filesTouched", 7, files, "evidence: files"),
    LIST("testsRun", 8, tests, "evidence: tests and what came of them"),
    LIST("commits", 9, commits, "evidence: commits"),
};
const struct shape UPDATE = SHAPE_OF(update, "update", 1, FIELDS);
