/* SPDX-License-Identifier: Apache-2.0 */
/* Updates: how an agent reports its status in the agreed form. UPDATE-02. Absent fields change nothing. */
#pragma once

#include "model/part.h"

struct update {
    struct str goal, node; /* absent: those of the assignment that the update was requested for */
    struct str status;     /* of a node; validated against its table, but not here */
    struct str summary, next;
    struct texts blockers;
    struct texts files, tests, commits; /* evidence */

    /* REPORT-01: the agent reports its end; not part of the block */
    uint32_t completion, confidence; /* + 1; 0: not stated */
    struct rows artifacts;           /* struct artifact_claim */
    struct texts warnings;
    uint32_t by_tool; /* 1: reported with report_completion, not in text */
};

enum completion { COMPLETION_COMPLETE, COMPLETION_PARTIAL, COMPLETION_FAILED, COMPLETIONS };
enum confidence { CONFIDENCE_HIGH, CONFIDENCE_MEDIUM, CONFIDENCE_LOW, CONFIDENCES };

struct artifact_claim {
    struct str path, description;
};

/* PROGRESS-01: how far the agent is. */
enum progress_level { PROGRESS_OPERATIONAL, PROGRESS_PLAN, PROGRESS_DETAIL, PROGRESS_LEVELS };

struct progress {
    struct str phase;
    uint32_t percent; /* + 1; 0: not stated */
    enum progress_level level;
    struct texts metrics; /* name=value */
};

extern const struct shape UPDATE, ARTIFACT_CLAIM, PROGRESS;
extern const struct names COMPLETION_NAMES, CONFIDENCE_NAMES, PROGRESS_LEVEL_NAMES;
