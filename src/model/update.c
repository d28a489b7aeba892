/* SPDX-License-Identifier: Apache-2.0 */
#include "model/update.h"

static const char *const COMPLETION[COMPLETIONS] = {"complete", "partial", "failed"};
static const char *const CONFIDENCE[CONFIDENCES] = {"high", "medium", "low"};
static const char *const LEVEL[PROGRESS_LEVELS] = {"L0_operational", "L1_plan_update", "L2_detail"};
const struct names COMPLETION_NAMES = NAMES_OF(COMPLETION);
const struct names CONFIDENCE_NAMES = NAMES_OF(CONFIDENCE);
const struct names PROGRESS_LEVEL_NAMES = NAMES_OF(LEVEL);

static const struct field ARTIFACT_FIELDS[] = {
    {"path", FIELD_TEXT, 1, FIELD_OF(artifact_claim, path), LIMIT_NAME, FIELD_REQUIRED, NULL,
     "path of the file", 0, NULL},
    {"description", FIELD_TEXT, 2, FIELD_OF(artifact_claim, description), LIMIT_LINE, 0, NULL,
     "description of the file", 0, NULL},
};
const struct shape ARTIFACT_CLAIM = SHAPE_OF(artifact_claim, "artifact_said", 1, ARTIFACT_FIELDS);

#define TEXT(name, number, member, cap, text) \
    { name, FIELD_TEXT, number, FIELD_OF(update, member), cap, 0, NULL, text, 0, NULL }
#define LIST(name, number, member, text) \
    { \
        name, FIELD_TEXTS, number, FIELD_OF(update, member), LIMIT_LINE, 0, NULL, text, \
            LIMIT_LINES, NULL \
    }

static const struct field FIELDS[] = {
    TEXT("goalId", 1, goal, LIMIT_NAME, "id of the goal"),
    TEXT("workNodeId", 2, node, LIMIT_NODE_ID, "id of the node"),
    TEXT("status", 3, status, LIMIT_TAG, "in_progress, blocked or done"),
    TEXT("summary", 4, summary, LIMIT_PROSE, "what changed"),
    TEXT("next", 5, next, LIMIT_PROSE, "the next concrete action"),
    LIST("blockers", 6, blockers, "what blocks the work"),
    LIST("filesTouched", 7, files, "evidence: files"),
    LIST("testsRun", 8, tests, "evidence: tests and their results"),
    LIST("commits", 9, commits, "evidence: commits"),
    {"completion", FIELD_U32, 10, FIELD_OF(update, completion), 0, FIELD_HIDDEN, NULL,
     "how the work ended: enum completion + 1; 0: not stated", 0, NULL},
    {"confidence", FIELD_U32, 11, FIELD_OF(update, confidence), 0, FIELD_HIDDEN, NULL,
     "confidence of the agent: enum confidence + 1; 0: not stated", 0, NULL},
    {"artifacts", FIELD_ROWS, 12, FIELD_OF(update, artifacts), 0, FIELD_HIDDEN, NULL,
     "files that the agent made", LIMIT_LINES, &ARTIFACT_CLAIM},
    {"warnings", FIELD_TEXTS, 13, FIELD_OF(update, warnings), LIMIT_LINE, FIELD_HIDDEN, NULL,
     "warnings: what a person should check", LIMIT_LINES, NULL},
    {"byTool", FIELD_FLAG, 14, FIELD_OF(update, by_tool), 0, FIELD_HIDDEN, NULL,
     "whether it was reported with report_completion, not in text", 0, NULL},
};
const struct shape UPDATE = SHAPE_OF(update, "update", 1, FIELDS);

static const struct field PROGRESS_FIELDS[] = {
    {"phase", FIELD_TEXT, 1, FIELD_OF(progress, phase), LIMIT_PHASE, FIELD_REQUIRED, NULL,
     "the current phase", 0, NULL},
    {"percentComplete", FIELD_U32, 2, FIELD_OF(progress, percent), 0, 0, NULL,
     "percent done, + 1; 0: not stated", 0, NULL},
    {"level", FIELD_ENUM, 3, FIELD_OF(progress, level), 0, 0, &PROGRESS_LEVEL_NAMES,
     "L0_operational, L1_plan_update or L2_detail", 0, NULL},
    {"metrics", FIELD_TEXTS, 4, FIELD_OF(progress, metrics), LIMIT_NAME, FIELD_PAIRS, NULL,
     "metrics by name: strings and numbers", LIMIT_METRICS, NULL},
};
const struct shape PROGRESS = SHAPE_OF(progress, "progress", 1, PROGRESS_FIELDS);
